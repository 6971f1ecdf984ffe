/** Interception: requests of this process are answered by an engine, without a socket, as a server over HTTP would answer them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import * as undici from 'undici'
import { internalsOf, keepInternals } from '../../../lib/engine/assembly/internals.ts'
import type { EngineInternals } from '../../../lib/engine/assembly/engine-internals.ts'
import { createServer, resource, RestEngine } from '../../../lib/index.ts'
import type { EngineOptions, Wrapper } from '../../../lib/index.ts'
import { intercept } from '../../../lib/doors/server/intercept/intercept.ts'
import { check } from '../../helpers/check.ts'
import { LIBRARY } from '../../helpers/command.ts'
import { CLIENTS } from './clients.ts'
import type { Answered, Asked } from './clients.ts'

const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string().unique(), size: p.integer().nullable() },
})
const API = 'https://api.example.test'
const OTHER = 'https://other.example.test'
const JSON_TYPE = { 'content-type': 'application/json' }
const OPTIONS: EngineOptions = {
  entities: [Note],
  clock: () => new Date('2026-01-01T00:00:00Z'),
  limits: { maxBodyBytes: 2_000 },
  seed: { notes: [{ text: 'one', size: 1 }, { text: 'zwei – 二', size: 2 }, { text: 'three' }] },
}
const SLOTS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')] as const

function whatIsThere(): unknown[] {
  return SLOTS.map(slot => (globalThis as unknown as Record<symbol, unknown>)[slot])
}

async function countAt(origin: string): Promise<number> {
  return ((await (await fetch(`${origin}/v1/notes`)).json()) as { count: number }).count
}

/** An engine with so many notes: whoever answers tells by the count who it is. */
function engineOf(count: number): Promise<RestEngine> {
  return RestEngine.create({ entities: [Note], seed: { notes: Array.from({ length: count }, (_, index) => ({ text: `${index}` })) } })
}

/** A real server, which an interception must leave alone. */
let elsewhere: Server
let real: string
const isThere = whatIsThere()

/** Hooks of each suite. */
function begin(): void {
  before(async () => {
    elsewhere = createHttpServer((request, response) => {
      if (request.url === '/reset') request.socket.resetAndDestroy()
      else request.resume().on('end', () => response.end(JSON.stringify({ real: request.url })))
    })
    elsewhere.listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    real = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  })
  after(() => {
    elsewhere.close()
    elsewhere.closeAllConnections()
  })
}

