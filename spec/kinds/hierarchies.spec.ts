/** Entities that inherit from each other, views and virtual entities: lists, records, filters, sorting, writes, and what is refused. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { EntitySchema, defineEntity, p } from '@mikro-orm/core'
import { resource } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { Dept, Manager, Person, entities } from './hierarchies.ts'

const SEED = {
  depts: [
    { id: 1, name: 'D', head: 3 },
    { id: 2, name: 'E' },
  ],
  people: [
    { id: 1, name: 'Ann', kind: 'person', friends: [3] },
    { id: 2, name: 'Bob', kind: 'employee', salary: 7, dept: 1, level: 1 },
    { id: 3, name: 'Cid', kind: 'manager', salary: 9, dept: 1, bonus: 2 },
    { id: 4, name: 'Dan', kind: 'guest', badge: 'vip' },
  ],
  reports: [{ id: 1, title: 'R', manager: 3 }],
  animals: [{ id: 1, name: 'Tom', type: 'cat', lives: 9 }],
  dogs: [{ id: 2, name: 'Rex', tricks: 1 }],
  vehicles: [{ id: 1, brand: 'A' }],
  cars: [{ id: 2, brand: 'B', doors: 4, owner: 1 }],
  sports: [{ id: 3, brand: 'C', doors: 2, top: 300, owner: 3 }],
  trucks: [{ id: 4, brand: 'D', load: 2.5 }],
  trips: [{ id: 1, car: 3 }],
}

type Body = Record<string, unknown> & { resource: string; errors?: { code: string; attribute?: string }[] }
type Answer = { status: number; body: Body }

describeStores('hierarchies and views', store => {
  let engine: RestEngine
  const causes: unknown[] = []
  before(async () => {
    engine = await createEngine({ entities, seed: SEED, onError: error => causes.push(error) })
  })
  beforeEach(() => engine.reset())
  after(() => engine.close())
  const call = async (method: string, path: string, query: Record<string, string> = {}, body?: unknown): Promise<Answer> => {
    const response = (await engine.handle(method, path, query, body)) as Answer
    assert.ok(response.status < 500, `${method} ${path}: ${causes.splice(0).join()}`)
    return response
  }
  const shown = async (path: string, query: Record<string, string> = {}): Promise<unknown> => {
    const { status, body } = await call('GET', path, query)
    assert.equal(status, 200, JSON.stringify(body))
    return body[body.resource]
  }
  const ids = async (path: string, query: Record<string, string> = {}): Promise<unknown[]> =>
    ((await shown(path, query)) as { id: unknown }[]).map(({ id }) => id)
  const refused = async (method: string, path: string, body: unknown, code: string, attribute: string): Promise<void> => {
    const { status, body: answer } = await call(method, path, {}, body)
    assert.equal(status, 422, JSON.stringify(answer))
    assert.deepEqual(
      answer.errors?.map(fault => [fault.code, fault.attribute]),
      [[code, attribute]],
    )
  }

  describe('in one table', () => {
    it('each record has the attributes of its own class, whatever resource it is read through', async () => {
      const bob = { id: 2, name: 'Bob', kind: 'employee', friends: [], vehicles: [], salary: 7, dept: 1, level: 1 }
      const cid = {
        id: 3,
        name: 'Cid',
        kind: 'manager',
        friends: [],
        vehicles: [3],
        salary: 9,
        dept: 1,
        level: null,
        bonus: 2,
        reports: [1],
      }
      assert.deepEqual(await shown('/v1/people'), [
        { id: 1, name: 'Ann', kind: 'person', friends: [3], vehicles: [2] },
        bob,
        cid,
        { id: 4, name: 'Dan', kind: 'guest', friends: [], vehicles: [], badge: 'vip' },
      ])
      assert.deepEqual(await shown('/v1/employees'), [bob, cid])
      assert.deepEqual(await shown('/v1/managers/3'), cid)
      assert.deepEqual(await shown('/v1/people/3'), cid)
      const { body } = await call('GET', '/v1/people', { depth: '2', attributes: 'reports,dept.name,friends.name' })
      assert.deepEqual(body['people'], [
        { friends: [{ name: 'Cid' }] },
        { friends: [], dept: { name: 'D' } },
        { friends: [], dept: { name: 'D' }, reports: [{ id: 1, title: 'R', manager: 3 }] },
        { friends: [] },
      ])
    })

    it('a record of another class does not exist', async () => {
      for (const path of ['/v1/managers/1', '/v1/employees/4', '/v1/guests/3/name']) {
        for (const method of ['GET', 'PUT', 'DELETE']) {
          if (method === 'DELETE' && path.endsWith('name')) continue
          assert.equal((await call(method, path, {}, {})).status, 404, `${method} ${path}`)
        }
      }
      await refused('POST', '/v1/reports', { title: 'x', manager: 2 }, 'reference_not_found', 'manager')
    })

    it('filters and sorts by attributes of classes below', async () => {
      assert.deepEqual(await ids('/v1/people', { 'salary>=': '7', sort: 'salary.desc' }), [3, 2])
      assert.deepEqual(await ids('/v1/people', { '!salary>=': '8' }), [1, 2, 4])
      assert.deepEqual(await ids('/v1/people', { 'dept.name': 'D', 'reports.title': 'R' }), [3])
      assert.deepEqual(await ids('/v1/people', { kind: 'guest,person' }), [1, 4])
      assert.deepEqual(await ids('/v1/employees', { sort: 'bonus.desc' }), [3, 2])
      assert.deepEqual(await ids('/v1/depts', { 'staff.bonus': '2' }), [1])
      assert.deepEqual(await ids('/v1/depts', { 'head.name': 'Cid' }), [1])
      assert.equal((await call('GET', '/v1/guests', { salary: '7' })).status, 400)
      const { body } = await call('GET', '/v1/employees', { limit: '1' })
      assert.equal(body['count'], 2)
    })

    it('creates what the body says, or what the resource is', async () => {
      const made = async (path: string, body: unknown): Promise<unknown> => {
        const { status, body: answer } = await call('POST', path, { attributes: 'kind' }, body)
        assert.equal(status, 200, JSON.stringify(answer))
        return (answer[answer.resource] as { kind: unknown }).kind
      }
      assert.equal(await made('/v1/people', { name: 'x' }), 'person')
      assert.equal(await made('/v1/people', { name: 'x', kind: 'manager', salary: 1 }), 'manager')
      assert.equal(await made('/v1/employees', { name: 'x', salary: 1 }), 'employee')
      assert.equal(await made('/v1/employees', { name: 'x', salary: 1, kind: 'manager', bonus: 1 }), 'manager')
      assert.equal(await made('/v1/depts/2/staff', { name: 'x', salary: 1, kind: 'manager' }), 'manager')
      await refused('POST', '/v1/people', { name: 'x', kind: 'manager' }, 'required', 'salary')
      await refused('POST', '/v1/people', { name: 'x', salary: 1 }, 'attribute_unknown', 'salary')
      await refused('POST', '/v1/employees', { name: 'x', salary: 1, bonus: 1 }, 'attribute_unknown', 'bonus')
      await refused('POST', '/v1/employees', { name: 'x', salary: 1, kind: 'guest' }, 'not_allowed', 'kind')
      await refused('POST', '/v1/people', { name: 'x', kind: 5 }, 'not_allowed', 'kind')
      const rows = await engine.orm.em.fork().find(Person as never, { name: 'x' })
      assert.deepEqual(rows.map(row => row.constructor.name).toSorted(), ['Employee', 'Manager', 'Manager', 'Manager', 'Person'])
    })

    it('changes what the record is, and not its class', async () => {
      assert.equal((await call('PUT', '/v1/people/3', {}, { bonus: 5, kind: 'manager' })).status, 200)
      assert.equal((await call('PUT', '/v1/people/3/salary', {}, 10)).status, 200)
      assert.deepEqual(await shown('/v1/managers/3', { attributes: 'salary,bonus' }), { salary: 10, bonus: 5 })
      await refused('PUT', '/v1/people/3', { kind: 'guest' }, 'key_fixed', 'kind')
      await refused('PUT', '/v1/people/3', { salary: null }, 'null_not_allowed', 'salary')
      await refused('PUT', '/v1/people/1', { salary: 1 }, 'attribute_unknown', 'salary')
      await refused('PUT', '/v1/employees/2', { bonus: 1 }, 'attribute_unknown', 'bonus')
    })

    it('deletes with regard to all who refer to the record', async () => {
      const { status, body } = await call('DELETE', '/v1/people/3')
      assert.equal(status, 409, JSON.stringify(body))
      assert.equal((await call('DELETE', '/v1/reports/1')).status, 200)
      const [change] = engine.requests.at(-1)!.changes!
      assert.deepEqual([change?.resource, change?.before], ['reports', { id: 1, title: 'R', manager: 3 }])
      assert.equal((await call('DELETE', '/v1/people/3')).status, 200)
      assert.deepEqual(await shown('/v1/depts/1', { attributes: 'head,staff' }), { staff: [2], head: null })
      assert.deepEqual(await shown('/v1/people/1', { attributes: 'friends' }), { friends: [] })
    })

    it('an abstract root is listed, and creates only what the body says', async () => {
      assert.deepEqual(await shown('/v1/animals'), [
        { id: 1, name: 'Tom', type: 'cat', lives: 9 },
        { id: 2, name: 'Rex', type: 'dog', tricks: 1 },
      ])
      await refused('POST', '/v1/animals', { name: 'x' }, 'required', 'type')
      assert.equal((await call('POST', '/v1/animals', {}, { name: 'x', type: 'dog', tricks: 2 })).status, 200)
      assert.deepEqual(await ids('/v1/dogs'), [2, 3])
    })
  })

  describe('in a table each', () => {
    it('each record has the attributes of its own class, whatever resource it is read through', async () => {
      const [b, c] = [
        { id: 2, brand: 'B', owner: 1, doors: 4, trips: [] },
        { id: 3, brand: 'C', owner: 3, doors: 2, trips: [1], top: 300 },
      ]
      assert.deepEqual(await shown('/v1/vehicles'), [
        { id: 1, brand: 'A', owner: null },
        b,
        c,
        { id: 4, brand: 'D', owner: null, load: 2.5 },
      ])
      assert.deepEqual(await shown('/v1/cars'), [b, c])
      assert.deepEqual(await shown('/v1/sports'), [c])
      assert.deepEqual(await shown('/v1/vehicles/3'), c)
      assert.deepEqual(await shown('/v1/trips/1', { depth: '2' }), { id: 1, car: c })
      assert.equal((await call('GET', '/v1/sports/2')).status, 404)
    })

    it('filters and sorts by attributes of all tables', async () => {
      assert.deepEqual(await ids('/v1/vehicles', { 'doors>=': '2', sort: 'top.desc' }), [3, 2])
      assert.deepEqual(await ids('/v1/sports', { brand: 'C', 'owner.name': 'Cid', doors: '2' }), [3])
      assert.deepEqual(await ids('/v1/people', { 'vehicles.brand': 'C' }), [3])
      assert.deepEqual(await ids('/v1/trips', { 'car.brand': 'C', sort: 'car.doors' }), [1])
      assert.deepEqual(await ids('/v1/cars', { trips: '1' }), [3])
    })

    it('is created, changed and deleted in all its tables', async () => {
      const { body } = await call(
        'POST',
        '/v1/sports',
        {},
        { brand: 'X', doors: 2, top: 1, trips: [{}], owner: { kind: 'guest', name: 'Y' } },
      )
      assert.ok(body['sport'], JSON.stringify(body))
      const { id } = body['sport'] as { id: number }
      assert.equal((await call('PUT', `/v1/vehicles/${id}`, {}, { brand: 'Y', top: 2 })).status, 200)
      assert.equal((await call('PUT', `/v1/cars/${id}`, {}, { doors: 1 })).status, 200)
      const rows = await engine.orm.em
        .getConnection()
        .execute(`select brand, doors, top from vehicle join car using (id) join sport using (id) where id = ${id}`)
      assert.deepEqual(
        rows.map((row: object) => ({ ...row })),
        [{ brand: 'Y', doors: 1, top: 2 }],
      )
      await refused('PUT', '/v1/vehicles/1', { doors: 1 }, 'attribute_unknown', 'doors')
      await refused('POST', '/v1/cars', { brand: 'X' }, 'required', 'doors')
      assert.equal((await call('DELETE', `/v1/vehicles/${id}`)).status, 409)
      await call('DELETE', `/v1/cars/${id}/trips`)
      assert.equal((await call('DELETE', `/v1/vehicles/${id}`)).status, 200)
      const left = await engine.orm.em
        .getConnection()
        .execute(
          `select id from vehicle where id = ${id} union select id from car where id = ${id} union select id from sport where id = ${id}`,
        )
      assert.deepEqual(left, [])
    })
  })

  it('what a hook breaks is told when the transaction ends, and nothing of it stays', async () => {
    const failing = await createEngine({
      entities,
      orm: {
        subscribers: [
          {
            async afterCreate({ em, meta }) {
              if (meta.className === 'Trip')
                await em.getConnection().execute('update trip set car_id = 99', [], 'run', em.getTransactionContext())
            },
          },
        ],
      },
    })
    const body = { brand: 'X', doors: 1, trips: [{}] }
    for (let count = 0; count < 2; count++) {
      const response = (await failing.handle('POST', '/v1/cars', {}, body)) as Answer
      // SQLite says at the end of a transaction that a link is broken, and not which.
      const refused = store.name === 'postgres' ? [422, 'validation_failed'] : [409, 'owner_required']
      assert.deepEqual([response.status, response.body['code']], refused)
    }
    assert.equal(((await failing.handle('GET', '/v1/cars')) as Answer).body['count'], 0)
    assert.equal((await failing.handle('POST', '/v1/cars', {}, { brand: 'X', doors: 1 })).status, 200)
    await failing.close()
  })

  it('a rule for a class holds where its records are read through another', async () => {
    const other = await createEngine({
      entities,
      seed: SEED,
      resources: [resource(Manager, { attributes: { bonus: { private: true } } }), resource(Dept, { access: { get: false } })],
    })
    const { body } = await other.handle('GET', '/v1/people/3')
    assert.deepEqual(Object.keys((body as { person: object }).person), [
      'id',
      'name',
      'kind',
      'friends',
      'vehicles',
      'salary',
      'level',
      'reports',
    ])
    assert.equal((await other.handle('GET', '/v1/people', { bonus: '2' })).status, 400)
    await other.close()
  })

  describe('views and virtual entities', () => {
    it('a view is read like any resource, and its records are related to others', async () => {
      assert.deepEqual(await shown('/v1/dept_stats'), [
        { dept: 1, size: 2, cost: 16 },
        { dept: 2, size: 0, cost: null },
      ])
      assert.deepEqual(await shown('/v1/dept_stats/1', { depth: '2', attributes: 'dept.name,size' }), { dept: { name: 'D' }, size: 2 })
      assert.deepEqual(await ids('/v1/depts', { 'stat.size>=': '1', sort: 'stat.cost' }), [1])
      assert.equal(((await shown('/v1/depts/1', { attributes: 'stat' })) as { stat: number }).stat, 1)
    })

    it('a virtual entity is a list, in a total order', async () => {
      assert.deepEqual(await shown('/v1/brands', { 'count>=': '1', sort: 'brand.desc', limit: '2', offset: '1' }), [
        { brand: 'C', count: 1 },
        { brand: 'B', count: 1 },
      ])
      const { body } = await call('GET', '/v1/brands', { limit: '1' })
      assert.equal(body['count'], 4)
      assert.deepEqual(await shown('/v1/brand_queries', { brand: '!x,B' }), [{ brand: 'B' }])
      assert.equal((await call('GET', '/v1/brands/1')).status, 404)
      assert.equal((await call('GET', '/v1/brands', { nope: '1' })).status, 400)
    })

    it('nothing of them can be written', async () => {
      for (const [method, path] of [
        ['POST', '/v1/dept_stats'],
        ['PUT', '/v1/dept_stats/1'],
        ['PUT', '/v1/dept_stats/1/size'],
        ['DELETE', '/v1/dept_stats/1'],
        ['DELETE', '/v1/dept_stats/1/dept'],
        ['POST', '/v1/brands'],
        ['DELETE', '/v1/depts/1/stat'],
      ] as const) {
        const response = await engine.handle(method, path, {}, {})
        assert.ok([400, 405].includes(response.status), `${method} ${path}: ${JSON.stringify(response.body)}`)
      }
      assert.equal((await engine.handle('OPTIONS', '/v1/brands')).headers['allow'], 'GET, HEAD, QUERY, OPTIONS')
      await refused('PUT', '/v1/depts/1', { stat: { size: 1 } }, 'read_only', 'stat')
    })
  })
})

describeStores('a table for each class, with an abstract one between', () => {
  it('shows, makes and changes records of the classes below', async () => {
    const Being = defineEntity({
      name: 'Being',
      inheritance: 'tpt',
      abstract: true,
      properties: { id: p.integer().primary(), name: p.string() },
    })
    const Mammal = defineEntity({ name: 'Mammal', extends: Being, abstract: true, properties: { legs: p.integer() } })
    const Hound = defineEntity({ name: 'Hound', extends: Mammal, properties: { breed: p.string() } })
    await using engine = await createEngine({ entities: [Being, Mammal, Hound] })
    const made = await engine.handle('POST', '/v1/hounds', undefined, { name: 'Rex', legs: 4, breed: 'x' })
    const rex = { id: 1, name: 'Rex', legs: 4, breed: 'x' }
    assert.deepEqual((made.body as Body)['hound'], rex, JSON.stringify(made.body))
    for (const path of ['beings', 'mammals', 'hounds']) {
      const { status, body } = await engine.handle('GET', `/v1/${path}`, { legs: '4', sort: 'name' })
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual((body as Body)[path], [rex])
    }
    const changed = await engine.handle('PUT', '/v1/hounds/1', undefined, { legs: 3 })
    assert.deepEqual((changed.body as Body)['hound'], { ...rex, legs: 3 })
    assert.equal((await engine.handle('DELETE', '/v1/beings/1')).status, 200)
  })
})

describeStores('a removed record that another one has at the other side of a one-to-one', () => {
  for (const [how, top, more] of [
    [
      'one table',
      { discriminatorColumn: 'kind', discriminatorMap: { badge: 'Badge', pass: 'Pass' } },
      { kind: () => p.enum(['badge', 'pass']) },
    ],
    ['a table for each class', { inheritance: 'tpt' }, {}],
  ] as const) {
    it(`is gone where a subscriber listens, in a hierarchy of ${how}`, async () => {
      const Holder = defineEntity({
        name: 'Holder',
        properties: {
          id: p.integer().primary(),
          badge: () =>
            p
              .oneToOne(Badge)
              .mappedBy('holder' as never)
              .nullable(),
        },
      })
      const kind = 'kind' in more ? { kind: more.kind() } : {}
      const Badge: never = defineEntity({
        name: 'Badge',
        ...top,
        properties: { id: p.integer().primary(), ...kind, holder: () => p.oneToOne(Holder).inversedBy('badge').nullable() },
      } as never) as never
      const Pass = defineEntity({ name: 'Pass', extends: Badge, properties: { gate: p.integer().nullable() } } as never)
      await using engine = await createEngine({
        entities: [Holder, Badge, Pass] as never,
        orm: { subscribers: [{ async afterFlush() {} }] },
      })
      assert.equal((await engine.handle('POST', '/v1/holders', {}, { id: 1 })).status, 200)
      assert.equal((await engine.handle('POST', '/v1/passes', {}, { id: 1, gate: 7, holder: 1 })).status, 200)
      assert.equal((await engine.handle('DELETE', '/v1/passes/1')).status, 200)
      assert.equal((await engine.handle('GET', '/v1/passes/1')).status, 404)
      assert.equal((await engine.handle('GET', '/v1/badges')).body.count, 0)
    })

    it(`is gone where a subscriber listens and it is of a hierarchy itself, of ${how}`, async () => {
      const kind = 'kind' in more ? { kind: more.kind() } : {}
      const Badge: never = defineEntity({
        name: 'Badge',
        ...top,
        properties: {
          id: p.integer().primary(),
          ...kind,
          seal: () =>
            p
              .oneToOne(Seal)
              .mappedBy('badge' as never)
              .nullable(),
        },
      } as never) as never
      const Pass = defineEntity({ name: 'Pass', extends: Badge, properties: { gate: p.integer().nullable() } } as never)
      const Seal = defineEntity({
        name: 'Seal',
        properties: {
          id: p.integer().primary(),
          badge: () =>
            p
              .oneToOne(Badge)
              .inversedBy('seal' as never)
              .nullable(),
        },
      })
      await using engine = await createEngine({
        entities: [Badge, Pass, Seal] as never,
        orm: { subscribers: [{ async afterFlush() {} }] },
      })
      assert.equal((await engine.handle('POST', '/v1/passes', {}, { id: 1, gate: 7 })).status, 200)
      assert.equal((await engine.handle('POST', '/v1/seals', {}, { id: 1, badge: 1 })).status, 200)
      assert.equal((await engine.handle('DELETE', '/v1/passes/1')).status, 200)
      assert.equal((await engine.handle('GET', '/v1/passes/1')).status, 404)
      assert.equal((await engine.handle('GET', '/v1/seals/1')).body.seal.badge, null)
    })
  }
})

describeStores('a property that is said to be inherited, of an entity that inherits from none', () => {
  it('is served as any other', async () => {
    const Partner = new EntitySchema<{ id: number }>({ name: 'Partner', properties: { id: { type: 'integer', primary: true } } })
    const Meeting = new EntitySchema<{ id: number; partner_id: number; note: string }>({
      name: 'Meeting',
      properties: {
        id: { type: 'integer', primary: true },
        partner_id: { kind: 'm:1', entity: () => Partner, mapToPk: true, inherited: true },
        note: { type: 'string', inherited: true, nullable: true },
      },
    } as never)
    await using engine = await createEngine({ entities: [Partner, Meeting], seed: { partners: [{ id: 1 }] } })
    const { body } = await engine.handle('POST', '/v1/meetings', undefined, { partner_id: 1, note: 'x' })
    assert.deepEqual(body.meeting, { id: 1, partner_id: 1, note: 'x' })
  })
})
