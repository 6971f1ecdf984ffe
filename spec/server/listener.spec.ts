/** The listener in other apps, with the real packages: mount paths, bodies that have been read, and what is passed on. */
import assert from 'node:assert/strict'
import * as http from 'node:http'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { listener } from '../../lib/index.ts'
import type { Listener, RestEngine } from '../../lib/index.ts'
import { create, serve } from '../address/world.ts'

/** The parts of Express and Connect that are used here; the packages bring no types. */
type Middleware = (request: http.IncomingMessage, response: http.ServerResponse, next: (error?: unknown) => void) => void
type App = http.RequestListener & { use(path: string | Middleware | App, ...handlers: (Middleware | App)[]): App }
type Parser = (options?: object) => Middleware
interface Express {
  (): App
  Router(options?: object): App
  json: Parser
  text: Parser
  raw: Parser
  urlencoded: Parser
}
const require = createRequire(import.meta.url)
const express = require('express') as Express
const connect = require('connect') as () => App

let engine: RestEngine
let bare: RestEngine
const failures: unknown[] = []
const start = (app: http.RequestListener): ReturnType<typeof serve> => serve(http.createServer(app))

/** Hooks of each suite. */
function begin(): void {
  before(async () => {
    engine = await create({ onError: error => void failures.push(error) })
    bare = await create({ versions: [], routes: [{ method: 'GET', path: '/health', handler: () => ({ body: 'well' }) }] })
  })
  after(() => Promise.all([engine.close(), bare.close()]))
}

describe('the path of the mount', () => {
  begin()

  const mounts: readonly (readonly [name: string, mount: string, make: (api: Listener) => App])[] = [
    ['Express', '/api', api => express().use('/api', api)],
    ['Express, in routers', '/outer/inner', api => express().use('/outer', express.Router().use('/inner', api))],
    ['Express, of a pattern', '/tenants/acme/api', api => express().use('/tenants/:tenant/api', api)],
    ['Express, at the root', '', api => express().use(api)],
    ['Connect', '/api', api => connect().use('/api', api)],
    ['Connect in Express', '/outer/inner', api => express().use('/outer', connect().use('/inner', api))],
  ]
  for (const [name, mount, make] of mounts) {
    it(`is the base: ${name}`, async () => {
      await using world = await engine.fork()
      await using app = await start(make(listener(world)))
      const { body } = await app.ask('GET', `${mount}/v1/books?limit=1`)
      assert.equal(body.next, `${mount}/v1/books?limit=1&offset=1`)
      assert.equal((await app.ask('GET', body.next as string)).body.offset, 1)
      const made = await app.ask('POST', `${mount}/v1/books`, { title: 'x', author: 1 })
      assert.equal(made.headers['location'], `${mount}/v1/books/6`)
      for (const path of [mount, `${mount}/`, `${mount}?limit`, `${mount}/v1`]) {
        if (path === '' || path.endsWith('?limit')) continue
        assert.equal((await app.ask('GET', path)).body.resources.books, `${mount}/v1/books`, path)
      }
      assert.equal((await app.ask('GET', `${mount}/v1/openapi.json`)).body.servers[0].url, mount || '/')
      assert.match(
        (await app.ask('GET', `${mount}/v2/books`)).body.detail,
        mount === '' ? /must begin with a version/ : new RegExp(`After "${mount}"`),
      )
    })
  }

  it('takes the place of the base of the engine, and the option base follows it', async () => {
    await using based = await create({ base: '/elsewhere' })
    await using app = await start(
      express()
        .use('/api', listener(based))
        .use('/more', listener(based, { base: '/deep' }))
        .use(listener(based, { base: '/flat', fallthrough: true }))
        .use(listener(based)),
    )
    for (const root of ['/api', '/more/deep', '/flat', '/elsewhere']) {
      assert.equal((await app.ask('GET', `${root}/v1/books?limit=1`)).body.next, `${root}/v1/books?limit=1&offset=1`)
    }
    assert.equal((await app.ask('GET', '/v1/books')).body.code, 'path_unknown')
  })

  it('is that of the app where it has written the path anew', async () => {
    const alias: Middleware = (request, _, next) => {
      request.url = '/v1/books?limit=1'
      next()
    }
    await using app = await start(express().use('/api', alias, listener(engine)))
    const { body } = await app.ask('GET', '/api/first-book')
    assert.equal(body.next, '/api/v1/books?limit=1&offset=1')
  })

  it('never makes a link to another host', async () => {
    const rewriting: Middleware = (request, _, next) => {
      // As an app that merges slashes.
      request.url = request.url!.replace(/^\/+[^/]+/, '')
      Object.assign(request, { originalUrl: '//evil.example/v1/books?limit=1' })
      next()
    }
    await using app = await start(
      connect().use((request, response, next) => rewriting(request, response, () => listener(engine)(request, response, next))),
    )
    const { status, body } = await app.ask('GET', '//evil.example/v1/books?limit=1')
    assert.deepEqual([status, body.code], [404, 'path_unknown'])
  })

  it('has test controls, worlds and the guard below it', async () => {
    const api = listener(bare, { testControls: true })
    await using app = await start(express().use('/api', api))
    assert.equal((await app.ask('POST', '/api/_test/reset', undefined, { origin: 'https://evil.example' })).status, 403)
    await app.ask('POST', '/api/books', { title: 'x', author: 1 }, { 'x-world': 'w' })
    assert.deepEqual((await app.ask('GET', '/api/_test')).body.worlds, ['w'])
    await api.close()
    assert.equal((await app.ask('GET', '/api/books', undefined, { host: 'evil.example' })).body.code, 'host_not_allowed')
  })
})