describe('an intercepted request', () => {
  begin()

  const REQUESTS: readonly Asked[] = [
    { path: '/v1/notes' },
    { path: '/v1/notes?text=zwei*&attributes=text&sort=size.desc' },
    { path: '/v1/notes/2' },
    { path: '/v1/notes/2/text' },
    { path: '/' },
    { path: '/v1/notes/99' },
    { path: '/v1/notes?txt=a' },
    { path: '/v1/notes?text=%zz' },
    { path: '/v1//notes' },
    { method: 'HEAD', path: '/v1/notes/1' },
    { method: 'HEAD', path: '/v1/notes/99' },
    { method: 'OPTIONS', path: '/v1/notes' },
    { method: 'POST', path: '/v1/notes', headers: JSON_TYPE, body: '{"text":"viér"}' },
    { method: 'POST', path: '/v1/notes', headers: JSON_TYPE, body: '{"text":"one"}' },
    { method: 'POST', path: '/v1/notes', headers: JSON_TYPE, body: '{"txt":5}' },
    { method: 'POST', path: '/v1/notes', headers: JSON_TYPE, body: '{"text":' },
    { method: 'POST', path: '/v1/notes', headers: { 'content-type': 'text/plain' }, body: '{}' },
    { method: 'POST', path: '/v1/notes', headers: JSON_TYPE, body: `{"text":"${'x'.repeat(2_000)}"}` },
    { method: 'POST', path: '/v1/notes' },
    { method: 'PUT', path: '/v1/notes/1', headers: JSON_TYPE, body: '{"size":7}' },
    { method: 'PATCH', path: '/v1/notes/1/size', headers: JSON_TYPE, body: '8' },
    { method: 'PUT', path: '/v1/notes', headers: JSON_TYPE, body: '{}' },
    { method: 'DELETE', path: '/v1/notes/3' },
    { method: 'DELETE', path: '/v1/notes/3' },
    { path: '/v1/notes' },
  ]

  /** What a client can rely on; a connection has headers of its own. */
  function seen({ status, headers, text }: Answered): object {
    const { 'content-type': type, 'content-length': length, location, allow } = headers
    return { status, type, length, location, allow, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }

  for (const [name, client] of Object.entries(CLIENTS)) {
    it(`of ${name} is answered as over HTTP, and as by handle`, async () => {
      await using handling = await RestEngine.create(OPTIONS)
      await using serving = await RestEngine.create(OPTIONS)
      await using intercepting = await RestEngine.create(OPTIONS)
      const server = createServer(serving).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const served = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      using _ = intercepting.intercept(API)
      for (const asked of REQUESTS) {
        const overHttp = seen(await client(served, asked))
        const intercepted = await client(API, asked)
        assert.deepEqual(seen(intercepted), overHttp, JSON.stringify(asked))
        // Whatever is no JSON never reaches handle.
        let body: unknown
        try {
          body = asked.body === undefined ? undefined : JSON.parse(asked.body)
        } catch {
          continue
        }
        if (asked.headers?.['content-type'] === 'text/plain' || (asked.body?.length ?? 0) > 2_000) continue
        const handled = await handling.handle(asked.method ?? 'GET', asked.path, undefined, body)
        assert.equal(intercepted.status, handled.status)
        assert.deepEqual(intercepted.text === '' ? undefined : JSON.parse(intercepted.text), handled.body, JSON.stringify(asked))
      }
      server.close()
      server.closeAllConnections()
    })
  }

  it('is answered as over HTTP whatever it is (property)', async () => {
    await using serving = await RestEngine.create(OPTIONS)
    await using intercepting = await RestEngine.create(OPTIONS)
    const server = createServer(serving).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const served = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    using _ = intercepting.intercept(API)
    const asked = fc.record({
      method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'),
      path: fc.constantFrom('', '/', '/v1', '/v1/notes', '/v1/notes/1', '/v1/notes/2/size', '/v2/notes', '/v1/notes/', '/v1/%F0%9F'),
      query: fc.constantFrom('', '?', '?limit=1', '?text=o*', '?text=%E4%BA%8C', '?!size=1&sort=text', '?a=b', '?limit=x'),
      type: fc.constantFrom(undefined, 'application/json', 'application/json; charset=utf-8', 'text/plain', 'application/merge-patch+json'),
      body: fc.oneof(fc.constant(''), fc.json(), fc.string({ unit: 'binary', maxLength: 30 }), fc.constant('{"text":"two"}')),
    })
    await check(
      fc.asyncProperty(
        fc.array(asked, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(...Object.values(CLIENTS)),
        async (list, client) => {
          for (const { method, path, query, type, body } of list) {
            const hasBody = method !== 'GET' && method !== 'HEAD'
            const request = {
              method,
              path: `${path === '' ? '/' : path}${query}`,
              headers: type === undefined ? {} : { 'content-type': type },
            }
            const whole = { ...request, ...(hasBody ? { body } : {}) }
            assert.deepEqual(seen(await client(API, whole)), seen(await client(served, whole)))
          }
        },
      ),
      { label: 'intercepted as over HTTP', runs: 60 },
    )
    server.close()
    server.closeAllConnections()
  })
})

describe('intercept', () => {
  begin()

  let engine: RestEngine
  beforeEach(async () => {
    engine = await RestEngine.create(OPTIONS)
  })
  afterEach(async () => {
    await engine.close()
    assert.deepEqual(whatIsThere(), isThere)
  })

  it('lets other origins through', async () => {
    using _ = engine.intercept(API)
    for (const client of Object.values(CLIENTS)) {
      assert.deepEqual(JSON.parse((await client(real, { method: 'POST', path: '/x', body: '{}' })).text), { real: '/x' })
    }
  })

  it('fails other origins when it is strict, and says which and why', async () => {
    using _ = engine.intercept([API, OTHER], { strict: true })
    assert.equal(await countAt(OTHER), 3)
    const text = `${real} is not intercepted, and an interception is strict; intercepted: ${API}, ${OTHER}.`
    await assert.rejects(fetch(`${real}/x`), error => {
      assert.ok(error instanceof TypeError)
      const { cause } = error as { cause: NodeJS.ErrnoException }
      assert.deepEqual([error.message, cause.code, cause.message], ['fetch failed', 'ERR_NOT_INTERCEPTED', text])
      return true
    })
    await assert.rejects(undici.request(`${real}/x`), { code: 'ERR_NOT_INTERCEPTED', message: text })
    await assert.rejects(undici.request('http://api.example.test/x'), /Did you mean "https:\/\/api\.example\.test"\?$/)
  })

  it('is strict for as long as one that is strict is in force', async () => {
    await using other = await engineOf(1)
    const strict = engine.intercept(API, { strict: true })
    const lax = other.intercept(OTHER)
    assert.deepEqual([await countAt(API), await countAt(OTHER)], [3, 1])
    await assert.rejects(undici.request(real), { code: 'ERR_NOT_INTERCEPTED' })
    strict.dispose()
    assert.equal((await undici.request(real)).statusCode, 200)
    lax.dispose()
    const below = other.intercept(OTHER)
    using above = engine.intercept(API, { strict: true })
    assert.deepEqual(above.origins, [API])
    assert.deepEqual([await countAt(API), await countAt(OTHER)], [3, 1])
    below.dispose()
    await assert.rejects(undici.request(OTHER), { code: 'ERR_NOT_INTERCEPTED' })
  })

  it('takes origins in every spelling, one or several', async () => {
    for (const [given, asked] of [
      ['https://api.example.test/', API],
      ['HTTPS://API.Example.TEST:443', API],
      [new URL(API), API],
      ['http://api.example.test:80', 'http://api.example.test'],
      [API, `${API}:443`],
      ['http://localhost:3000', 'http://localhost:3000'],
      ['http://[::1]:3000', 'http://[::1]:3000'],
      ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ] as const) {
      using api = engine.intercept(given)
      assert.deepEqual(api.origins, [new URL(given).origin])
      assert.equal(await countAt(asked), 3)
    }
    using api = engine.intercept([API, new URL(OTHER), `${API}/`])
    assert.deepEqual(api.origins, [API, OTHER])
    assert.deepEqual([await countAt(API), await countAt(OTHER)], [3, 3])
  })

  it('refuses what is not an origin, and says what was meant', () => {
    for (const [given, message] of [
      ['api.example.test', /does not begin with http:\/\/ or https:\/\/ \(did you mean "https:\/\/api\.example\.test"\?\)/],
      ['localhost:3000', /did you mean "http:\/\/localhost:3000"/],
      ['ws://api.example.test', /does not begin with http:\/\/ or https:\/\/ \(did you mean "https:\/\/api\.example\.test"/],
      ['/v1', /"\/v1" is not an origin: it does not begin with http:\/\/ or https:\/\/\. Give one like/],
      ['', /does not begin with/],
      [`${API}/v1`, /ends with the version "v1", which follows the base anyway/],
      [`${API}/?a`, /it has a query or a fragment \(did you mean "https:\/\/api\.example\.test"\?\)/],
      [`${API}/#`, /it has a query or a fragment/],
      ['https://ann:secret@api.example.test', /it has a user/],
      ['https://*.example.test', /patterns are not possible/],
      [5, /neither a string nor a URL/],
      [undefined, /undefined is not an origin/],
      [[], /the list of origins is empty/],
      [[API, 'x'], /"x" is not an origin/],
    ] as const) {
      assert.throws(
        () => engine.intercept(given as string),
        (error: Error) => error instanceof TypeError && message.test(error.message),
        String(given),
      )
    }
    assert.throws(() => engine.intercept(API, { strickt: true } as object), { name: 'TypeError', message: /Did you mean "strict"\?/ })
    assert.throws(() => engine.intercept(API, { strict: 'yes' } as object), {
      name: 'TypeError',
      message: /"strict" must be true or false/,
    })
  })

  it('is refused in Bun and Deno, whose fetch asks no dispatcher', () => {
    const { versions } = process
    for (const [name, runtime] of Object.entries({ bun: 'Bun', deno: 'Deno' })) {
      Object.defineProperty(process, 'versions', { value: { ...versions, [name]: '1.0.0' } })
      try {
        assert.throws(
          () => engine.intercept(API),
          new RegExp(`^Error: intercept: ${runtime} sends requests past the engine.*engine\\.fetch`),
        )
      } finally {
        Object.defineProperty(process, 'versions', { value: versions })
      }
    }
    using api = engine.intercept(API)
    assert.deepEqual(api.origins, [API])
  })

  it('ends with its block, once, and with its engine', async () => {
    {
      using api = engine.intercept(real)
      assert.equal(await countAt(real), 3)
      api.dispose()
      api.dispose()
    }
    assert.equal(await countAt(real), undefined)
    engine.intercept(real)
    engine.intercept(API)
    assert.equal(await countAt(real), 3)
    await engine.close()
    assert.deepEqual(whatIsThere(), isThere)
    assert.equal(await countAt(real), undefined)
    assert.throws(() => engine.intercept(API), /The engine is closed/)
  })

  it('can be made again after its end, though one that was made later still stands', async () => {
    const first = engine.intercept(API)
    using later = engine.intercept(OTHER)
    first.dispose()
    using again = engine.intercept(API)
    assert.deepEqual([await countAt(API), await countAt(OTHER)], [3, 3])
    assert.deepEqual([again.origins, later.origins], [[API], [OTHER]])
    assert.throws(() => engine.intercept(API), { code: 'ERR_ALREADY_INTERCEPTED' })
  })

  it('holds beside others of other origins, and may be disposed of in any order (property)', async () => {
    const engines = [await engineOf(1), await engineOf(2)]
    const step = fc.oneof(
      fc.record({ begin: fc.constantFrom(0, 1), origins: fc.constantFrom([API], [OTHER], [API, OTHER]) }),
      fc.record({ end: fc.nat(5) }),
    )
    await check(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async steps => {
        const live: { count: number; origins: readonly string[]; dispose: () => void }[] = []
        try {
          for (const each of steps) {
            if (
              'begin' in each &&
              live.some(({ origins }) => origins.some(origin => (each.origins as readonly string[]).includes(origin)))
            ) {
              assert.throws(() => engines[each.begin]!.intercept(each.origins), { code: 'ERR_ALREADY_INTERCEPTED' })
            } else if ('begin' in each) {
              const interception = engines[each.begin]!.intercept(each.origins)
              live.push({ count: each.begin + 1, origins: each.origins, dispose: () => interception.dispose() })
            } else if (live.length > 0) live.splice(each.end % live.length, 1)[0]!.dispose()
            if (live.length === 0) assert.deepEqual(whatIsThere(), isThere)
            for (const origin of [API, OTHER]) {
              const expected = live.find(({ origins }) => origins.includes(origin))
              if (expected !== undefined) assert.equal(await countAt(origin), expected.count)
            }
            assert.equal(await countAt(real), undefined)
          }
        } finally {
          for (const each of live) each.dispose()
        }
        assert.deepEqual(whatIsThere(), isThere)
      }),
      { label: 'interceptions in any order', runs: 50 },
    )
    for (const each of engines) await each.close()
  })

  it('stands beside a dispatcher that somebody sets over it or under it', async () => {
    const mock = new undici.MockAgent()
    mock.disableNetConnect()
    mock.get(OTHER).intercept({ path: '/mocked', method: 'POST' }).reply(200, '{"count":-1}').persist()
    const before = undici.getGlobalDispatcher()
    undici.setGlobalDispatcher(mock)
    {
      using api = engine.intercept(API)
      assert.equal(await countAt(API), 3)
      for (const each of [fetch, undici.fetch as typeof fetch]) {
        assert.deepEqual(await (await each(`${OTHER}/mocked`, { method: 'POST', body: 'x' })).json(), { count: -1 })
        // A MockAgent has bodies given to it in the form in which the caller gave them.
        for (const body of ['{"text":"a"}', Buffer.from('{"text":"a"}'), new Blob(['{"text":"a"}'])] as string[]) {
          const response = await each(`${API}/v1/notes`, { method: 'POST', headers: JSON_TYPE, body })
          const { note } = (await response.json()) as { note: { id: number } }
          await each(`${API}/v1/notes/${note.id}`, { method: 'DELETE' })
        }
        const form = each === fetch ? new FormData() : new undici.FormData()
        form.append('text', 'a')
        assert.equal((await each(`${API}/v1/notes`, { method: 'POST', body: form })).status, 415)
      }
      await assert.rejects(fetch(real))
      // Whoever sets another one later has the last word.
      undici.setGlobalDispatcher(before)
      await assert.rejects(fetch(API))
      api.dispose()
      assert.equal(undici.getGlobalDispatcher(), before)
    }
    {
      const api = engine.intercept(API)
      let seen = 0
      const composed = undici.getGlobalDispatcher().compose(next => (options, handler) => {
        seen++
        return next(options, handler)
      })
      undici.setGlobalDispatcher(composed)
      assert.equal((await undici.request(`${API}/v1/notes`)).statusCode, 200)
      assert.equal(await countAt(API), 3)
      api.dispose()
      assert.equal(undici.getGlobalDispatcher(), composed)
      assert.equal((await undici.request(real)).statusCode, 200)
      assert.equal(seen, 3)
      undici.setGlobalDispatcher(before)
    }
    // Undici sets both places; what stood in the older one was Node's.
    for (const [index, slot] of SLOTS.entries()) (globalThis as unknown as Record<symbol, unknown>)[slot] = isThere[index]
    await mock.close()
  })

  it('passes on to what was there whatever else is done with the global dispatcher', async () => {
    const agent = new undici.Agent()
    undici.setGlobalDispatcher(agent)
    using api = engine.intercept(API)
    const there = undici.getGlobalDispatcher()
    assert.ok(there instanceof undici.Dispatcher)
    assert.equal((await there.request({ origin: API, path: '/v1/notes', method: 'GET' })).statusCode, 200)
    assert.equal((await there.request({ origin: real, path: '/', method: 'GET' })).statusCode, 200)
    await there.close()
    assert.equal(agent.closed, true)
    api.dispose()
    for (const [index, slot] of SLOTS.entries()) (globalThis as unknown as Record<symbol, unknown>)[slot] = isThere[index]
  })

  it('has a dispatcher for single calls and for code that brings its own', async () => {
    await using other = await engineOf(1)
    const api = engine.intercept(API)
    const { dispatcher } = api
    await other.within(async () => {
      other.intercept(API)
      assert.equal(await countAt(API), 1)
      const own = await fetch(`${API}/v1/notes`, { dispatcher })
      assert.equal(((await own.json()) as { count: number }).count, 3)
    })
    const init = { dispatcher } as RequestInit
    assert.equal(((await (await fetch(`${API}/v1/notes`, init)).json()) as { count: number }).count, 3)
    const options = { dispatcher: dispatcher as undici.Dispatcher }
    assert.equal(((await (await undici.request(`${API}/v1/notes`, options)).body.json()) as { count: number }).count, 3)
    assert.equal((await undici.request(real, options)).statusCode, 200)
    assert.equal((await fetch(real, init)).status, 200)
    api.dispose()
    await assert.rejects(
      undici.request(`${API}/v1/notes`, options),
      /The interception of https:\/\/api\.example\.test has been disposed of/,
    )
    assert.equal((await undici.request(real, options)).statusCode, 200)
  })

  it('serves a hook that asks its own API, inside its transaction', async () => {
    await using own = await RestEngine.create({
      ...OPTIONS,
      resources: [
        resource(Note, {
          create: async (ctx, next) => {
            const { count } = (await (await fetch(`${API}/v1/notes`)).json()) as { count: number }
            ctx.data = { ...(ctx.data as object), size: count }
            return next()
          },
        }),
      ],
    })
    using _ = own.intercept(API)
    const response = await fetch(`${API}/v1/notes`, { method: 'POST', headers: JSON_TYPE, body: '{"text":"counted"}' })
    assert.equal(((await response.json()) as { note: { size: number } }).note.size, 3)
  })
})

describe('the body of an intercepted request', () => {
  begin()

  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create(OPTIONS)
    engine.intercept(API)
  })
  after(() => engine.close())
  // The interception of this block is in force between its tests.
  const url = `${API}/v1/notes`

  it('may come in every form that undici takes', async () => {
    const json = '{"text":"form"}'
    async function* generated(): AsyncGenerator<string> {
      yield json.slice(0, 5)
      yield json.slice(5)
    }
    const view = new Uint8Array(Buffer.from(`xx${json}yy`)).subarray(2, 2 + json.length)
    const forms: Record<string, () => unknown> = {
      text: () => json,
      buffer: () => Buffer.from(json),
      view: () => view,
      arrayBuffer: () => new Uint8Array(Buffer.from(json)).buffer,
      blob: () => new Blob([json], { type: 'application/json' }),
      readable: () => Readable.from([Buffer.from(json)]),
      iterable: () => [Buffer.from(json)],
      generator: generated,
      stream: () => ReadableStream.from([Buffer.from(json)]),
    }
    for (const [name, body] of Object.entries(forms)) {
      const answer = await undici.request(url, { method: 'POST', headers: JSON_TYPE, body: body() as string })
      const { note } = (await answer.body.json()) as { note: { id: number; text: string } }
      assert.equal(note.text, 'form', name)
      assert.equal((await undici.request(`${url}/${note.id}`, { method: 'DELETE', body: body() as string })).statusCode, 200, name)
    }
    const blob = await undici.request(url, { method: 'POST', body: new Blob(['{}'], { type: 'text/csv' }) as unknown as string })
    assert.match(JSON.stringify(await blob.body.json()), /text\/csv/)
    for (const form of [new FormData(), new undici.FormData()]) {
      form.append('text', 'x')
      const answer = await undici.request(url, { method: 'POST', body: form as undici.FormData })
      assert.equal(answer.statusCode, 415)
      assert.match(JSON.stringify(await answer.body.json()), /multipart\/form-data/)
    }
    await assert.rejects(undici.request(url, { method: 'POST', body: 5 as unknown as string }), undici.errors.InvalidArgumentError)
    await assert.rejects(undici.request(url, { method: 'POST', body: [5] as unknown as Uint8Array }), undici.errors.InvalidArgumentError)
  })

  it('is read while it is sent, and no further than the limit', async () => {
    let produced = 0
    let ended = false
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) {
          produced += 100
          yield Buffer.alloc(100, 32)
        }
      } finally {
        ended = true
      }
    }
    const init = { method: 'POST', headers: JSON_TYPE } as const
    const fetched = await fetch(url, { ...init, body: ReadableStream.from(endless()), duplex: 'half' })
    assert.equal(fetched.status, 413)
    assert.ok(produced < 4_000, `${produced} bytes`)
    produced = 0
    assert.equal((await undici.request(url, { ...init, body: endless() as unknown as string })).statusCode, 413)
    assert.ok(produced < 4_000, `${produced} bytes`)
    await new Promise(setImmediate)
    assert.ok(ended)
    const stream = Readable.from(endless())
    assert.equal((await undici.request(url, { method: 'POST', headers: JSON_TYPE, body: stream })).statusCode, 413)
    await new Promise(setImmediate)
    assert.ok(stream.destroyed)
  })

  it('may fail, which fails the request', async () => {
    const fault = new Error('no more paper')
    async function* failing(): AsyncGenerator<string> {
      yield '{'
      throw fault
    }
    await assert.rejects(undici.request(url, { method: 'POST', headers: JSON_TYPE, body: failing() as unknown as string }), fault)
    await assert.rejects(undici.request(url, { method: 'POST', headers: JSON_TYPE, body: Readable.from(failing()) }), fault)
    await assert.rejects(
      fetch(url, { method: 'POST', headers: JSON_TYPE, body: ReadableStream.from(failing()) as ReadableStream, duplex: 'half' }),
    )
    assert.equal(await countAt(API), 3)
  })

  it('must be as long as its header says', async () => {
    const headers = { ...JSON_TYPE, 'content-length': '3' }
    await assert.rejects(undici.request(url, { method: 'POST', headers, body: '{}' }), undici.errors.RequestContentLengthMismatchError)
  })
})

