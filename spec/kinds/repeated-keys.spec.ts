/** Bodies that repeat the key of their record. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Type, defineEntity, p, type EntitySchema } from '@mikro-orm/sqlite'
import { createEngine, describeStores } from '../helpers/stores.ts'

/** A value object without a JSON form of its own. */
class Sku {
  readonly #text: string
  readonly length: number
  constructor(text: string) {
    this.#text = text
    this.length = text.length
  }
  toString(): string {
    return this.#text
  }
}

class SkuType extends Type<Sku, string> {
  override convertToDatabaseValue(value: unknown): string {
    return String(value)
  }
  override convertToJSValue(value: unknown): Sku {
    return value instanceof Sku ? value : new Sku(value as string)
  }
}

const Cart: EntitySchema = defineEntity({
  name: 'Cart',
  properties: { id: p.string().primary(), items: () => p.oneToMany(CartItem).mappedBy('cart') },
})
const CartItem: EntitySchema = defineEntity({
  name: 'CartItem',
  properties: { cart: () => p.manyToOne(Cart).primary(), sku: p.type(SkuType).primary(), count: p.integer() },
})

describeStores('keys of a type whose JSON form it does not read back', () => {
  it('are shown and taken as they are stored', async () => {
    await using engine = await createEngine({ entities: [Cart, CartItem] })
    const send = async (method: string, path: string, body?: unknown) => {
      const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
      assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`)
      return answer.body[answer.body.resource]
    }
    assert.deepEqual(
      await send('POST', 'carts', {
        id: 'c',
        items: [
          { sku: 'a~b', count: 1 },
          { sku: 'x', count: 2 },
        ],
      }),
      {
        id: 'c',
        items: ['c~a%7Eb', 'c~x'],
      },
    )
    const shown = await send('GET', 'carts/c')
    assert.deepEqual(await send('PUT', 'carts/c', shown), shown)
    assert.deepEqual(await send('PUT', 'cart_items/c~x', { cart: 'c', sku: 'x', count: 3 }), { cart: 'c', sku: 'x', count: 3 })
    assert.deepEqual(await send('GET', 'cart_items?sku=x'), [{ cart: 'c', sku: 'x', count: 3 }])
    const refused = await engine.handle('POST', '/v1/cart_items', undefined, { cart: 'c', sku: { length: 1 }, count: 1 })
    assert.deepEqual([refused.status, refused.body.errors[0].attribute], [422, 'sku'])
    assert.equal((await send('DELETE', 'carts/c/items')).length, 2)
    assert.deepEqual(await send('GET', 'carts/c'), { id: 'c', items: [] })
    assert.equal((await engine.given('cart_item'))['count'] === undefined, false)
  })
})

/** Stores a bigint, and takes a number, as MikroORM reads it back. */
class NumberedType extends Type<string, bigint> {
  override convertToDatabaseValue(value: string): bigint {
    return BigInt(value.slice(1))
  }
  override convertToJSValue(value: unknown): string {
    return `n${Math.trunc(value as number)}`
  }
  override getColumnType(): string {
    return 'integer'
  }
}

describeStores('a key of a type that stores bigints', () => {
  it('is read as the number that MikroORM reads, where a property holds the key', async () => {
    const Part = defineEntity({ name: 'Part', properties: { id: p.type(NumberedType).primary(), name: p.string() } })
    const Use = defineEntity({ name: 'Use', properties: { id: p.integer().primary(), part: () => p.manyToOne(Part).mapToPk() } })
    await using engine = await createEngine({
      entities: [Part, Use],
      seed: { parts: [{ id: 'n7', name: 'a' }], uses: [{ id: 1, part: 'n7' }] },
    })
    assert.deepEqual((await engine.handle('POST', '/v1/uses', undefined, { part: 'n7' })).body.use, { id: 2, part: 'n7' })
    assert.deepEqual((await engine.handle('GET', '/v1/uses?part=n7&attributes=id')).body.uses, [{ id: 1 }, { id: 2 }])
    assert.equal((await engine.given('use'))['id'], 3)
  })
})

describeStores('a key of relations and UUIDs', () => {
  it('may be repeated in a body', async () => {
    const Owner = defineEntity({ name: 'Owner', properties: { id: p.uuid().primary() } })
    const Card = defineEntity({
      name: 'Card',
      properties: { owner: () => p.manyToOne(Owner).primary(), number: p.integer().primary(), note: p.string() },
    })
    const id = '0b2f6c2e-2f6e-4a44-9e53-6a3f2b7a5a11'
    await using engine = await createEngine({
      entities: [Owner, Card],
      seed: { owners: [{ id }], cards: [{ owner: id, number: 1, note: 'a' }] },
    })
    const { body } = await engine.handle('GET', `/v1/cards/${id}~1`)
    const put = await engine.handle('PUT', `/v1/cards/${id}~1`, undefined, { ...body.card, note: 'b' })
    assert.deepEqual([put.status, put.body.card.note], [200, 'b'])
    assert.equal((await engine.handle('PUT', `/v1/owners/${id}`, undefined, { id: id.toUpperCase() })).status, 200)
  })
})
