/** Filters of entities and of the whole ORM: they hide what they hide in MikroORM's own find, and no more. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

const CONDITIONS: Readonly<Record<string, unknown>> = {
  'an object': { name: 'a' },
  'a function': () => ({ name: 'b' }),
  'a function with arguments of its own': (args = { name: 'c' }) => ({ name: args.name }),
  'a function that needs none': Object.assign((args: unknown) => ({ name: args === undefined ? 'a' : 'b' }), { args: false }),
}
const DEFAULTS = [undefined, true, false] as const

interface Given {
  readonly name: string
  readonly cond: unknown
  readonly default?: boolean
  readonly args?: boolean
  readonly entity?: unknown
}

const filter = (cond: unknown, isDefault: boolean | undefined, more: object = {}): Given => ({
  name: 'only',
  cond,
  ...(isDefault === undefined ? {} : { default: isDefault }),
  ...(typeof cond === 'function' && 'args' in cond ? { args: false } : {}),
  ...more,
})

function* givenOnes(): Generator<readonly [told: string, own: Given | undefined, global: Given | undefined]> {
  for (const [what, cond] of Object.entries(CONDITIONS)) {
    for (const isDefault of DEFAULTS) {
      yield [`of the entity, ${what}, default ${isDefault}`, filter(cond, isDefault), undefined]
      yield [`of the ORM, ${what}, default ${isDefault}`, undefined, filter(cond, isDefault)]
      yield [`of the ORM for the entity, ${what}, default ${isDefault}`, undefined, filter(cond, isDefault, { entity: ['Note'] })]
      yield [`of the ORM for another, ${what}, default ${isDefault}`, undefined, filter(cond, isDefault, { entity: ['Other'] })]
    }
  }
  for (const own of DEFAULTS) {
    for (const global of DEFAULTS) {
      yield [`of both, default ${own} and ${global}`, filter({ name: 'a' }, own), filter({ name: 'b' }, global)]
    }
  }
}

describeStores('a filter of MikroORM', store => {
  const all = [...givenOnes()]
  // Each needs an engine.
  for (const [told, own, global] of store.name === 'memory' ? all : all.filter((_, index) => index % 8 === 0)) {
    it(`hides what MikroORM hides: ${told}`, async () => {
      const Note = defineEntity({
        name: 'Note',
        properties: { id: p.integer().primary(), name: p.string() },
        ...(own === undefined ? {} : { filters: { only: own as never } }),
      })
      const seed = { notes: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }
      const orm = { filters: global === undefined ? {} : { only: { ...global } } } as never
      await using engine = await createEngine({ entities: [Note], seed, orm })
      const expected = (await engine.orm.em.fork().find(Note, {}, { orderBy: { id: 1 } })).map(({ name }) => name)
      const { status, body } = await engine.handle('GET', '/v1/notes')
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(
        body.notes.map(({ name }: { name: string }) => name),
        expected,
      )
      const isOpen = expected.length === 3
      const post = await engine.handle('POST', '/v1/notes', undefined, { name: 'd' })
      assert.equal(post.status, isOpen ? 200 : 403, JSON.stringify(post.body))
    })
  }
})
