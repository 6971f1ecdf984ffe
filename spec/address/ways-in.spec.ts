/** The base that a way in says: servers with their test controls and guard, and interceptions of a part of an origin. */
import assert from 'node:assert/strict'
import * as http from 'node:http'
import { after, before, describe, it } from 'node:test'
import { request } from 'undici'
import { createServer } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import { askByNode, create, serve } from './world.ts'

describe('a server with a base', () => {
  it('takes test controls below it alone, and says where they are', async () => {
    await using engine = await create({ versions: [] })
    await using server = await serve(createServer(engine, { base: '/api', testControls: true }))
    const { body } = await server.ask('GET', '/api/_test')
    for (const { path } of body.controls as { path: string }[]) assert.match(path, /^\/api\/_test/)
    assert.equal((await server.ask('POST', '/api/_test/reset')).status, 200)
    assert.equal((await server.ask('GET', '/_test')).body.code, 'path_unknown')
    assert.match(
      (await server.ask('POST', '/api/_test/rest')).body.detail,
      /no test control \/api\/_test\/rest: GET \/api\/_test lists them\. Did you mean "\/api\/_test\/reset"\?/,
    )
    assert.match((await server.ask('GET', '/api/_test/reset')).body.detail, /^\/api\/_test\/reset does not take GET/)
    const world = { 'x-world': 'w' }
    await server.ask('POST', '/api/books', { title: 'x', author: 1 }, world)
    assert.deepEqual(
      [(await server.ask('GET', '/api/books', undefined, world)).body.count, (await server.ask('GET', '/api/books')).body.count],
      [6, 5],
    )
  })

  it('guards its controls and writes against pages of other sites', async () => {
    await using engine = await create()
    await using server = await serve(createServer(engine, { base: '/api', testControls: true }))
    const foreign = { origin: 'https://evil.example' }
    for (const [method, path] of [
      ['POST', '/api/_test/reset'],
      ['GET', '/api/_test/requests'],
      ['DELETE', '/api/v1/books/1'],
    ] as const) {
      const { status, body } = await server.ask(method, path, undefined, foreign)
      assert.deepEqual([status, body.code], [403, 'origin_not_allowed'], path)
    }
    assert.equal((await server.ask('GET', '/api/v1/books', undefined, foreign)).status, 200)
  })

  it('refuses a base that is none', async () => {
    await using engine = await create()
    assert.throws(() => createServer(engine, { base: 'api' }), /createServer: "base" must be the path.*Did you mean "\/api"/)
    assert.throws(() => createServer(engine, { base: '/api/v1' }), /ends with the version "v1"/)
    // The engine has one, and the server none.
    await using based = await create({ base: '/api' })
    await using server = await serve(createServer(based, { base: '' }))
    assert.equal((await server.ask('GET', '/v1/books?limit=1')).body.next, '/v1/books?limit=1&offset=1')
  })
})

