/** To-one relations that an SQL expression gives: by a formula, and through another entity. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import type { EntitySchema } from '@mikro-orm/core'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Rating: EntitySchema = defineEntity({
  name: 'Rating',
  properties: { id: p.integer().primary(), stars: p.integer(), shop: () => p.manyToOne(Shop) },
}) as never
const Shop: EntitySchema = defineEntity({
  name: 'Shop',
  properties: {
    id: p.integer().primary(),
    ratings: () => p.oneToMany(Rating).mappedBy('shop' as never),
    best: () =>
      p
        .oneToOne(Rating)
        .nullable()
        .formula(columns => `(select r.id from rating r where r.shop_id = ${columns['id']} order by r.stars desc, r.id limit 1)`),
    last: () =>
      p
        .manyToOne(Rating)
        .nullable()
        .through(() => Rating)
        .orderBy({ id: 'desc' } as never),
  },
}) as never

async function start(): Promise<RestEngine> {
  return createEngine({
    entities: [Shop, Rating],
    seed: {
      shops: [{ id: 1 }, { id: 2 }],
      ratings: [
        { id: 1, stars: 2, shop: 1 },
        { id: 2, stars: 5, shop: 1 },
        { id: 3, stars: 3, shop: 1 },
      ],
    },
  })
}

describeStores('to-one relations by a formula', () => {
  it('are shown, expanded, and read by their path', async () => {
    await using engine = await start()
    const get = async (path: string, query?: Record<string, string>): Promise<unknown> =>
      (await engine.handle('GET', `/v1${path}`, query)).body
    const list = (await get('/shops')) as { shops: object[] }
    assert.deepEqual(list.shops, [
      { id: 1, ratings: [1, 2, 3], best: 2, last: 3 },
      { id: 2, ratings: [], best: null, last: null },
    ])
    const { shop } = (await get('/shops/1', { expand: 'best,last', attributes: 'best.stars,last.stars' })) as { shop: object }
    assert.deepEqual(shop, { best: { stars: 5 }, last: { stars: 3 } })
    assert.deepEqual(((await get('/shops/1/best')) as { rating: object }).rating, { id: 2, stars: 5, shop: 1 })
  })

  it('are filtered and sorted by, on both sides of the list', async () => {
    await using engine = await start()
    const ids = async (query: Record<string, string>, path = 'shops'): Promise<unknown> => {
      const { status, body } = await engine.handle('GET', `/v1/${path}`, query)
      assert.equal(status, 200, JSON.stringify(body))
      return ((body as Record<string, unknown>)[path] as { id: number }[]).map(({ id }) => id)
    }
    assert.deepEqual(await ids({ best: '2' }), [1])
    assert.deepEqual(await ids({ best: 'null' }), [2])
    assert.deepEqual(await ids({ 'best.stars': '5' }), [1])
    assert.deepEqual(await ids({ sort: 'last.stars.desc' }), [1, 2])
    assert.deepEqual(await ids({ 'shop.best': '2' }, 'ratings'), [1, 2, 3])
  })

  it('cannot be written, and stand in the way of nothing', async () => {
    await using engine = await start()
    const put = await engine.handle('PUT', '/v1/shops/1', undefined, { best: 1 })
    assert.equal(put.status, 422, JSON.stringify(put.body))
    assert.equal((await engine.handle('POST', '/v1/shops', undefined, {})).status, 200)
    assert.equal((await engine.handle('DELETE', '/v1/ratings/2')).status, 200)
    const { body } = await engine.handle('GET', '/v1/shops/1')
    assert.equal((body as { shop: { best: number } }).shop.best, 3)
    assert.equal((await engine.given('shop')).best, null)
  })
})
