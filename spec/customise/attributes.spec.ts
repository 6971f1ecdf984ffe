/** Rules of attributes: what a renderer is given, what it may give, and what becomes of the rest. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestError, resource } from '../../lib/index.ts'
import type { HookContext } from '../../lib/index.ts'
import { Item, Label, Shop, Tag, rows, start } from './world.ts'

describe('render', () => {
  it('gives another value, at once or later', async () => {
    await using asked = await start({
      resources: [
        resource(Item, {
          attributes: {
            name: { render: name => name.toUpperCase() },
            price: { render: async price => Promise.resolve({ cents: price * 100 }) },
          },
        }),
      ],
    })
    const { body } = await asked.get('/v1/items/1')
    assert.equal(body.item.name, 'APPLE')
    assert.deepEqual(body.item.price, { cents: 1000 })
    assert.deepEqual(Object.keys(body.item).slice(0, 3), ['id', 'name', 'price'], 'in the place of the attribute')
  })

  it('leaves the attribute out by undefined, record by record', async () => {
    await using asked = await start({
      resources: [resource(Item, { attributes: { secret: { render: (value, record) => (record['id'] === 2 ? undefined : value) } } })],
    })
    const { body } = await asked.get('/v1/items', { attributes: 'id,secret' })
    assert.deepEqual(body.items, [{ id: 1, secret: 'xa' }, { id: 2 }, { id: 3, secret: 'xc' }, { id: 4, secret: 'xd' }])
    assert.doesNotMatch(JSON.stringify((await asked.get('/v1/items/2/secret')).body), /xb/)
  })

  it('of a key changes nothing of which records DELETE of a list removes', async () => {
    await using asked = await start({ resources: [resource(Tag, { attributes: { id: { render: id => id + 1 } } })] })
    const { body } = await asked.call('DELETE', '/v1/items/1/tags')
    assert.deepEqual(
      body.tags.map((tag: { id: number }) => tag.id),
      [2, 3],
    )
    assert.deepEqual((await asked.get('/v1/tags', { attributes: 'name' })).body.tags, [{ name: 'rotten' }])
  })

  it('is given null for an SQL NULL', async () => {
    const given: unknown[] = []
    await using asked = await start({
      resources: [resource(Item, { attributes: { removedOn: { render: value => (given.push(value), null) } } })],
    })
    await asked.get('/v1/items')
    assert.deepEqual(given, [null, '2026-01-01', null, null])
  })

  it('is given the stored value in its JSON form, whatever its type', async () => {
    const Kinds = defineEntity({
      name: 'Kind',
      properties: {
        id: p.integer().primary(),
        at: p.datetime(),
        day: p.date(),
        time: p.time(),
        big: p.bigint(),
        money: p.decimal().precision(8).scale(2),
        bytes: p.blob(),
        yes: p.boolean(),
        json: p.json<object>(),
        half: p.double(),
      },
    })
    const given: Record<string, unknown> = {}
    const keep = (name: string) => ({ render: (value: unknown) => ((given[name] = value), value) })
    const values = {
      at: '2026-01-02T03:04:05.678Z',
      day: '2026-01-02',
      time: '03:04:05',
      big: '9007199254740993',
      money: '1.50',
      bytes: 'AQID',
      yes: true,
      json: { a: [1] },
      half: 0.5,
    }
    await using asked = await start({
      entities: [Kinds],
      seed: { kinds: [{ id: 1, ...values }] },
      resources: [resource(Kinds, { attributes: Object.fromEntries(Object.keys(values).map(name => [name, keep(name)])) })],
    })
    const { body } = await asked.get('/v1/kinds/1')
    assert.deepEqual(given, values)
    assert.deepEqual(body.kind, { id: 1, ...values })
  })

  it('is given the stored plain attributes of the record, private and left out ones too, as they are stored', async () => {
    const records: unknown[] = []
    await using asked = await start({
      resources: [
        resource(Item, {
          attributes: {
            secret: { private: true },
            code: { render: () => 'rendered' },
            name: { render: (name, record) => (records.push(record), `${name} ${String(record['secret'])}`) },
          },
        }),
      ],
    })
    const { body } = await asked.get('/v1/items', { attributes: 'name', id: 1 })
    assert.deepEqual(body.items, [{ name: 'apple xa' }])
    assert.deepEqual(records, [
      { id: 1, name: 'apple', price: 10, secret: 'xa', code: 'A', size: { width: 1, height: 2 }, removedOn: null },
    ])
  })

  it('is given the whole embedded object, whatever is selected of it', async () => {
    const given: unknown[] = []
    await using asked = await start({
      resources: [resource(Item, { attributes: { size: { render: value => (given.push(value), 'big') } } })],
    })
    await asked.get('/v1/items/1', { attributes: 'size.width' })
    await asked.get('/v1/items/1')
    assert.deepEqual(given, [
      { width: 1, height: 2 },
      { width: 1, height: 2 },
    ])
  })

  it('is given the request', async () => {
    await using asked = await start({
      resources: [
        resource(Item, {
          attributes: { name: { render: (name, _, ctx) => `${name} for ${ctx.headers['x-for']} by ${ctx.method} ${ctx.path}` } },
        }),
      ],
    })
    const { body } = await asked.call('GET', '/v1/items/1', { depth: 0 }, undefined, { 'x-for': 'Ann' })
    assert.equal(body.item.name, 'apple for Ann by GET /v1/items/1')
  })

  it('takes relations too, as they are shown', async () => {
    await using asked = await start({
      resources: [
        resource(Item, {
          attributes: { shop: { render: shop => ({ ref: shop }) }, tags: { render: tags => (tags as unknown[]).length } },
        }),
      ],
    })
    const { body } = await asked.get('/v1/items/1', { attributes: 'shop,tags' })
    assert.deepEqual(body.item, { shop: { ref: 1 }, tags: 2 })
    const deep = await asked.get('/v1/items/1', { attributes: 'shop.name', depth: 2 })
    assert.deepEqual(deep.body.item, { shop: { ref: { name: 'north' } } })
  })

  it('honours toJSON, so that dates are texts', async () => {
    await using asked = await start({ resources: [resource(Item, { attributes: { name: { render: () => new Date(0) } } })] })
    assert.equal((await asked.get('/v1/items/1/name')).body.value, '1970-01-01T00:00:00.000Z')
  })

  const circle: unknown[] = []
  circle.push(circle)
  const WRONG: [string, unknown][] = [
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['an infinity', Infinity],
    ['a circle', circle],
    ['a bigint inside an object', { a: [1n] }],
    ['NaN inside an object', { a: [Number.NaN] }],
    ['a function inside an object', { a: () => 1 }],
    ['a Map', new Map([['secret', 1]])],
    ['a Set', new Set([1])],
  ]
  for (const [what, value] of WRONG) {
    it(`that gives ${what} is a 500, which names the place to onError and tells the client nothing`, async () => {
      await using asked = await start({ resources: [resource(Item, { attributes: { secret: { render: () => value } } })] })
      for (const path of ['/v1/items', '/v1/items/1', '/v1/items/1/secret', '/v1/shops/1/items']) {
        asked.failures.length = 0
        const { status, body } = await asked.get(path)
        assert.equal(status, 500, JSON.stringify(body))
        assert.equal(body.code, 'internal_error')
        assert.doesNotMatch(JSON.stringify(body), /secret|render|JSON/)
        assert.equal(asked.failures.length, 1)
        assert.match(String(asked.failures[0]), /"secret"/)
      }
    })
  }

  it('that throws is a 500 without its text, and one that throws a RestError is that error', async () => {
    const thrown = [new Error('the database password is 12345'), new RestError(451, 'not_here', 'Not in your country.')]
    let turn = 0
    await using asked = await start({
      resources: [
        resource(Item, {
          attributes: {
            name: {
              render: () => {
                throw thrown[turn]!
              },
            },
          },
        }),
      ],
    })
    const hidden = await asked.get('/v1/items/1')
    assert.equal(hidden.status, 500)
    assert.doesNotMatch(JSON.stringify(hidden.body), /12345/)
    assert.equal(asked.failures[0], thrown[0])
    turn = 1
    const told = await asked.get('/v1/items/1')
    assert.deepEqual([told.status, told.body.code, told.body.detail], [451, 'not_here', 'Not in your country.'])
  })

  it('that throws in the answer of a write takes the write back', async () => {
    await using asked = await start({
      resources: [
        resource(Item, {
          attributes: {
            name: {
              render: () => {
                throw new Error('no')
              },
            },
          },
        }),
      ],
    })
    assert.equal((await asked.call('POST', '/v1/items', {}, { name: 'x' })).status, 500)
    assert.equal((await asked.call('PUT', '/v1/items/1', {}, { price: 11 })).status, 500)
    assert.equal((await asked.call('DELETE', '/v1/items/4')).status, 500)
    assert.deepEqual(
      (await rows(asked.engine, 'select id, price from item order by id')).map(row => Object.values(row)),
      [
        [1, 10],
        [2, 99],
        [3, 30],
        [4, 40],
      ],
    )
  })

  it('may ask the engine, also in a write', async () => {
    await using asked = await start({
      resources: [
        resource(Shop, {
          attributes: {
            name: {
              render: async (name, record, ctx: HookContext) => {
                const { body } = await ctx.engine.handle('GET', `/v1/shops/${String(record['id'])}/items`, { limit: 0 })
                return `${name} (${(body as { count: number }).count})`
              },
            },
          },
        }),
      ],
    })
    assert.equal((await asked.get('/v1/shops/1/name')).body.value, 'north (2)')
    const created = await asked.call('POST', '/v1/shops', {}, { name: 'x', items: [{ name: 'y' }] })
    assert.equal(created.body.shop.name, 'x (1)')
  })
})

describe('an attribute', () => {
  it('can be closed to filters or sorts alone', async () => {
    await using asked = await start({
      resources: [resource(Item, { attributes: { name: { filterable: false }, price: { sortable: false }, size: { filterable: false } } })],
    })
    for (const query of [{ name: 'apple' }, { 'name~=': 'A*' }, { 'name|code': 'A' }, { 'size.width': 1 }]) {
      const { status, body } = await asked.get('/v1/items', query)
      assert.deepEqual([status, body.errors[0].code], [400, 'not_filterable'])
    }
    assert.deepEqual(await asked.ids('/v1/items', { sort: 'name.desc' }), [4, 3, 2, 1])
    const { status, body } = await asked.get('/v1/items', { sort: 'price' })
    assert.deepEqual([status, body.errors[0].code, body.errors[0].parameter], [400, 'not_sortable', 'sort'])
    assert.deepEqual(await asked.ids('/v1/items', { 'price>': 30, sort: 'size.width.desc' }), [2, 4])
  })

  it('that is rendered can be opened to filters and sorts by its stored value', async () => {
    await using asked = await start({
      resources: [resource(Label, { attributes: { text: { render: () => '*', filterable: true, sortable: true } } })],
    })
    assert.deepEqual(await asked.ids('/v1/labels', { text: 't*', sort: 'text' }), [3, 2])
  })

  it('that is required may be read-only, for hooks to fill in', async () => {
    await using asked = await start({
      resources: [resource(Label, { attributes: { item: { readOnly: true } } })],
      seed: {},
    })
    assert.equal((await asked.call('POST', '/v1/labels', {}, { text: 'x' })).status, 200)
    const { status, body } = await asked.call('POST', '/v1/labels', {}, { text: 'x', item: null })
    assert.deepEqual([status, body.errors[0].code, body.errors[0].attribute], [422, 'read_only', 'item'])
  })
})
