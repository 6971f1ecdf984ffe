/**
 * Conditions: a scope says in MikroORM's own language which rows exist, so it must find the rows that MikroORM itself finds. Each condition
 * is given to both (a copy to MikroORM, which changes what it is given). What differs by NULLs, nesting or negation would show or hide the
 * wrong rows.
 */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { after, before, describe, it } from 'node:test'
import type { FilterQuery } from '@mikro-orm/core'
import { sql } from '@mikro-orm/core'
import type { InferEntity } from '@mikro-orm/sqlite'
import { resource } from '../../lib/index.ts'
import type { HookContext } from '../../lib/index.ts'
import { Item, start } from './world.ts'
import type { Asked } from './world.ts'

type Condition = FilterQuery<InferEntity<typeof Item>>

const CONDITIONS: Condition[] = [
  {},
  { id: 1 },
  { id: [1, 3] },
  { id: { $in: [1, 3] } },
  { id: { $nin: [1, 3] } },
  { id: { $gt: 1, $lt: 4 } },
  { id: { $gte: 2 }, price: { $lte: 40 } },
  { name: 'apple' },
  { name: { $ne: 'apple' } },
  { name: { $like: 'B%' } },
  { name: { $like: '%an%' } },
  { removedOn: null },
  { removedOn: { $ne: null } },
  { removedOn: '2026-01-01' },
  { removedOn: { $ne: '2026-01-01' } },
  { removedOn: { $gt: '2025-01-01' } },
  { removedOn: { $exists: true } },
  { removedOn: { $exists: false } },
  { $not: { removedOn: '2026-01-01' } },
  { $not: { removedOn: { $gt: '2026-06-01' } } },
  { $not: { removedOn: null } },
  { $not: { removedOn: { $ne: '2026-01-01' } } },
  { $not: { $not: { removedOn: '2026-01-01' } } },
  { $not: { price: { $gt: 30 }, name: 'banana' } },
  { $not: { $or: [{ price: { $gt: 30 } }, { removedOn: { $gt: '2026-06-01' } }] } },
  { $or: [{ name: 'apple' }, { price: 40 }] },
  { $and: [{ price: { $gt: 10 } }, { price: { $lt: 99 } }] },
  { $or: [{ $and: [{ id: 1 }, { name: 'apple' }] }, { $not: { id: { $lt: 4 } } }] },
  { shop: 1 },
  { shop: [1, 2] },
  { shop: { $ne: 1 } },
  { shop: { $in: [2, 3] } },
  { shop: { $nin: [1] } },
  { shop: null },
  { shop: { $ne: null } },
  { shop: { id: 1 } },
  { shop: { name: 'north' } },
  { shop: { name: { $ne: 'north' } } },
  { shop: { name: null } },
  { $not: { shop: { name: 'north' } } },
  { $not: { shop: 1 } },
  { shop: { $and: [{ name: { $like: '%o%' } }, { id: { $gt: 1 } }] } },
  { size: { width: 9 } },
  { size: { width: { $lt: 9 } } },
  { $not: { size: { width: 9 } } },
  { tags: 1 },
  { tags: [1, 2] },
  { tags: { name: 'ripe' } },
  { tags: { $some: { name: { $like: 'r%' } } } },
  { tags: { $none: { name: 'rotten' } } },
  { tags: { $every: { name: { $like: 'r%' } } } },
  { tags: { $every: { name: 'red' } } },
  { label: { text: 'two' } },
  { shop: { items: { name: 'banana' } } },
  { label: null },
  { secret: undefined },
  { secret: { $ne: undefined as never } },
  { shop: undefined },
  { shop: { name: undefined as never } },
]

