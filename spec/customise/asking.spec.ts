/**
 * Asking: which rules a request asks. An access function or scope is the application's code, which may take its time, or fail for a caller
 * that it was not written for: a request asks only those that it comes upon, each once, and never takes the answer that another caller was
 * given.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auth, resource } from '../../lib/index.ts'
import type { Action, EngineOptions, HookContext, QueryInput, ResourceDefinition } from '../../lib/index.ts'
import { Crate, Item, Label, Shop, start, Tag } from './world.ts'
import type { Asked } from './world.ts'

const ENTITIES = { Shop, Item, Tag, Label, Crate }
type Name = keyof typeof ENTITIES

const names = Object.keys(ENTITIES) as Name[]

/** Rules on all resources, which tell by which of them they were asked. */
function watched(answer: <T>(value: T) => T | Promise<T>): { asked: string[]; options: Partial<EngineOptions> } {
  const asked: string[] = []
  const resources = names.map(name =>
    resource(ENTITIES[name] as typeof Shop, {
      access: (_ctx: HookContext, action: Action) => {
        asked.push(`${name} ${action}`)
        return answer(true)
      },
      scope: () => {
        asked.push(`${name} scope`)
        return answer({ id: { $gt: 0 } })
      },
    }),
  )
  return { asked, options: { resources } }
}

type Row = [method: string, path: string, query: QueryInput, body: unknown, status: number, asked: string[]]

const ROWS: Row[] = [
  ['GET', '/v1', {}, undefined, 200, []],
  ['OPTIONS', '/v1/crates', {}, undefined, 204, []],
  ['GET', '/v1/crates', { depth: 0 }, undefined, 200, ['Crate list', 'Crate scope']],
  ['GET', '/v1/crates', { limit: 0, depth: 0 }, undefined, 200, ['Crate list', 'Crate scope']],
  ['GET', '/v1/crates/1/weight', {}, undefined, 200, ['Crate get', 'Crate scope']],
  ['GET', '/v1/crates', {}, undefined, 200, ['Crate list', 'Crate scope', 'Shop get', 'Shop scope']],
  ['GET', '/v1/crates', { attributes: 'id,weight' }, undefined, 200, ['Crate list', 'Crate scope']],
  ['GET', '/v1/crates', { attributes: 'shop' }, undefined, 200, ['Crate list', 'Crate scope', 'Shop get', 'Shop scope']],
  ['GET', '/v1/crates/1', {}, undefined, 200, ['Crate get', 'Crate scope', 'Shop get', 'Shop scope']],
  ['HEAD', '/v1/crates/1', {}, undefined, 200, ['Crate get', 'Crate scope', 'Shop get', 'Shop scope']],
  ['GET', '/v1/crates', { depth: 2 }, undefined, 200, ['Crate list', 'Crate scope', 'Shop get', 'Shop scope', 'Item list', 'Item scope']],
  ['GET', '/v1/crates', { depth: 0, expand: 'shop' }, undefined, 200, ['Crate list', 'Crate scope', 'Shop get', 'Shop scope']],
  [
    'GET',
    '/v1/crates',
    { depth: 0, expand: 'shop.items' },
    undefined,
    200,
    ['Crate list', 'Crate scope', 'Shop get', 'Shop scope', 'Item list', 'Item scope'],
  ],
  ['GET', '/v1/crates', { depth: 0, 'shop.name': 'n*' }, undefined, 200, ['Crate list', 'Crate scope', 'Shop get', 'Shop scope']],
  [
    'GET',
    '/v1/crates',
    { depth: 0, 'shop.items.name': 'a*' },
    undefined,
    200,
    ['Crate list', 'Crate scope', 'Shop get', 'Shop scope', 'Item list', 'Item scope'],
  ],
  ['GET', '/v1/crates', { depth: 0, sort: 'shop.name' }, undefined, 200, ['Crate list', 'Crate scope', 'Shop get', 'Shop scope']],
  [
    'GET',
    '/v1/crates',
    { depth: 0, sort: 'shop.items.desc' },
    undefined,
    200,
    ['Crate list', 'Crate scope', 'Shop get', 'Shop scope', 'Item list', 'Item scope'],
  ],
  ['GET', '/v1/shops/1/crates', { depth: 0 }, undefined, 200, ['Shop get', 'Shop scope', 'Crate list', 'Crate scope']],
  ['GET', '/v1/crates/1/shop', { depth: 0 }, undefined, 200, ['Shop get', 'Shop scope', 'Crate get', 'Crate scope']],
  ['POST', '/v1/tags', { depth: 0 }, { name: 'new' }, 200, ['Tag create', 'Tag scope']],
  ['POST', '/v1/tags', {}, { name: 'new' }, 200, ['Tag create', 'Tag scope', 'Item list', 'Item scope']],
  ['POST', '/v1/crates', { depth: 0 }, { shop: 1 }, 200, ['Crate create', 'Crate scope', 'Shop get', 'Shop scope']],
  [
    'POST',
    '/v1/crates',
    { depth: 0 },
    { shop: { name: 'x' } },
    200,
    ['Crate create', 'Crate scope', 'Shop get', 'Shop create', 'Shop scope'],
  ],
  [
    'POST',
    '/v1/shops',
    { depth: 0 },
    { name: 'x', crates: [{ weight: 1 }, { weight: 2 }] },
    200,
    ['Shop create', 'Shop scope', 'Crate list', 'Crate create', 'Crate scope'],
  ],
  ['PUT', '/v1/shops/1', { depth: 0 }, { name: 'x' }, 200, ['Shop update', 'Shop scope']],
  ['PUT', '/v1/items/1', { depth: 0 }, { shop: null }, 200, ['Item update', 'Item scope', 'Shop get']],
  ['PUT', '/v1/items/1', { depth: 0 }, { tags: [] }, 200, ['Item update', 'Item scope', 'Tag list', 'Tag scope']],
  ['PUT', '/v1/items/1/label', { depth: 0 }, null, 200, ['Item update', 'Item scope', 'Label get', 'Label update', 'Label scope']],
  ['POST', '/v1/shops/1/crates', { depth: 0 }, {}, 200, ['Shop get', 'Shop scope', 'Crate list', 'Crate create', 'Crate scope']],
  ['DELETE', '/v1/crates/1', { depth: 0 }, undefined, 200, ['Crate delete', 'Crate scope']],
  // What is told of the crates that need the shop.
  ['DELETE', '/v1/shops/1', { depth: 0 }, undefined, 409, ['Shop delete', 'Shop scope', 'Crate get', 'Crate list', 'Crate scope']],
]

