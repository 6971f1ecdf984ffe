import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import { RestEngine, RestError, resource } from '../../../lib/index.ts'
import type { GivenRecord } from '../../../lib/index.ts'
import { Random } from '../../../lib/engine/testing/random.ts'
import library from '../../../fixtures/library/index.ts'
import { Customer, Tenant, entities } from './world.ts'

const NOW = new Date('2026-03-04T05:06:07.890Z')
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function open(): Promise<RestEngine> {
  return RestEngine.create({ entities, clock: () => NOW })
}

async function list(engine: RestEngine, name: string): Promise<GivenRecord[]> {
  return (await engine.handle('GET', `/v1/${name}`, { limit: 1000 })).body[name] as GivenRecord[]
}

async function counts(engine: RestEngine): Promise<Record<string, number>> {
  const all: Record<string, number> = {}
  for (const { plural } of internalsOf(engine).model.resources) {
    const { count } = (await engine.handle('GET', `/v1/${plural}`, { limit: 0 })).body as { count: number }
    if (count > 0) all[plural] = count
  }
  return all
}

async function refusal(promise: Promise<unknown>): Promise<RestError> {
  try {
    await promise
  } catch (error) {
    assert.ok(error instanceof RestError, String(error))
    return error
  }
  throw new Error('it was not refused')
}

function faultsOf({ errors = [] }: RestError): string[] {
  return errors.map(({ attribute, code }) => `${attribute} ${code}`).toSorted()
}

/** What `createdAt` of the model says is the time of the machine. */
function withoutTime(record: GivenRecord): GivenRecord {
  return 'createdAt' in record ? { ...record, createdAt: null } : record
}

describe('made-up dates', () => {
  const Pass = defineEntity({
    name: 'Pass',
    properties: { id: p.integer().primary(), issuedAt: p.datetime(), expiresAt: p.datetime(), born: p.date(), year: p.integer() },
  })
  const make = async (options: { readonly clock?: () => Date } = {}, set?: string): Promise<GivenRecord[]> => {
    await using engine = await RestEngine.create({ entities: [Pass], ...options })
    if (set !== undefined) engine.clock.set(set)
    return await engine.given.many('pass', 20, {}, { seed: 7 })
  }

  it('are the same on every day for the same seed, and what expires has not expired', async t => {
    const today = await make()
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2031, 4, 6) })
    assert.deepEqual(await make(), today)
    for (const { issuedAt, expiresAt, year } of today) {
      assert.match(String(issuedAt), /^2025-/)
      assert.match(String(expiresAt), /^2099-/)
      assert.ok(Number(year) <= 2026)
    }
  })

  it('are those around the clock of the engine where it stands still', async () => {
    const set = await make({}, '2040-06-01T00:00:00Z')
    assert.deepEqual(await make({ clock: () => new Date('2040-06-01T00:00:00Z') }), set)
    for (const { issuedAt, expiresAt } of set) {
      assert.match(String(issuedAt), /^20(?:39|40)-/)
      assert.match(String(expiresAt), /^204[01]-/)
    }
  })
})

