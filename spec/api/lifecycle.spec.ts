/** What the model does by itself when records are written: hooks, subscribers, cascades, orphans, and owners that are needed. */
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Cascade, defineEntity, p } from '@mikro-orm/sqlite'
import type { EventArgs, EventSubscriber, FlushEventArgs } from '@mikro-orm/sqlite'
import { RestEngine, RestError } from '../../lib/index.ts'
import { readTables } from '../helpers/stores.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

/** What happened, in order. */
let log: string[] = []

interface Named {
  name: string
  slug?: string | null
}

const Shop = defineEntity({
  name: 'Shop',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    slug: p.string().nullable(),
    note: p.string().persist(false).nullable(),
    madeBy: p.string().onCreate(() => 'api'),
    changes: p
      .integer()
      .onCreate(() => 0)
      .onUpdate(shop => (shop as { changes: number }).changes + 1),
    orders: () => p.oneToMany(Order).mappedBy('shop').cascade(Cascade.PERSIST, Cascade.REMOVE),
    guests: () => p.oneToMany(Guest).mappedBy('shop'),
    licence: () => p.oneToOne(Licence).mappedBy('shop').orphanRemoval().nullable(),
    tags: () => p.manyToMany(Tag).cascade(Cascade.PERSIST, Cascade.REMOVE),
    logo: () => p.oneToOne(Logo).cascade(Cascade.ALL).nullable(),
  },
  hooks: {
    beforeCreate: [
      (args: EventArgs<Named>) => {
        log.push(`beforeCreate ${args.entity.name}`)
        args.entity.slug = args.entity.name.toLowerCase().replaceAll(' ', '-')
      },
    ],
    afterCreate: [(args: EventArgs<Named>) => void log.push(`afterCreate ${args.entity.name}`)],
    beforeUpdate: [
      async (args: EventArgs<Named>) => {
        await Promise.resolve()
        log.push(`beforeUpdate ${args.entity.name}`)
        if (args.entity.name === 'refused') throw new RestError(403, 'shop_closed', 'This shop is closed.')
        if (args.entity.name === 'broken') throw new Error('a secret of the hook')
      },
    ],
    beforeDelete: [(args: EventArgs<Named>) => void log.push(`beforeDelete ${args.entity.name}`)],
    onInit: [() => void log.push('onInit')],
  },
})
const Order = defineEntity({
  name: 'Order',
  properties: {
    id: p.integer().primary(),
    shop: () => p.manyToOne(Shop),
    lines: () => p.oneToMany(Line).mappedBy('order').orphanRemoval(),
  },
  hooks: { beforeDelete: [(args: EventArgs<{ id: number }>) => void log.push(`beforeDelete order ${args.entity.id}`)] },
})
const Line = defineEntity({
  name: 'Line',
  uniques: [{ properties: ['order', 'position'] }],
  properties: {
    id: p.integer().primary(),
    position: p.integer(),
    order: () => p.manyToOne(Order),
  },
  hooks: { beforeDelete: [(args: EventArgs<{ id: number }>) => void log.push(`beforeDelete line ${args.entity.id}`)] },
})
const Guest = defineEntity({
  name: 'Guest',
  properties: { id: p.integer().primary(), shop: () => p.manyToOne(Shop), again: () => p.manyToOne(Shop).nullable() },
})
const Licence = defineEntity({
  name: 'Licence',
  properties: { id: p.integer().primary(), code: p.string().nullable(), shop: () => p.oneToOne(Shop).inversedBy('licence') },
})
const Logo = defineEntity({ name: 'Logo', properties: { id: p.integer().primary(), file: p.string() } })
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })

class Watcher implements EventSubscriber {
  async beforeTransactionStart(): Promise<void> {
    log.push('beforeTransactionStart')
  }
  async afterTransactionStart(): Promise<void> {
    log.push('afterTransactionStart')
  }
  async beforeTransactionCommit(): Promise<void> {
    log.push('beforeTransactionCommit')
  }
  async afterTransactionCommit(): Promise<void> {
    log.push('afterTransactionCommit')
  }
  async afterTransactionRollback(): Promise<void> {
    log.push('afterTransactionRollback')
  }
  async afterFlush({ uow }: FlushEventArgs): Promise<void> {
    for (const set of uow.getChangeSets()) log.push(`flushed ${set.type} ${set.meta.className}`)
  }
}