describe('the head of an intercepted request', () => {
  begin()

  let engine: RestEngine
  let headers: Readonly<Record<string, string>>
  before(async () => {
    engine = await RestEngine.create({
      ...OPTIONS,
      routes: [
        {
          method: 'POST',
          path: '/{version}/echo',
          handler: ctx => {
            ;({ headers } = ctx)
            return { body: {} }
          },
        },
      ],
    })
    engine.intercept(API)
  })
  after(() => engine.close())
  const url = `${API}/v1/echo`

  it('may come in every form that undici takes', async () => {
    const expected = { host: 'api.example.test', 'x-one': '1, 2', cookie: 'a=1; b=2', authorization: 'Bearer a' }
    for (const given of [
      { 'X-One': ['1', '2'], Cookie: ['a=1', 'b=2'], Authorization: 'Bearer a' },
      ['X-One', '1', 'x-one', '2', 'cookie', 'a=1', 'Cookie', 'b=2', 'authorization', 'Bearer a', 'authorization', 'Bearer b'],
      new Map<string, string | string[]>([
        ['x-one', ['1', '2']],
        ['cookie', ['a=1', 'b=2']],
        ['authorization', 'Bearer a'],
      ]),
    ]) {
      assert.equal((await undici.request(url, { method: 'POST', headers: given as unknown as Record<string, string> })).statusCode, 200)
      assert.deepEqual({ ...headers }, expected)
    }
    await undici.request(url, { method: 'POST', headers: { host: 'else.test', ...JSON_TYPE }, body: '{}' })
    assert.deepEqual({ ...headers }, { host: 'else.test', 'content-length': '2', ...JSON_TYPE })
    await fetch(url, { method: 'POST', headers: [['x-one', '1'], ['x-one', '2'], ['content-type', 'application/json']], body: '{}' }) // prettier-ignore
    assert.deepEqual([headers['x-one'], headers['host'], headers['content-length']], ['1, 2', 'api.example.test', '2'])
  })

  it('may have its query apart', async () => {
    const query = { text: ['a*', 'b*'], limit: 1 }
    const { body } = await undici.request(`${API}/v1/notes`, { query })
    assert.deepEqual(((await body.json()) as { filter: unknown }).filter, [['text', 'a*'], ['text', 'b*']]) // prettier-ignore
    await assert.rejects(undici.request(`${API}/v1/notes?a=b`, { query }), /Query params cannot be passed/)
  })

  it('is refused with the errors of undici', async () => {
    const wrong = (given: Record<string, unknown>): Promise<unknown> =>
      undici.request(url, { method: 'POST', headers: given as Record<string, string> })
    await assert.rejects(wrong({ 'x-one': 'a\nb' }), undici.errors.InvalidArgumentError)
    await assert.rejects(wrong({ 'x one': 'a' }), undici.errors.InvalidArgumentError)
    await assert.rejects(wrong({ 'x-one': {} }), undici.errors.InvalidArgumentError)
    await assert.rejects(wrong({ 'keep-alive': 'timeout=5' }), undici.errors.InvalidArgumentError)
    await assert.rejects(wrong({ 'content-length': 'x' }), undici.errors.InvalidArgumentError)
    await assert.rejects(wrong({ expect: '100-continue' }), undici.errors.NotSupportedError)
    await assert.rejects(
      undici.getGlobalDispatcher().request({ origin: API, path: '/a b', method: 'GET' }),
      undici.errors.InvalidArgumentError,
    )
    await assert.rejects(undici.connect(API), { code: 'UND_ERR_NOT_SUPPORTED', message: /does not answer CONNECT/ })
    await assert.rejects(undici.upgrade(API), { code: 'UND_ERR_NOT_SUPPORTED', message: /does not answer an upgrade/ })
    const socket = new WebSocket('wss://api.example.test/v1/notes')
    await once(socket, 'error')
  })
})

