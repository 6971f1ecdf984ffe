/** Models that MikroORM by itself would write or load wrongly, each found by a random model (spec/property/random-models.spec.ts). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p, quote } from '@mikro-orm/sqlite'
import { createEngine, describeStores, testStores } from '../helpers/stores.ts'

type Body = Record<string, unknown> & { resource: string }

/** An engine of entities that name each other. */
async function serve(entities: readonly unknown[], seed: Record<string, unknown[]> = {}) {
  const engine = await createEngine({ entities: entities as never, seed: seed as never })
  const done = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await engine.handle(method, `/v1/${path}`, {}, body)
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return (answer.body as Body)[(answer.body as Body).resource] as Record<string, unknown>
  }
  return { engine, done, [Symbol.asyncDispose]: () => engine.close() }
}

describeStores('records seeded together', () => {
  // MikroORM takes the nullable relation for the only one between the two, and inserts the books first.
  const Author = defineEntity({ name: 'Author', properties: { id: p.integer().primary(), best: () => p.manyToOne(Book).nullable() } })
  const Book = defineEntity({
    name: 'Book',
    properties: { id: p.integer().primary(), author: () => p.manyToOne(Author), editor: () => p.manyToOne(Author).nullable() },
  })
  const Company = defineEntity({
    name: 'Company',
    properties: { id: p.integer().primary(), contact: () => p.manyToOne(Contact).nullable() },
  })
  const Office = defineEntity({ name: 'Office', properties: { id: p.integer().primary(), company: () => p.manyToOne(Company) } })
  const Contact = defineEntity({ name: 'Contact', properties: { id: p.integer().primary(), office: () => p.manyToOne(Office) } })

  it('may need each other over a relation that may be null, in any order of the entities', async () => {
    for (const entities of [
      [Author, Book],
      [Book, Author],
    ]) {
      await using world = await serve(entities, { authors: [{ id: 1, best: 5 }], books: [{ id: 5, author: 1 }] })
      assert.deepEqual(await world.done('GET', 'authors/1'), { id: 1, best: 5 })
    }
    for (const entities of [
      [Company, Office, Contact],
      [Contact, Office, Company],
      [Office, Company, Contact],
    ]) {
      const seed = { companies: [{ id: 5, contact: 6 }], offices: [{ id: 5, company: 5 }], contacts: [{ id: 6, office: 5 }] }
      await using world = await serve(entities, seed)
      assert.deepEqual(await world.done('GET', 'companies/5'), { id: 5, contact: 6 })
    }
  })

  it('may be held by their keys (mapToPk), also where the database gives those', async () => {
    const Owner = defineEntity({ name: 'Owner', properties: { id: p.integer().primary(), pets: () => p.oneToMany(Pet).mappedBy('owner') } })
    const Pet = defineEntity({ name: 'Pet', properties: { id: p.integer().primary(), owner: () => p.manyToOne(Owner).mapToPk() } })
    await using world = await serve([Owner, Pet])
    for (const seed of [
      { pets: [{ id: 1, owner: 5 }], owners: [{ id: 5 }] },
      { pets: [{ id: 1, owner: { id: 5 } }] },
      { pets: [{ id: 1, owner: {} }] },
      { owners: [{ pets: [{ id: 1 }, {}] }] },
    ]) {
      await world.engine.reset()
      await world.engine.seed(seed as never)
      const { owner } = await world.done('GET', 'pets/1')
      assert.equal((await world.done('GET', `owners/${String(owner)}`))['id'], owner)
      assert.equal((await world.engine.given('pet'))['id'], seed.owners?.[0] !== undefined && 'pets' in seed.owners[0] ? 3 : 2)
    }
  })

  it('may be linked to records in several tables', async () => {
    const Target = defineEntity({ name: 'Target', properties: { id: p.integer().primary() } })
    const Vehicle = defineEntity({
      name: 'Vehicle',
      inheritance: 'tpt',
      properties: { id: p.integer().primary(), tows: () => p.manyToOne(Vehicle).nullable() },
    })
    const Car = defineEntity({
      name: 'Car',
      extends: Vehicle,
      properties: { doors: p.integer(), target: () => p.oneToOne(Target).nullable() },
    })
    const Sport = defineEntity({ name: 'Sport', extends: Car, properties: { top: p.integer() } })
    await using world = await serve([Target, Vehicle, Car, Sport], {
      targets: [{ id: 1 }, { id: 2 }],
      cars: [{ id: 1, doors: 2, tows: 2, target: 1 }],
      sports: [{ id: 2, doors: 2, top: 3, tows: 2, target: 2 }],
    })
    assert.deepEqual(await world.done('GET', 'vehicles/2'), { id: 2, tows: 2, doors: 2, target: 2, top: 3 })
    assert.deepEqual(await world.done('GET', 'vehicles/1'), { id: 1, tows: 2, doors: 2, target: 1 })
  })
})