const failures: unknown[] = []
const model = {
  entities: [Shop, Order, Line, Guest, Licence, Logo, Tag],
  orm: { subscribers: [new Watcher()] },
  onError: (error: unknown) => void failures.push(error),
}

const seed = {
  tags: [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
    { id: 3, name: 'c' },
  ],
  logos: [{ id: 1, file: 'x.png' }],
  shops: [
    { id: 1, name: 'Corner', tags: [1, 2], logo: 1, licence: { id: 1, code: 'L1' } },
    { id: 2, name: 'Kiosk' },
    { id: 3, name: 'Barn' },
  ],
  orders: [
    {
      id: 1,
      shop: 1,
      lines: [
        { id: 1, position: 1 },
        { id: 2, position: 2 },
      ],
    },
    { id: 2, shop: 1 },
    { id: 3, shop: 2, lines: [{ id: 3, position: 1 }] },
  ],
  guests: [
    { id: 1, shop: 3, again: 2 },
    { id: 2, shop: 3 },
  ],
}

async function keysOf(target: Target, resource: string): Promise<unknown[]> {
  const { body } = await target.call('GET', `/v1/${resource}`)
  return (body[resource] as { id: unknown }[]).map(({ id }) => id)
}

describeTargets('life-cycle', { ...model, seed, prepare: async () => void (log = []) }, target => {
  it('runs the hooks of a new record, which may change it', async () => {
    const { body } = await target.call('POST', '/v1/shops', undefined, { name: 'New Shop' })
    assert.equal(body.shop.slug, 'new-shop')
    assert.equal(body.shop.madeBy, 'api')
    assert.equal(body.shop.changes, 0)
    assert.deepEqual(
      log.filter(entry => entry.endsWith('New Shop')),
      ['beforeCreate New Shop', 'afterCreate New Shop'],
    )
  })

  it('runs the hooks of every record of a body', async () => {
    await target.call('POST', '/v1/guests', undefined, { shop: { name: 'S1' }, again: { name: 'S2' } })
    assert.deepEqual(
      log.filter(entry => /^before.* S\d$/.test(entry)),
      ['beforeCreate S1', 'beforeCreate S2'],
    )
  })

  it('runs onUpdate and the hooks of a change, once for each that changes something', async () => {
    assert.equal((await target.call('PUT', '/v1/shops/2', undefined, { name: 'Stall' })).body.shop.changes, 1)
    assert.equal((await target.call('PUT', '/v1/shops/2/name', undefined, 'Stand')).body.shop.changes, 2)
    assert.deepEqual(
      log.filter(entry => entry.startsWith('beforeUpdate')),
      ['beforeUpdate Stall', 'beforeUpdate Stand'],
    )
  })

  it('runs the hooks of what is deleted', async () => {
    await target.call('DELETE', '/v1/shops/2/orders')
    assert.deepEqual(log.filter(entry => entry.startsWith('beforeDelete')).toSorted(), ['beforeDelete line 3', 'beforeDelete order 3'])
  })

  it('tells subscribers of the one transaction of a request', async () => {
    await target.call('POST', '/v1/shops', undefined, { name: 'X', tags: [{ name: 'y' }] })
    assert.deepEqual(
      log.filter(entry => entry.includes('Transaction')),
      ['beforeTransactionStart', 'afterTransactionStart', 'beforeTransactionCommit', 'afterTransactionCommit'],
    )
    assert.ok(log.includes('flushed create Shop') && log.includes('flushed create Tag'))
  })

  it('starts no transaction for reading', async () => {
    await target.call('GET', '/v1/shops', { depth: 2 })
    assert.deepEqual(
      log.filter(entry => entry.includes('Transaction')),
      [],
    )
  })

  it('answers what a hook refuses as the hook says, and writes nothing', async () => {
    const before = await readTables(target.engine)
    const answer = await target.call('PUT', '/v1/shops/1', undefined, { name: 'refused', orders: [1, 2, 3], tags: [{ name: 'new' }] })
    assert.equal(answer.status, 403)
    assert.equal(answer.body.code, 'shop_closed')
    assert.equal(answer.body.detail, 'This shop is closed.')
    assert.deepEqual(Object.keys(answer.body as object), ['success', 'timestamp', 'status', 'code', 'title', 'detail'])
    assert.deepEqual(await readTables(target.engine), before)
    assert.ok(log.includes('afterTransactionRollback'))
    assert.ok(!log.includes('afterTransactionCommit'))
  })

  it('answers 500 where a hook fails, tells nothing but to onError, and writes nothing', async () => {
    failures.length = 0
    const before = await readTables(target.engine)
    const answer = await target.call('PUT', '/v1/shops/1', undefined, { name: 'broken', tags: [] })
    assert.equal(answer.status, 500)
    assert.equal(answer.body.code, 'internal_error')
    assert.ok(!JSON.stringify(answer.body).includes('secret'))
    assert.equal((failures[0] as Error).message, 'a secret of the hook')
    assert.deepEqual(await readTables(target.engine), before)
    assert.equal((await target.call('PUT', '/v1/shops/1', undefined, { name: 'fine' })).status, 200)
  })
})

