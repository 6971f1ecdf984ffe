/**
 * An application's own MikroORM in the process of an engine, with the same entity classes: before, beside and after the engine it does the
 * same.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as core from '@mikro-orm/core'
import { EntityCaseNamingStrategy, EntitySchema, MikroORM, defineEntity, p, wrap } from '@mikro-orm/sqlite'

/** What the prototypes of all classes of MikroORM bear. */
function listMembers(): Map<string, unknown> {
  const members = new Map<string, unknown>()
  for (const [className, type] of Object.entries(core)) {
    if (typeof type !== 'function' || typeof type.prototype !== 'object') continue
    for (const holder of [type, type.prototype as object]) {
      for (const name of Reflect.ownKeys(holder)) {
        const { value, get, set } = Object.getOwnPropertyDescriptor(holder, name)!
        if (name === 'prototype') continue
        members.set(`${className}${holder === type ? '' : '#'}${String(name)}`, typeof value === 'function' ? value : (get ?? set))
      }
    }
  }
  return members
}

const members = listMembers()
const { RestEngine } = await import('../../lib/index.ts')

class AnyBox {
  width!: number
  height!: number
}
class AnyShape {
  id!: number
  name: string
  boxes: AnyBox[]

  constructor(name: string, boxes: AnyBox[] = []) {
    this.name = name
    this.boxes = boxes
  }
}

/** New classes for each test, since MikroORM writes into them. */
function makeEntities() {
  class Box extends AnyBox {}
  class Shape extends AnyShape {}
  const box = new EntitySchema({
    class: Box,
    embeddable: true,
    properties: { width: { type: 'integer' }, height: { type: 'integer' } },
  } as never)
  const shape = new EntitySchema<AnyShape>({
    class: Shape,
    properties: {
      id: { type: 'integer', primary: true },
      name: { type: 'string' },
      boxes: { kind: 'embedded', entity: () => Box, array: true, object: true },
    },
  } as never)
  const Slot = defineEntity({
    name: 'Slot',
    properties: {
      at: p.datetime(3).primary(),
      size: p.integer().default(1),
      visits: () => p.oneToMany(Visit).mappedBy('slot'),
      visit: () => p.oneToOne(Visit).mappedBy('firstSlot').nullable(),
      changedAt: p
        .datetime(3)
        .onUpdate(() => new Date(7))
        .nullable(),
    },
  })
  const Visit = defineEntity({
    name: 'Visit',
    properties: {
      id: p.integer().primary(),
      slot: () => p.manyToOne(Slot).nullable(),
      firstSlot: () => p.oneToOne(Slot).nullable(),
      person: () => p.manyToOne(Person).targetKey('code').nullable(),
    },
  })
  const Person = defineEntity({
    name: 'Person',
    properties: {
      id: p.integer().primary(),
      code: p.string().unique(),
      age: p.integer().nullable(),
      visits: () => p.oneToMany(Visit).mappedBy('person'),
    },
  })
  return { Slot, Visit, Person, Shape, all: [box, shape, Slot, Visit, Person] }
}
type Entities = ReturnType<typeof makeEntities>

