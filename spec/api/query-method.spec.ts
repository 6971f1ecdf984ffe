/** QUERY (RFC 10008): a GET whose parameters are in the body, by every way in. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as http from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { RestEngine, auth, createServer, listener, resource } from '../../lib/index.ts'
import type { HookContext } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    age: p.integer().nullable(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  },
})
const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(Author) },
})
const seed = {
  authors: Array.from({ length: 9 }, (_, index) => ({ id: index + 1, name: `Ann ${index}`, age: index === 4 ? null : index * 3 })),
  books: Array.from({ length: 12 }, (_, index) => ({ title: `B, ${index}`, author: (index % 5) + 1 })),
}
const ACCEPTED = 'application/json, application/x-www-form-urlencoded'
const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any -- specs read bodies freely
  readonly body: any
}

describe('QUERY', { timeout: 120_000 }, () => {
  let engine: RestEngine
  let server: http.Server
  let origin: string
  let express: http.Server
  before(async () => {
    engine = await RestEngine.create({ entities: [Author, Book], seed })
    server = createServer(engine, { cors: 'https://app.example' })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const make = createRequire(import.meta.url)('express') as {
      (): http.RequestListener & { use(...each: unknown[]): void }
      json(): unknown
      urlencoded(options: object): unknown
    }
    const app = make()
    app.use(make.json())
    app.use(make.urlencoded({ extended: false }))
    app.use(listener(engine))
    express = http.createServer(app).listen(0, '127.0.0.1')
    await once(express, 'listening')
  })
  after(async () => {
    server.close()
    express.close()
    await engine.close()
  })

  async function read(response: Response): Promise<Told> {
    const text = await response.text()
    return { status: response.status, headers: Object.fromEntries(response.headers), body: text === '' ? undefined : JSON.parse(text) }
  }

  /** The ways in, each with a text for the body. */
  const ways: Readonly<
    Record<string, (path: string, body: string | undefined, headers: Record<string, string>, method?: string) => Promise<Told>>
  > = {
    fetch: async (path, body, headers, method = 'QUERY') =>
      read(await engine.fetch(`http://api.test${path}`, { method, headers, ...(body === undefined ? {} : { body }) })),
    http: (path, body, headers, method = 'QUERY') => send(origin, path, body, headers, method),
    express: (path, body, headers, method = 'QUERY') =>
      send(`http://127.0.0.1:${(express.address() as AddressInfo).port}`, path, body, headers, method),
    intercept: async (path, body, headers, method = 'QUERY') => {
      using _ = engine.intercept('https://api.test')
      return read(await fetch(`https://api.test${path}`, { method, headers, ...(body === undefined ? {} : { body }) }))
    },
  }

  function send(base: string, path: string, body: string | undefined, headers: Record<string, string>, method: string): Promise<Told> {
    return new Promise((resolve, reject) => {
      const request = http.request(
        base + path,
        { method, headers: body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) } },
        response => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', chunk => (text += String(chunk)))
          response.on('end', () => {
            const flat = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
            resolve({ status: response.statusCode ?? 0, headers: flat, body: text === '' ? undefined : JSON.parse(text) })
          })
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  }

  const plain = ({ body }: Told): unknown => ({ ...(body as object), timestamp: 0 })

  for (const [name, ask] of Object.entries(ways)) {
    it(`answers as GET does: ${name}`, async () => {
      const got = await ask('/v1/authors?age>=6&name~=ann*&sort=age.desc&limit=3', undefined, {}, 'GET')
      assert.equal(got.body.count, 6)
      for (const [text, type] of [
        ['{"age>=":6,"name~=":"ann*","sort":"age.desc","limit":3}', JSON_TYPE],
        ['age>=6&name~=ann*&sort=age.desc&limit=3', FORM_TYPE],
        ['age%3E=6&name~=ann*&sort=age.desc&limit=3', { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }],
      ] as const) {
        const asked = await ask('/v1/authors', text, { ...type })
        assert.equal(asked.status, 200, text)
        assert.deepEqual({ ...(plain(asked) as object), filter: undefined }, { ...(plain(got) as object), filter: undefined }, text)
        assert.deepEqual(asked.body.filter, [
          ['age>=', '6'],
          ['name~=', 'ann*'],
        ])
        assert.equal(asked.headers['accept-query'], ACCEPTED)
      }
      // The path may have parameters of its own.
      assert.equal((await ask('/v1/authors?age>=6', '{"limit":0}', JSON_TYPE)).body.count, 6)
      assert.equal((await ask('/v1/authors', '', FORM_TYPE)).body.count, 9)
    })

    it(`refuses bodies of no type, of another type, and that are no query: ${name}`, async () => {
      for (const [text, headers, status, code] of [
        ['{}', { 'content-type': 'application/xml' }, 415, 'media_type_unsupported'],
        [undefined, {}, 400, 'body_invalid'],
        ['[]', JSON_TYPE, 400, 'body_invalid'],
        ['"age>=6"', JSON_TYPE, 400, 'body_invalid'],
        ['{"nme":1}', JSON_TYPE, 400, 'parameter_invalid'],
        ['{"age":{"$gt":1}}', JSON_TYPE, 400, 'parameter_invalid'],
        ['age=abc', FORM_TYPE, 400, 'parameter_invalid'],
      ] as const) {
        // Parsers of Express refuse what is no object before anybody else sees it.
        if (name === 'express' && text?.startsWith('"') === true) continue
        const { status: found, body, headers: told } = await ask('/v1/authors', text, { ...headers })
        assert.deepEqual([found, body.code], [status, code], text)
        if (code !== 'parameter_invalid') assert.equal(told['accept-query'], ACCEPTED, text)
      }
    })
  }

  it('refuses a body without a type with 400, not as other methods do', async () => {
    const told = await send(origin, '/v1/authors', '{}', {}, 'QUERY')
    assert.deepEqual([told.status, told.body.code, told.headers['accept-query']], [400, 'body_invalid', ACCEPTED])
    assert.equal((await send(origin, '/v1/authors', '{}', {}, 'POST')).status, 415)
  })

  it('is taken by lists, records and relations, and by nothing else', async () => {
    const ask = (path: string, body: unknown): Promise<Told> => engine.handle('QUERY', path, undefined, body)
    assert.equal((await ask('/v1/authors/1', { depth: 0 })).body.author.books, undefined)
    assert.equal((await ask('/v1/authors/1/books', { 'title!=': 'B\\, 0' })).body.count, 2)
    assert.equal((await ask('/v1/books/1/author', 'attributes=name')).body.author.name, 'Ann 0')
    for (const path of ['/', '/v1', '/v1/authors/1/name', '/v1/openapi.json']) {
      const { status, headers } = await ask(path, {})
      assert.equal(status, 405, path)
      assert.ok(!headers['allow']!.includes('QUERY'))
    }
    assert.equal((await ask('/v1/authors/99', {})).status, 404)
    for (const path of ['/v1/authors', '/v1/authors/1', '/v1/authors/1/books', '/v1/books/1/author']) {
      const { headers } = await engine.handle('OPTIONS', path)
      assert.match(headers['allow']!, /^GET, HEAD, QUERY, /)
      assert.equal(headers['accept-query'], ACCEPTED)
    }
    assert.equal((await engine.handle('OPTIONS', '/v1/authors/1/name')).headers['accept-query'], undefined)
  })

  it('says the same as GET, for every query', async () => {
    const value = fc.oneof(fc.constantFrom('1', '3', 'null', 'Ann*', 'x,y', '\\,', ''), fc.string({ maxLength: 4 }))
    const key = fc.constantFrom(
      'age',
      'age>',
      'age<=',
      'name',
      'name~=',
      '!name',
      'books.title',
      'name|books.title',
      'sort',
      'limit',
      'nme',
    )
    await check(
      fc.asyncProperty(fc.dictionary(key, fc.oneof(value, fc.array(value, { maxLength: 2 })), { maxKeys: 3 }), async query => {
        const got = await engine.handle('GET', '/v1/authors', query)
        const asked = await engine.handle('QUERY', '/v1/authors', undefined, query)
        assert.deepEqual([asked.status, plain(asked)], [got.status, plain(got)])
        assert.deepEqual(await engine.conforms({ method: 'QUERY', path: '/v1/authors' }, asked), [])
      }),
      { label: 'QUERY' },
    )
  })

  it('has links that a GET follows', async () => {
    const { body } = await engine.handle('QUERY', '/v1/authors', undefined, { 'age>': 3, limit: 2 })
    assert.equal(body.next, '/v1/authors?age%3E3&limit=2&offset=2')
    assert.deepEqual(
      (await engine.handle('GET', body.next as string)).body.authors,
      (await engine.handle('QUERY', '/v1/authors', undefined, { 'age>': 3, limit: 2, offset: 2 })).body.authors,
    )
  })

  it('counts as a reading: for rules, wrappers, read-only engines, public paths, faults and the journal', async () => {
    const seen: string[] = []
    const rules = {
      access: (ctx: HookContext, action: string) => (seen.push(`${action} ${ctx.method}`), action === 'list' || action === 'get'),
      list: (ctx: HookContext, next: () => Promise<Told>) => (seen.push(`wrapper ${JSON.stringify(ctx.query)}`), next()),
    }
    const User = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), email: p.string().unique(), password: p.string().hidden() },
    })
    const options = {
      entities: [Author, Book, User],
      resources: [resource(Author, rules)],
      auth: auth({ entity: User, public: ['GET /v1/authors*'] }),
      seed,
    }
    await using world = await RestEngine.create({ ...options, readOnly: true })
    const asked = await world.handle('QUERY', '/v1/authors', undefined, { 'age>': 3 })
    assert.equal(asked.body.count, 6)
    assert.deepEqual(seen.slice(0, 2), ['list QUERY', 'wrapper {"age>":"3"}'])
    assert.equal((await world.handle('QUERY', '/v1/books', undefined, {})).status, 401)
    const entry = world.requests[0]!
    assert.deepEqual([entry.method, entry.query, entry.changes, entry.body], ['QUERY', [['age>', '3']], [], undefined])
    using _ = world.fail('GET /v1/authors', { status: 503 })
    assert.equal((await world.handle('QUERY', '/v1/authors', undefined, {})).status, 503)
  })

  it('is open to pages of other sites as GET is, and named to those that may ask', async () => {
    const told = await send(origin, '/v1/authors', '{}', { ...JSON_TYPE, origin: 'https://other.example' }, 'QUERY')
    assert.deepEqual([told.status, told.headers['access-control-allow-origin']], [200, undefined])
    const asks = {
      origin: 'https://app.example',
      'access-control-request-method': 'QUERY',
      'access-control-request-headers': 'content-type',
    }
    const preflight = await send(origin, '/v1/authors', undefined, asks, 'OPTIONS')
    assert.match(preflight.headers['access-control-allow-methods']!, /\bQUERY\b/)
    assert.match(
      (await send(origin, '/v1/authors', '{}', { ...JSON_TYPE, origin: 'https://app.example' }, 'QUERY')).headers[
        'access-control-expose-headers'
      ]!,
      /Accept-Query/,
    )
  })

  it('gives other forms of lists, and 304, as GET does', async () => {
    const csv = await engine.handle(
      'QUERY',
      '/v1/authors',
      undefined,
      { attributes: 'id,name', 'id<': 3 },
      { headers: { accept: 'text/csv' } },
    )
    assert.equal(csv.body, 'id,name\r\n1,Ann 0\r\n2,Ann 1\r\n')
    await using tagged = await RestEngine.create({ entities: [Author, Book], seed, etag: 'answer' })
    const { headers } = await tagged.handle('QUERY', '/v1/authors', undefined, { limit: 2 })
    const again = await tagged.handle('QUERY', '/v1/authors', undefined, { limit: 2 }, { headers: { 'if-none-match': headers['etag']! } })
    assert.equal(again.status, 304)
  })

  it('runs a custom route of its own with the body as it came', async () => {
    const routes = [{ method: 'QUERY', path: '/{version}/find', handler: (ctx: HookContext) => ({ body: { data: ctx.data as unknown } }) }]
    await using world = await RestEngine.create({ entities: [Author, Book], routes })
    assert.deepEqual((await world.handle('QUERY', '/v1/find', undefined, { a: 1 })).body, { data: { a: 1 } })
  })

  it('is described by OpenAPI 3.2, which has a place for it', async () => {
    const { paths } = await engine.openapi({ openapi: '3.2', details: true })
    const { query, get } = paths['/v1/authors'] as Record<
      string,
      { operationId: string; requestBody: { content: object }; responses: object }
    >
    assert.equal(query!.operationId, 'queryAuthors')
    assert.deepEqual(Object.keys(query!.requestBody.content).join(', '), ACCEPTED)
    assert.deepEqual(
      Object.keys(query!.responses).filter(status => !(status in get!.responses)),
      ['413', '415'],
    )
    assert.equal((paths['/v1/authors/{id}/{attribute}'] as object as { query?: object }).query, undefined)
    assert.equal(JSON.stringify((await engine.openapi()).paths).includes('"query":{"operationId"'), false)
  })
})