describe('given', () => {
  let origin: RestEngine
  let engine: RestEngine
  before(async () => {
    origin = await open()
  })
  after(() => origin.close())
  beforeEach(async () => {
    engine = await origin.fork()
  })
  afterEach(() => engine.close())

  it('makes a record with the parents that it needs, and nothing else', async () => {
    const item = await engine.given('order_item')
    assert.deepEqual(await counts(engine), { tenants: 2, customers: 1, products: 1, orders: 1, order_items: 1 })
    assert.deepEqual(item, (await engine.handle('GET', `/v1/order_items/${item['order']}~${item['position']}`)).body.order_item)
  })

  it('gives the record as the API shows it', async () => {
    const customer = await engine.given('customer')
    assert.deepEqual(customer, (await engine.handle('GET', '/v1/customers/1')).body.customer)
    assert.equal(customer.nick, null)
    assert.ok(!('secret' in customer))
  })

  it('takes every name of a resource', async () => {
    for (const name of ['order_item', 'order_items', 'orderItem', 'order-items']) assert.ok(await engine.given(name))
    assert.equal((await counts(engine))['order_items'], 4)
  })

  it('makes up values of every type, in their ranges', async () => {
    for (const record of await engine.given.many('everything', 30)) {
      const text = JSON.stringify(record)
      assert.equal(record['one'].length, 1)
      assert.equal(record['two'].length, 2)
      assert.match(record['id'], UUID)
      assert.match(record['token'], UUID)
      assert.ok(record['size'] >= 1 && record['size'] <= 127, text)
      assert.match(record['cost'], /^\d{1,7}\.\d{3}$/)
      assert.match(record['whole'], /^\d+$/)
      assert.ok([1, 2, 3].includes(record['level'] as number))
      assert.deepEqual(record['data'], {})
      assert.ok(Buffer.from(record['file'] as string, 'base64').length > 0)
      assert.match(record['inline'].amount, /^\d{1,4}\.\d\d$/)
      assert.ok(record['inline'].currency.length <= 3)
      assert.equal(record['inline'].note, null)
      assert.match(record['box'].price.amount, /^\d{1,4}\.\d\d$/)
      assert.equal(record['spare'], null)
      const year = 365 * 86_400_000
      const day = Date.parse(record['day'] as string)
      assert.ok(day >= NOW.getTime() - year - 86_400_000 && day <= NOW.getTime(), text)
      const end = Date.parse(record['expiresAt'] as string)
      assert.ok(end >= NOW.getTime() && end <= NOW.getTime() + year, text)
      assert.match(record['at'], /^\d\d:\d\d:\d\d$/)
    }
  })

  it('keeps within the digits of a decimal', async () => {
    for (const { price, share } of await engine.given.many('product', 50)) {
      assert.match(price as string, /^\d{1,2}\.\d\d$/)
      assert.match(share as string, /^0\.\d\d$/)
    }
  })

  it('completes nested objects, links IDs, and makes as many in a list as a number says', async () => {
    const tenant = await engine.given('tenant', { name: 'Acme' })
    const order = await engine.given('order', { customer: { vip: true, tenant: tenant.id }, items: 3 })
    const customer = (await engine.handle('GET', `/v1/customers/${order.customer}`)).body.customer
    assert.deepEqual([customer.vip, customer.tenant, customer.orders], [true, tenant.id, [order.id]])
    assert.equal(order.items.length, 3)
    const mixed = await engine.given('product', { tags: [{ code: 'zz' }, {}, (await engine.given('tag')).id] })
    assert.equal(mixed.tags.length, 3)
    assert.deepEqual(await counts(engine), { tenants: 5, customers: 1, orders: 1, order_items: 3, products: 4, tags: 3 })
    assert.equal((await engine.given('customer', { orders: 0, card: {} })).orders.length, 0)
    assert.equal((await list(engine, 'cards')).length, 1)
  })

  it('completes embedded objects', async () => {
    const record = await engine.given('everything', { inline: { currency: 'EUR' }, spare: { width: 7, price: {} } })
    assert.equal(record['inline'].currency, 'EUR')
    assert.match(record['inline'].amount, /^\d{1,4}\.\d\d$/)
    assert.equal(record['spare'].width, 7)
    assert.match(record['spare'].price.amount, /^\d{1,4}\.\d\d$/)
  })

  it('makes a parent for each record, unless one is given', async () => {
    const [first, second] = await engine.given.many('customer', 2)
    assert.notEqual(first!.tenant, second!.tenant)
    const tenant = first!.tenant as number
    for (const customer of await engine.given.many('customer', 3, { tenant })) assert.equal(customer.tenant, tenant)
  })

  it('takes what clients may not give: times of creation, read-only and private attributes, nested too', async () => {
    const resources = [resource(Customer, { attributes: { email: { readOnly: true }, vip: { readOnly: true, private: true } } })]
    await using own = await RestEngine.create({ entities, resources })
    assert.match((await own.given('customer')).email, /@/)
    const order = await own.given('order', { createdAt: new Date(0), customer: { email: 'ann@example.test', vip: true } })
    assert.equal(order.createdAt, '1970-01-01T00:00:00.000Z')
    assert.equal((await own.handle('GET', `/v1/customers/${order.customer}`)).body.customer.email, 'ann@example.test')
    const [row] = await own.orm.em.getConnection().execute(`select vip from customer where id = ${order.customer}`)
    assert.equal(row.vip, 1)
  })

  it('makes up a unique value in the place of a default that another record has', async () => {
    const User = defineEntity({
      name: 'User',
      uniques: [{ properties: ['a', 'b'] }],
      properties: {
        id: p.integer().primary(),
        name: p.string().unique().default(''),
        a: p.string().default('x'),
        b: p.integer().defaultRaw('1'),
        other: p.string().default('same'),
      },
    })
    await using own = await RestEngine.create({ entities: [User] })
    assert.deepEqual(await own.given('user'), { id: 1, name: '', a: 'x', b: 1, other: 'same' })
    const made = [await own.given('user'), ...(await own.given.many('user', 3))]
    for (const name of ['name', 'a', 'b']) assert.equal(new Set(made.map(user => user[name])).size, 4, name)
    assert.ok(made.every(({ other }) => other === 'same'))
    assert.equal((await refusal(own.given('user', { name: '' }))).code, 'unique_conflict')
  })

  it('makes unique what must be, among its own and what is there', async () => {
    await engine.given.many('everything', 120)
    await engine.given.many('everything', 80)
    const all = await list(engine, 'everythings')
    assert.equal(all.length, 200)
    for (const name of ['id', 'two', 'count', 'bigText', 'exact', 'cost', 'day', 'expiresAt', 'at', 'token'])
      assert.equal(new Set(all.map(record => record[name] as unknown)).size, 200, name)
  })

  it('finds the last free value of a small choice', async () => {
    await engine.given.many('slot', 5)
    await engine.given('slot')
    const error = await refusal(engine.given('slot'))
    assert.deepEqual([error.code, faultsOf(error)], ['unique_conflict', ['morning not_unique', 'room not_unique']])
    assert.deepEqual(await counts(engine), { slots: 6 })
  })

  it('finds all of the two-letter codes', async () => {
    await engine.given.many('tag', 1296)
    assert.equal((await refusal(engine.given('tag'))).code, 'unique_conflict')
  })

  it('leaves to a record what its overrides give', async () => {
    const numbers = await engine.given.many('order', 3, { customer: { tenant: {} } }, { seed: 5 })
    await using other = await open()
    const taken = numbers[0]!.number as string
    const again = await other.given.many('order', 3, index => (index === 2 ? { number: taken } : {}), { seed: 5 })
    assert.equal(again[2]!.number, taken)
    assert.notEqual(again[0]!.number, taken)
  })

  it('is one of many in one transaction', async () => {
    const orders = await engine.given.many('order', 20, index => ({ number: `A-${index}` }))
    assert.deepEqual(
      orders.map(({ number }) => number as string),
      Array.from({ length: 20 }, (_, index) => `A-${index}`),
    )
    const error = await refusal(engine.given.many('order', 3, index => (index === 1 ? { status: 'lost', customer: { vip: 5 } } : {})))
    assert.deepEqual(faultsOf(error), ['1.customer.vip value_invalid', '1.status not_allowed'])
    assert.equal((await counts(engine))['orders'], 20)
    assert.deepEqual(await engine.given.many('order', 0), [])
  })

  it('works inside a transaction of the caller, and goes with it', async () => {
    const failing = engine.orm.em.fork().transactional(async () => {
      await engine.given('order')
      assert.equal((await counts(engine))['orders'], 1)
      throw new Error('back')
    })
    await assert.rejects(failing, /back/)
    assert.deepEqual(await counts(engine), {})
  })

  it('works inside a hook, and from several callers at once', async () => {
    const own: RestEngine = await RestEngine.create({
      entities,
      resources: [
        resource(Customer, {
          create: async (ctx, next) => {
            ctx.data = { ...(ctx.data as object), tenant: (await own.given('tenant')).id }
            return next()
          },
        }),
      ],
    })
    const body = { name: 'Ann', email: 'ann@example.test', vip: true, secret: 's' }
    assert.equal((await own.handle('POST', '/v1/customers', undefined, body)).status, 200)
    const answers = await Promise.all(Array.from({ length: 20 }, () => own.given('order', {}, { seed: 3 })))
    assert.equal(new Set(answers.map(({ number }) => number as string)).size, 20)
    await own.close()
  })

  it('shows the record to no caller in particular, whatever scopes and access say', async () => {
    const resources = [
      resource(Tenant, {
        access: false,
        scope: () => ({ id: -1 }),
        attributes: { name: { render: () => 'shown' } },
      }),
    ]
    await using own = await RestEngine.create({ entities, resources })
    assert.equal((await own.given('tenant')).name, 'shown')
    assert.ok(await own.given('order'))
  })
})

