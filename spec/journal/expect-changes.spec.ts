/** `engine.expect`: what holds, what fails and how that reads, what is refused. */
import assert from 'node:assert/strict'
import { AssertionError } from 'node:assert'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine, resource } from '../../lib/index.ts'
import type { EngineOptions, ExpectedChanges } from '../../lib/index.ts'

const Order = defineEntity({
  name: 'Order',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    items: () => p.oneToMany(OrderItem).mappedBy('order'),
    labels: () => p.manyToMany(Label),
  },
})
const OrderItem = defineEntity({
  name: 'OrderItem',
  properties: { id: p.integer().primary(), count: p.integer(), order: () => p.manyToOne(Order).deleteRule('cascade') },
})
const Label = defineEntity({ name: 'Label', properties: { id: p.integer().primary(), name: p.string() } })

const entities = [Order, OrderItem, Label]
const seed = {
  orders: [{ id: 1, title: 'first' }],
  order_items: [
    { id: 1, count: 1, order: 1 },
    { id: 2, count: 2, order: 1 },
  ],
  labels: [{ id: 1, name: 'red' }],
}

function start(options: Partial<EngineOptions> = {}): Promise<RestEngine> {
  return RestEngine.create({ entities, seed, ...options })
}

async function failureOf(engine: RestEngine, changes: ExpectedChanges, work: () => unknown): Promise<AssertionError> {
  const error = await engine.expect(changes, work).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof AssertionError, `did not fail, or otherwise: ${String(error)}`)
  return error
}

