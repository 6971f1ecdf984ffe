/** A shop with hooks, rules and log-in, and what is asked of it: the same code runs in a page and on Node. */
import { defineEntity, p } from '@mikro-orm/core'
import type * as library from '../../lib/index.ts'

export type Library = Pick<typeof library, 'RestEngine' | 'resource' | 'auth'>

const User = defineEntity({
  name: 'User',
  properties: () => ({
    id: p.integer().primary(),
    email: p.string().unique(),
    password: p.string().hidden(),
    orders: () => p.oneToMany(Order).mappedBy('user'),
  }),
})

const Order = defineEntity({
  name: 'Order',
  properties: () => ({
    id: p.integer().primary(),
    at: p.datetime().onCreate(() => new Date()),
    total: p.decimal().precision(8).scale(2),
    note: p.text().nullable(),
    data: p.blob().nullable(),
    details: p.json<Record<string, unknown>>().nullable(),
    user: () => p.manyToOne(User),
    items: () => p.oneToMany(Item).mappedBy('order').orphanRemoval(),
    tags: () => p.manyToMany(Tag),
  }),
})

const Item = defineEntity({
  name: 'Item',
  properties: () => ({ id: p.integer().primary(), name: p.string(), count: p.integer().default(1), order: () => p.manyToOne(Order) }),
})

export const Tag = defineEntity({
  name: 'Tag',
  properties: () => ({ id: p.integer().primary(), name: p.string().unique(), orders: () => p.manyToMany(Order).mappedBy('tags') }),
})

export const Event = defineEntity({ name: 'Event', properties: () => ({ id: p.integer().primary(), text: p.string() }) })

export const ENTITIES = [User, Order, Item, Tag, Event]

const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 2))

export interface ShopOptions {
  /** The engine of the hook "lost": by default the context's. */
  readonly lost?: () => library.RestEngine
  /** Of the engine. */
  readonly options?: Pick<library.EngineOptions, 'orm'>
}

export async function makeShop({ RestEngine, resource, auth }: Library, { lost, options }: ShopOptions = {}): Promise<library.RestEngine> {
  return RestEngine.create({
    entities: ENTITIES,
    ...options,
    auth: auth({
      entity: User,
      secret: 'of the specs of a page, which nobody keeps',
      public: ['GET /*', 'POST /*', 'PATCH /*', 'PUT /*', 'DELETE /*'],
    }),
    clock: () => new Date('2026-01-02T03:04:05.678Z'),
    onError: () => {},
    seed: {
      users: [
        { id: 1, email: 'ann@example.test', password: 'pass of ann' },
        { id: 2, email: 'bob@example.test', password: 'pass of bob' },
      ],
      orders: [
        { id: 1, total: '12.50', note: 'first', user: 1, details: { gift: true }, items: [{ name: 'Cup' }, { name: 'Jar', count: 3 }] },
      ],
      tags: [{ name: 'new' }],
    },
    resources: [
      resource(Tag, {
        // Waits before, between and behind calls that belong to the write.
        create: async (ctx, next) => {
          await pause()
          await ctx.engine.handle('POST', '/v1/events', undefined, { text: `before ${ctx.data.name}` })
          await pause()
          const answer = await next()
          await pause()
          await ctx.ask('POST', '/events', undefined, { text: `behind ${ctx.data.name}` })
          if (ctx.data.name === 'fails') throw new Error('the hook fails')
          return answer
        },
        update: async (ctx, next) => {
          await pause()
          await (lost?.() ?? ctx.engine).handle('POST', '/v1/events', undefined, { text: 'in an update' })
          return next()
        },
      }),
      resource(Event, { parameters: { spelt: text => ({ text: { $re: text } }) }, access: async () => (await pause(), true) }),
    ],
  })
}

type Call = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>]