describe('a condition', () => {
  let asked: Asked
  let scope: Condition | undefined
  before(async () => {
    asked = await start({ resources: [resource(Item, { scope: () => scope })] })
    // An item without a shop, so that links can be empty too.
    await asked.engine.seed({ items: [{ id: 5, name: 'elder', price: 20 }] })
  })
  after(() => asked[Symbol.asyncDispose]())

  for (const condition of CONDITIONS) {
    it(`finds what MikroORM finds: ${inspect(condition)}`, async () => {
      const { em } = asked.engine.orm
      // SQLite's LIKE ignores the case of letters, that of PostgreSQL and of the engine does not.
      await em.getConnection().execute('pragma case_sensitive_like = on')
      const found = await em.fork().find(Item, structuredClone(condition), { orderBy: { id: 'asc' } })
      await em.getConnection().execute('pragma case_sensitive_like = off')
      scope = condition
      assert.deepEqual(
        await asked.ids('/v1/items'),
        found.map(({ id }) => id),
      )
    })
  }

  // Two conditions of one request shape follow each other, so a plan that is kept must not be mistaken for another.
  const ALIKE: [Condition, Condition][] = [
    [{ $not: { removedOn: null }, id: 2 }, { $not: { removedOn: null, id: 2 } }],
    [{ shop: { name: 'north' }, id: 1 }, { shop: { name: 'north', id: 1 } }],
    [{ $or: [{ id: 1, name: 'apple' }] }, { $or: [{ id: 1 }, { name: 'apple' }] }],
    [{ $or: [{ id: 4 }, { $and: [{ id: 1 }] }] }, { $or: [{ id: 4 }], $and: [{ id: 1 }] }],
    [{ id: [1, 2] }, { id: [1, 2, 3] }],
    [{ removedOn: null }, { removedOn: '2026-01-01' }],
    [{ removedOn: { $exists: true } }, { removedOn: { $exists: false } }],
    [{ tags: { $some: { id: 1 } } }, { tags: { $none: { id: 1 } } }],
  ]
  for (const pair of ALIKE) {
    it(`is not mistaken for one that is written alike: ${JSON.stringify(pair)}`, async () => {
      for (const condition of [...pair, ...pair]) {
        const found = await asked.engine.orm.em.fork().find(Item, structuredClone(condition), { orderBy: { id: 'asc' } })
        scope = condition
        assert.deepEqual(
          await asked.ids('/v1/items'),
          found.map(({ id }) => id),
        )
      }
    })
  }

  it('takes values in any form that MikroORM takes: dates, entities, references', async () => {
    const em = asked.engine.orm.em.fork()
    const north = await em.findOneOrFail(Item, { id: 1 })
    for (const [condition, ids] of [
      [{ shop: north.shop }, [1, 2]],
      [{ removedOn: new Date('2026-01-01') }, [2]],
      [{ id: 2n }, [2]],
    ] as unknown as [Condition, number[]][]) {
      scope = condition
      assert.deepEqual(await asked.ids('/v1/items'), ids)
    }
  })

  const WRONG: [unknown, RegExp][] = [
    [{ nam: 'x' }, /scope of Item: there is no property "nam"\. Did you mean "name"\?/],
    [{ shop: { nam: 'x' } }, /scope of Item\.shop: there is no property "nam"\. Did you mean "name"\?/],
    [{ price: 'x' }, /scope of Item\.price: the value cannot be of the type integer/],
    [{ price: { $gt: null } }, /scope of Item\.price/],
    [{ name: { $fulltext: 'x' } }, /scope of Item\.name: the operator "\$fulltext" is not supported here/],
    [{ shop: { $fulltext: 'x' } }, /scope of Item\.shop: the operator "\$fulltext"/],
    [{ shop: 'x' }, /scope of Item\.shop: not a key of Shop/],
    [{ id: { $in: 1 } }, /scope of Item\.id: the operator takes an array/],
    [{ $or: {} }, /scope of Item: \$or must be an array/],
    ['x', /scope of Item: a condition must be a plain object/],
    [new Date(), /scope of Item: a condition must be a plain object/],
    [{ shop: { $in: [1], name: 'x' } }, /scope of Item\.shop/],
  ]
  for (const [condition, message] of WRONG) {
    it(`that cannot be told is a 500 that names the place to onError only: ${JSON.stringify(condition)}`, async () => {
      scope = condition as Condition
      asked.failures.length = 0
      const { status, body } = await asked.get('/v1/items')
      assert.equal(status, 500)
      assert.doesNotMatch(JSON.stringify(body), /scope|Item|nam/)
      assert.match(String(asked.failures[0]), message)
    })
  }

  it('may speak of other properties and values in each request', async () => {
    const write = ({ headers }: HookContext) => ({ [headers['x-by'] ?? 'name']: headers['x-value'] ?? null })
    await using asked = await start({
      resources: [
        resource(Item, {
          scope: ({ headers, method }) =>
            method === 'GET' ? { [headers['x-by'] ?? 'id']: JSON.parse(headers['x-value'] ?? '1') } : undefined,
          write,
        }),
      ],
    })
    const list = async (by: string, value: unknown): Promise<unknown> => {
      const { body } = await asked.call('GET', '/v1/items', {}, undefined, { 'x-by': by, 'x-value': JSON.stringify(value) })
      return (body.items as { id: number }[] | undefined)?.map(({ id }) => id) ?? body.code
    }
    const scopes: [string, unknown, unknown][] = [
      ['name', 'apple', [1]],
      ['code', 'C', [3]],
      ['name', 'C', []],
      ['name', 'date', [4]],
      ['name', ['date', 'apple'], [1, 4]],
      ['code', null, []],
      ['shop', 2, [3, 4]],
      ['shop', 1, [1, 2]],
      ['shop', null, []],
      ['price', 30, [3]],
      ['price', 'dear', 'internal_error'],
      ['shop', true, 'internal_error'],
      ['price', 40, [4]],
      ['shop', { name: 'north' }, [1, 2]],
    ]
    for (const [by, value, found] of [...scopes, ...scopes.toReversed()])
      assert.deepEqual(await list(by, value), found, `${by} ${JSON.stringify(value)}`)
    const change = async (by: string, value: string): Promise<number> =>
      (await asked.call('PATCH', '/v1/items/3', {}, { price: 30 }, { 'x-by': by, 'x-value': value })).status
    assert.deepEqual([await change('name', 'cherry'), await change('code', 'cherry'), await change('code', 'C')], [200, 403, 200])
  })

  it('may be asynchronous, and may be none', async () => {
    await using other = await start({
      resources: [resource(Item, { scope: async (ctx: HookContext) => (ctx.headers['x-all'] ? undefined : Promise.resolve({ id: 3 })) })],
    })
    assert.deepEqual(await other.ids('/v1/items'), [3])
    assert.equal((await other.call('GET', '/v1/items', {}, undefined, { 'x-all': '1' })).body.count, 4)
  })
})