describe('engine.expect', () => {
  it('gives what the work gives when the records have changed as expected', async () => {
    await using engine = await start()
    const { body } = await engine.expect({ orders: 1, order_items: 2 }, () =>
      engine.handle('POST', '/v1/orders', undefined, { title: 'x', items: [{ count: 1 }, { count: 2 }] }),
    )
    assert.equal(body.order.id, 2)
    assert.equal(await engine.expect({}, () => 5), 5)
  })

  it('counts rows whoever changes them: requests, the entity manager, a cascade of SQLite', async () => {
    await using engine = await start()
    await engine.expect({ orders: -1, order_items: { deleted: 2 } }, () => engine.handle('DELETE', '/v1/orders/1'))
    await engine.expect({ labels: { inserted: 1, updated: 1 } }, async () => {
      const em = engine.orm.em.fork()
      em.create(Label, { name: 'x' })
      ;(await em.findOneOrFail(Label, 1)).name = 'y'
      await em.flush()
    })
    await engine.expect({ labels: 2 }, () => engine.seed({ labels: [{ name: 'a' }, { name: 'b' }] }))
  })

  it('takes resources by any of their names', async () => {
    await using engine = await start()
    await engine.expect({ orderItem: 0, label: { updated: 1 } }, () => engine.handle('PUT', '/v1/labels/1', undefined, { name: 'z' }))
  })

  it('counts a changed list as an update of its owner', async () => {
    await using engine = await start()
    await engine.expect({ orders: { updated: 1 } }, () => engine.handle('PUT', '/v1/orders/1', undefined, { labels: [1] }))
  })

  it('expects of resources that are not named that their number stays the same, and nothing else', async () => {
    await using engine = await start()
    await engine.expect({}, () => engine.handle('PUT', '/v1/labels/1', undefined, { name: 'z' }))
    await failureOf(engine, {}, () => engine.handle('POST', '/v1/labels', undefined, { name: 'x' }))
    await engine.expect({ orders: 0, '*': 'any' }, () => engine.handle('POST', '/v1/labels', undefined, { name: 'x' }))
    await engine.expect({ labels: 'any' }, () => engine.handle('POST', '/v1/labels', undefined, { name: 'x' }))
    await engine.expect({ '*': {} }, () => engine.handle('GET', '/v1/labels'))
    await failureOf(engine, { '*': {} }, () => engine.handle('PUT', '/v1/labels/1', undefined, { name: 'zz' }))
  })

  it('fails with a table of what was expected and what has happened, and the requests that did it', async () => {
    await using engine = await start()
    await engine.handle('POST', '/v1/labels', undefined, { name: 'before' })
    const error = await failureOf(engine, { orders: 2, order_items: { updated: 1 }, labels: 'any' }, async () => {
      await engine.handle('POST', '/v1/orders', undefined, { title: 'x', items: [{ count: 1 }] })
      await engine.handle('POST', '/v1/orders', undefined, { tilte: 'y' })
      await engine.handle('PUT', '/v1/order_items/1', undefined, { count: 5 })
    })
    assert.equal(
      error.message,
      [
        'Unexpected row changes:',
        '',
        '     resource     expected   actual',
        '  !  orders       +2         +1',
        '  !  order_items  1 updated  1 inserted, 1 updated',
        '     labels       any        0',
        '',
        'Requests:',
        '  POST /v1/orders 200: orders 1 inserted; order_items 1 inserted',
        '  POST /v1/orders 422: no changes',
        '  PUT /v1/order_items/1 200: order_items 1 updated',
        '',
        'Total: orders 1 inserted; order_items 1 inserted, 1 updated',
      ].join('\n'),
    )
    assert.deepEqual(error.expected, { orders: 2, order_items: { inserted: 0, updated: 1, deleted: 0 } })
    assert.deepEqual(error.actual, { orders: 1, order_items: { inserted: 1, updated: 1, deleted: 0 } })
    assert.equal(error.operator, 'engine.expect')
  })

  it('says of requests whose changes are no longer kept that they are not', async () => {
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text(), seen: p.integer() } })
    await using engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ id: 1, text: 'x'.repeat(2 ** 20), seen: 0 }] } })
    const { message } = await failureOf(engine, { notes: 1 }, async () => {
      for (let seen = 1; seen <= 20; seen++) await engine.handle('PUT', '/v1/notes/1', { attributes: 'id' }, { seen })
    })
    assert.match(message, /^ {2}PUT \/v1\/notes\/1 200: changes that are no longer kept$/m)
    assert.match(message, /^ {2}PUT \/v1\/notes\/1 200: notes 1 updated$/m)
    assert.equal(engine.requests[0]!.changes, undefined)
  })

  it('tells of resources that are not named only where they are at fault', async () => {
    await using engine = await start()
    const { message } = await failureOf(engine, { orders: 0 }, () => engine.handle('POST', '/v1/labels', undefined, { name: 'x' }))
    assert.match(message, /^ {2}! {2}labels +0 +\+1 +\(not named\)$/m)
    assert.doesNotMatch(message, /order_items/)
  })

  it('works without the journal, of which it then cannot tell', async () => {
    await using engine = await start({ journal: 0 })
    await engine.expect({ labels: { updated: 1 } }, () => engine.handle('PUT', '/v1/labels/1', undefined, { name: 'z' }))
    const { message } = await failureOf(engine, {}, () => engine.handle('POST', '/v1/labels', undefined, { name: 'x' }))
    assert.match(message, /none in the journal/)
    assert.match(message, /Total: labels 1 inserted/)
  })

  it('does not count what is rolled back', async () => {
    await using engine = await start()
    await engine.expect({ '*': {} }, async () => {
      await engine.handle('POST', '/v1/orders', undefined, { title: 'x', labels: [99] })
      await engine.orm.em
        .fork()
        .transactional(async em => {
          em.create(Label, { name: 'x' })
          await em.flush()
          throw new Error('no')
        })
        .catch(() => {})
    })
  })

  it('tells of entities that are not served', async () => {
    await using engine = await start({ resources: [resource(Label, { versions: [] })], seed: { orders: seed.orders } })
    const work = async (): Promise<void> => {
      const em = engine.orm.em.fork()
      em.create(Label, { name: 'x' })
      await em.flush()
    }
    await engine.expect({ labels: 1 }, work)
    await failureOf(engine, {}, work)
  })

  it('lets errors of the work pass', async () => {
    await using engine = await start()
    const error = new Error('mine')
    await assert.rejects(
      engine.expect({ orders: 1 }, () => {
        throw error
      }),
      error,
    )
    await assert.rejects(
      engine.expect({ orders: 1 }, () => Promise.reject(error)),
      error,
    )
    await engine.expect({ labels: 1 }, () => engine.handle('POST', '/v1/labels', undefined, { name: 'x' }))
  })

  it('refuses expectations that are not of their form', async () => {
    await using engine = await start()
    const refused = async (changes: unknown, message: RegExp): Promise<void> => {
      await assert.rejects(
        engine.expect(changes as ExpectedChanges, () => assert.fail('the work has been done')),
        (error: Error) => error instanceof TypeError && message.test(error.message),
      )
    }
    await refused({ oders: 1 }, /there is no resource "oders"\. Did you mean "orders"\? Resources: orders, order_items, labels\./)
    await refused({ orders: 1.5 }, /"orders" must be an integer, \{ inserted, updated, deleted \} or "any"/)
    await refused({ orders: '1' }, /"orders" must be an integer/)
    await refused({ orders: undefined }, /"orders" must be an integer/)
    await refused({ orders: { insreted: 1 } }, /unknown option "insreted"\. Did you mean "inserted"\?/)
    await refused({ orders: { inserted: -1 } }, /"inserted" must be an integer of 0 or more/)
    await refused({ orders: 1, order: 1 }, /"orders" is named twice/)
    await refused([], /must be an object/)
    await refused(undefined, /must be an object/)
    await assert.rejects(engine.expect({}, 5 as never), /the second argument must be a function/)
    await engine.close()
    await assert.rejects(
      engine.expect({}, () => 1),
      /The engine is closed/,
    )
  })

  it('may be nested', async () => {
    await using engine = await start()
    await engine.expect({ labels: { inserted: 2 } }, async () => {
      await engine.handle('POST', '/v1/labels', undefined, { name: 'x' })
      await engine.expect({ labels: { inserted: 1 } }, () => engine.handle('POST', '/v1/labels', undefined, { name: 'y' }))
    })
  })
})
