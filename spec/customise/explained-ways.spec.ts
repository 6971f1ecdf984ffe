/** Ways of writing: `engine.explain` says by which way a request writes, and why it is not that of statements. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Cascade, defineEntity, p } from '@mikro-orm/core'
import { resource } from '../../lib/index.ts'
import type { EngineOptions, RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores, readTables } from '../helpers/stores.ts'

const Place = defineEntity({
  name: 'Place',
  properties: {
    id: p.integer().primary(),
    name: p.string().unique(),
    people: () => p.oneToMany(Person).mappedBy('place'),
    adults: () =>
      p
        .oneToMany(Person)
        .mappedBy('place')
        .where({ age: { $gte: 18 } }),
  },
})
const Person = defineEntity({
  name: 'Person',
  properties: {
    id: p.integer().primary(),
    name: p.string().default('x'),
    age: p.integer().default(20),
    place: () => p.manyToOne(Place).nullable(),
    liked: () => p.manyToOne([Place, Pet] as never).nullable(),
    pets: () => p.oneToMany(Pet).mappedBy('person').cascade(Cascade.PERSIST, Cascade.REMOVE),
  },
})
const Pet = defineEntity({
  name: 'Pet',
  hooks: { beforeUpdate: ['noted'] as never },
  properties: { id: p.integer().primary(), name: p.string(), person: () => p.manyToOne(Person).nullable(), noted: p.string().nullable() },
})
Pet.class.prototype.noted = function () {} as never
const Stamp = defineEntity({
  name: 'Stamp',
  properties: { id: p.integer().primary(), text: p.string(), of: p.string().onCreate((stamp: { text?: string }) => `${stamp.text}!`) },
})
const Song = defineEntity({ name: 'Song', properties: { id: p.integer().primary(), hidden: p.boolean().default(false) } })
const Album = defineEntity({
  name: 'Album',
  properties: { id: p.integer().primary(), songs: () => p.manyToMany(Song).owner().fixedOrder() },
})
const Timed = defineEntity({ name: 'Timed', properties: { id: p.integer().primary(), text: p.string(), at: p.datetime().version() } })

const ENTITIES = [Place, Person, Stamp, Timed]

const world = (more: Partial<EngineOptions> = {}): Promise<RestEngine> =>
  createEngine({
    entities: [...ENTITIES, Pet],
    seed: { places: [{ id: 1, name: 'a' }], people: [{ id: 1, place: 1 }], pets: [{ id: 1, name: 'p' }], timeds: [{ id: 1, text: 't' }] },
    ...more,
  })

const PLAN = ['by statements of a plan']
const unit = (why: string): string[] => [`by MikroORM's unit of work, since ${why}`]

async function writesOf(engine: RestEngine, method: string, path: string, body?: unknown): Promise<readonly string[]> {
  return (await engine.explain(method, `/v1/${path}`, undefined, body)).writes
}

describeStores('the explained way of a write', store => {
  /**
   * Explains writes. On a server each of them is tried in a copy of the database, which takes a second: one of each kind tells that it is
   * the same there.
   */
  async function assertWays(engine: RestEngine, all: readonly (readonly [string, string, unknown, readonly string[]])[]): Promise<void> {
    for (const [method, path, body, expected] of store.name === 'memory' ? all : all.slice(0, 1))
      assert.deepEqual(await writesOf(engine, method, path, body), expected, `${method} ${path}`)
  }

  it('is that of statements, for plain records, lists and nested bodies, or nothing for a reading', async () => {
    await using engine = await world()
    assert.deepEqual(await writesOf(engine, 'GET', 'people/1'), [])
    await assertWays(engine, [
      ['PATCH', 'places/1', { people: [1, { name: 'n' }] }, PLAN],
      ['POST', 'people', { name: 'n' }, PLAN],
      ['PATCH', 'people/1', { name: 'n', place: null }, PLAN],
      ['POST', 'places/1/people', { name: 'n' }, PLAN],
      ['DELETE', 'timeds/1', undefined, PLAN],
      ['POST', 'people', [{ name: 'a' }, { name: 'b' }], PLAN],
    ])
  })

  it('is that of statements under rules', async () => {
    const rules = { scope: () => ({ age: { $gt: 1 } }), access: { update: () => true } }
    await using engine = await world({ resources: [resource(Person, rules)] })
    assert.deepEqual(await writesOf(engine, 'PATCH', 'people/1', { name: 'n' }), PLAN)
  })

  it('is that of the unit of work for a reason of the model', async () => {
    await using engine = await world()
    await assertWays(engine, [
      ['PATCH', 'timeds/1', { text: 'n' }, unit('the version of Timed is a time')],
      ['PATCH', 'pets/1', { name: 'n' }, unit('Pet has a hook (beforeUpdate)')],
      ['POST', 'stamps', { text: 'n' }, unit('"of" of Stamp has an onCreate that takes the entity')],
      ['DELETE', 'people/1', undefined, unit('other records go, or lose a link, with a Person')],
    ])
  })

  it('is that of the unit of work for a reason of the body', async () => {
    await using engine = await world()
    await assertWays(engine, [
      ['PATCH', 'people/1', { name: 'n', liked: { type: 'place', id: 1 } }, unit('"liked" is a link to one of several entities')],
      ['PATCH', 'places/1', { name: 'n', adults: [] }, unit('"adults" is a list with a condition')],
      ['DELETE', 'people/1/place', undefined, unit('the record that "place" links is removed with the link')],
    ])
  })

  it('is that of the unit of work for an ordered list that may have hidden members, which keep their places alike', async () => {
    const seed = { songs: [{ id: 1 }, { id: 2, hidden: true }, { id: 3 }], albums: [{ id: 1, songs: [1, 2, 3] }] }
    const resources = [resource(Song, { scope: () => ({ hidden: false }) })]
    await using engine = await createEngine({ entities: [Song, Album], seed, resources })
    const why = unit('an ordered list may have members that the caller does not see')
    assert.deepEqual(await writesOf(engine, 'PUT', 'albums/1', { songs: [3, 1] }), why)
    await using heard = await createEngine({ entities: [Song, Album], seed, resources, orm: { subscribers: [{ afterFlush() {} }] } })
    const rows: unknown[] = []
    for (const each of [engine, heard]) {
      assert.equal((await each.handle('PUT', '/v1/albums/1', undefined, { songs: [3, 1] })).status, 200)
      rows.push((await readTables(each)).find(({ name }) => name === 'album_songs'))
    }
    assert.deepEqual(rows[0], rows[1])
  })

  it('is that of the unit of work for a new record that links itself by a key that is counted later', async () => {
    const Node = defineEntity({
      name: 'Node',
      properties: { id: p.integer().primary(), slug: p.string().unique(), up: () => p.manyToOne(Node).nullable() },
    })
    const resources = [resource(Node as never, { key: 'slug' })]
    await using engine = await createEngine({ entities: [Node as never], resources })
    assert.deepEqual(await writesOf(engine, 'POST', 'nodes', { slug: 'a', up: 'a' }), unit('the new Node links itself'))
    assert.deepEqual(await writesOf(engine, 'POST', 'nodes', { slug: 'a', up: null }), PLAN)
  })

  it('is that of the unit of work where somebody listens', async () => {
    class Audit {
      afterFlush(): void {}
    }
    await using engine = await world({ orm: { subscribers: [new Audit()] } })
    assert.deepEqual(await writesOf(engine, 'PATCH', 'people/1', { name: 'n' }), unit('the subscriber Audit listens to it'))
    await using about = await world({ orm: { subscribers: [Object.assign(new Audit(), { getSubscribedEntities: () => [Person] })] } })
    assert.deepEqual(await writesOf(about, 'POST', 'places', { name: 'n' }), unit('the subscriber Audit of Person listens to it'))
  })

  it('is that of the plan alone where the database refuses the statements of several rows', async () => {
    await using engine = await world()
    const { writes, status } = await engine.explain('POST', '/v1/people', undefined, { name: 'n', place: { name: 'a' } })
    assert.equal(status, 409)
    assert.deepEqual(writes, PLAN)
  })
})

it('is printed by --explain', async () => {
  const { formatExplanation } = await import('../../lib/doors/cli/explanation-text.ts')
  const { RestEngine: Engine } = await import('../../lib/index.ts')
  await using engine = await Engine.create({ entities: [Timed], seed: { timeds: [{ id: 1, text: 't' }] } })
  const explained = await engine.explain('PATCH', '/v1/timeds/1', undefined, { text: 'n' })
  assert.match(formatExplanation(explained, false), /written by MikroORM's unit of work, since the version of Timed is a time/)
})