const CALLS: readonly Call[] = [
  ['GET', '/v1'],
  ['GET', '/v1/orders?expand=items,user&sort=items.desc&total>=10'],
  ['GET', '/v1/orders?user.email=*@example.test&note~=FIRST&items(name=Cup;count=1)'],
  ['GET', '/v1/orders/1?depth=2'],
  ['POST', '/v1/orders', { total: '3', user: 2, data: 'aGnDpA==', items: [{ name: 'Pen' }], tags: [1, { name: 'nested' }] }],
  ['GET', '/v1/orders/2?expand=tags,items'],
  ['PATCH', '/v1/orders/1', { note: null, items: [{ id: 1, count: 7 }, { name: 'Lid' }] }],
  ['GET', '/v1/orders/1/items?sort=id'],
  ['PATCH', '/v1/orders/2', { total: '4.4' }],
  ['POST', '/v1/users', { email: 'ann@example.test', password: 'x' }],
  ['POST', '/v1/orders', [{ total: 'x', user: 9 }, {}]],
  ['POST', '/v1/tags', { name: 'hooked' }],
  ['POST', '/v1/tags', { name: 'fails' }],
  ['GET', '/v1/tags?expand=orders'],
  ['GET', '/v1/events'],
  ['GET', '/v1/events?spelt=^b%5Cw%2B'],
  ['GET', '/v1/events?spelt=('],
  ['POST', '/v1/login', { email: 'ann@example.test', password: 'pass of ann' }],
  ['POST', '/v1/login', { email: 'ann@example.test', password: 'wrong' }],
  ['GET', '/v1/orders', undefined, { accept: 'text/csv' }],
  ['GET', '/v1/users?nam=x'],
  ['GET', '/v1/users/%zz'],
  ['PUT', '/v1/orders/1/note', 'text'],
  ['DELETE', '/v1/orders/2'],
  ['GET', '/v1/openapi.json'],
  ['PATCH', '/v1/users/1', { orders: [] }],
]

/** Returns what does not differ from run to run: of tokens, who they are of. */
export async function askShop(shop: library.RestEngine): Promise<string[]> {
  const answers: string[] = []
  for (const [method, path, body, headers = {}] of CALLS) {
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }
    const response = await shop.fetch(`http://shop.test${path}`, { method, headers, ...sent })
    const text = await response.text()
    const shown = JSON.stringify([...response.headers].filter(([name]) => name !== 'set-cookie'))
    answers.push(`${method} ${path} ${response.status} ${shown} ${text.replaceAll(/"eyJ[\w.-]+"/g, '"(a token)"')}`)
  }
  const all = await Promise.all([
    shop.handle('POST', '/v1/tags', undefined, { name: 'one of three' }),
    shop.handle('GET', '/v1/events', { limit: 0 }),
    shop.handle('POST', '/v1/orders', undefined, { total: '1', user: 1, items: [{ name: 'Beside' }], tags: [{ name: 'beside' }] }),
  ])
  answers.push(...all.map(({ status, body }) => `${status} ${JSON.stringify(body)}`))
  const world = await shop.snapshot()
  await using other = await shop.fork()
  await other.handle('DELETE', '/v1/orders/1')
  await shop.reset()
  for (const each of [shop, other]) answers.push(JSON.stringify((await each.handle('GET', '/v1/orders')).body))
  await shop.restore(world)
  answers.push(JSON.stringify((await shop.handle('GET', '/v1/tags')).body))
  answers.push(JSON.stringify(shop.requests.map(({ method, path, status, nested }) => [method, path, status, nested])))
  return answers
}

/** Logs in by a password whose hash another shop has made, and returns the answer's status. */
export async function logInWith(shop: library.RestEngine, hash: string): Promise<number> {
  await shop.orm.em.fork().getConnection().execute('update user set password = ? where id = 1', [hash])
  const { status } = await shop.handle('POST', '/v1/login', undefined, { email: 'ann@example.test', password: 'pass of ann' })
  return status
}

export async function readHash(shop: library.RestEngine): Promise<string> {
  const [row] = await shop.orm.em.fork().getConnection().execute<{ password: string }[]>('select password from user where id = 1')
  return row!.password
}

/** What members of an engine give beside answers, as texts that do not differ from run to run. */
export async function useMembers(shop: library.RestEngine): Promise<Record<string, unknown>> {
  await shop.expect({ events: 1 }, () => shop.send('POST /v1/events', { body: { text: 'expected' } }))
  const missed = await shop.expect({ events: 1 }, () => {}).catch((error: Error) => error.message)
  const before = await shop.snapshot()
  // A page has no Faker: texts by names would differ.
  const given = await shop.given('order', { total: '9.99', user: { email: 'given@example.test' } }, { seed: 7 })
  const explained = await shop.explain('POST', '/v1/orders', undefined, { total: '1', user: 1, items: [{ name: 'x' }] })
  const fault = shop.fail('GET /v1/tags', { status: 503, times: 1 })
  const failed = await shop.handle('GET', '/v1/tags')
  const report = await shop.selfTest({ seed: 3, runs: 1 })
  const shown = (value: unknown): string => JSON.stringify(value).replaceAll(/"(?:duration|time|wait|startedDateTime)":[^,}]+/g, '')
  return {
    missed,
    given: shown(given),
    difference: shown(await shop.difference(before)),
    explained: explained.statements.map(({ sql }) => sql),
    writes: explained.writes,
    failed: [failed.status, failed.body.detail, fault.met],
    report: String(report).replace(/[\d.]+ s;/, ''),
    openapi: JSON.stringify(await shop.openapi()),
    diagram: await shop.diagram(),
    notes: shop.notes,
    har: shop.har().log.entries.length,
  }
}
