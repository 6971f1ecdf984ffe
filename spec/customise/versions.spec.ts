/** Versions: one model, shown in two ways; and the look-up, by which the application says what a name means. */
import { EntitySchema } from '@mikro-orm/core'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RestEngine, resource } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { Crate, data, entities, Item, Label, Shop, Tag, start } from './world.ts'
import type { Asked } from './world.ts'

const versions: Partial<EngineOptions> = {
  versions: ['v1', 'v3'],
  resources: [
    resource(Item, { versions: ['v1'], attributes: { secret: { private: true } } }),
    resource(Item, {
      versions: ['v3'],
      name: 'products',
      singular: 'product',
      depth: 0,
      attributes: { price: { private: true }, name: { render: name => name.toUpperCase() } },
      computed: { cents: { type: 'integer', sql: alias => `${alias}.price * 100` } },
      scope: () => ({ id: { $ne: 2 } }),
    }),
    resource(Label, { versions: ['v1'] }),
    resource(Crate, { versions: ['v3'], access: { delete: false } }),
  ],
}
// A seed speaks of the resources of the first version.
const { crates: _, ...seed } = data
const world = async (): Promise<Asked> => {
  const asked = await start({ ...versions, seed })
  const em = asked.engine.orm.em.fork()
  for (const id of [1, 2]) em.create(Crate, { id, weight: 1, shop: 1 })
  await em.flush()
  return asked
}

describe('two versions', () => {
  it('show one model under different names, with different attributes, defaults, rules and computed attributes', async () => {
    await using asked = await world()
    const old = (await asked.get('/v1/items/1')).body
    const recent = (await asked.get('/v3/products/1')).body
    assert.deepEqual(
      [old.resource, Object.keys(old.item)],
      ['item', ['id', 'name', 'price', 'code', 'size', 'removedOn', 'shop', 'tags', 'label']],
    )
    assert.deepEqual(recent.product, {
      id: 1,
      name: 'APPLE',
      secret: 'xa',
      code: 'A',
      size: { width: 1, height: 2 },
      removedOn: null,
      cents: 1000,
    })
    assert.equal((await asked.get('/v1/items')).body.count, 4)
    assert.equal((await asked.get('/v3/products')).body.count, 3)
    assert.equal((await asked.get('/v1/items/2')).status, 200)
    assert.equal((await asked.get('/v3/products/2')).status, 404)
  })

  it('know only their own names', async () => {
    await using asked = await world()
    for (const [path, code] of [
      ['/v3/items', 'resource_unknown'],
      ['/v1/products', 'resource_unknown'],
      ['/v3/labels', 'resource_unknown'],
      ['/v1/crates', 'resource_unknown'],
      ['/v2/items', 'version_unknown'],
      ['/items', 'version_unknown'],
    ] as const) {
      const { status, body } = await asked.get(path)
      assert.deepEqual([status, body.code], path === '/v1/crates' ? [404, 'resource_unknown'] : [404, code], path)
    }
    assert.equal((await asked.get('/v1/items', { cents: 1 })).status, 400)
    assert.equal((await asked.get('/v3/products', { price: 1 })).status, 400)
    assert.deepEqual((await asked.get('/v3/products', { cents: 3000 })).body.count, 1)
  })

  it('do not show relations to what is absent in one of them', async () => {
    await using asked = await world()
    assert.ok('label' in (await asked.get('/v1/items/1')).body.item)
    assert.ok(!('label' in (await asked.get('/v3/products/1', { depth: 2 })).body.product))
    assert.ok(!('crates' in (await asked.get('/v1/shops/1')).body.shop))
    assert.deepEqual((await asked.get('/v3/shops/1')).body.shop.crates, [1, 2])
    for (const query of [{ label: 1 }, { sort: 'label.text' }, { expand: 'label' }, { attributes: 'label' }]) {
      assert.equal((await asked.get('/v3/products', query as never)).status, 400)
    }
    assert.equal((await asked.get('/v3/products/1/label')).status, 404)
  })

  it('call relations alike, and show behind them what the version shows', async () => {
    await using asked = await world()
    const { body } = await asked.get('/v3/shops/1', { depth: 2 })
    assert.deepEqual(
      body.shop.items.map(({ name }: { name: string }) => name),
      ['APPLE'],
    )
    assert.equal((await asked.get('/v3/shops/1/items')).body.resource, 'products')
    assert.equal((await asked.get('/v1/shops/1/items')).body.resource, 'items')
  })

  it('write with the rules of their own, and point to records in their own version', async () => {
    await using asked = await world()
    const recent = await asked.call('POST', '/v3/products', {}, { name: 'x', price: 5 })
    assert.deepEqual([recent.status, recent.body.product.cents], [200, 500])
    assert.match(recent.headers['location']!, /^\/v3\/products\/\d+$/)
    const appended = await asked.call('POST', '/v3/shops/1/items', {}, { name: 'y' })
    assert.match(appended.headers['location']!, /^\/v3\/products\/\d+$/)
    assert.match((await asked.call('POST', '/v1/shops/1/items', {}, { name: 'y' })).headers['location']!, /^\/v1\/items\/\d+$/)
    assert.equal((await asked.call('POST', '/v3/products', {}, { name: 'x', cents: 5 })).status, 422)
    assert.equal((await asked.call('DELETE', '/v3/crates/1')).status, 403)
  })

  it('have each their index', async () => {
    await using asked = await world()
    assert.deepEqual((await asked.get('/v1')).body.resources, {
      shops: '/v1/shops',
      items: '/v1/items',
      tags: '/v1/tags',
      labels: '/v1/labels',
    })
    const { body } = await asked.get('/v3')
    assert.deepEqual(body.versions, ['v1', 'v3'])
    assert.deepEqual(body.resources, { shops: '/v3/shops', products: '/v3/products', tags: '/v3/tags', crates: '/v3/crates' })
    assert.deepEqual((await asked.get('/')).body.resources, (await asked.get('/v1')).body.resources)
  })

  it('keep their links to themselves', async () => {
    await using asked = await world()
    assert.match((await asked.get('/v3/products', { limit: 1 })).body.next, /^\/v3\/products\?/)
    assert.match((await asked.get('/v1/item', { limit: 1 })).body.next, /^\/v1\/item\?/)
  })

  const WRONG: [string, Partial<EngineOptions>, RegExp][] = [
    [
      'an unknown version of a resource',
      { resources: [resource(Item, { versions: ['v2'] })] },
      /unknown version "v2"\. Did you mean "v1"\?/,
    ],
    [
      'two definitions for one version',
      { resources: [resource(Item, {}), resource(Item, {})] },
      /resource\(Item\) is given twice for the version v1/,
    ],
    [
      'two definitions that overlap',
      { versions: ['v1', 'v3'], resources: [resource(Item, {}), resource(Item, { versions: ['v3'] })] },
      /given twice for the version v3/,
    ],
    ['one name for two resources', { resources: [resource(Item, { name: 'shops' })] }, /would both answer to "shops"/],
    ['the name of a key of the answers', { resources: [resource(Item, { name: 'count' })] }, /"count".*key of the answers/],
    ['a version that is no segment', { versions: ['v/1'] }, /"versions" must be an array of path segments/],
    ['a version that is empty', { versions: [''] }, /"versions" must be an array of path segments/],
  ]
  for (const [what, options, message] of WRONG) {
    it(`are refused when the engine is created: ${what}`, () => assert.rejects(RestEngine.create({ entities, ...options }), message))
  }
})

