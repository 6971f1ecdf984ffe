/** Seeds and made-up records of classes whose constructor reads what they link, and links that the property holds as references. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../../lib/index.ts'

class Order {
  id!: number
}
class Product {
  id!: number
  price!: number
}
class OrderItem {
  order: Order
  product: Product
  offered: number
  constructor(order: Order, product: Product) {
    this.order = order
    this.product = product
    this.offered = product.price
  }
}
/* oxlint-disable typescript/no-explicit-any -- entities that refer to each other */
const id = p.integer().primary()
const Products: any = defineEntity({ class: Product, properties: { id, price: p.integer() } } as any)
const Orders: any = defineEntity({ class: Order, properties: { id, items: () => p.oneToMany(Items).mappedBy('order') } } as any)
const Items: any = defineEntity({
  class: OrderItem,
  properties: {
    order: () => p.manyToOne(Orders).primary(),
    product: () => p.manyToOne(Products).primary(),
    offered: p.integer(),
  },
} as any)
const Mark = defineEntity({
  name: 'Mark',
  properties: { id, code: p.string().unique(), uses: () => p.oneToMany(Use).mappedBy('code') },
})
const Use: any = defineEntity({
  name: 'Use',
  properties: { id, code: () => p.manyToOne(Mark).targetKey('code').ref(), of: () => p.manyToOne([Mark, Products]).ref() },
})
/* oxlint-enable typescript/no-explicit-any */

async function list(engine: RestEngine, path: string): Promise<unknown> {
  const { status, body } = await engine.handle('GET', `/v1/${path}`)
  assert.equal(status, 200, JSON.stringify(body))
  return (body as Record<string, unknown>)[(body as { resource: string }).resource]
}

describe('a constructor that reads what the record links', () => {
  const item = { order: 1, product: 1, offered: 3 }
  for (const [what, seed] of Object.entries({
    'named before what it links': { order_items: [item], orders: [{ id: 1 }], products: [{ id: 1, price: 4 }] },
    'nested in what it links': { products: [{ id: 1, price: 4 }], orders: [{ id: 1, items: [{ product: 1, offered: 3 }] }] },
    'with what it links inside': { order_items: [{ order: {}, product: { price: 4 }, offered: 3 }] },
  })) {
    it(`is given it, in a seed: ${what}`, async () => {
      await using engine = await RestEngine.create({ entities: [Items, Orders, Products], seed })
      assert.deepEqual(await list(engine, 'order_items'), [item])
    })
  }

  it('is given it by engine.given, made up or there already', async () => {
    await using engine = await RestEngine.create({ entities: [Items, Orders, Products] })
    const made = (await engine.given('order_items')) as typeof item
    assert.deepEqual([made.order, made.product], [1, 1])
    const other = (await engine.given('order_items', { order: {}, product: 1 })) as typeof item
    assert.deepEqual([other.order, other.product], [2, 1])
  })
})

describe('links by another key, and to one of several entities, that are references', () => {
  it('are set by seeds, made up, and moved', async () => {
    const seed = {
      uses: [{ id: 1, code: 1, of: { type: 'product', price: 2 } }],
      marks: [
        { id: 1, code: 'x' },
        { id: 2, code: 'y' },
      ],
    }
    await using engine = await RestEngine.create({ entities: [Use, Mark, Products], seed })
    assert.deepEqual(await list(engine, 'uses'), [{ id: 1, code: 1, of: { type: 'product', id: 1 } }])
    assert.equal(((await engine.given('uses')) as { id: number }).id, 2)
    const moved = await engine.handle('PUT', '/v1/marks/2', undefined, { uses: [1] })
    assert.equal(moved.status, 200, JSON.stringify(moved.body))
    assert.deepEqual(await list(engine, 'uses?id=1'), [{ id: 1, code: 2, of: { type: 'product', id: 1 } }])
  })
})