describe('an intercepted request that is aborted', () => {
  begin()

  let engine: RestEngine
  let arrived: PromiseWithResolvers<void>
  let gate: PromiseWithResolvers<void>
  beforeEach(async () => {
    arrived = Promise.withResolvers()
    gate = Promise.withResolvers()
    const wait: Wrapper = async (_, next) => {
      arrived.resolve()
      await gate.promise
      return next()
    }
    engine = await RestEngine.create({ ...OPTIONS, resources: [resource(Note, { create: wait, get: wait })] })
    engine.intercept(API)
  })
  afterEach(async () => {
    gate.resolve()
    await engine.close()
  })
  const url = `${API}/v1/notes`
  const post = { method: 'POST', headers: JSON_TYPE, body: '{"text":"late"}' }

  it('before it begins, never reaches the engine', async () => {
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    await assert.rejects(fetch(url, { ...post, signal }), reason)
    await assert.rejects(undici.request(url, { ...post, signal }), reason)
    assert.equal(await countAt(API), 3)
  })

  it('while the engine answers, is not committed', async () => {
    for (const send of [fetch, undici.fetch, undici.request] as ((url: string, init: object) => Promise<unknown>)[]) {
      ;[arrived, gate] = [Promise.withResolvers(), Promise.withResolvers()]
      const reason = new Error('enough')
      const controller = new AbortController()
      const sent = send(url, { ...post, signal: controller.signal })
      await arrived.promise
      controller.abort(reason)
      await assert.rejects(sent, reason)
      gate.resolve()
      await new Promise(setImmediate)
      assert.equal(await countAt(API), 3)
    }
  })

  it('while its body is sent, ends the body', async () => {
    const controller = new AbortController()
    const body = new Readable({ read() {} })
    body.push('{"text":')
    const sent = undici.request(url, { ...post, body, signal: controller.signal })
    await new Promise(setImmediate)
    controller.abort()
    await assert.rejects(sent, { name: 'AbortError' })
    assert.ok(body.destroyed)
    const uploading = new AbortController()
    const stream = new ReadableStream()
    const fetched = fetch(url, { ...post, body: stream, duplex: 'half', signal: uploading.signal })
    await new Promise(setImmediate)
    const reason = new Error('enough')
    uploading.abort(reason)
    await assert.rejects(fetched, reason)
    assert.equal(await countAt(API), 3)
  })

  it('by a handler of its own, or refused, has its stream destroyed', async () => {
    for (const [headers, expected] of [
      [JSON_TYPE, 'enough'],
      [{ 'keep-alive': 'x' }, 'invalid keep-alive header'],
    ] as const) {
      const body = new Readable({ read() {} })
      const failed = Promise.withResolvers<Error>()
      let controller: undici.Dispatcher.DispatchController | undefined
      const handler: undici.Dispatcher.DispatchHandler = {
        onRequestStart: given => void (controller = given),
        onResponseStart: () => {},
        onResponseData: () => {},
        onResponseEnd: () => {},
        onResponseError: (_, error) => failed.resolve(error),
      }
      undici.getGlobalDispatcher().dispatch({ origin: API, path: '/v1/notes', method: 'POST', headers, body }, handler)
      controller?.abort(new Error('enough'))
      assert.equal((await failed.promise).message, expected)
      assert.ok(body.destroyed)
    }
  })

  it('by undici itself, when the head is late', async () => {
    await assert.rejects(undici.request(`${url}/1`, { headersTimeout: 20 }), undici.errors.HeadersTimeoutError)
    gate.resolve()
    assert.equal((await undici.request(`${url}/1`, { headersTimeout: 10_000 })).statusCode, 200)
  })

  it('by a pipeline that is destroyed', async () => {
    const duplex = undici.pipeline(url, { method: 'POST', headers: JSON_TYPE }, ({ body }) => body)
    duplex.end(post.body)
    await arrived.promise
    duplex.destroy()
    await assert.rejects(once(duplex, 'end'), { code: 'UND_ERR_ABORTED' })
    gate.resolve()
    await new Promise(setImmediate)
    assert.equal(await countAt(API), 3)
  })
})