describe('a name', () => {
  it('replaces the default ones', async () => {
    const { items, tags, ...others } = data
    await using asked = await start({
      resources: [resource(Item, { name: 'goods', singular: 'good' }), resource(Tag, { name: 'marks' })],
      seed: { ...others, goods: items, marks: tags },
    })
    assert.equal((await asked.get('/v1/goods')).body.goods.length, 4)
    assert.equal((await asked.get('/v1/good/1')).body.good.id, 1)
    assert.equal((await asked.get('/v1/marks/1')).body.marks.id, 1, 'without a singular it is the same')
    for (const path of ['/v1/items', '/v1/item', '/v1/tags', '/v1/mark']) assert.equal((await asked.get(path)).status, 404)
    assert.equal((await asked.get('/v1/shops/1/items')).body.resource, 'goods')
  })
})

describe('a look-up', () => {
  it('replaces the default one, and tells the resource by name and version', async () => {
    const asked: [string, string][] = []
    await using world = await start({
      versions: ['v1', 'v3'],
      lookup: (name, version) => {
        asked.push([name, version])
        if (name === 'things' || (name === 'stücke' && version === 'v3')) return Item
        return name === 'markets' ? Shop : undefined
      },
    })
    assert.equal((await world.get('/v1/things')).body.items.length, 4)
    assert.equal((await world.get('/v3/st%C3%BCcke/1')).body.item.id, 1)
    assert.equal((await world.get('/v1/st%C3%BCcke')).status, 404)
    assert.equal((await world.get('/v1/markets/1/items')).body.count, 2)
    for (const path of ['/v1/items', '/v1/shops', '/v1/nope']) {
      const { status, body } = await world.get(path)
      assert.deepEqual([status, body.code], [404, 'resource_unknown'])
    }
    assert.deepEqual(asked[0], ['things', 'v1'])
    assert.match((await world.get('/v1/things', { limit: 1 })).body.next, /^\/v1\/things\?/)
    assert.match((await world.call('POST', '/v1/things', {}, { name: 'x' })).headers['location']!, /^\/v1\/things\/\d+$/)
  })

  for (const nothing of [undefined, null]) {
    it(`that gives ${String(nothing)} is a 404`, async () => {
      await using asked = await start({ lookup: () => nothing })
      assert.equal((await asked.get('/v1/items')).status, 404)
    })
  }

  it('does not find a resource in a version in which it is absent', async () => {
    await using asked = await start({
      versions: ['v1', 'v3'],
      resources: [resource(Item, { versions: ['v1'] })],
      lookup: name => (name === 'items' ? Item : undefined),
    })
    assert.equal((await asked.get('/v1/items')).status, 200)
    const { status, body } = await asked.get('/v3/items')
    assert.deepEqual([status, body.code], [404, 'resource_unknown'])
  })

  it('that throws, or gives what is no entity of the engine, is a 500 that names the place to onError', async () => {
    await using asked = await start({
      lookup: name => {
        if (name === 'throws') throw new Error('secret')
        return new EntitySchema({ name: 'Stranger', properties: { id: { type: 'number', primary: true } } })
      },
    })
    for (const path of ['/v1/throws', '/v1/stranger']) {
      const { status, body } = await asked.get(path)
      assert.equal(status, 500)
      assert.doesNotMatch(JSON.stringify(body), /secret|Stranger|lookup/)
    }
    assert.match(String(asked.failures[1]), /lookup/)
  })
})