describe('a body that has been read', () => {
  begin()

  const parsers: readonly (readonly [string, Middleware])[] = [
    ['json', express.json()],
    ['text', express.text({ type: '*/*' })],
    ['raw', express.raw({ type: '*/*' })],
    ['none that reads', express.json({ type: 'text/never' })],
  ]
  for (const [name, parser] of parsers) {
    it(`is taken from the parser: ${name}`, async () => {
      await using world = await engine.fork()
      await using app = await start(express().use(parser).use('/api', listener(world)))
      assert.equal((await app.ask('POST', '/api/v1/books', { title: 'x', author: 1 })).body.book?.title, 'x')
      assert.equal((await app.ask('POST', '/api/v1/books', { title: 5 })).status, 422)
      assert.equal((await app.ask('DELETE', '/api/v1/books/1')).status, 200)
      assert.equal((await app.ask('POST', '/api/v1/books')).status, 400)
    })
  }

  it('is refused where it is no JSON, or too large, whatever a parser has made of it', async () => {
    await using world = await create({ limits: { maxBodyBytes: 1000 } })
    await using app = await start(express().use(express.urlencoded()).use(express.json()).use('/api', listener(world)))
    const send = async (body: string, type: string, headers: Record<string, string> = {}): Promise<unknown[]> => {
      const response = await fetch(`${app.origin}/api/v1/books`, { method: 'POST', body, headers: { 'content-type': type, ...headers } })
      return [response.status, ((await response.json()) as { code: string }).code]
    }
    assert.deepEqual(await send('title=x&author=1', 'application/x-www-form-urlencoded'), [415, 'media_type_unsupported'])
    assert.deepEqual(await send(JSON.stringify({ title: 'x'.repeat(1000) }), 'application/json'), [413, 'body_too_large'])
    assert.deepEqual(await send('{"title":1e999}', 'application/json'), [400, 'json_malformed'])
  })

  it('is a failure that says what to do, where it is left nowhere', async () => {
    const reading: Middleware = (request, _, next) => void request.resume().once('end', next)
    await using app = await start(connect().use(reading).use('/api', listener(engine)))
    assert.equal((await app.ask('POST', '/api/v1/books', { title: 'x', author: 1 })).status, 500)
    assert.match(String(failures.at(-1)), /body has been read before the listener got the request.*request\.body/)
    assert.equal((await app.ask('GET', '/api/v1/books')).status, 200)
  })
})

describe('what is not the engine’s', () => {
  begin()

  const page: Middleware = (_, response) => void response.end('"page"')

  it('is passed on with fallthrough, its body unread', async () => {
    const echo: Middleware = (request, response) => void request.pipe(response)
    await using app = await start(
      connect()
        .use(listener(engine, { fallthrough: true }))
        .use('/echo', echo)
        .use(page),
    )
    for (const path of ['/', '/about', '/v2/books', '/%zz', '/openapi.json', '/_test'])
      assert.equal((await app.ask('GET', path)).body, 'page', path)
    assert.deepEqual((await app.ask('POST', '/echo', { a: 1 })).body, { a: 1 })
    for (const path of ['/v1', '/v1/books', '/v1/nothing']) assert.notEqual((await app.ask('GET', path)).body, 'page', path)
    const controlled = listener(engine, { fallthrough: true, testControls: true })
    await using testing = await start(connect().use(controlled).use(page))
    assert.deepEqual((await testing.ask('GET', '/_test')).body.worlds, [])
    assert.equal((await testing.ask('GET', '/_tests')).body, 'page')
    await controlled.close()
    await using shut = await start(connect().use(listener(engine)).use(page))
    assert.equal((await shut.ask('GET', '/about')).body.code, 'version_unknown')
    // Nobody is there to take it.
    await using alone = await start(listener(engine, { fallthrough: true }))
    assert.equal((await alone.ask('GET', '/about')).body.code, 'version_unknown')
  })

  it('is found by names where paths have no version', async () => {
    await using app = await start(
      connect()
        .use(listener(bare, { base: '/api', fallthrough: true, testControls: true }))
        .use(page),
    )
    for (const path of ['/', '/books', '/apis', '/api/about', '/api/login']) assert.equal((await app.ask('GET', path)).body, 'page', path)
    for (const path of [
      '/api',
      '/api/',
      '/api/books',
      '/api/book/1',
      '/api/openapi.json',
      '/api/_test',
      '/api/health',
      '/api/books/nothing',
    ]) {
      assert.notEqual((await app.ask('GET', path)).body, 'page', path)
    }
  })
})

describe('the options of the listener', () => {
  begin()

  it('are those of the server, and refused likewise', async () => {
    assert.throws(
      () => listener(engine, { falthrough: true } as object),
      /listener: unknown option "falthrough"\. Did you mean "fallthrough"\?/,
    )
    assert.throws(() => listener(engine, { fallthrough: 1 } as object), /"fallthrough" must be true or false/)
    assert.throws(() => listener(engine, { base: 'api' }), /listener: "base" must be the path/)
    const lines: string[] = []
    const onRequest = ({ path, status }: { path: string; status: number }): void => void lines.push(`${path} ${status}`)
    await using app = await start(express().use('/api', listener(engine, { readOnly: true, cors: 'http://a.test', onRequest })))
    assert.equal((await app.ask('POST', '/api/v1/books', { title: 'x' })).status, 405)
    assert.equal(
      (await app.ask('GET', '/api/v1/books?limit=0', undefined, { origin: 'http://a.test' })).headers['access-control-allow-origin'],
      'http://a.test',
    )
    assert.deepEqual(lines, ['/api/v1/books 405', '/api/v1/books?limit=0 200'])
  })
})
