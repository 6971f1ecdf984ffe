/** The time budget of a request: what takes longer ends while it runs, is answered 503, and leaves nothing. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createServer, resource } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import { leastOf, leastTime, timeOf } from '../helpers/least.ts'
import { Site, User, sharedLists } from '../helpers/shared-lists.ts'

type Query = Record<string, string | number | string[]>
type Body = Record<string, unknown> & { code: string; detail: string; count: number }

/** Milliseconds: a third of what the cheapest of the requests below takes on a quick machine. */
const BUDGET = 50

/** Beside the budget: what ends a statement looks at the clock now and then, on a machine that may do other things. */
const TOLERANCE = 1500

const patterns = (count: number): string[] => Array.from({ length: count }, (_, index) => `*${[...'012345678'].join('*')}*${index}`)

const titles = Array.from({ length: 8 }, (_, index) =>
  patterns(50)
    .map(one => one + index)
    .join(),
)

/** Each of them takes many seconds on the data below, with the name of what takes the time. */
const COSTLY: readonly (readonly [path: string, query: Query, what: string])[] = [
  ['/v1/users', { sort: 'sites.tags.sites.title.desc', depth: 0 }, 'sorting by "sites.tags.sites.title"'],
  ['/v1/users', { sort: 'sites.tags.sites.desc', depth: 0, name: 'user*' }, 'filtering by "name" and sorting by "sites.tags.sites"'],
  [
    '/v1/users',
    { '!sites.tags.sites.tags.sites.title': 'nothing', name: '*u*' },
    'filtering by "!sites.tags.sites.tags.sites.title", "name"',
  ],
  ['/v1/sites', { title: titles }, 'filtering by "title"'],
  // Few records match at most: the page is counted with its rows.
  ['/v1/sites', { title: titles, sort: 'title' }, 'filtering by "title" and sorting by "title"'],
  ['/v1/sites', { '!tags.name': patterns(50) }, 'filtering by "!tags.name"'],
  ['/v1/users', { depth: 2, limit: 1000, expand: 'sites.tags' }, 'reading the relation'],
]

const target = (path: string, query: Query): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)]))
  return `${path}?${new URLSearchParams(pairs).toString()}`
}

describe('a time budget', () => {
  let engine: RestEngine
  let server: ReturnType<typeof createServer>
  let port: number
  let origin: string

  before(async () => {
    engine = await sharedLists(3000, 60_000, 300, { limits: { timeout: BUDGET, maxRecords: 1e9, maxAnswerBytes: 1e9 } })
    server = createServer(engine).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    port = (server.address() as AddressInfo).port
    origin = `http://127.0.0.1:${port}`
  })
  after(async () => {
    await new Promise(resolve => server.close(resolve))
    await engine.close()
  })

  for (const [path, query, what] of COSTLY) {
    it(`ends ${what}, and another client is answered right after`, async () => {
      // On a machine that does other things the time may be over before the costly part begins: a round that names another one is not
      // counted.
      let isNamed = true
      let detail = ''
      const ask = async (): Promise<void> => {
        const result = await fetch(origin + target(path, query))
        const body = (await result.json()) as Body
        assert.deepEqual([result.status, body.code], [503, 'timeout'])
        assert.ok(body.detail.includes(`longer than the ${BUDGET} ms`), body.detail)
        // Reading a relation and making records of it take turns: the time may be over in either.
        isNamed = body.detail.includes(what) || (what === 'reading the relation' && body.detail.includes('putting the answer together'))
        detail = body.detail
      }
      const askOther = async (): Promise<void> => {
        assert.equal((await fetch(`${origin}/v1/users/1`)).status, 200)
      }
      const isSoon = (duration: number): boolean => duration < BUDGET + TOLERANCE
      const measure = async (): Promise<number> => {
        const durations = await Promise.all([timeOf(ask), timeOf(askOther)])
        return isNamed ? Math.max(...durations) : Infinity
      }
      const [duration] = await leastOf([measure], isSoon)
      assert.ok(isSoon(duration), `${duration} ms: ${detail}`)
    })
  }

  it('ends the same in the process', async () => {
    const [path, query] = COSTLY[0]!
    const bound = BUDGET + TOLERANCE
    const duration = await leastTime(async () => {
      const { status, body } = await engine.handle('GET', path, query)
      assert.deepEqual([status, (body as Body).code], [503, 'timeout'])
    }, bound)
    assert.ok(duration < bound, `${duration} ms`)
  })

  it('does nothing for clients that have gone, and answers those between', async () => {
    const [path, query] = COSTLY[0]!
    const request = `GET ${target(path, query)} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`
    const open = (): Promise<ReturnType<typeof connect>> =>
      new Promise(resolve => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket))
        socket.on('error', () => {})
      })
    const answerAfter = async (): Promise<number> => {
      for (const socket of await Promise.all(Array.from({ length: 30 }, open))) {
        socket.write(request)
        socket.destroy()
      }
      return timeOf(async () => {
        assert.equal((await fetch(`${origin}/v1/users/1`)).status, 200)
        assert.equal((await fetch(origin + target(path, query))).status, 503)
      })
    }
    // All of them would take 4.5 seconds.
    const isSoon = (duration: number): boolean => duration < 2 * BUDGET + TOLERANCE
    const [duration] = await leastOf([answerAfter], isSoon)
    assert.ok(isSoon(duration), `${duration} ms`)
  })

  it('answers what is looked at as what is not', async () => {
    const free = await sharedLists(500, 12_000, 100)
    const watched = await sharedLists(500, 12_000, 100, { limits: { timeout: 60_000 } })
    for (const [path, query] of [
      ['/v1/sites', { sort: 'title.desc', 'title!=': 'site 5*', limit: 50 }],
      ['/v1/sites', { 'title~=': '*E 5*7', 'tags.name': '*3', limit: 50, offset: 1000 }],
      ['/v1/sites', { sort: 'tags.name,title', limit: 50, offset: 2000 }],
      ['/v1/users', { 'sites.tags.name': 'tag 7', sort: 'sites.desc', depth: 2, limit: 20 }],
      ['/v1/tags', { sort: 'sites.user.desc', depth: 0 }],
      ['/v1/users/7/sites', { sort: 'tags.sites.desc', title: '*1*' }],
    ] as const) {
      const [one, other] = await Promise.all([free, watched].map(each => each.handle('GET', path, query as never)))
      assert.equal(one!.status, 200, JSON.stringify(one!.body))
      assert.deepEqual({ ...(other!.body as Body), timestamp: '' }, { ...(one!.body as Body), timestamp: '' })
    }
    await Promise.all([free.close(), watched.close()])
  })
})