describe('given of a seed', () => {
  it('is the same in equal worlds, and another for another seed', async () => {
    await using a = await open()
    await using b = await open()
    for (const { singular } of internalsOf(a).model.resources) {
      const record = withoutTime(await a.given(singular, {}, { seed: 7 }))
      assert.deepEqual(record, withoutTime(await b.given(singular, {}, { seed: 7 })), singular)
      assert.notDeepEqual({ ...record, id: 0 }, { ...withoutTime(await b.given(singular, {}, { seed: 8 })), id: 0 }, singular)
      await a.given(singular, {}, { seed: 8 })
    }
  })

  it('counts from 1 on by default', async () => {
    await using a = await open()
    await using b = await open()
    const records = [
      await a.given('tenant'),
      await a.given('tenant'),
      ...(await a.given.many('tenant', 2)),
      await a.given('tenant', {}, { seed: 9 }),
    ]
    const seeded = [await b.given('tenant', {}, { seed: 1 }), await b.given('tenant', {}, { seed: 2 })]
    const again = [...seeded, ...(await b.given.many('tenant', 2, {}, { seed: 3 })), await b.given('tenant', {}, { seed: 9 })]
    assert.deepEqual(records, again)
    assert.deepEqual((await a.given('tenant')).name, (await b.given('tenant', {}, { seed: 4 })).name)
  })

  it('gives an attribute the same value whatever else is given', async () => {
    await using a = await open()
    await using b = await open()
    const full = await a.given('order', {}, { seed: 2 })
    const part = await b.given('order', { status: 'sent', customer: { name: 'Ann' } }, { seed: 2 })
    assert.deepEqual([part.number, part.placedAt], [full.number, full.placedAt])
    const emails = [(await list(a, 'customers'))[0]!.email, (await list(b, 'customers'))[0]!.email] as string[]
    assert.equal(emails[0], emails[1])
  })

  it('draws from the same stream on every machine', () => {
    const random = new Random('seed/1')
    assert.deepEqual(
      [random.next(), random.next(), random.between(1, 6), random.uuid()],
      [1_622_102_242, 3_375_822_257, 6, 'd5b6e7d8-3620-4c8a-b904-c8da06a326fd'],
    )
  })
})