describe('a filter of MikroORM that has no parameters', () => {
  it('refuses what comes upon it, by its name, until it has some', async () => {
    const ofShop = { name: 'ofShop', cond: ({ shop }: { shop: number }) => ({ shop }), default: true, entity: ['Item'] }
    await using asked = await start({ orm: { allowGlobalContext: true, filters: { ofShop } } as never })
    for (const [method, path, body] of [
      ['GET', '/v1/items'],
      ['GET', '/v1/shops/1'],
      ['PUT', '/v1/items/1', {}],
      ['DELETE', '/v1/items/1'],
    ] as const) {
      const answer = await asked.call(method, path, {}, body)
      assert.deepEqual([answer.status, answer.body.code], [503, 'filter_unset'], JSON.stringify(answer.body))
      assert.match(answer.body.detail, /The filter "ofShop" of Item has no parameters/)
    }
    assert.equal((await asked.get('/v1/crates', { depth: 0 })).status, 200)
    asked.engine.orm.em.setFilterParams('ofShop', { shop: 2 })
    assert.deepEqual(await asked.ids('/v1/items'), [3, 4])
  })
})

describe('a filter of MikroORM that asks what scopes cannot', () => {
  it('refuses what comes upon it, by entity and property, and nothing else', async () => {
    const cond = { shop: { $or: [{ name: 'North' }, { name: sql`(select ${1})` }] } }
    await using asked = await start({ orm: { filters: { raw: { name: 'raw', cond, default: true, entity: ['Item'] } } } as never })
    for (const [method, path, body] of [
      ['GET', '/v1/items'],
      ['GET', '/v1/shops/1'],
      ['PUT', '/v1/items/1', {}],
      ['DELETE', '/v1/items/1'],
    ] as const) {
      const answer = await asked.call(method, path, {}, body)
      assert.deepEqual([answer.status, answer.body.code], [503, 'filter_unsupported'], JSON.stringify(answer.body))
      assert.match(answer.body.detail, /filter of Item\.shop\.name: the operator "sql" is not supported here/)
    }
    assert.equal((await asked.get('/v1/crates', { depth: 0 })).status, 200)
  })
})
