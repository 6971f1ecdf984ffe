/** Seeds and made-up records of classes whose constructor reads what they link, and links that the property holds as references. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type, defineEntity, p } from '@mikro-orm/core'
import { MikroORM } from '@mikro-orm/sqlite'
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

class Label {
  key: string
  size = 1
  constructor(key: string) {
    this.key = key
  }
}
class Parcel {
  id!: number
  labels: Label[]
  constructor(labels: Label[]) {
    this.labels = labels.filter(label => label instanceof Label)
  }
}

describe('a constructor that takes a list of embedded objects', () => {
  it('is given objects, in a request, in a seed and by engine.given', async () => {
    const Labels = defineEntity({ class: Label, embeddable: true, properties: { key: p.string(), size: p.integer() } } as never)
    const Parcels = defineEntity({ class: Parcel, properties: { id, labels: () => p.embedded(Labels as never).array() } } as never)
    const labels = [
      { key: 'a', size: 2 },
      { key: 'b', size: 3 },
    ]
    await using engine = await RestEngine.create({ entities: [Parcels] as never, seed: { parcels: [{ labels }] } })
    const made = await engine.handle('POST', '/v1/parcels', undefined, { labels })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.deepEqual(await list(engine, 'parcels'), [
      { id: 1, labels },
      { id: 2, labels },
    ])
    assert.equal(((await engine.given('parcel', { labels: [{}] })) as { labels: unknown[] }).labels.length, 1)
  })

  it('leaves other instances of MikroORM in the app as they are', async () => {
    class Sticker extends Label {}
    class Crate extends Parcel {}
    const Stickers = defineEntity({ class: Sticker, embeddable: true, properties: { key: p.string(), size: p.integer() } } as never)
    const Crates = defineEntity({ class: Crate, properties: { id, labels: () => p.embedded(Stickers as never).array() } } as never)
    await using engine = await RestEngine.create({ entities: [Products] })
    assert.equal((await engine.handle('GET', '/v1/products')).status, 200)
    const orm = await MikroORM.init({ entities: [Crates] as never, dbName: ':memory:' })
    assert.throws(() => orm.em.fork().create(Crate, { labels: [{ key: 'a', size: 2 }] } as never), TypeError)
    await orm.close()
  })
})

describe('a property that holds the key of a new record, which is a relation', () => {
  it('is set once that key is known', async () => {
    const text = p.string().primary()
    const Base = defineEntity({ name: 'Base', properties: { id: text } })
    const Detail = defineEntity({ name: 'Detail', properties: { base: () => p.oneToOne(Base).primary(), name: p.string() } })
    const Holder = defineEntity({ name: 'Holder', properties: { id: text, detail: () => p.manyToOne(Detail).mapToPk() } })
    await using engine = await RestEngine.create({ entities: [Base, Detail, Holder] })
    const holder = (await engine.given('holder')) as { detail: string }
    assert.deepEqual(await list(engine, 'details?attributes=base'), [{ base: holder.detail }])
  })
})

describe('a link with a default', () => {
  it('links the record of the default, which given says must be there', async () => {
    const State = defineEntity({ name: 'State', properties: { name: p.string().primary() } })
    const Task = defineEntity({ name: 'Task', properties: { id, state: () => p.manyToOne(State).default('open') } })
    await using engine = await RestEngine.create({ entities: [State, Task] })
    await assert.rejects(
      engine.given('task'),
      /^RestError: given: "state" was left to its default, which links a record that must be there/,
    )
    assert.equal(((await engine.given('task', { state: {} })) as { id: number }).id, 1)
    await engine.given('state', { name: 'open' })
    assert.equal(((await engine.given('task')) as { state: string }).state, 'open')
  })
})

describe('a key of a custom type in a column of integers', () => {
  it('is made up as an integer, though the type takes any text', async () => {
    class Mark {
      readonly value: unknown
      constructor(value: unknown) {
        this.value = value
      }
    }
    class MarkType extends Type<unknown, unknown> {
      override convertToDatabaseValue(value: unknown): unknown {
        return value instanceof Mark ? value.value : value
      }
      override convertToJSValue(value: unknown): unknown {
        return typeof value === 'string' ? new Mark(value) : value
      }
      override getColumnType(): string {
        return 'integer'
      }
    }
    const Marked = defineEntity({ name: 'Marked', properties: { id: p.type(MarkType).primary().autoincrement(false), name: p.string() } })
    await using engine = await RestEngine.create({ entities: [Marked] })
    assert.equal(typeof ((await engine.given('marked')) as { id: unknown }).id, 'number')
    assert.equal((await engine.handle('POST', '/v1/marked', undefined, { id: 'x', name: 'a' })).status, 422)
  })
})