describe('the answer to an intercepted request', () => {
  begin()

  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create(OPTIONS)
    engine.intercept(API)
  })
  after(() => engine.close())
  const url = `${API}/v1/notes`

  it('can be read in every way, or not at all', async () => {
    const streamed = await fetch(url)
    let text = ''
    for await (const chunk of streamed.body!.pipeThrough(new TextDecoderStream())) text += chunk
    assert.equal((JSON.parse(text) as { count: number }).count, 3)
    const cancelled = await fetch(url)
    await cancelled.body!.cancel()
    const copied = await fetch(url)
    assert.deepEqual(await copied.clone().json(), await copied.json())
    assert.equal((await (await fetch(url)).blob()).type, 'application/json;charset=utf-8')
    const { body } = await undici.request(url)
    body.on('error', () => {}).destroy()
    const dumped = await undici.request(url)
    await dumped.body.dump()
    const raw = await undici.request(url, { responseHeaders: 'raw' } as object)
    assert.ok((raw.headers as unknown as string[]).includes('application/json; charset=UTF-8'))
    assert.equal((await fetch(url)).statusText, 'OK')
    assert.equal((await fetch(url, { method: 'HEAD' })).body, null)
    const { url: shown, redirected, type } = await fetch(url)
    assert.deepEqual([shown, redirected, type], [url, false, 'basic'])
  })

  it('may be a lost connection, which is what it is over HTTP', async () => {
    const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    const lose = (): Promise<never> => Promise.reject(lost)
    // An engine that loses every request, over both ways.
    const dropping = Object.create(engine) as RestEngine
    const get = (internals: EngineInternals, name: keyof EngineInternals): unknown => {
      const value: unknown = name === 'ask' ? lose : internals[name]
      return typeof value === 'function' ? value.bind(internals) : value
    }
    keepInternals(dropping, new Proxy(internalsOf(engine), { get: (internals, name) => get(internals, name as keyof EngineInternals) }))
    using _ = intercept(dropping, OTHER, {}, () => {})
    for (const origin of [real, OTHER]) {
      for (const fetcher of [fetch, undici.fetch]) {
        await assert.rejects(fetcher(`${origin}/reset`), error => {
          assert.ok(error instanceof TypeError)
          assert.deepEqual([error.message, (error.cause as NodeJS.ErrnoException).code], ['fetch failed', 'ECONNRESET'])
          return true
        })
      }
      await assert.rejects(undici.request(`${origin}/reset`), { code: 'ECONNRESET' })
    }
  })
})

describe('a process that intercepts', () => {
  begin()

  function runs(script: string): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      encoding: 'utf8',
      timeout: 300_000,
    })
    assert.equal(status, 0, stderr)
    return stdout.trim()
  }
  const opening = `
    import { defineEntity, p } from '@mikro-orm/core'
    import { RestEngine } from '${LIBRARY}'
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
    const engine = await RestEngine.create({ entities: [Note] })
    `

  it('ends by itself, without disposing of anything', () => {
    const script = `engine.intercept('${API}'); console.log((await (await fetch('${API}/v1/notes')).json()).count)`
    assert.equal(runs(opening + script), '0')
  })

  it('may keep a fetch from before, and load undici later', () => {
    const script = `
    const early = globalThis.fetch
    engine.intercept('${API}')
    const { request } = await import('undici')
    console.log((await early('${API}/v1/notes')).status, (await request('${API}/v1/notes')).statusCode)`
    assert.equal(runs(opening + script), '200 200')
  })
})