describe('given refuses', () => {
  let origin: RestEngine
  let engine: RestEngine
  before(async () => {
    origin = await RestEngine.create(library)
  })
  after(() => origin.close())
  beforeEach(async () => {
    engine = await origin.fork()
  })
  afterEach(() => engine.close())

  const cases: [what: string, ask: (engine: RestEngine) => Promise<unknown>, code: string, detail: RegExp][] = [
    ['an unknown resource', e => e.given('bok'), 'resource_unknown', /no resource "bok"\. Did you mean "book"/],
    ['an unknown attribute', e => e.given('book', { titel: 'x' }), 'validation_failed', /no attribute "titel"\. Did you mean "title"/],
    [
      'an unknown attribute inside',
      e => e.given('book', { author: { nme: 'x' } }),
      'validation_failed',
      /no attribute "nme"\. Did you mean "name"/,
    ],
    ['a computed attribute', e => e.given('book', { titleLength: 4 }), 'validation_failed', /"titleLength" is read-only/],
    ['a link to nothing', e => e.given('book', { author: 99 }), 'validation_failed', /no author with the ID 99/],
    ['null for what is needed', e => e.given('book', { author: null }), 'validation_failed', /"author" cannot be null/],
    ['a value of another type', e => e.given('book', { title: 5 }), 'validation_failed', /"title" must be a string/],
    ['less than no children', e => e.given('book', { reviews: -1 }), 'validation_failed', /"reviews" must be an array/],
    ['a number where no list is', e => e.given('book', { author: 1.5 }), 'validation_failed', /"author" must be the ID/],
  ]
  for (const [what, ask, code, detail] of cases) {
    it(`${what}, and inserts nothing`, async () => {
      const error = await refusal(ask(engine))
      assert.equal(error.code, code)
      assert.match(error.message, detail)
      assert.deepEqual(await counts(engine), {})
    })
  }

  const wrong: [what: string, ask: (engine: RestEngine) => Promise<unknown>, fault: RegExp][] = [
    ['an unknown option', e => e.given('book', {}, { sed: 1 } as never), /unknown option "sed"\. Did you mean "seed"/],
    ['a seed that is no integer', e => e.given('book', {}, { seed: 1.5 }), /"seed" must be an integer/],
    ['overrides that are no object', e => e.given('book', 5 as never), /must be an object/],
    ['overrides that are no JSON', e => e.given('book', { title: 5n }), /not JSON/],
    ['a function that gives no object', e => e.given.many('book', 2, () => 5 as never), /given\.many: 0: the overrides must be an object/],
    ['a count that is none', e => e.given.many('book', -1), /count must be an integer of 0 or more/],
  ]
  for (const [what, ask, fault] of wrong) it(what, () => assert.rejects(ask(engine), fault))

  it('everything once the engine is closed', async () => {
    await engine.close()
    await assert.rejects(engine.given('book'), /closed/)
    await assert.rejects(engine.given.many('book', 1), /closed/)
  })
})

