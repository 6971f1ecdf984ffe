/**
 * A to-one with `persist: false` shows what another column holds: neither it nor its other side can be written, and each refusal says so.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Shop = defineEntity({
  name: 'Shop',
  properties: { id: p.integer().primary(), name: p.string(), items: () => p.oneToMany(Item).mappedBy('shop') },
})
const Item = defineEntity({
  name: 'Item',
  properties: {
    id: p.integer().primary(),
    shopId: p.integer().nullable().fieldName('shop_id'),
    shop: () => p.manyToOne(Shop).persist(false).joinColumn('shop_id').nullable(),
  },
})

describeStores('a to-one that is not stored', () => {
  it('is shown from both sides, and written from neither', async () => {
    const seed = { shops: [{ id: 1, name: 'a' }], items: [{ id: 1 }, { id: 2, shopId: 1 }] }
    await using engine = await createEngine({ entities: [Shop, Item], seed })
    const list = async (): Promise<unknown> => (await engine.handle('GET', '/v1/items')).body.items
    const before = [
      { id: 1, shopId: null, shop: null },
      { id: 2, shopId: 1, shop: 1 },
    ]
    assert.deepEqual(await list(), before)
    assert.deepEqual((await engine.handle('GET', '/v1/shops/1')).body.shop, { id: 1, name: 'a', items: [2] })
    for (const [method, path, body, attribute] of [
      ['POST', 'items', { shop: 1 }, 'shop'],
      ['PUT', 'items/1/shop', 1, 'shop'],
      ['PUT', 'shops/1', { items: [1] }, 'items'],
      ['PUT', 'shops/1/items', [1], 'items'],
      ['POST', 'shops', { name: 'b', items: [{}] }, 'items'],
    ] as const) {
      const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
      assert.deepEqual(
        [answer.status, answer.body.errors?.[0]?.code, answer.body.errors?.[0]?.attribute],
        [422, 'read_only', attribute],
        path,
      )
    }
    const appended = await engine.handle('POST', '/v1/shops/1/items', undefined, {})
    assert.deepEqual([appended.status, appended.body.code], [400, 'action_not_possible'])
    assert.match(appended.body.detail, /^POST appends to a list, and "items" is read-only\.$/)
    assert.equal(appended.headers['allow']?.includes('POST'), false)
    assert.deepEqual(await list(), before)
    const { paths } = (await engine.openapi()) as { paths: Record<string, object> }
    assert.equal('post' in paths['/v1/shops/{id}/items']!, false)
    assert.equal('post' in paths['/v1/shops']!, true)
  })
})
