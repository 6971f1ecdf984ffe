/** Faults: delays, failures, lost connections and gates, through handle, fetch and real HTTP. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { createServer, RestEngine } from '../../lib/index.ts'
import type { FaultRequest, Gate, RequestMatch } from '../../lib/index.ts'
import { LIBRARY } from '../helpers/command.ts'

const Order = defineEntity({ name: 'Order', properties: { id: p.integer().primary(), item: p.string() } })

type Code = { readonly code?: string; readonly message: string; readonly cause?: Code }

describe('faults', () => {
  let engine: RestEngine
  let errors: unknown[]
  let server: Server | undefined

  beforeEach(async () => {
    errors = []
    engine = await RestEngine.create({
      entities: [Order],
      seed: { orders: [{ id: 1, item: 'pen' }] },
      onError: error => errors.push(error),
      routes: [
        { method: 'GET', path: '/v1/latest', handler: ctx => ctx.engine.handle('GET', '/v1/orders', { sort: 'id.desc', limit: 1 }) },
        { method: 'PURGE', path: '/v1/cache', handler: () => ({ body: {} }) },
      ],
    })
  })
  afterEach(async () => {
    server?.close()
    server?.closeAllConnections()
    server = undefined
    await engine.close()
  })

  const list = (query?: string) => engine.handle('GET', `/v1/orders${query ?? ''}`)
  const order = (item: string) => engine.handle('POST', '/v1/orders', undefined, { item })
  const items = async (): Promise<string[]> => {
    const rows = await engine.orm.em.fork().find(Order, {}, { orderBy: { id: 1 } })
    return rows.map(row => row.item)
  }
  async function listen(): Promise<string> {
    server = createServer(engine).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
    const started = performance.now()
    const value = await work
    return { value, ms: performance.now() - started }
  }
  // Timers count from the beginning of a turn of the event loop: where the process is held up within it, as under load, one is early by as
  // much.
  const assertTook = (ms: number, least: number): void => assert.ok(ms >= least / 2, `took ${ms} ms, not ${least}`)
  const lost = { code: 'ECONNRESET' }

  describe('match', () => {
    const cases: [match: RequestMatch, met: string[], passed: string[]][] = [
      ['POST /v1/orders', ['POST /v1/orders', 'POST /v1/orders?depth=2', 'POST /v1/orders/'], ['GET /v1/orders', 'POST /v1/orders/1']],
      ['POST /v1/orders/', ['POST /v1/orders'], ['POST /v1/orders/1']],
      ['GET /v1/orders*', ['GET /v1/orders', 'HEAD /v1/orders', 'get /v1/orders/1'], ['POST /v1/orders', 'OPTIONS /v1/orders', 'GET /v1']],
      ['HEAD /v1/orders', ['HEAD /v1/orders'], ['GET /v1/orders']],
      ['/v1/orders/*', ['GET /v1/orders/1', 'DELETE /v1/orders/9'], ['GET /v1/orders']],
      ['* /v1/*/1', ['GET /v1/orders/1', 'GET /v1/a/b/1'], ['GET /v1/orders/11']],
      ['*', ['GET /', 'GET /v9', 'PUT /v1/%zz', 'OPTIONS /v1/orders'], []],
      ['* *', ['GET /', 'PATCH /v1/orders/1'], []],
      ['PURGE /v1/cache', ['PURGE /v1/cache'], ['GET /v1/cache']],
      ['GET /*/or.ers', [], ['GET /v1/orders']],
      [({ method, path }) => method === 'GET' && path === '/v1/orders', ['GET /v1/orders/?item=x', 'get /v1/orders'], ['HEAD /v1/orders']],
      [({ query }) => query.some(([name, value]) => name === 'id>=' && value === '2 3'), ['GET /v1/orders?id%3E=2%203'], ['GET /v1?id>=2']],
      [({ headers }) => headers['x-test'], ['GET /v1/orders'], []],
    ]
    for (const [match, met, passed] of cases) {
      it(`${String(match)} means ${met.join(', ') || 'none'}`, async () => {
        using _ = engine.fail(match, { status: 599 })
        for (const [requests, isMet] of [
          [met, true],
          [passed, false],
        ] as const) {
          for (const request of requests) {
            const [method = '', path = ''] = request.split(/ (.*)/)
            const { status } = await engine.handle(method, path, undefined, undefined, { headers: { 'X-Test': 'yes' } })
            assert.equal(status === 599, isMet, `${request}: ${status}`)
          }
        }
      })
    }

    it('may look at the body', async () => {
      using _ = engine.fail(({ body }) => (body as { item?: string } | undefined)?.item === 'gold', { status: 402, code: 'too_dear' })
      assert.equal((await order('gold')).body.code, 'too_dear')
      assert.equal((await order('tin')).status, 200)
      assert.deepEqual(await items(), ['pen', 'tin'])
    })

    it('that throws or gives a promise is a fault of the test: 500, and onError is told', async () => {
      for (const match of [
        () => {
          throw new Error('no such thing')
        },
        async () => true,
      ]) {
        using _ = engine.delay(match, 1)
        assert.equal((await list()).status, 500)
      }
      assert.match(String(errors[0]), /no such thing/)
      assert.match(String(errors[1]), /it gave a promise/)
    })

    it('is not asked of what hooks ask the engine', async () => {
      using _ = engine.fail('GET /v1/orders', { status: 503 })
      assert.equal((await engine.handle('GET', '/v1/latest')).status, 200)
      assert.equal((await list()).status, 503)
    })
  })

  describe('arguments', () => {
    const cases: [name: string, make: (engine: RestEngine) => unknown, error: RegExp][] = [
      [
        'no slash',
        e => e.fail('POST v1/orders', { status: 500 }),
        /fail: "POST v1\/orders" must be like.*Did you mean "POST \/v1\/orders"/,
      ],
      ['no slash, no method', e => e.drop('v1/orders'), /drop: "v1\/orders" must be like.*Did you mean "\/v1\/orders"/],
      ['a method alone', e => e.hold('post'), /hold: "post" must be like.*Did you mean "POST \*"/],
      ['two spaces', e => e.hold('POST  /v1'), /must be like/],
      ['an empty text', e => e.hold(''), /must be like/],
      ['a method in lower case', e => e.delay('post /v1/orders', 1), /unknown method "post"\. Did you mean "POST \/v1\/orders"/],
      ['a method misspelt', e => e.delay('PSOT /v1/orders', 1), /unknown method "PSOT"\. Did you mean "POST \/v1\/orders"/],
      ['a query', e => e.delay('GET /v1/orders?id=1', 1), /a pattern is for the path alone\. Match the query with a function/],
      ['no match', e => e.drop(undefined as never), /drop: the match must be a string like "POST \/v1\/orders" or a function/],
      ['a RegExp', e => e.drop(/orders/ as never), /or a function of the request, got object/],
      ['a negative delay', e => e.delay('*', -1), /delay must be from 0 to 2147483647 milliseconds, got -1/],
      ['an endless delay', e => e.delay('*', Infinity), /got Infinity\. To keep requests for longer, use hold/],
      ['no number', e => e.delay('*', NaN), /got NaN/],
      [
        'a text as delay',
        e => e.delay('*', '2s' as never),
        /must be a number of milliseconds, a profile such as .*, or a function of the request, got string/,
      ],
      ['no delay', e => e.delay('*', undefined as never), /got undefined/],
      [
        'success',
        e => e.fail('*', { status: 200 }),
        /fail: "status" must be an integer from 400 to 599, got 200\. Other answers are for custom routes/,
      ],
      ['no status', e => e.fail('*', {} as never), /got undefined/],
      ['a status that is a text', e => e.fail('*', { status: '503' as never }), /"status" must be an integer .* got "503"/],
      ['a status instead of options', e => e.fail('*', 503 as never), /the options must be an object: \{ status: 503 \}/],
      ['no options', e => e.fail('*', undefined as never), /fail: the options must be an object, got undefined/],
      ['an unknown option', e => e.fail('*', { status: 500, time: 1 } as never), /fail: unknown option "time"\. Did you mean "times"/],
      ['after of hold', e => e.hold('*', { after: true } as never), /hold: unknown option "after"/],
      ['times 0', e => e.drop('*', { times: 0 }), /drop: "times" must be an integer above 0, got 0/],
      ['times 1.5', e => e.delay('*', 1, { times: 1.5 }), /"times" must be an integer above 0/],
      ['after that is no boolean', e => e.drop('*', { after: 1 as never }), /drop: "after" must be true or false, got 1/],
      ['an empty code', e => e.fail('*', { status: 500, code: '' }), /"code" must be a string that is not empty/],
      ['a detail that is no text', e => e.fail('*', { status: 500, detail: 5 as never }), /"detail" must be a string/],
      [
        'a header that says how bytes travel',
        e => e.fail('*', { status: 500, headers: { 'Transfer-Encoding': 'chunked' } }),
        /the header "Transfer-Encoding" says how the bytes of an answer travel, which the server decides/,
      ],
      [
        'a header that cannot be sent',
        e => e.fail('*', { status: 500, headers: { 'x-a': 'b\r\nc: d' } }),
        /the header "x-a" cannot be sent/,
      ],
      [
        'headers that are no texts',
        e => e.fail('*', { status: 500, headers: { a: 1 } as never }),
        /"headers" must be an object of strings/,
      ],
      ['a gate’s status', e => e.hold('*').fail(302), /gate\.fail: "status" must be an integer from 400 to 599, got 302/],
      ['a gate’s option', e => e.hold('*').fail(500, { times: 1 } as never), /gate\.fail: unknown option "times"/],
    ]
    for (const [name, make, error] of cases) {
      it(`are refused at once: ${name}`, () => {
        assert.throws(() => make(engine), error)
      })
    }

    it('are refused by a closed engine', async () => {
      await engine.close()
      for (const make of [
        () => engine.delay('*', 1),
        () => engine.fail('*', { status: 500 }),
        () => engine.drop('*'),
        () => engine.rateLimit('*', { requests: 1, per: 1 }),
        () => engine.hold('*'),
      ]) {
        assert.throws(make, /The engine is closed/)
      }
    })
  })

  describe('delay', () => {
    it('delays what it meets, until it is disposed', async () => {
      {
        using _ = engine.delay('GET /v1/orders', 60)
        assertTook((await timed(list())).ms, 60)
      }
      const far = engine.delay('*', 60_000)
      const { ms } = await timed(Promise.all([list(), wait(30).then(() => far.dispose())]))
      assert.ok(ms < 10_000, 'disposing lets those go on that wait')
      far.dispose()
    })

    it('may be told by a function, and for some requests only', async () => {
      using _ = engine.delay('*', ({ path }) => (path.endsWith('/1') ? 60 : 0), { times: 2 })
      assertTook((await timed(engine.handle('GET', '/v1/orders/1'))).ms, 60)
      await list()
      const far = engine.delay('*', () => 50_000, { times: 1 })
      const waiting = list()
      assert.equal((await list()).status, 200)
      far.dispose()
      assert.equal((await waiting).status, 200)
    })

    it('refuses what its function must not give: 500, and onError is told', async () => {
      using _ = engine.delay('*', () => -5)
      assert.equal((await list()).status, 500)
      assert.match(String(errors[0]), /delay: the function: the delay must be from 0/)
    })

    it('adds up, and comes before all else', async () => {
      engine.fail('*', { status: 500 })
      engine.delay('*', 40)
      engine.delay('/v1/orders', 40)
      const { value, ms } = await timed(list())
      assert.equal(value.status, 500)
      assertTook(ms, 80)
    })
  })

  describe('fail', () => {
    it('answers with the one error shape, and does nothing', async () => {
      using _ = engine.fail('POST /v1/orders', { status: 503 })
      const { status, headers, body } = await order('ink')
      assert.equal(status, 503)
      assert.equal(headers['content-type'], 'application/json; charset=UTF-8')
      assert.deepEqual(Object.keys(body as object), ['success', 'timestamp', 'status', 'code', 'title', 'detail'])
      assert.equal(body.success, false)
      assert.equal(body.code, 'fault_injected')
      assert.equal(body.detail, 'A test has asked for this failure.')
      assert.deepEqual(await items(), ['pen'])
      assert.deepEqual(errors, [])
    })

    it('takes code, detail and headers, and gives HEAD no body', async () => {
      using _ = engine.fail('*', { status: 429, code: 'slow_down', detail: 'Not so fast.', headers: { 'Retry-After': '2' } })
      const { status, headers, body } = await list()
      assert.deepEqual(
        [status, headers['retry-after'], body.code, body.title, body.detail],
        [429, '2', 'slow_down', 'Too Many Requests', 'Not so fast.'],
      )
      const head = await engine.handle('HEAD', '/v1/orders')
      assert.deepEqual([head.status, head.headers['retry-after'], head.body], [429, '2', undefined])
    })

    it('meets as many as it is told', async () => {
      engine.fail('POST /v1/orders', { status: 500, times: 2 })
      const statuses: number[] = []
      for (const item of ['a', 'b', 'c']) statuses.push((await order(item)).status)
      assert.deepEqual(
        [statuses, await items()],
        [
          [500, 500, 200],
          ['pen', 'c'],
        ],
      )
    })

    it('counts requests as they arrive, also those at once', async () => {
      engine.fail('*', { status: 500, times: 2 })
      const answers = await Promise.all(['a', 'b', 'c', 'd'].map(order))
      assert.deepEqual(
        answers.map(({ status }) => status),
        [500, 500, 200, 200],
      )
    })

    it('after: the request is done, its answer replaced', async () => {
      using _ = engine.fail('POST /v1/orders', { status: 504, after: true })
      assert.equal((await order('ink')).status, 504)
      assert.deepEqual(await items(), ['pen', 'ink'])
    })

    it('gives way to the one that was there first, and that is not counted', async () => {
      const first = engine.fail('*', { status: 501 })
      const second = engine.fail('*', { status: 502, times: 1 })
      assert.equal((await list()).status, 501)
      first.dispose()
      assert.equal((await list()).status, 502)
      assert.equal((await list()).status, 200)
      second.dispose()
    })
  })

  describe('drop', () => {
    it('rejects, and does nothing; after: only the answer is lost', async () => {
      const drop = engine.drop('POST /v1/orders')
      await assert.rejects(order('a'), { ...lost, message: 'The connection was lost: drop("POST /v1/orders") has met POST /v1/orders.' })
      drop.dispose()
      engine.drop('POST /v1/orders', { after: true, times: 1 })
      await assert.rejects(order('b'), lost)
      assert.equal((await order('c')).status, 200)
      assert.deepEqual(await items(), ['pen', 'b', 'c'])
    })

    it('is "fetch failed" for fetch', async () => {
      engine.drop('GET /v1/orders', { times: 1 })
      const error = await engine.fetch(new Request('http://api.test/v1/orders')).catch((e: unknown) => e as Code)
      assert.ok(error instanceof TypeError)
      assert.equal(error.message, 'fetch failed')
      assert.equal((error as Code).cause?.code, 'ECONNRESET')
      assert.equal((await engine.fetch(new Request('http://api.test/v1/orders'))).status, 200)
    })

    it('resets the socket over HTTP, for node:http and for fetch', async () => {
      const origin = await listen()
      using drop = engine.drop('*')
      const error = await fetch(`${origin}/v1/orders`).catch((e: unknown) => e as Code)
      assert.ok(error instanceof TypeError)
      assert.equal((error as Code).cause?.code, 'ECONNRESET')
      const [other] = (await once(httpRequest(`${origin}/v1/orders`).end(), 'error')) as [Code]
      assert.equal(other.code, 'ECONNRESET')
      drop.dispose()
      assert.equal((await fetch(`${origin}/v1/orders`)).status, 200)
      assert.deepEqual(errors, [])
    })

    it('ends the connection of a server on a pipe, too', { skip: process.platform === 'win32' }, async () => {
      const socketPath = join(tmpdir(), `mikro-rest-${process.pid}.sock`)
      server = createServer(engine).listen(socketPath)
      await once(server, 'listening')
      using _ = engine.drop('*', { times: 1 })
      const [error] = (await once(httpRequest({ socketPath, path: '/v1/orders' }).end(), 'error')) as [Code]
      assert.equal(error.code, 'ECONNRESET')
      const [response] = await once(httpRequest({ socketPath, path: '/v1/orders' }).end(), 'response')
      assert.equal(response.statusCode, 200)
      response.resume()
    })

    it('over HTTP, after: what was asked is done', async () => {
      const origin = await listen()
      engine.drop('POST *', { after: true, times: 1 })
      const post = () =>
        fetch(`${origin}/v1/orders`, { method: 'POST', body: '{"item":"ink"}', headers: { 'content-type': 'application/json' } })
      await assert.rejects(post(), TypeError)
      assert.deepEqual(await items(), ['pen', 'ink'])
      assert.equal((await post()).status, 200)
    })
  })

  describe('hold', () => {
    it('holds until the gate is released, for good', async () => {
      using gate = engine.hold('POST /v1/orders')
      const answers = [order('a'), order('b')]
      const first = await gate.arrived
      assert.deepEqual([first.method, first.path, first.body], ['POST', '/v1/orders', { item: 'a' }])
      await wait(10)
      assert.deepEqual(
        gate.requests.map(({ body }) => body),
        [{ item: 'a' }, { item: 'b' }],
      )
      assert.equal((await list()).status, 200)
      assert.deepEqual(await items(), ['pen'])
      gate.release()
      assert.deepEqual(
        (await Promise.all(answers)).map(({ status }) => status),
        [200, 200],
      )
      assert.equal(gate.requests.length, 0)
      assert.equal((await order('c')).status, 200)
    })

    it('answers what waits with an error, or loses it; and ends', async () => {
      const failing = engine.hold('*')
      const failed = order('a')
      await failing.arrived
      failing.fail(503, { code: 'down', headers: { 'retry-after': '1' } })
      const { status, headers, body } = await failed
      assert.deepEqual([status, headers['retry-after'], body.code], [503, '1', 'down'])
      assert.equal((await list()).status, 200)
      const losing = engine.hold('*')
      const gone = order('b')
      await losing.arrived
      losing.drop()
      await assert.rejects(gone, lost)
      assert.equal((await list()).status, 200)
      assert.deepEqual(await items(), ['pen'])
    })

    it('opens when it is disposed, in any order', async () => {
      const answers: Promise<unknown>[] = []
      {
        using outer = engine.hold('*')
        using inner = engine.hold('/v1/orders')
        answers.push(list())
        await outer.arrived
        outer.release()
        await inner.arrived
        assert.deepEqual([outer.requests.length, inner.requests.length], [0, 1])
        outer.dispose()
      }
      await Promise.all(answers)
      const gates = [engine.hold('*'), engine.hold('*'), engine.hold('*')] as const
      answers.push(list())
      for (const index of [1, 2, 0, 1] as const) gates[index].dispose()
      await Promise.all(answers)
    })

    it('holds as many as it is told', async () => {
      using gate = engine.hold('*', { times: 1 })
      const held = list()
      await gate.arrived
      assert.equal((await list()).status, 200)
      assert.equal(gate.requests.length, 1)
      gate.release()
      assert.equal((await held).status, 200)
    })

    it('ends before anything arrived: whoever waits is told', async () => {
      const ends: ((gate: Gate) => void)[] = [g => g.release(), g => g.fail(500), g => g.drop(), g => g.dispose(), g => g[Symbol.dispose]()]
      for (const end of ends) {
        const gate = engine.hold('POST /v1/orders')
        end(gate)
        await assert.rejects(gate.arrived, /The gate "POST \/v1\/orders" has ended before a request arrived/)
      }
    })

    it('holds over HTTP, several connections at once', async () => {
      const origin = await listen()
      using gate = engine.hold('GET /v1/orders*')
      const answers = [fetch(`${origin}/v1/orders/1`), fetch(`${origin}/v1/orders/1`)]
      while (gate.requests.length < 2) await wait(5)
      gate.release()
      for (const answer of answers) assert.equal((await answer).status, 200)
    })

    it('lets go of a client that hangs up', async () => {
      const origin = await listen()
      using gate = engine.hold('*')
      const client = new AbortController()
      const answer = fetch(`${origin}/v1/orders`, { signal: client.signal })
      await gate.arrived
      client.abort()
      await assert.rejects(answer, { name: 'AbortError' })
      while (gate.requests.length > 0) await wait(5)
    })
  })

  describe('order', () => {
    it('is: delays, gates, and the first failure or loss, whenever they were made', async () => {
      const drop = engine.drop('*', { after: true })
      engine.fail('*', { status: 500 })
      using gate = engine.hold('*')
      engine.delay('*', 40)
      const answer = order('a').catch((e: unknown) => e as Code)
      const started = performance.now()
      await gate.arrived
      assertTook(performance.now() - started, 38)
      gate.release()
      assert.equal(((await answer) as Code).code, 'ECONNRESET')
      assert.deepEqual(await items(), ['pen', 'a'])
      drop.dispose()
      assert.equal((await order('b')).status, 500)
    })

    it('what is disposed meanwhile no longer happens', async () => {
      const fail = engine.fail('*', { status: 500 })
      using gate = engine.hold('*')
      const answer = list()
      await gate.arrived
      fail.dispose()
      gate.release()
      assert.equal((await answer).status, 200)
      await using own = await RestEngine.create({
        entities: [Order],
        routes: [{ method: 'GET', path: '/v1/now', handler: () => (ending.dispose(), { body: { done: true } }) }],
      })
      const ending = own.fail('GET /v1/now', { status: 500, after: true })
      assert.deepEqual((await own.handle('GET', '/v1/now')).body, { done: true })
    })
  })

  describe('abort', () => {
    it('ends a delay and a hold with the reason of the signal, and leaves nothing behind', async () => {
      using gate = engine.hold('POST *')
      using _ = engine.delay('GET *', 60_000)
      for (const method of ['POST', 'GET']) {
        const client = new AbortController()
        const answer = engine.handle(method, '/v1/orders', undefined, method === 'POST' ? { item: 'a' } : undefined, {
          signal: client.signal,
        })
        await wait(5)
        client.abort(new Error(`gone: ${method}`))
        await assert.rejects(answer, { message: `gone: ${method}` })
        assert.equal(getEventListeners(client.signal, 'abort').length, 0)
      }
      assert.equal(gate.requests.length, 0)
      const { signal } = new AbortController()
      const answer = engine.handle('POST', '/v1/login', undefined, {}, { signal })
      while (gate.requests.length === 0) await wait(1)
      gate.release()
      assert.equal((await answer).status, 404)
      assert.equal(getEventListeners(signal, 'abort').length, 0)
      assert.deepEqual(await items(), ['pen'])
    })

    it('before the request is done: nothing is', async () => {
      using _ = engine.delay('*', 20)
      const signal = AbortSignal.timeout(5)
      await assert.rejects(engine.handle('POST', '/v1/orders', undefined, { item: 'a' }, { signal }), { name: 'TimeoutError' })
      await wait(40)
      assert.deepEqual(await items(), ['pen'])
    })
  })

  describe('close', () => {
    async function warningsOf(work: () => Promise<void>): Promise<(Error & { code?: string })[]> {
      const warnings: (Error & { code?: string })[] = []
      const hear = (warning: Error): void => void (warning.name === 'MikroRestWarning' && warnings.push(warning))
      process.on('warning', hear)
      try {
        await work()
        await wait(5)
      } finally {
        process.off('warning', hear)
      }
      return warnings
    }

    it('warns of gates that still hold requests, loses those, and goes on', async () => {
      const held: Promise<unknown>[] = []
      const warnings = await warningsOf(async () => {
        const gate = engine.hold('POST /v1/orders')
        const empty = engine.hold('PUT *')
        const other = engine.hold(function brokenOne({ path }: FaultRequest) {
          return path === '/v1'
        })
        held.push(order('a'), order('b'), engine.handle('GET', '/v1'))
        for (const answer of held) answer.catch(() => {})
        await Promise.all([gate.arrived, other.arrived])
        await engine.close()
        await assert.rejects(empty.arrived, /has ended before/)
      })
      for (const answer of held) await assert.rejects(answer, lost)
      assert.equal(warnings.length, 2)
      assert.match(
        warnings[0]!.message,
        /The gate "POST \/v1\/orders" still held 2 requests when the engine was closed: POST \/v1\/orders, POST \/v1\/orders\./,
      )
      assert.match(warnings[1]!.message, /The gate "brokenOne" still held a request when the engine was closed: GET \/v1\./)
      assert.equal(warnings[0]!.code, 'MIKRO_REST_HELD')
    })

    it('does not wait for delays: what is delayed is done at once', async () => {
      const warnings = await warningsOf(async () => {
        engine.delay('*', 60_000)
        const answer = order('a')
        const { ms } = await timed(engine.close())
        assert.equal((await answer).status, 200)
        assert.ok(ms < 10_000)
      })
      assert.deepEqual(warnings, [])
    })

    it('over HTTP: the sockets of held requests are reset, and the server can close', async () => {
      const origin = await listen()
      const gate = engine.hold('*')
      const answer = fetch(`${origin}/v1/orders`).catch((e: unknown) => e as Code)
      await gate.arrived
      await warningsOf(() => engine.close())
      assert.equal(((await answer) as Code).cause?.code, 'ECONNRESET')
    })
  })

  it('cost nothing that keeps the process: it ends by itself', () => {
    const script = `
      import { defineEntity, p } from '@mikro-orm/core'
      import { RestEngine } from ${JSON.stringify(LIBRARY)}
      const Order = defineEntity({ name: 'Order', properties: { id: p.integer().primary(), item: p.string() } })
      const engine = await RestEngine.create({ entities: [Order] })
      const slow = engine.delay('GET /v1/orders', 600_000)
      const gate = engine.hold('GET /v1')
      const ask = (path, signal) => engine.handle('GET', path, undefined, undefined, signal && { signal }).then(r => r.status, e => e.message)
      const client = new AbortController()
      const asked = [ask('/v1/orders', client.signal), ask('/v1/orders'), ask('/v1', client.signal), ask('/v1')]
      await gate.arrived
      client.abort(new Error('gone'))
      slow.dispose()
      gate.release()
      engine.delay('*', 600_000)
      engine.hold('*')
      console.log(JSON.stringify(await Promise.all(asked)))
    `
    const { status, stdout, stderr, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: join(import.meta.dirname, '../..'),
      encoding: 'utf8',
      timeout: 60_000,
    })
    assert.deepEqual([status, signal, stderr], [0, null, ''])
    assert.equal(stdout, '["gone",200,"gone",200]\n')
  })
})