describeStores('many-to-many lists', () => {
  it('of one name in two entities keep their own tables on the other side', async () => {
    const Tag = defineEntity({
      name: 'Tag',
      properties: { id: p.integer().primary(), tags: () => p.manyToMany(Tag), posts: () => p.manyToMany(Post).mappedBy('tags') },
    })
    const Post = defineEntity({
      name: 'Post',
      properties: { id: p.integer().primary(), tags: () => p.manyToMany(Tag).inversedBy('posts') },
    })
    await using world = await serve([Tag, Post], { tags: [{ id: 1 }, { id: 2, tags: [1] }], posts: [{ id: 7, tags: [1] }, { id: 8 }] })
    assert.deepEqual(await world.done('GET', 'tags/1'), { id: 1, tags: [], posts: [7] })
    assert.deepEqual(await world.done('PUT', 'tags/1', { posts: [8] }), { id: 1, tags: [], posts: [8] })
    assert.deepEqual(await world.done('GET', 'posts/7'), { id: 7, tags: [] })
  })

  it('to a class of one table have members of the classes below, and lose them', async () => {
    const Person = defineEntity({
      name: 'Person',
      discriminatorColumn: 'kind',
      discriminatorMap: { person: 'Person', boss: 'Boss' } as never,
      properties: {
        id: p.integer().primary(),
        kind: p.enum(['person', 'boss']),
        name: p.string().nullable(),
        friends: () => p.manyToMany(Person),
        ranks: () => p.manyToMany(Person).fixedOrder(),
      },
    })
    const Boss = defineEntity({ name: 'Boss', extends: Person, properties: { bonus: p.integer().nullable() } })
    await using world = await serve([Person, Boss], { people: [{ id: 1, friends: [1, 2], ranks: [2, 1] }], bosses: [{ id: 2 }, { id: 3 }] })
    const put = async (body: object): Promise<unknown> => {
      const { friends, ranks } = await world.done('PUT', 'people/1', body)
      return { friends, ranks }
    }
    assert.deepEqual(await put({ friends: [2, 3] }), { friends: [2, 3], ranks: [2, 1] })
    assert.deepEqual(await put({ friends: [3], ranks: [3, 2] }), { friends: [3], ranks: [3, 2] })
    assert.deepEqual(await put({ friends: [], ranks: [2, 3] }), { friends: [], ranks: [2, 3] })
    // Loading a list that has the record itself must not undo what else the body changes of it.
    await put({ friends: [1, 2] })
    assert.equal((await world.done('PUT', 'people/1', { name: 'Ann', friends: [2] }))['name'], 'Ann')
  })

  it('in a fixed order are in it in the classes below as well', async () => {
    const Target = defineEntity({ name: 'Target', properties: { id: p.integer().primary() } })
    const Vehicle = defineEntity({
      name: 'Vehicle',
      inheritance: 'tpt',
      properties: { id: p.integer().primary(), targets: () => p.manyToMany(Target).pivotTable('vehicle_targets').fixedOrder() },
    })
    const Car = defineEntity({ name: 'Car', extends: Vehicle, properties: { doors: p.integer().nullable() } })
    await using world = await serve([Target, Vehicle, Car], {
      targets: [{ id: 1 }, { id: 2 }, { id: 3 }],
      cars: [{ id: 1, targets: [3, 1] }],
    })
    assert.deepEqual((await world.done('GET', 'cars/1'))['targets'], [3, 1])
    assert.deepEqual((await world.done('PUT', 'cars/1', { targets: [2, 3, 1] }))['targets'], [2, 3, 1])
    assert.deepEqual((await world.done('GET', 'vehicles/1'))['targets'], [2, 3, 1])
  })

  it('that MikroORM cannot keep are refused when the engine is created', async () => {
    const Target = defineEntity({ name: 'Target', properties: { id: p.integer().primary() } })
    const Vehicle = defineEntity({
      name: 'Vehicle',
      inheritance: 'tpt',
      properties: { id: p.integer().primary(), targets: () => p.manyToMany(Target) },
    })
    const Car = defineEntity({ name: 'Car', extends: Vehicle, properties: { doors: p.integer() } })
    await assert.rejects(
      createEngine({ entities: [Target, Vehicle, Car] }),
      /Car\.targets cannot be served: .*pivotTable\('vehicle_targets'\)/,
    )
    const Person = defineEntity({
      name: 'Person',
      discriminatorColumn: 'kind',
      discriminatorMap: { person: 'Person', boss: 'Boss' } as never,
      properties: { id: p.integer().primary(), kind: p.enum(['person', 'boss']), bosses: () => p.manyToMany(Boss) },
    })
    const Boss = defineEntity({ name: 'Boss', extends: Person, properties: { bonus: p.integer().nullable() } })
    await assert.rejects(createEngine({ entities: [Person, Boss] }), /Person\.bosses cannot be served: .*"person_id" for both sides/)
    const Event = defineEntity({ name: 'Event', properties: { at: p.datetime().primary(), targets: () => p.manyToMany(Target) } })
    await assert.rejects(createEngine({ entities: [Target, Event] }), /Event\.targets cannot be served: .*date-time/)
  })
})

