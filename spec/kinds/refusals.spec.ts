/** What cannot be served is refused when the engine is created, by entity, property and reason. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), email: p.string().unique() } })
const Team = defineEntity({ name: 'Team', properties: { id: p.integer().primary() } })
const Linked = defineEntity({ name: 'Linked', embeddable: true, properties: { user: () => p.manyToOne(User) } })
const Dated = defineEntity({ name: 'Dated', embeddable: true, properties: { at: p.datetime() } })
const id = p.integer().primary()

const CASES: [what: string, entities: unknown[], message: RegExp][] = [
  [
    'a target key',
    [User, defineEntity({ name: 'Note', properties: { id, author: () => p.manyToOne(User).targetKey('email') } })],
    /^Note\.author cannot be served: .*targetKey/,
  ],
  [
    'a polymorphic relation',
    [User, Team, defineEntity({ name: 'Like', properties: { id, of: () => p.manyToOne([User, Team] as never) } })],
    /^Like\.of cannot be served: .*polymorphic/,
  ],
  [
    'a relation in an embedded object',
    [User, Linked, defineEntity({ name: 'Holder', properties: { id, linked: () => p.embedded(Linked) } })],
    /^Holder\.linked\.user cannot be served: relations inside embedded objects/,
  ],
  [
    'a name that arrays have in an embedded array',
    [Dated, defineEntity({ name: 'Holder', properties: { id, all: () => p.embedded(Dated).array() } })],
    /^Holder\.all\.at cannot be served: .*method of arrays/,
  ],
  [
    'a JSON key',
    [defineEntity({ name: 'Odd', properties: { id: p.json().primary() } })],
    /^Odd\.id cannot be served: a json cannot be a key/,
  ],
  [
    'a virtual entity of rows',
    [User, defineEntity({ name: 'Rows', expression: (() => [{ n: 1 }]) as never, properties: { n: p.integer() } })],
    /^Rows cannot be served: its expression gives neither SQL nor a query/,
  ],
]

describe('kinds that cannot be served', () => {
  for (const [what, entities, message] of CASES) {
    it(what, async () => {
      await assert.rejects(RestEngine.create({ entities: entities as never }), (error: Error) => {
        assert.match(error.message, message)
        return true
      })
    })
  }
})
