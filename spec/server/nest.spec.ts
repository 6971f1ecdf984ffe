/**
 * The listener in NestJS, with the real packages: as a middleware of the application and of a module, with each of Nest's body parsers,
 * beside controllers.
 */
import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { listener } from '../../lib/index.ts'
import type { Listener, RestEngine } from '../../lib/index.ts'
import { askByNode, create } from '../address/world.ts'
import type { Ask } from '../address/world.ts'

/** The parts of Nest that are used here; its own types would need decorators of the compiler. */
type Decorate = (target: object, name?: string, descriptor?: PropertyDescriptor) => void
interface Application {
  use(path: string | Listener, listener?: Listener): Application
  useBodyParser(type: string, options?: object): Application
  setGlobalPrefix(prefix: string): Application
  listen(port: number, host: string): Promise<Server>
  getUrl(): Promise<string>
  close(): Promise<void>
}
interface Consumer {
  apply(middleware: Listener): { forRoutes(path: string): void }
}
const require = createRequire(import.meta.url)
assert.ok(require('reflect-metadata'), 'what decorators of Nest write to')
const { Body, Controller, Get, Module, Post } = require('@nestjs/common') as Record<string, (options?: unknown) => Decorate>
const { NestFactory } = require('@nestjs/core') as { NestFactory: { create(module: object, options: object): Promise<Application> } }

class Notes {
  list(): string {
    return '"a controller"'
  }
  create(body: unknown): unknown {
    return body
  }
}
const descriptorOf = (name: 'list' | 'create'): PropertyDescriptor => Object.getOwnPropertyDescriptor(Notes.prototype, name)!
Controller!('notes')(Notes)
Get!()(Notes.prototype, 'list', descriptorOf('list'))
Post!()(Notes.prototype, 'create', descriptorOf('create'))
;(Body!() as unknown as (target: object, name: string, index: number) => void)(Notes.prototype, 'create', 0)

let engine: RestEngine
const failures: unknown[] = []
/** Starts an application with the controller. */
async function start(
  options: object,
  configure: (app: Application) => void,
  apply?: (consumer: Consumer) => void,
): Promise<{ ask: Ask } & AsyncDisposable> {
  class Root {
    configure(consumer: Consumer): void {
      apply?.(consumer)
    }
  }
  Module!({ controllers: [Notes] })(Root)
  const app = await NestFactory.create(Root, { logger: false, ...options })
  configure(app)
  await app.listen(0, '127.0.0.1')
  const origin = await app.getUrl()
  return {
    ask: (method, path, body, headers) => askByNode(method, origin + path, body, headers),
    [Symbol.asyncDispose]: () => app.close(),
  }
}

const asMiddleware = (api: Listener) => (app: Application) => void app.use('/api', api)
const nothing = (): void => {}

describe('the listener in NestJS', () => {
  before(async () => {
    engine = await create({ onError: error => void failures.push(error) })
  })
  after(() => engine.close())

  const ways: readonly (readonly [name: string, start: (world: RestEngine) => ReturnType<typeof start>])[] = [
    ['a middleware of the application', world => start({}, asMiddleware(listener(world)))],
    ['without a body parser', world => start({ bodyParser: false }, asMiddleware(listener(world)))],
    ['with the raw body', world => start({ rawBody: true }, asMiddleware(listener(world)))],
    ['behind parsers', world => start({}, app => void app.useBodyParser('json').useBodyParser('text').use('/api', listener(world)))],
    ['with a prefix of its own', world => start({}, app => void app.setGlobalPrefix('v1').use('/api', listener(world)))],
    ['with CORS of Nest', world => start({ cors: true }, asMiddleware(listener(world)))],
    ['at no path, with a base', world => start({}, app => void app.use(listener(world, { base: '/api', fallthrough: true })))],
    ['a middleware of a module', world => start({}, nothing, consumer => consumer.apply(listener(world)).forRoutes('api'))],
    [
      'a middleware of a module, by a pattern',
      world => start({}, nothing, consumer => consumer.apply(listener(world, { base: '/api' })).forRoutes('api/{*path}')),
    ],
    [
      'by a pattern without a body parser',
      world =>
        start({ bodyParser: false }, nothing, consumer => consumer.apply(listener(world, { base: '/api' })).forRoutes('api/{*path}')),
    ],
  ]
  for (const [name, open] of ways) {
    it(`reads and writes, with links: ${name}`, async () => {
      await using world = await engine.fork()
      await using app = await open(world)
      const { body } = await app.ask('GET', '/api/v1/books?limit=1')
      assert.equal(body.next, '/api/v1/books?limit=1&offset=1')
      assert.equal((await app.ask('GET', body.next as string)).body.offset, 1)
      const made = await app.ask('POST', '/api/v1/books', { title: 'x', author: 1 })
      assert.deepEqual([made.status, made.headers['location']], [200, '/api/v1/books/6'])
      assert.equal((await app.ask('PUT', '/api/v1/books/6', { title: 'y' })).body.book.title, 'y')
      assert.equal((await app.ask('POST', '/api/v1/books', { title: 5 })).body.code, 'validation_failed')
      assert.equal((await app.ask('DELETE', '/api/v1/books/6')).status, 200)
      assert.equal((await app.ask('GET', '/api/v1/openapi.json')).body.servers[0].url, '/api')
      assert.equal((await app.ask('GET', '/api/v1/nothing')).body.code, 'resource_unknown')
    })
  }

  it('leaves controllers their requests and bodies', async () => {
    await using app = await start({}, asMiddleware(listener(engine)))
    assert.equal((await app.ask('GET', '/notes')).body, 'a controller')
    assert.deepEqual((await app.ask('POST', '/notes', { a: 1 })).body, { a: 1 })
    assert.equal((await app.ask('GET', '/nothing')).body.statusCode, 404)
    await using prefixed = await start({}, app => void app.setGlobalPrefix('v1').use(listener(engine, { fallthrough: true })))
    // The engine has the paths that begin with its version.
    assert.equal((await prefixed.ask('GET', '/v1/notes')).body.code, 'resource_unknown')
  })

  it('shuts an application down while answers are delayed', async () => {
    const api = listener(engine, { delay: 60_000 })
    const app = await start({ forceCloseConnections: true }, asMiddleware(api))
    const answer = app.ask('GET', '/api/v1/books')
    await new Promise(resolve => setTimeout(resolve, 50))
    await api.close()
    assert.equal((await answer).status, 200)
    await app[Symbol.asyncDispose]()
  })

  it('answers what fails in a hook with its own body, not that of Nest', async () => {
    await using failing = await create({
      onError: error => void failures.push(error),
      routes: [{ method: 'GET', path: '/v1/broken', handler: () => Promise.reject(new Error('as meant')) }],
    })
    await using app = await start({}, asMiddleware(listener(failing)))
    const { status, body } = await app.ask('GET', '/api/v1/broken')
    assert.deepEqual([status, body.code, String(failures.at(-1))], [500, 'internal_error', 'Error: as meant'])
  })
})