describeStores('records in several tables', () => {
  const Pair = defineEntity({ name: 'Pair', properties: { a: p.integer().primary(), b: p.integer().primary() } })
  const Vehicle = defineEntity({
    name: 'Vehicle',
    inheritance: 'tpt',
    properties: {
      id: p.integer().primary(),
      size: p.integer().nullable(),
      note: p.text().lazy().nullable(),
      shrunk: p.formula(columns => quote`-${(columns as { size: string }).size}`).type('integer' as never),
      pair: () => p.manyToOne(Pair).nullable(),
    },
  })
  const Car = defineEntity({ name: 'Car', extends: Vehicle, properties: { doors: p.integer().nullable() } })
  const Sport = defineEntity({ name: 'Sport', extends: Car, properties: { top: p.integer().nullable() } })

  it('are changed through each class above their own', async () => {
    await using world = await serve([Pair, Vehicle, Car, Sport], { sports: [{ id: 1 }] })
    for (const [top, path] of ['sports', 'cars', 'vehicles'].entries())
      assert.equal((await world.done('PUT', `${path}/1`, { top }))['top'], top)
  })

  it('may inherit composite foreign keys, formulas and lazy properties', async () => {
    await using world = await serve([Pair, Vehicle, Car], { pairs: [{ a: 1, b: 2 }], cars: [{ id: 1, size: 3, pair: '1~2' }] })
    assert.deepEqual(await world.done('PUT', 'cars/1', { doors: 4, note: 'n' }), {
      id: 1,
      size: 3,
      note: 'n',
      shrunk: -3,
      pair: '1~2',
      doors: 4,
    })
    assert.equal((await world.done('PUT', 'vehicles/1', { doors: 5 }))['doors'], 5)
    assert.equal((await world.done('PUT', 'vehicles/1/doors', 6))['doors'], 6)
  })
})

testStores('a text with NUL is written where the record has a version', { except: 'NUL' }, async () => {
  const Doc = defineEntity({
    name: 'Doc',
    properties: { id: p.integer().primary(), text: p.string(), tags: p.array().nullable(), version: p.integer().version() },
  })
  await using world = await serve([Doc], { docs: [{ id: 1, text: '' }] })
  assert.deepEqual(await world.done('PUT', 'docs/1', { text: "a\0b?'", tags: ['?', '\0'] }), {
    id: 1,
    text: "a\0b?'",
    tags: ['?', '\0'],
    version: 2,
  })
})

testStores('a composite foreign key that shares a column is there when all of it is', async () => {
  const Tenant = defineEntity({
    name: 'Tenant',
    properties: { id: p.integer().primary(), desks: () => p.oneToMany(Desk).mappedBy('tenant') },
  })
  const Room = defineEntity({ name: 'Room', properties: { tenant: () => p.manyToOne(Tenant).primary(), number: p.integer().primary() } })
  const Desk = defineEntity({
    name: 'Desk',
    properties: {
      tenant: () => p.manyToOne(Tenant).primary(),
      id: p.integer().primary(),
      room: () =>
        p
          .manyToOne(Room)
          .joinColumns('tenant_id', 'room_number')
          .referencedColumnNames('tenant_id', 'number')
          .ownColumns('room_number')
          .nullable(),
    },
  })
  await using world = await serve([Tenant, Room, Desk], {
    tenants: [{ id: 1 }, { id: 2 }],
    rooms: [{ tenant: 1, number: 1 }],
    desks: [
      { tenant: 1, id: 1, room: '1~1' },
      { tenant: 1, id: 2 },
      { tenant: 2, id: 1 },
    ],
  })
  const ids = async (path: string, key: string, sort: string): Promise<unknown[]> =>
    ((await world.engine.handle('GET', `/v1/${path}`, { sort })).body as never as Record<string, Record<string, unknown>[]>)[path]!.map(
      row => row[key],
    )
  assert.deepEqual(await ids('desks', 'room', 'room'), [null, null, '1~1'])
  assert.deepEqual(await ids('desks', 'room', 'room.desc'), ['1~1', null, null])
  assert.deepEqual(await ids('tenants', 'id', 'desks.room'), [2, 1])
})