describeTargets('cascades', { ...model, seed, prepare: async () => void (log = []) }, target => {
  it('remove what hangs on a record, though nothing of it was loaded', async () => {
    const answer = await target.call('DELETE', '/v1/shops/1')
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.deepEqual(answer.body.shop.orders, [1, 2])
    assert.deepEqual(await keysOf(target, 'shops'), [2, 3])
    assert.deepEqual(await keysOf(target, 'orders'), [3])
    assert.deepEqual(await keysOf(target, 'lines'), [3])
    assert.deepEqual(await keysOf(target, 'licences'), [])
    assert.deepEqual(await keysOf(target, 'logos'), [])
    assert.deepEqual(await keysOf(target, 'tags'), [3])
    for (const gone of ['order 1', 'order 2', 'line 1', 'line 2']) assert.ok(log.includes(`beforeDelete ${gone}`), gone)
  })

  it('remove the orphans of a list that is replaced', async () => {
    const answer = await target.call('PUT', '/v1/orders/1', undefined, { lines: [2] })
    assert.deepEqual(answer.body.order.lines, [2])
    assert.deepEqual(await keysOf(target, 'lines'), [2, 3])
  })

  it('let new members take what was unique to the orphans that they replace', async () => {
    const answer = await target.call('PUT', '/v1/orders/1/lines', { depth: 2, attributes: 'lines.position' }, [
      { position: 1 },
      { position: 2 },
    ])
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.deepEqual(answer.body.order.lines, [{ position: 1 }, { position: 2 }])
    assert.deepEqual(await keysOf(target, 'lines'), [3, 4, 5])
  })

  it('refuse a new member that has what is unique to one that stays', async () => {
    const answer = await target.call('PUT', '/v1/orders/1/lines', undefined, [1, { position: 1 }])
    assert.equal(answer.status, 409)
    assert.equal(answer.body.code, 'unique_conflict')
    assert.deepEqual(await keysOf(target, 'lines'), [1, 2, 3])
  })

  it('remove the orphan of a to-one that is unlinked or replaced', async () => {
    assert.equal((await target.call('PUT', '/v1/shops/1/licence', undefined, null)).status, 200)
    assert.deepEqual(await keysOf(target, 'licences'), [])
    await target.call('PUT', '/v1/shops/1/licence', undefined, { code: 'L2' })
    const answer = await target.call('PUT', '/v1/shops/1', { depth: 2 }, { licence: { code: 'L3' } })
    assert.equal(answer.body.shop.licence.code, 'L3')
    assert.equal((await keysOf(target, 'licences')).length, 1)
  })

  it('move a member, with all that hangs on it, from one list to another', async () => {
    assert.deepEqual((await target.call('PUT', '/v1/orders/3', undefined, { lines: [1, 3] })).status, 409)
    assert.deepEqual((await target.call('PUT', '/v1/orders/3', undefined, { lines: [2, 3] })).body.order.lines, [2, 3])
    assert.deepEqual((await target.call('GET', '/v1/orders/1')).body.order.lines, [1])
    assert.deepEqual(await keysOf(target, 'lines'), [1, 2, 3])
  })
})