for (const [how, answer] of [
  ['at once', <T>(value: T) => value],
  ['later', <T>(value: T) => Promise.resolve(value)],
] as const) {
  describe(`rules that answer ${how} are asked once, by the requests that come upon them`, () => {
    for (const [method, path, query, body, status, expected] of ROWS) {
      it(`${method} ${path} ${JSON.stringify(query)} ${JSON.stringify(body) ?? ''}`, async () => {
        const { asked, options } = watched(answer)
        await using world = await start(options)
        // The second time the plan is known already, after others; it asks the same.
        for (const time of method === 'GET' || method === 'HEAD' ? [1, 2] : [1]) {
          asked.length = 0
          const given = await world.call(method, path, query, body)
          assert.equal(given.status, status, JSON.stringify(given.body) + world.failures.map(String).join())
          assert.deepEqual(asked.toSorted(), expected.toSorted(), `time ${time}`)
          await world.get('/v1/items', { depth: 2, expand: 'shop.crates' })
        }
      })
    }
  })
}

/** An engine with log-in where a crate's and an item's rules take it for granted that somebody has logged in. */
async function careless(...more: ResourceDefinition[]): Promise<Asked> {
  const user = (ctx: HookContext): number => (ctx.user as { id: number }).id
  return start({
    auth: auth({ authenticate: () => 1, entity: Shop, public: ['* /v1*'] }),
    resources: [
      resource(Item, { scope: ctx => ({ id: { $gte: user(ctx) } }) }),
      resource(Crate, { access: ctx => user(ctx) === 1 }),
      ...more,
    ],
  })
}