testStores('a unique index by an expression is broken by the attributes that it names, in one sentence', async () => {
  const Tag = defineEntity({
    name: 'Tag',
    properties: { id: p.integer().primary(), name: p.text(), kind: p.text(), a: p.integer().nullable(), b: p.integer().nullable() },
    uniques: [{ properties: ['a', 'b'] }],
  })
  await using engine = await createEngine({ entities: [Tag], seed: { tags: [{ name: 'News', kind: 'x', a: 1, b: 2 }] } })
  const index = "create unique index tag_lower on tag (lower(name), coalesce(kind, 'a'))"
  await engine.orm.em.fork().getConnection().execute(index)
  const refused = async (body: object): Promise<unknown> => {
    const { status, body: answer } = await engine.handle('POST', '/v1/tags', undefined, body)
    const { detail, errors } = answer as { detail: string; errors: { attribute: string; code: string }[] }
    return [status, detail.replace('Another tag', 'Another record'), errors.map(({ attribute, code }) => `${attribute} ${code}`)]
  }
  const both = [409, 'Another record has this "name" and "kind" already.', ['name not_unique', 'kind not_unique']]
  assert.deepEqual(await refused({ name: 'NEWS', kind: 'x' }), both)
  assert.deepEqual(await refused({ name: 'y', kind: 'x', a: 1, b: 2 }), [
    409,
    'Another record has this "a" and "b" already.',
    ['a not_unique', 'b not_unique'],
  ])
  await engine.handle('POST', '/v1/tags', undefined, { id: 9, name: 'old', kind: 'x' })
  assert.equal((await engine.handle('PUT', '/v1/tags/9', undefined, { name: 'neWs' })).status, 409)
})

testStores('what stops a deletion is named where the database would delete others with the record', async () => {
  const Patient = defineEntity({ name: 'Patient', properties: { id: p.integer().primary(), main: p.integer().nullable() } })
  const Visit = defineEntity({
    name: 'Visit',
    properties: { id: p.integer().primary(), patient: () => p.manyToOne(Patient).deleteRule('cascade') },
  })
  const Invoice = defineEntity({
    name: 'Invoice',
    properties: {
      id: p.integer().primary(),
      visit: () => p.manyToOne(Visit).deleteRule('no action'),
      payer: () => p.manyToOne(Patient).deleteRule('cascade').nullable(),
    },
  })
  await using engine = await createEngine({
    entities: [Patient, Visit, Invoice],
    seed: {
      patients: [{ id: 1 }, { id: 2 }, { id: 3 }],
      visits: [
        { id: 1, patient: 1 },
        { id: 2, patient: 2 },
        { id: 3, patient: 3 },
        { id: 4, patient: 1 },
      ],
      invoices: [
        { id: 1, visit: 1 },
        { id: 2, visit: 4 },
        { id: 3, visit: 3, payer: 3 },
      ],
    },
  })
  const remove = async (path: string): Promise<unknown[]> => {
    const { status, body } = await engine.handle('DELETE', `/v1/${path}`)
    return [status, (body as { detail?: string }).detail]
  }
  const why = 'The patient cannot be deleted, since others need it, or what is deleted with it: '
  assert.deepEqual(await remove('patients/1'), [409, `${why}2 invoices by "visit" of visits.`])
  assert.deepEqual((await remove('patients/2'))[0], 200)
  // The invoice goes with the patient, too.
  assert.deepEqual((await remove('patients/3'))[0], 200)
  await remove('invoices/1')
  assert.deepEqual(await remove('patients/1'), [409, `${why}1 invoice by "visit" of visits.`])
  await remove('invoices/2')
  assert.deepEqual((await remove('patients/1'))[0], 200)
  // Of more than a thousand records that would go, too, the database alone says that one is needed.
  await engine.seed({
    patients: [{ id: 4 }],
    visits: Array.from({ length: 1001 }, (_, index) => ({ id: 10 + index, patient: 4 })),
    invoices: [{ id: 4, visit: 1010 }],
  })
  const [status, detail] = await remove('patients/4')
  assert.equal(status, 409)
  assert.doesNotMatch(String(detail), /invoice/)
  await remove('visits/10')
  assert.deepEqual(await remove('patients/4'), [409, `${why}1 invoice by "visit" of visits.`])
})
