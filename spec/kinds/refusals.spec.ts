/** What cannot be served is refused when the engine is created, by entity, property and reason. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), email: p.string().unique() } })
const Team = defineEntity({ name: 'Team', properties: { id: p.integer().primary() } })
const Linked = defineEntity({ name: 'Linked', embeddable: true, properties: { user: () => p.manyToOne(User) } })
const Dated = defineEntity({ name: 'Dated', embeddable: true, properties: { at: p.datetime() } })
const Taken = defineEntity({ name: 'Taken', properties: { id: p.integer().primary(), type: p.string(), resource: p.string() } })
const Desk = defineEntity({ name: 'Desk', properties: { room: p.string().primary(), number: p.integer().primary() } })
const Paper = defineEntity({ name: 'Paper', properties: { id: p.integer().primary(), print: p.blob().unique() } })
const id = p.integer().primary()

const CASES: [what: string, entities: unknown[], message: RegExp][] = [
  [
    'a target key that is mapped to',
    [User, defineEntity({ name: 'Note', properties: { id, author: () => p.manyToOne(User).targetKey('email').mapToPk() } })],
    /^Note\.author cannot be served: .*targetKey.*mapToPk/,
  ],
  [
    'a target key that is part of a key',
    [User, defineEntity({ name: 'Note', properties: { author: () => p.manyToOne(User).targetKey('email').primary() } })],
    /^Note\.author cannot be served: .*targetKey.*part of a key/,
  ],
  [
    'a target key whose column is part of another relation',
    [
      User,
      Desk,
      defineEntity({
        name: 'Note',
        properties: {
          id,
          desk: () => p.manyToOne(Desk).joinColumns('room', 'number').referencedColumnNames('room', 'number').ownColumns('number'),
          author: () => p.manyToOne(User).targetKey('email').joinColumn('room'),
        },
      }),
    ],
    /^Note\.author cannot be served: .*targetKey.*column of another property/,
  ],
  [
    'a target key that is no plain value',
    [Paper, defineEntity({ name: 'Note', properties: { id, paper: () => p.manyToOne(Paper).targetKey('print') } })],
    /^Note\.paper cannot be served: "print" of Paper cannot be referred to/,
  ],
  [
    'a polymorphic list',
    [User, Team, defineEntity({ name: 'Like', properties: { id, of: () => p.manyToMany([User, Team] as never) } })],
    /^Like\.of cannot be served: a many-to-many relation of several entities/,
  ],
  [
    'a polymorphic relation that is mapped to keys',
    [User, Team, defineEntity({ name: 'Like', properties: { id, of: () => p.manyToOne([User, Team]).mapToPk() } })],
    /^Like\.of cannot be served: .*polymorphic.*mapToPk/,
  ],
  [
    'a polymorphic relation to entities that take all names for what tells them apart',
    [User, Taken, defineEntity({ name: 'Like', properties: { id, of: () => p.manyToOne([User, Taken]) } })],
    /^Like\.of cannot be served: its targets have attributes "type" and "resource"/,
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