const Country = defineEntity({
  name: 'Country',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    capital: () => p.oneToOne(City),
    cities: () => p.oneToMany(City).mappedBy('country'),
  },
})
const City = defineEntity({
  name: 'City',
  properties: { id: p.integer().primary(), name: p.string(), country: () => p.manyToOne(Country) },
})
const Street = defineEntity({ name: 'Street', properties: { id: p.integer().primary(), city: () => p.manyToOne(City) } })
const Seat = defineEntity({
  name: 'Seat',
  properties: { id: p.integer().primary(), guest: () => p.manyToOne(Guest) },
})
const Guest = defineEntity({ name: 'Guest', properties: { id: p.integer().primary(), seat: () => p.manyToOne(Seat).nullable() } })

describe('records that need each other in a circle', () => {
  let origin: RestEngine
  let engine: RestEngine
  before(async () => {
    origin = await RestEngine.create({ entities: [Country, City, Street, Seat, Guest] })
  })
  after(() => origin.close())
  beforeEach(async () => {
    engine = await origin.fork()
  })
  afterEach(() => engine.close())

  const cases: [name: string, at: string, path: string][] = [
    ['country', 'capital.country', 'country.capital → city.country → country'],
    ['street', 'city.country.capital', 'city.country → country.capital → city'],
  ]
  for (const [name, at, path] of cases) {
    it(`are refused by name: ${path}`, async () => {
      const error = await refusal(engine.given(name))
      assert.deepEqual([error.status, error.code, faultsOf(error)], [422, 'validation_failed', [`${at} required`]])
      assert.ok(error.message.includes(path), error.message)
    })
  }

  it('are made where one of the relations may be null', async () => {
    assert.ok(await engine.given('seat'))
    await engine.seed({ seats: [{ id: 7, guest: 7 }], guests: [{ id: 7, seat: 7 }] })
    assert.equal((await engine.handle('GET', '/v1/guests/7')).body.guest.seat, 7)
  })

  const seeds: [data: Record<string, object[]>, faults: string[], path: string][] = [
    [
      { countries: [{ id: 1, name: 'x', capital: 1 }], cities: [{ id: 1, name: 'y', country: 1 }] },
      ['cities.0.country conflict', 'countries.0.capital conflict'],
      '"countries.0.capital" → "cities.0.country" → "countries.0"',
    ],
    [
      { countries: [{ id: 1, name: 'x', capital: 5, cities: [{ id: 5, name: 'y' }] }] },
      ['countries.0.capital conflict', 'countries.0.cities.0.country conflict'],
      '"countries.0.capital" → "countries.0.cities.0.country" → "countries.0"',
    ],
    [
      { streets: [{ city: 1 }], cities: [{ id: 1, name: 'y', country: { name: 'x', capital: 1 } }] },
      ['cities.0.country conflict', 'cities.0.country.capital conflict'],
      '"cities.0.country" → "cities.0.country.capital" → "cities.0"',
    ],
  ]
  for (const [data, faults, path] of seeds) {
    it(`are refused by name in a seed: ${path}`, async () => {
      const error = await refusal(engine.seed(data))
      assert.deepEqual([error.status, error.code, faultsOf(error)], [422, 'validation_failed', faults])
      assert.ok(error.message.includes(path), error.message)
      assert.deepEqual(await counts(engine), {})
    })
  }

  it('cannot come into a body: what does not exist yet cannot be linked', async () => {
    const { status, body } = await engine.handle('POST', '/v1/countries', undefined, { id: 1, name: 'x', capital: 2 })
    assert.deepEqual([status, body.errors[0].code], [422, 'reference_not_found'])
  })
})

