/** What counts as a version where MikroORM's unit of work writes: the same on both databases, since these are the same statements. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { watchStatements } from '../helpers/statements.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const MOMENT = '1970-01-03T00:00:00.246Z'

/** A subscriber: all writes go by the unit of work. */
const orm = { subscribers: [{ beforeCreate() {} }] } as never

describeStores('a record that links another one by a time', () => {
  const Alpha = defineEntity({ name: 'Alpha', properties: { moment: p.datetime().primary() } })
  const Pair = defineEntity({ name: 'Pair', properties: { moment: p.datetime().primary(), number: p.integer().primary() } })
  const Slot = defineEntity({ name: 'Slot', properties: { id: p.integer().primary(), at: p.datetime().unique() } })
  const Key = defineEntity({
    name: 'Key',
    properties: { alpha: () => p.oneToOne(Alpha).primary(), name: p.string().nullable(), version: p.integer().version() },
  })
  const Beta = defineEntity({
    name: 'Beta',
    properties: {
      id: p.integer().primary(),
      name: p.string().nullable(),
      one: () => p.manyToOne(Alpha).nullable(),
      pair: () => p.manyToOne(Pair).nullable(),
      key: () => p.manyToOne(Alpha).mapToPk().nullable(),
      slot: () => p.manyToOne(Slot).targetKey('at').nullable(),
      inner: () => p.manyToOne(Key).nullable(),
      version: p.integer().version(),
    },
  })
  const links = { one: MOMENT, pair: `${MOMENT}~1`, key: MOMENT, slot: 1, inner: MOMENT }

  it('is written when something of it has changed', async () => {
    const seed = { alphas: [{ moment: MOMENT }], pairs: [{ moment: MOMENT, number: 1 }], slots: [{ at: MOMENT }] }
    await using engine = await createEngine({ entities: [Alpha, Pair, Slot, Key, Beta], seed, orm })
    const send = async (method: string, path: string, body: unknown): Promise<{ id: number; version: number }> => {
      const answer = await engine.handle(method, `/v1/${path}`, '', body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body.beta ?? answer.body.key
    }
    await send('POST', 'keys', { alpha: MOMENT })
    for (const [name, value] of Object.entries(links)) {
      const { id } = await send('POST', 'betas', { name, [name]: value })
      const { result, sql } = await watchStatements(() => send('PUT', `betas/${id}`, { name }))
      assert.equal(result.version, 1, name)
      assert.deepEqual(
        sql.filter(text => text.startsWith('update')),
        [],
      )
      assert.equal((await send('PUT', `betas/${id}`, { name: 'other' })).version, 2, name)
      assert.equal((await send('PUT', `betas/${id}`, { [name]: null })).version, 3, name)
      assert.equal((await send('PUT', `betas/${id}`, { [name]: value })).version, 4, name)
    }
    assert.equal((await send('PUT', `keys/${MOMENT}`, { name: null })).version, 1)
    assert.equal((await send('PUT', `keys/${MOMENT}`, { name: 'other' })).version, 2)
  })
})

describeStores('links of classes in tables of their own', store => {
  const Animal = defineEntity({
    name: 'Animal',
    inheritance: 'tpt',
    properties: {
      id: p.integer().primary(),
      friend: () => p.manyToOne(Animal).nullable(),
      version: p.integer().version(),
    },
  })
  const Dog = defineEntity({ name: 'Dog', extends: Animal, properties: { bone: () => p.oneToOne(Animal).nullable() } })
  const Collar = defineEntity({
    name: 'Collar',
    properties: {
      id: p.integer().primary(),
      animal: () => p.oneToOne(Animal).nullable(),
      late: () => p.oneToOne(Animal).deferMode('deferred').nullable(),
    },
  })

  it('are written one after the other in a circle', async () => {
    const seed = {
      dogs: [
        { id: 1, friend: 2 },
        { id: 2, friend: 1 },
      ],
    }
    await using engine = await createEngine({ entities: [Animal, Dog, Collar], seed, orm })
    const { body } = await engine.handle('GET', '/v1/dogs', 'attributes=friend,version')
    assert.deepEqual(body.dogs, [
      { friend: 2, version: 2 },
      { friend: 1, version: 2 },
    ])
    // Nothing of the schema is left in the metadata, which says how MikroORM writes.
    const props = [...engine.orm.getMetadata()].flatMap(({ relations }) => relations)
    assert.deepEqual(
      props.filter(prop => prop.deferMode !== undefined).map(prop => prop.name),
      ['late'],
    )
  })

  it('lead to new records, whichever of the classes has the column', async () => {
    const Part = defineEntity({
      name: 'Part',
      inheritance: 'tpt',
      properties: { id: p.integer().primary(), of: () => p.manyToOne(Part).nullable(), parts: () => p.oneToMany(Part).mappedBy('of') },
    })
    const Wheel = defineEntity({
      name: 'Wheel',
      extends: Part,
      properties: { hub: () => p.manyToOne(Part).nullable(), version: p.integer().version() },
    })
    await using engine = await createEngine({ entities: [Animal, Dog, Collar, Part, Wheel] })
    const send = async (method: string, path: string, body: unknown): Promise<unknown> => {
      const answer = await engine.handle(method, path, 'depth=2', body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body[answer.body.resource]
    }
    const dog = await send('POST', '/v1/dogs', { friend: { friend: {} } })
    assert.deepEqual(dog, { id: 3, friend: { id: 2, friend: 1, version: 2 }, version: 1, bone: null })
    await engine.seed({ dogs: [{ id: 7, friend: {} }] })
    const { body } = await engine.handle('GET', '/v1/dogs/7')
    assert.deepEqual(body.dog, { id: 7, friend: 8, version: 2, bone: null })
    const wheel = await send('POST', '/v1/wheels', { id: 1, of: { id: 2 }, hub: { id: 3, parts: [] }, parts: [{ id: 4 }] })
    assert.deepEqual(wheel, {
      id: 1,
      of: { id: 2, of: null, parts: [1] },
      parts: [{ id: 4, of: 1, parts: [] }],
      hub: { id: 3, of: null, parts: [] },
      version: 1,
    })
    const both = await send('PUT', '/v1/wheels/1', { of: { id: 5 }, hub: { id: 6 }, parts: [] })
    assert.deepEqual(both, {
      id: 1,
      of: { id: 5, of: null, parts: [1] },
      parts: [],
      hub: { id: 6, of: null, parts: [] },
      version: 2,
    })
  })

  it('are unique at once, and a conflict that shows at the end is one, too', async () => {
    const seed = { dogs: [{ id: 1 }, { id: 2, bone: 1 }], collars: [{ id: 1, animal: 1, late: 1 }, { id: 2 }] }
    await using engine = await createEngine({ entities: [Animal, Dog, Collar], seed, orm })
    for (const name of ['animal', 'late']) {
      let isAtTheEnd = false
      const change = engine.orm.em.fork().transactional(async em => {
        await em.nativeUpdate(Collar, { id: 2 }, { [name]: 1 })
        isAtTheEnd = true
      })
      await assert.rejects(change, { name: 'UniqueConstraintViolationException' })
      assert.equal(isAtTheEnd, name === 'late' && store.name === 'postgres')
    }
  })
})

describeStores('a member of a many-to-many list', () => {
  const Tag = defineEntity({
    name: 'Tag',
    properties: { id: p.integer().primary(), info: p.json().nullable(), version: p.integer().version() },
  })
  const Note = defineEntity({
    name: 'Note',
    properties: { id: p.integer().primary(), tags: () => p.manyToMany(Tag) },
  })
  const infos: unknown[] = [-1, 1.5, true, 'text', { a: [1, null] }, null]

  it('is not written when the list is', async () => {
    const tags = infos.map((info, index) => ({ id: index + 1, info }))
    const seed = { tags, notes: [{ id: 1, tags: tags.map(({ id }) => id) }] }
    await using engine = await createEngine({ entities: [Tag, Note], seed, orm })
    const { result, sql } = await watchStatements(() => engine.handle('PUT', '/v1/notes/1/tags', '', [1]))
    assert.equal(result.status, 200, JSON.stringify(result.body))
    assert.deepEqual(
      sql.filter(text => text.startsWith('update')),
      [],
    )
    const { body } = await engine.handle('GET', '/v1/tags', 'attributes=info,version')
    assert.deepEqual(
      body.tags,
      infos.map(info => ({ info, version: 1 })),
    )
  })
})