describeTargets('owners that are needed', { ...model, seed, prepare: async () => void (log = []) }, target => {
  const refused: [method: string, path: string, body: unknown][] = [
    ['DELETE', '/v1/shops/3', undefined],
    ['PUT', '/v1/shops/1', { orders: [1] }],
    ['PUT', '/v1/shops/1', { name: 'new', orders: [], tags: [{ name: 'z' }] }],
    ['PUT', '/v1/shops/1/orders', []],
    ['PUT', '/v1/shops/3/guests', [{}]],
    ['DELETE', '/v1/guests/1/shop', undefined],
    ['DELETE', '/v1/licences/1/shop', undefined],
  ]
  for (const [method, path, body] of refused) {
    it(`${method} ${path} ${JSON.stringify(body) ?? ''} would leave records without theirs: 409, and nothing changes`, async () => {
      const before = await readTables(target.engine)
      const answer = await target.call(method, path, undefined, body)
      assert.equal(answer.status, 409, JSON.stringify(answer.body))
      assert.equal(answer.body.code, 'owner_required')
      assert.deepEqual(await readTables(target.engine), before)
    })
  }

  it('stay where only those that can do without are left', async () => {
    assert.equal((await target.call('DELETE', '/v1/guests/2')).status, 200)
    assert.equal((await target.call('DELETE', '/v1/shops/2')).status, 200)
    assert.equal((await target.call('GET', '/v1/guests/1')).body.guest.again, null)
  })
})

const Stamp = defineEntity({
  name: 'Stamp',
  properties: {
    id: p.integer().primary(),
    at: p.datetime().defaultRaw("'1970-01-01T00:00:00Z'"),
    label: p.string().defaultRaw("'none'"),
    sheet: () => p.manyToOne(Sheet).nullable(),
  },
})
const Sheet = defineEntity({ name: 'Sheet', properties: { id: p.integer().primary(), stamps: () => p.oneToMany(Stamp).mappedBy('sheet') } })

describeTargets('defaults of the database', { entities: [Stamp, Sheet] }, target => {
  it('hold for each record of a body that leaves them out', async () => {
    const stamps = [{ at: '2026-01-01', label: 'a' }, {}, { label: 'c' }, { id: 7 }]
    const { status, body } = await target.call('POST', '/v1/sheets', { depth: 2 }, { stamps })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(
      (body.sheet.stamps as { at: string; label: string }[]).map(({ at, label }) => `${at.slice(0, 4)} ${label}`).toSorted(),
      ['1970 c', '1970 none', '1970 none', '2026 a'],
    )
  })
})

describe('a subscriber', () => {
  beforeEach(() => {
    log = []
  })

  it('may use the engine once its transaction is over', async () => {
    const seen: number[] = []
    const subscriber: EventSubscriber = {
      async afterTransactionCommit() {
        const { body } = await engine.handle('GET', '/v1/tags', { limit: 0 })
        seen.push(body.count as number)
        if (seen.length === 1) await engine.handle('POST', '/v1/tags', undefined, { name: 'second' })
      },
    }
    await using engine = await RestEngine.create({
      entities: [Shop, Order, Line, Guest, Licence, Logo, Tag],
      orm: { subscribers: [subscriber] },
    })
    seen.length = 0
    assert.equal((await engine.handle('POST', '/v1/tags', undefined, { name: 'first' })).status, 200)
    assert.equal((await engine.handle('POST', '/v1/tags', undefined, { name: 'third' })).status, 200)
    assert.deepEqual(seen, [1, 2, 3])
  })

  it('stands outside of the transaction that comes next, when it uses the engine after its own', async () => {
    let first = false
    const statuses: number[] = []
    const subscriber: EventSubscriber<{ name: string }> = {
      async afterTransactionCommit() {
        if (!first) return
        first = false
        await setTimeout(5)
        statuses.push((await engine.handle('POST', '/v1/tags', undefined, { name: 'after' })).status)
      },
      async beforeCreate({ entity }) {
        if (entity.name !== 'fails') return
        await setTimeout(20)
        throw new Error('no')
      },
    }
    await using engine = await RestEngine.create({ entities: [Tag], orm: { subscribers: [subscriber] } })
    await engine.handle('POST', '/v1/tags', undefined, { name: 'before' })
    first = true
    const answers = await Promise.all(['first', 'fails'].map(name => engine.handle('POST', '/v1/tags', undefined, { name })))
    statuses.unshift(...answers.map(({ status }) => status))
    assert.deepEqual(statuses, [200, 500, 200])
    const { body } = await engine.handle('GET', '/v1/tags', { sort: 'id' })
    assert.deepEqual(
      (body.tags as { name: string }[]).map(({ name }) => name),
      ['before', 'first', 'after'],
    )
  })
})