describe('a refusal of given', () => {
  it('begins with its name once, whatever it is about', async () => {
    const Person = defineEntity({
      name: 'Person',
      properties: { id: p.integer().primary(), name: p.string(), boss: () => p.manyToOne(Person).nullable() },
    })
    await using engine = await RestEngine.create({ entities: [Person] })
    for (const [call, message] of [
      [engine.given('person', { boss: 9 }), 'given: "boss": there is no person with the ID 9.'],
      [engine.given('person', { name: 3 }), 'given: "name" must be a string.'],
      [engine.given.many('person', 1, { name: 3 }), 'given: "0.name" must be a string.'],
      [engine.given('peron'), 'given: there is no resource "peron". Did you mean "person"?'],
      [engine.given('person', {}, { seed: 'x' as never }), 'given: "seed" must be an integer, got "x".'],
    ] as const)
      await assert.rejects(call, { message })
  })
})

describe('given of a model with checks', () => {
  it('tells what was made up, and takes what is given', async () => {
    const Sale = defineEntity({
      name: 'Sale',
      properties: { id: p.integer().primary(), total: p.integer(), shop: p.string() },
      checks: [{ name: 'sale_total_check', expression: 'total > 1000' }],
    })
    await using engine = await RestEngine.create({ entities: [Sale] })
    const error = await refusal(engine.given('sale'))
    assert.deepEqual([error.code, faultsOf(error)], ['validation_failed', ['total value_invalid']])
    assert.match(error.message, /sale_total_check.*"total" was made up/)
    assert.deepEqual(await counts(engine), {})
    assert.equal((await engine.given('sale', { total: 2000 })).total, 2000)
  })
})