describe('a time budget for writing', () => {
  it('leaves nothing of a write at once', async () => {
    await using engine = await sharedLists(1, 1, 1, { limits: { timeout: 5 } })
    const sites = Array.from({ length: 900 }, (_, index) => ({ title: `new ${index}` }))
    const { status, body } = await engine.handle('POST', '/v1/users', {}, { name: 'new', sites })
    assert.deepEqual([status, (body as Body).code], [503, 'timeout'])
    const [users, left] = await engine.orm.em.getConnection().execute('select count(*) as n from user union all select count(*) from site')
    assert.deepEqual([users, left], [{ n: 1 }, { n: 1 }])
    await engine.seed({ tags: [{ name: 'after' }] })
  })

  it('leaves nothing of a write that a hook holds up', async () => {
    const slow = resource(User, {
      create: async (_ctx, next) => {
        const answer = await next()
        await wait(120)
        return answer
      },
    })
    await using engine = await sharedLists(1, 1, 1, { limits: { timeout: 100 }, resources: [slow] })
    const { status, body } = await engine.handle('POST', '/v1/users', {}, { name: 'new' })
    assert.deepEqual([status, (body as Body).code], [503, 'timeout'])
    assert.equal(((await engine.handle('GET', '/v1/users')).body as Body).count, 1)
  })
})

describe('the budget that nobody has given', () => {
  const slow = resource(Site, {
    get: async (_ctx, next) => {
      await wait(5100)
      return next()
    },
  })

  it('is 5 seconds over HTTP, and none in the process; 0 lifts it', async () => {
    await using engine = await sharedLists(1, 1, 1, { resources: [slow] })
    await using lifted = await sharedLists(1, 1, 1, { resources: [slow], limits: { timeout: 0 } })
    const servers = [engine, lifted].map(each => createServer(each).listen(0, '127.0.0.1'))
    await Promise.all(servers.map(each => once(each, 'listening')))
    const [first, second] = servers.map(each => `http://127.0.0.1:${(each.address() as AddressInfo).port}/v1/sites/1`)
    const [http, none, process, door] = await Promise.all([
      fetch(first!),
      fetch(second!),
      engine.handle('GET', '/v1/sites/1'),
      engine.fetch(new Request('http://x/v1/sites/1')),
    ])
    assert.deepEqual([http.status, none.status, process.status, door.status], [503, 200, 200, 200])
    for (const each of servers) each.close()
  })
})
