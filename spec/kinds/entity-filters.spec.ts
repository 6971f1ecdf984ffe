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

describeStores('a filter that the application adds to the entity manager', () => {
  const Author = defineEntity({
    name: 'Author',
    properties: { id: p.integer().primary(), name: p.string(), notes: () => p.oneToMany(Note).mappedBy('author') },
  })
  const Note = defineEntity({
    name: 'Note',
    properties: { id: p.integer().primary(), name: p.string(), author: () => p.manyToOne(Author).inversedBy('notes').nullable() },
    filters: { named: { name: 'named', cond: { name: 'a' }, default: true } },
  })
  const seed = {
    authors: [
      { id: 1, name: 'x' },
      { id: 2, name: 'y' },
    ],
    notes: [
      { name: 'a', author: 1 },
      { name: 'b', author: 1 },
      { name: 'c', author: 2 },
    ],
  }
  type Engine = Awaited<ReturnType<typeof createEngine>>

  /** The names of an answer, which must be those that MikroORM finds. */
  async function list(engine: Engine): Promise<string[]> {
    const { status, body } = await engine.handle('GET', '/v1/notes')
    assert.equal(status, 200, JSON.stringify(body))
    const shown = body.notes.map(({ name }: { name: string }) => name)
    assert.deepEqual(
      shown,
      (await engine.orm.em.fork().find(Note, {}, { orderBy: { id: 1 } })).map(({ name }) => name),
    )
    return shown
  }

  it('holds for the requests that come after, as for what MikroORM finds', async () => {
    await using engine = await createEngine({ entities: [Author, Note], seed, orm: { allowGlobalContext: true } })
    assert.deepEqual(await list(engine), ['a'])
    // One of the name of an entity's own takes its place, as in MikroORM.
    engine.orm.em.addFilter({ name: 'named', cond: { name: { $ne: 'c' } }, entity: [Note] })
    assert.deepEqual(await list(engine), ['a', 'b'])
    const { body } = await engine.handle('GET', '/v1/authors?sort=notes.desc&depth=2&attributes=notes')
    assert.deepEqual(
      body.authors.map(({ notes }: { notes: unknown[] }) => notes.length),
      [2, 0],
    )
    for (const [method, path, given, status] of [
      ['GET', '/v1/notes/3', undefined, 404],
      ['DELETE', '/v1/notes/3', undefined, 404],
      ['POST', '/v1/notes', { name: 'c' }, 403],
      ['POST', '/v1/notes', { name: 'd' }, 200],
      // The condition is fixed: that is a deletion.
      ['PUT', '/v1/notes/1', { name: 'c' }, 200],
    ] as const)
      assert.equal((await engine.handle(method, path, undefined, given)).status, status, `${method} ${path}`)
    engine.orm.em.addFilter({ name: 'off', cond: { name: 'a' }, default: false })
    assert.deepEqual(await list(engine), ['b', 'd'])
    // One of the whole ORM, with parameters.
    engine.orm.em.addFilter({ name: 'from', cond: ({ id }: { id: number }) => ({ id: { $gte: id } }) })
    assert.equal((await engine.handle('GET', '/v1/notes')).body.code, 'filter_unset')
    engine.orm.em.setFilterParams('from', { id: 2 })
    assert.deepEqual(await list(engine), ['b', 'd'])
    assert.equal((await engine.handle('GET', '/v1/authors')).body.count, 1)
  })

  it('is copied to forks, and holds in one world alone', async () => {
    await using engine = await createEngine({ entities: [Author, Note], seed, orm: { allowGlobalContext: true } })
    engine.orm.em.addFilter({ name: 'named', cond: ({ name }: { name: string }) => ({ name }), entity: 'Note' as never })
    engine.orm.em.setFilterParams('named', { name: 'b' })
    await using world = await engine.fork()
    engine.orm.em.addFilter({ name: 'named', cond: { name: 'c' }, entity: Note })
    assert.deepEqual(await list(engine), ['c'])
    assert.deepEqual(await list(world), ['b'])
    world.orm.em.addFilter({ name: 'more', cond: { name: 'a' }, entity: Note })
    assert.deepEqual(await list(world), [])
    await engine.reset()
    assert.deepEqual(await list(engine), ['c'])
  })

  it('holds for the finds of an entity manager alone, when it is added to that', async () => {
    await using engine = await createEngine({ entities: [Author, Note], seed, orm: { allowGlobalContext: true } })
    const own = engine.orm.em.fork()
    own.addFilter({ name: 'none', cond: { name: 'z' } })
    assert.equal((await own.find(Note, {})).length, 0)
    assert.deepEqual(await list(engine), ['a'])
  })
})