async function openApplication({ all }: Entities, statements: string[]): Promise<MikroORM> {
  const orm = new MikroORM({
    entities: all,
    dbName: ':memory:',
    namingStrategy: EntityCaseNamingStrategy,
    debug: ['query', 'query-params'],
    colors: false,
    logger: (message: string) => statements.push(message.replace(/ \[took .*$/s, '')),
  } as never)
  await orm.schema.create()
  return orm
}

/** What the application meets. */
async function run(orm: MikroORM, { Slot, Visit, Person, Shape }: Entities, statements: string[]): Promise<unknown> {
  await orm.schema.clear()
  statements.length = 0
  const said: unknown[] = []
  const attempt = (work: () => unknown): void => {
    try {
      said.push(work())
    } catch (error) {
      said.push(String(error))
    }
  }
  const em = orm.em.fork()
  attempt(() => JSON.stringify(em.create(Shape, { name: 'a', boxes: [{ width: 1, height: 2 }] } as never)))
  em.clear()
  const person = em.create(Person, { id: 1, code: 'ann' })
  const [one, two] = [120, 121].map(at => em.create(Slot, { at: new Date(at) }))
  em.create(Visit, { id: 1, slot: one!, firstSlot: two!, person })
  await em.flush()
  const other = orm.em.fork()
  const visit = await other.findOneOrFail(Visit, 1, { populate: ['slot', 'person'] as never })
  const wrapped = wrap(visit, true) as unknown as Record<string, unknown>
  said.push(
    [...other.getUnitOfWork().getIdentityMap().keys()].toSorted(),
    wrap(visit).toObject(),
    wrapped['__meta'] === orm.getMetadata(Visit),
    wrapped['__platform'] === orm.em.getPlatform(),
  )
  other.assign(visit, { slot: { at: new Date(121), size: 5 } } as never)
  ;(visit.person as { age?: number }).age = 5
  await other.flush().catch((error: unknown) => said.push(String(error)))
  said.push(await orm.em.fork().getConnection().execute('select * from Visit, Slot'))
  attempt(() => (orm.em.getRepository(Person) as object).constructor.name)
  return { said, statements: [...statements] }
}

/** What the engine does that plain MikroORM does not. */
async function tryEngine(engine: Awaited<ReturnType<typeof RestEngine.create>>): Promise<void> {
  const at = new Date(120).toISOString()
  const changed = await engine.handle('PUT', `/v1/slots/${at}`, '', { size: 7, visit: null })
  assert.deepEqual([changed.status, (changed.body as { slot: { size: number } }).slot.size], [200, 7])
  const shape = await engine.handle('POST', '/v1/shapes', '', { name: 'a', boxes: [{ width: 1, height: 2 }] })
  assert.deepEqual((shape.body as { shape: { boxes: unknown } }).shape.boxes, [{ width: 1, height: 2 }], JSON.stringify(shape.body))
  const em = engine.orm.em.fork()
  const type = [...engine.orm.getMetadata()].find(meta => meta.className === 'Shape')!.class
  const made = em.create(type as never, { name: 'b', boxes: [{ width: 3, height: 4 }] } as never) as AnyShape
  assert.deepEqual(
    made.boxes.map(box => box.width),
    [3],
  )
  const visit = await engine.handle('PUT', '/v1/visits/1', '', { slot: at, person: 2 })
  assert.deepEqual((visit.body as { visit: object }).visit, { id: 1, slot: at, firstSlot: null, person: 2 })
}

describe("an application's own MikroORM", () => {
  const at = new Date(120).toISOString()
  const seed = {
    slots: [{ at }, { at: new Date(121).toISOString() }],
    people: [
      { id: 1, code: 'ann' },
      { id: 2, code: 'bob' },
    ],
    visits: [{ id: 1, slot: at, firstSlot: at, person: 1 }],
  }
  // A subscriber, so that the unit of work writes.
  const orm = { subscribers: [{ afterFlush: () => {} }] }

  it('keeps the classes of MikroORM as they are', async () => {
    await using engine = await RestEngine.create({ entities: makeEntities().all, seed, orm })
    await tryEngine(engine)
    const now = listMembers()
    assert.deepEqual([...now.keys()], [...members.keys()])
    assert.deepEqual(
      [...now].filter(([name, member]) => members.get(name) !== member).map(([name]) => name),
      [],
    )
  })

  it('does before, beside and after an engine the same, and so does the engine', async () => {
    const entities = makeEntities()
    const statements: string[] = []
    const application = await openApplication(entities, statements)
    const before = await run(application, entities, statements)
    {
      await using engine = await RestEngine.create({ entities: entities.all, seed, orm })
      assert.deepEqual(await run(application, entities, statements), before)
      await tryEngine(engine)
      await using second = await RestEngine.create({ entities: entities.all, seed, orm })
      await using fork = await engine.fork()
      assert.equal((await fork.handle('GET', '/v1/people/1')).status, 200)
      assert.deepEqual(await run(application, entities, statements), before)
      await tryEngine(second)
      assert.deepEqual(await run(application, entities, statements), before)
    }
    assert.deepEqual(await run(application, entities, statements), before)
    await application.close()
  })

  it('does the same when it is made after the engine, and so does the engine', async () => {
    const apart = makeEntities()
    const statements: string[] = []
    const alone = await openApplication(apart, statements)
    const expected = await run(alone, apart, statements)
    await alone.close()
    const entities = makeEntities()
    await using engine = await RestEngine.create({ entities: entities.all, seed, orm })
    const application = await openApplication(entities, statements)
    assert.deepEqual(await run(application, entities, statements), expected)
    await tryEngine(engine)
    assert.deepEqual(await run(application, entities, statements), expected)
    await application.close()
  })
})