describe('an interception of a part of an origin', () => {
  const ORIGIN = 'https://api.example.test'
  let users: RestEngine
  let books: RestEngine
  before(async () => {
    users = await create()
    books = await create({ versions: [] })
  })
  after(() => Promise.all([users.close(), books.close()]))

  /** The paging link that each client sees, or the code of what it fails with. */
  async function ask(path: string): Promise<unknown[]> {
    const codeOf = (error: { code?: string; cause?: { code?: string } }): unknown => error.cause?.code ?? error.code
    const read = ({ body }: { body: { next?: string; code?: string } }): unknown => body.next ?? body.code
    return Promise.all([
      fetch(ORIGIN + path)
        .then(async response => read({ body: (await response.json()) as object }))
        .catch(codeOf),
      request(ORIGIN + path)
        .then(async ({ body }) => read({ body: (await body.json()) as object }))
        .catch(codeOf),
      askByNode('GET', ORIGIN + path)
        .then(read)
        .catch(codeOf),
    ])
  }
  const all = (answer: unknown): unknown[] => [answer, answer, answer]

  it('answers what is below its path, for several engines behind one origin', async () => {
    using one = users.intercept(`${ORIGIN}/users-api`, { strict: true })
    using _ = books.intercept([new URL('/shop', ORIGIN), `${ORIGIN}/shop/books/`])
    assert.deepEqual(one.origins, [`${ORIGIN}/users-api`])
    assert.deepEqual(await ask('/users-api/v1/authors?limit=1'), all('/users-api/v1/authors?limit=1&offset=1'))
    assert.deepEqual(await ask('/shop/authors?limit=1'), all('/shop/authors?limit=1&offset=1'))
    // The longest path counts, whatever the order.
    assert.deepEqual(await ask('/shop/books/authors?limit=1'), all('/shop/books/authors?limit=1&offset=1'))
    assert.deepEqual(await ask('/v1/authors'), all('ERR_NOT_INTERCEPTED'))
    assert.deepEqual(await ask('/users-apis/v1/authors'), all('ERR_NOT_INTERCEPTED'))
    const failure = await fetch(`${ORIGIN}/v1/authors?secret=1`).then(
      () => '',
      (error: Error) => String(error.cause),
    )
    assert.match(failure, /https:\/\/api\.example\.test\/v1\/authors is not intercepted.*intercepted: .*\/users-api/)
  })

  it('lets the rest of the origin pass, over kept connections, too', async () => {
    await using network = await serve(http.createServer((_, response) => response.end('{"next":"network"}')))
    using _ = users.intercept(`${network.origin}/api`)
    using other = books.intercept(`${network.origin}/books-api`)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const get = (path: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const sent = http.get(network.origin + path, { agent }, response => {
          response.setEncoding('utf8')
          let text = ''
          response.on('data', (chunk: string) => (text += chunk))
          response.on('end', () => resolve((JSON.parse(text) as { next: string }).next))
        })
        sent.on('error', reject)
      })
    const answers = [
      ['/api/v1/books?limit=1', '/api/v1/books?limit=1&offset=1'],
      ['/books-api/books?limit=3', '/books-api/books?limit=3&offset=3'],
      ['/v1/books', 'network'],
      ['/api/v1/books?limit=2', '/api/v1/books?limit=2&offset=2'],
      ['/other', 'network'],
      ['/books-api/authors?limit=1', '/books-api/authors?limit=1&offset=1'],
      ['/api/v1/authors?limit=1', '/api/v1/authors?limit=1&offset=1'],
    ] as const
    const paths = answers.map(([path]) => path)
    const links = answers.map(([, link]) => link)
    assert.deepEqual(await Promise.all(paths.map(get)), links)
    assert.deepEqual(other.origins, [`${network.origin}/books-api`])
    agent.destroy()
    for (const [index, path] of paths.entries()) {
      assert.equal(((await (await fetch(network.origin + path)).json()) as { next: string }).next, links[index])
    }
  })

  it('takes the base as an option, and its own dispatcher knows it', async () => {
    using api = users.intercept(ORIGIN, { base: '/api', strict: true })
    assert.deepEqual(api.origins, [`${ORIGIN}/api`])
    assert.deepEqual(await ask('/api/v1/authors?limit=1'), all('/api/v1/authors?limit=1&offset=1'))
    assert.deepEqual(await ask('/v1/authors?limit=1'), all('ERR_NOT_INTERCEPTED'))
    const { dispatcher } = api
    const { body } = await request(`${ORIGIN}/api/v1/authors?limit=1`, { dispatcher })
    assert.equal(((await body.json()) as { next: string }).next, '/api/v1/authors?limit=1&offset=1')
    assert.equal(users.requests.at(-1)?.path, '/api/v1/authors')
  })

  it('is of the whole origin with the base of the engine', async () => {
    await using engine = await create({ base: '/api' })
    using _ = engine.intercept(ORIGIN)
    assert.deepEqual(await ask('/api/v1/authors?limit=1'), all('/api/v1/authors?limit=1&offset=1'))
    assert.deepEqual(await ask('/v1/authors'), all('path_unknown'))
  })

  it('refuses a path that cannot be a base', () => {
    assert.throws(() => users.intercept(`${ORIGIN}/v1`), /"https:\/\/api\.example\.test\/v1": "base".*ends with the version "v1"/)
    assert.throws(() => users.intercept(`${ORIGIN}/a`, { base: '/b' }), /it has a path, and "base" is given, too/)
    assert.throws(() => users.intercept(`${ORIGIN}/a//b`), /has an empty segment/)
    assert.throws(
      () => users.intercept(`${ORIGIN}/a?b`),
      /it has a query or a fragment \(did you mean "https:\/\/api\.example\.test\/a"\?\)/,
    )
    assert.throws(() => users.intercept(ORIGIN, { base: 'api' }), /intercept: "base" must be the path/)
  })
})
