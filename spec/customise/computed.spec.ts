/**
 * Computed attributes: SQL expressions that are returned, filtered and sorted by like stored ones, one by one, in groups, and behind flags.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { raw } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { RestEngine, resource } from '../../lib/index.ts'
import type { ComputedAttribute, EngineOptions, ResourceConfig } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import { entities, Item, Shop, start } from './world.ts'

const itemCount = {
  type: 'integer',
  sql: (alias: string) => `select count(*) from item i where i.shop_id = ${alias}.id`,
} satisfies ComputedAttribute
const worth = (least: number) =>
  ({
    type: 'integer',
    sql: (alias: string) => raw(`(select coalesce(sum(i.price), 0) from item i where i.shop_id = ${alias}.id and i.price >= ?)`, [least]),
  }) satisfies ComputedAttribute

function shops(computed: NonNullable<ResourceConfig<object>['computed']>): Partial<EngineOptions> {
  return { resources: [resource(Shop, { computed })] }
}

describe('a computed attribute', () => {
  it('is returned, after the stored ones, in every place', async () => {
    await using asked = await start(shops({ itemCount, worth: worth(20) }))
    const { body } = await asked.get('/v1/shops/1')
    assert.deepEqual(body.shop, { id: 1, name: 'north', items: [1, 2], crates: [1, 2], itemCount: 2, worth: 99 })
    assert.equal((await asked.get('/v1/items/3', { depth: 2 })).body.item.shop.itemCount, 2)
    assert.equal((await asked.get('/v1/items/3/shop')).body.shop.worth, 70)
    assert.deepEqual((await asked.get('/v1/shops/2/worth')).body.value, 70)
    assert.equal((await asked.call('POST', '/v1/shops', {}, { name: 'x', items: [{ name: 'y', price: 25 }] })).body.shop.worth, 25)
    assert.equal((await asked.call('PUT', '/v1/shops/2', {}, { name: 'x' })).body.shop.itemCount, 2)
    assert.deepEqual((await asked.get('/v1/shops', { attributes: 'itemCount', limit: 1 })).body.shops, [{ itemCount: 2 }])
    assert.deepEqual(Object.keys((await asked.get('/v1/shops/1', { attributes: '!itemCount,!items' })).body.shop), [
      'id',
      'name',
      'crates',
      'worth',
    ])
  })

  it('is filtered and sorted by, also through relations', async () => {
    await using asked = await start(shops({ itemCount, worth: worth(20) }))
    assert.deepEqual(await asked.ids('/v1/shops', { sort: 'worth.desc' }), [1, 2, 3])
    assert.deepEqual(await asked.ids('/v1/shops', { sort: 'itemCount,worth' }), [3, 2, 1])
    assert.deepEqual(await asked.ids('/v1/shops', { itemCount: 2 }), [1, 2])
    assert.deepEqual(await asked.ids('/v1/shops', { 'worth>=': 70, 'worth<': 99 }), [2])
    assert.deepEqual(await asked.ids('/v1/shops', { '!itemCount': 2 }), [3])
    assert.deepEqual(await asked.ids('/v1/items', { 'shop.worth': 70 }), [3, 4])
    assert.deepEqual(await asked.ids('/v1/items', { sort: 'shop.worth,id.desc' }), [4, 3, 2, 1])
    assert.deepEqual(await asked.ids('/v1/tags', { 'items.shop.itemCount': 2 }), [1, 2, 3])
    assert.deepEqual(await asked.ids('/v1/tags', { sort: 'items.shop.worth.desc' }), [1, 2, 3])
    assert.equal((await asked.get('/v1/shops', { itemCount: 'x' })).status, 400)
  })

  it('binds its values, in any number and place', async () => {
    const between: ComputedAttribute = {
      type: 'boolean',
      sql: alias => ({
        sql: `exists (select 1 from item i where i.shop_id = ${alias}.id and i.name between ? and ?)`,
        params: ["a'", 'b?'],
      }),
    }
    await using asked = await start(shops({ worth: worth(20), between, more: worth(35) }))
    assert.deepEqual(await asked.ids('/v1/shops', { between: true, 'worth>': 1, 'more>=': 40, sort: 'more.desc,worth', name: 'n*' }), [1])
    assert.deepEqual((await asked.get('/v1/shops', { attributes: 'worth,between,more' })).body.shops, [
      { worth: 99, between: true, more: 99 },
      { worth: 70, between: false, more: 40 },
      { worth: 0, between: false, more: 0 },
    ])
  })

  const TYPES: [ComputedAttribute['type'], string, unknown, string][] = [
    ['integer', '7', 7, '7'],
    ['bigint', '9007199254740993', '9007199254740993', '9007199254740993'],
    ['float', '0.5', 0.5, '0.5'],
    ['string', "'a,b'", 'a,b', 'a\\,b'],
    ['boolean', '1', true, 'true'],
    ['date', "'2026-01-02'", '2026-01-02', '2026-01-02'],
    ['time', "'03:04:05'", '03:04:05', '03:04:05'],
    ['datetime', '1767323045678', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
    ['uuid', "'0190a6e8-0000-7000-8000-000000000001'", '0190a6e8-0000-7000-8000-000000000001', '0190A6E8-0000-7000-8000-000000000001'],
  ]
  for (const [type, sql, json, text] of TYPES) {
    it(`may be of the type ${type}`, async () => {
      await using asked = await start(shops({ it: { type, sql: () => sql }, none: { type, sql: () => 'null' } }))
      const { body } = await asked.get('/v1/shops/1', { attributes: 'it,none' })
      assert.deepEqual(body.shop, { it: json, none: null })
      assert.deepEqual(await asked.ids('/v1/shops', { it: text, none: 'null', sort: 'it,none.desc' }), [1, 2, 3])
    })
  }

  it('may be a decimal with a scale, and JSON', async () => {
    await using asked = await start(
      shops({ price: { type: 'decimal', scale: 2, sql: () => '1.5' }, list: { type: 'json', sql: () => "json_array(1, 'a', null)" } }),
    )
    const { body } = await asked.get('/v1/shops/1', { attributes: 'price,list' })
    assert.deepEqual(body.shop, { price: '1.50', list: [1, 'a', null] })
    assert.deepEqual(await asked.ids('/v1/shops', { price: '1.5' }), [1, 2, 3])
    assert.deepEqual(await asked.ids('/v1/shops', { list: '[1\\,"a"\\,null]' }), [1, 2, 3])
    assert.equal((await asked.get('/v1/shops', { sort: 'list' })).status, 400)
  })

  it('cannot be written', async () => {
    await using asked = await start(shops({ itemCount, stats: { itemCount } }))
    for (const body of [{ itemCount: 1 }, { stats: { itemCount: 1 } }]) {
      for (const [method, path] of [['POST', '/v1/shops'] as const, ['PUT', '/v1/shops/1'] as const]) {
        const answer = await asked.call(method, path, {}, { name: 'x', ...body })
        assert.deepEqual([answer.status, answer.body.errors[0].code], [422, 'read_only'])
      }
    }
    assert.equal((await asked.call('PUT', '/v1/shops/1/itemCount', {}, 1)).status, 422)
  })

  it('costs no statement of its own, however many rows there are', async () => {
    const statementsOf = async (options: Partial<EngineOptions>): Promise<number> => {
      let statements = 0
      const database = Database.prototype as unknown as { prepare(sql: string): { all(...values: unknown[]): unknown[] } }
      const { prepare } = database
      await using asked = await start(options)
      await asked.get('/v1/shops', { sort: 'name' })
      database.prepare = function (sql) {
        const statement = prepare.call(this, sql)
        const { all } = statement
        statement.all = (...values) => {
          statements++
          return all.apply(statement, values)
        }
        return statement
      }
      try {
        await asked.get('/v1/shops', { 'name!=': 'x', stats: '', sort: 'name', depth: 2 })
      } finally {
        database.prepare = prepare
      }
      return statements
    }
    const behindFlag = { stats: { flag: 'stats', worth: worth(20), itemCount } }
    const nothing = { stats: { flag: 'stats', one: { type: 'integer', sql: () => '1' } } } as const
    const expected = await statementsOf(shops(nothing))
    assert.ok(expected > 0)
    assert.equal(await statementsOf(shops(behindFlag)), expected)
  })

  const WRONG: [string, NonNullable<ResourceConfig<object>['computed']>, RegExp][] = [
    ['an unknown column', { a: { type: 'integer', sql: alias => `${alias}.nope` } }, /resource\(Shop\): computed\.a: .*nope/],
    [
      'an unknown column in a group',
      { g: { h: { a: { type: 'integer', sql: () => 'nope' } } } },
      /resource\(Shop\): computed\.g\.h\.a: .*nope/,
    ],
    [
      'an unknown column behind a flag',
      { g: { flag: 'f', a: { type: 'integer', sql: () => 'nope' } } },
      /resource\(Shop\): computed\.g\.a: .*nope/,
    ],
    ['bad SQL', { a: { type: 'integer', sql: () => 'select (' } }, /resource\(Shop\): computed\.a: /],
    [
      'an unknown type',
      { a: { type: 'intger' as 'integer', sql: () => '1' } },
      /computed\.a: unknown type "intger"\. Did you mean "integer"\?/,
    ],
    ...(
      [
        ['int', 'integer'],
        ['TEXT', 'string'],
        ['bool', 'boolean'],
        ['number', 'float'],
        ['timestamp', 'datetime'],
        ['jsonb', 'json'],
      ] as const
    ).map(([type, meant]): (typeof WRONG)[number] => [
      `${type}, as others call it`,
      { a: { type: type as 'integer', sql: () => '1' } },
      new RegExp(`computed\\.a: unknown type "${type}"\\. Did you mean "${meant}"\\?`),
    ]),
    [
      'a type that nobody knows',
      { a: { type: 'constructor' as 'integer', sql: () => '1' } },
      /computed\.a: unknown type "constructor"\. Known are integer, bigint, .*, json\./,
    ],
    ['an unknown option', { a: { type: 'integer', sql: () => '1', flg: 'x' } as never }, /computed\.a: unknown option "flg"/],
    ['the name of an attribute', { name: { type: 'integer', sql: () => '1' } }, /computed: "name" is an attribute already/],
    ['no expression', { a: { type: 'integer' } }, /computed\.a/],
    ['an empty group', { a: {} }, /computed\.a must be/],
    ['an empty group behind a flag', { a: { flag: 'f' } }, /computed\.a must be/],
    ['null', { a: null as never }, /computed\.a must be/],
    ['a text', { a: 'count(*)' as never }, /computed\.a must be/],
    ['a flag that is no name', { a: { flag: '', b: itemCount } }, /computed\.a: "flag"/],
    ['a flag that is a reserved parameter', { a: { flag: 'limit', b: itemCount } }, /limit/],
    ['an expression that gives no SQL', { a: { type: 'integer', sql: () => 5 as never } }, /computed\.a/],
    [
      'an expression that throws',
      {
        a: {
          type: 'integer',
          sql: () => {
            throw new Error('boom')
          },
        },
      },
      /computed\.a: boom/,
    ],
    ['no expression', { a: { type: 'integer' } }, /computed\.a must be \{ type, sql \} or a group of such: "sql" must be a function/],
    ['an expression that is a text', { g: { a: { type: 'integer', sql: '1' } } }, /computed\.g\.a must be .*: "sql" must be a function/],
    ['a scale that is none', { a: { type: 'decimal', scale: -1, sql: () => '1' } }, /computed\.a: "scale"/],
  ]
  for (const [what, computed, message] of WRONG) {
    it(`is refused when the engine is created, with its place: ${what}`, () =>
      assert.rejects(RestEngine.create({ entities, ...shops(computed) }), message))
  }
})

describe('a group of computed attributes', () => {
  const stats = { flag: 'stats', total: { worth: worth(0), items: itemCount }, high: { worth: worth(40) } }

  it('exists only with its flag', async () => {
    await using asked = await start(shops({ stats }))
    assert.ok(!('stats' in (await asked.get('/v1/shops/1')).body.shop))
    const { body } = await asked.get('/v1/shops', { stats: '' })
    assert.deepEqual(
      body.shops.map((shop: { stats: unknown }) => shop.stats),
      [
        { total: { worth: 109, items: 2 }, high: { worth: 99 } },
        { total: { worth: 70, items: 2 }, high: { worth: 40 } },
        { total: { worth: 0, items: 0 }, high: { worth: 0 } },
      ],
    )
    for (const query of ['stats', 'stats=', 'stats=true', 'stats=1'])
      assert.ok('stats' in (await asked.get('/v1/shops/1', query)).body.shop, query)
    for (const query of ['stats=false', 'stats=0']) assert.ok(!('stats' in (await asked.get('/v1/shops/1', query)).body.shop), query)
    assert.equal((await asked.get('/v1/shops/1', 'stats=maybe')).status, 400)
  })

  it('is sorted and filtered by, selected from, and found behind relations with it', async () => {
    await using asked = await start(shops({ stats }))
    assert.deepEqual(await asked.ids('/v1/shops', 'stats&sort=stats.total.worth.asc'), [3, 2, 1])
    assert.deepEqual(await asked.ids('/v1/shops', 'stats&sort=stats.total.items.desc,stats.high.worth'), [2, 1, 3])
    assert.deepEqual(await asked.ids('/v1/shops', 'stats&stats.high.worth>=40'), [1, 2])
    assert.deepEqual(await asked.ids('/v1/items', 'stats&sort=shop.stats.high.worth.desc&shop.stats.high.worth=40'), [3, 4])
    const { body } = await asked.get('/v1/shops/1', 'stats&attributes=id,stats.total.worth')
    assert.deepEqual(body.shop, { id: 1, stats: { total: { worth: 109 } } })
    assert.deepEqual((await asked.get('/v1/shops/1', 'stats&attributes=stats,!stats.total')).body.shop, { stats: { high: { worth: 99 } } })
    assert.deepEqual((await asked.get('/v1/items/1', 'stats&depth=2')).body.item.shop.stats.high, { worth: 99 })
    assert.ok('stats' in (await asked.call('PUT', '/v1/shops/1', 'stats', { name: 'x' })).body.shop)
  })

  it('keeps its flag in the links to other pages', async () => {
    await using asked = await start(shops({ stats }))
    const { body } = await asked.get('/v1/shops', 'stats&limit=1&sort=stats.total.worth')
    assert.match(body.next, /stats/)
    const next = await asked.get(body.next)
    assert.equal(next.body.shops[0].id, 2)
    assert.ok('stats' in next.body.shops[0])
  })

  it('has a path of its own, with the flag', async () => {
    await using asked = await start(shops({ stats }))
    assert.equal((await asked.get('/v1/shops/1/stats')).status, 404)
    const { status, body } = await asked.get('/v1/shops/1/stats', 'stats')
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.value.high, { worth: 99 })
  })

  for (const query of ['sort=stats.total.worth', 'stats.total.worth>=1', 'sort=stats.total.worth.desc', 'attributes=stats']) {
    it(`is a 400 that names the flag without it: ${query}`, async () => {
      await using asked = await start(shops({ stats }))
      const { status, body } = await asked.get('/v1/shops', query)
      assert.equal(status, 400)
      assert.deepEqual([body.errors[0].code, body.errors[0].suggestion], ['flag_needed', 'stats'])
      assert.match(body.detail, /"stats"/)
    })
  }

  it('may be without a flag, and hold a group with one', async () => {
    await using asked = await start(shops({ group: { items: itemCount, deep: { flag: 'deep', worth: worth(0) } } }))
    assert.deepEqual((await asked.get('/v1/shops/1')).body.shop.group, { items: 2 })
    assert.deepEqual((await asked.get('/v1/shops/1', 'deep')).body.shop.group, { items: 2, deep: { worth: 109 } })
    assert.equal((await asked.get('/v1/shops', 'sort=group.deep.worth')).body.errors[0].suggestion, 'deep')
    assert.deepEqual(await asked.ids('/v1/shops', 'sort=group.items,id.desc'), [3, 2, 1])
  })

  it('is not known to resources without it, nor is its flag taken for a filter', async () => {
    await using asked = await start(shops({ stats }))
    assert.equal((await asked.get('/v1/labels', 'stats&sort=stats.total.worth')).status, 400)
    assert.equal((await asked.get('/v1/labels', 'stats')).status, 200)
  })

  it('does what the quickstats of the sample promise', async () => {
    await using engine = await RestEngine.create(sample)
    const { status, body } = await engine.handle('GET', '/v1/campaigns?quickstats&sort=quickstats.lifetime.clicks.asc')
    assert.equal(status, 200)
    const clicks = (body as { campaigns: { quickstats: { lifetime: { clicks: number } } }[] }).campaigns.map(
      each => each.quickstats.lifetime.clicks,
    )
    assert.ok(clicks.length > 1)
    assert.deepEqual(
      clicks,
      clicks.toSorted((a, b) => a - b),
    )
  })
})

describe('computed attributes and rules', () => {
  it('keep to the scope of their rows', async () => {
    await using asked = await start({
      resources: [
        resource(Item, {
          scope: () => ({ id: { $ne: 2 } }),
          computed: { double: { type: 'integer', sql: alias => `${alias}.price * 2` } },
        }),
      ],
    })
    assert.deepEqual(await asked.ids('/v1/items', { 'double>=': 60, sort: 'double.desc' }), [4, 3])
    assert.deepEqual(await asked.ids('/v1/shops', { 'items.double>': 100 }), [])
    assert.deepEqual(await asked.ids('/v1/labels', { 'item.double': null }), [2, 4])
  })
})