describe('a rule that fails for the caller', () => {
  it('does not matter to requests that do not come upon it', async () => {
    await using world = await careless()
    for (const [path, query] of [
      ['/v1/labels', { depth: 0 }],
      ['/v1/labels', { attributes: 'id,text' }],
      ['/v1/labels', { attributes: '!item' }],
      ['/v1/labels/1/text', {}],
      ['/v1/tags/1', { depth: 0 }],
      ['/v1/shops', { depth: 0, sort: 'name', name: 'n*' }],
    ] as const) {
      const { status, body } = await world.get(path, query)
      assert.equal(status, 200, `${path} ${JSON.stringify(query)}: ${JSON.stringify(body)}`)
    }
    assert.equal((await world.call('POST', '/v1/tags', { depth: 0 }, { name: 'new' })).status, 200)
    assert.deepEqual(world.failures, [])
  })

  it('fails those that do, and tells onError', async () => {
    await using world = await careless()
    for (const [path, query] of [
      ['/v1/items', {}],
      ['/v1/labels', {}],
      ['/v1/labels', { depth: 0, expand: 'item' }],
      ['/v1/labels', { depth: 0, 'item.name': 'a*' }],
      ['/v1/labels', { depth: 0, sort: 'item.name' }],
      ['/v1/shops', { depth: 0, expand: 'crates' }],
    ] as const) {
      const { status, body } = await world.get(path, query)
      assert.deepEqual([status, body.code], [500, 'internal_error'], `${path} ${JSON.stringify(query)}`)
    }
    assert.equal((await world.call('POST', '/v1/labels', { depth: 0 }, { text: 'x', item: 1 })).status, 500)
    assert.equal(world.failures.length, 7)
  })

  it('is not asked for what another rule hides already', async () => {
    // Crates are beyond reach, so their shops, and the items of those, are as well.
    await using world = await start({
      resources: [
        resource(Shop, { access: { get: () => false } }),
        resource(Item, {
          scope: () => {
            throw new Error('asked')
          },
        }),
      ],
    })
    const { status, body } = await world.get('/v1/crates/1', { depth: 2 })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.crate, { id: 1, weight: 1 })
    const refused = await world.call('POST', '/v1/crates', {}, { shop: 1 })
    assert.deepEqual([refused.status, refused.body.errors?.[0]?.code], [422, 'attribute_unknown'])
    assert.deepEqual(world.failures, [])
  })
})

describe('the answers of rules', () => {
  const seen = (ctx: HookContext): string => ctx.headers['x-sees'] ?? ''

  /** Each caller says by a header what he sees. */
  async function open(): Promise<(path: string, sees: string, query?: QueryInput) => Promise<unknown>> {
    const world = await start({
      resources: [
        resource(Item, {
          scope: ctx => (seen(ctx).includes('few') ? { id: { $lte: 1 } } : seen(ctx).includes('none') ? { id: [] } : undefined),
        }),
        resource(Crate, { access: ctx => !seen(ctx).includes('uncrated') }),
      ],
    })
    return async (path, sees, query) => {
      const { status, body } = await world.call('GET', path, query, undefined, { 'x-sees': sees })
      assert.equal(status, 200, JSON.stringify(body) + world.failures.map(String).join())
      const { timestamp: _, ...rest } = body
      return rest
    }
  }

  it('are never those that another caller was given, whoever asked first', async () => {
    const paths: [string, QueryInput][] = [
      ['/v1/shops', {}],
      ['/v1/shops/1', {}],
      ['/v1/shops/1', { depth: 2 }],
      ['/v1/shops/1/items', {}],
      ['/v1/tags/2', { depth: 2 }],
      ['/v1/tags/2/items', { sort: 'shop.name' }],
    ]
    const callers = ['', 'few', 'none', 'uncrated', 'few uncrated', 'none uncrated']
    const expected = new Map<string, unknown>()
    for (const sees of callers) {
      // An engine of his own, on which nobody else has asked.
      const alone = await open()
      for (const [path, query] of paths) expected.set(`${sees} ${path} ${JSON.stringify(query)}`, await alone(path, sees, query))
    }
    for (const order of [callers, callers.toReversed(), [...callers, ...callers]]) {
      const shared = await open()
      for (const [path, query] of paths) {
        for (const sees of order)
          assert.deepEqual(await shared(path, sees, query), expected.get(`${sees} ${path} ${JSON.stringify(query)}`), `${sees} ${path}`)
      }
    }
  })

  it('count also where the engine itself was the first to read the resource', async () => {
    await using world = await start({ resources: [resource(Item, { scope: () => ({ name: { $ne: 'banana' } }) })] })
    await world.engine.given('label', { item: {} })
    await world.engine.given('shop')
    assert.equal((await world.get('/v1/labels/2')).body.label.item, null)
    assert.deepEqual((await world.get('/v1/shops/1')).body.shop.items, [1])
  })

  it('are asked before the write that they judge, so that it cannot make itself allowed', async () => {
    // Whoever has a crate in a shop may see it.
    await using world = await start({
      resources: [
        resource(Shop, {
          scope: async ctx => ({ id: (await ctx.em.find(Crate, {})).map(crate => crate.shop.id) }),
        }),
      ],
    })
    const crate = await world.call('POST', '/v1/crates', { depth: 2 }, { shop: 3 })
    assert.equal(crate.status, 422, JSON.stringify(crate.body))
    const shop = await world.call('POST', '/v1/shops', {}, { name: 'own', crates: [{ weight: 5 }] })
    assert.deepEqual([shop.status, shop.body.code], [403, 'outside_scope'])
  })
})
