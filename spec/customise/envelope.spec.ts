/**
 * Envelopes of the application: templates of lists, records and deletions, bare answers, refusals, deletions without a body; for every way
 * in, and for all that reads answers.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { asyncProperty, constantFrom, dictionary, oneof, record as recordOf, shuffledSubarray, string } from 'fast-check'
import { auth, checkAgainst, client, createServer, resource, RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { compileTemplate } from '../../lib/foundation/http/envelope-template.ts'
import { TEMPLATE_PARTS } from '../../lib/foundation/http/template-tree.ts'
import { tryPromises } from '../../lib/try-promises.ts'
import { check } from '../helpers/check.ts'
import { describeTargets } from '../helpers/targets.ts'
import { Conformity } from '../openapi/conformity.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    password: p.string().hidden().nullable(),
    articles: () => p.oneToMany(Article).mappedBy('author'),
  },
})
const Article = defineEntity({
  name: 'Article',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User).nullable() },
})
const entities = [User, Article]
const seed = {
  users: [{ id: 1, name: 'Ann', password: 'secret' }],
  articles: [1, 2, 3, 4, 5].map(id => ({ id, title: `a${id}`, author: 1 })),
}
type Envelope = NonNullable<EngineOptions['envelope']>
const CONDUIT = {
  list: { '{plural}': 'records', '{plural}Count': 'count' },
  record: { '{singular}': 'record' },
  error: (error: { detail: string }) => ({ errors: { body: [error.detail] } }),
} satisfies Envelope
const REST_FRAMEWORK = {
  list: { count: 'count', next: 'next', previous: 'previous', results: 'records' },
  record: 'bare',
} satisfies Envelope
const NESTED = {
  list: {
    data: 'records',
    meta: { total: 'count', page: 'page', pages: 'pages', at: { offset: 'offset', limit: 'limit', sort: 'sort', filter: 'filter' } },
  },
  record: { data: { item: 'record', type: 'resource' }, done: 'status', ok: 'success' },
  removed: { removed: 'records', one: 'record', number: 'count' },
} satisfies Envelope
const make = (envelope: Envelope | undefined, more: Partial<EngineOptions> = {}): Promise<RestEngine> =>
  RestEngine.create({ entities, seed, ...(envelope === undefined ? {} : { envelope }), ...more })

const first = { id: 1, title: 'a1', author: 1 }

describeTargets('the envelope of Conduit', { entities, seed, envelope: CONDUIT }, target => {
  it('is that of lists, records, writes and refusals', async () => {
    const ask = async (method: string, path: string, body?: unknown): Promise<unknown> =>
      (await target.call(method, path, undefined, body)).body as unknown
    assert.deepEqual(await ask('GET', '/v1/articles?limit=1'), { articles: [first], articlesCount: 5 })
    assert.deepEqual(await ask('GET', '/v1/articles/1'), { article: first })
    assert.deepEqual(await ask('GET', '/v1/users/1/articles?id=1'), { articles: [first], articlesCount: 1 })
    assert.deepEqual(await ask('GET', '/v1/articles/1/author?depth=0'), { user: { id: 1, name: 'Ann' } })
    assert.deepEqual(await ask('POST', '/v1/articles', { title: 'new' }), { article: { id: 6, title: 'new', author: null } })
    assert.deepEqual(await ask('GET', '/v1/articles/6/author'), { user: null })
    assert.deepEqual(await ask('PUT', '/v1/articles/1', { title: 'b' }), { article: { ...first, title: 'b' } })
    assert.deepEqual(await ask('DELETE', '/v1/articles/6'), { article: { id: 6, title: 'new', author: null } })
    assert.deepEqual(await ask('DELETE', '/v1/users/1/articles?id=2'), { articles: [{ id: 2, title: 'a2', author: 1 }], articlesCount: 1 })
    assert.deepEqual(await ask('GET', '/v1/articles/99'), { errors: { body: ['There is no article with the ID 99.'] } })
    const refused = await target.call('POST', '/v1/articles', undefined, { titel: 3 })
    assert.deepEqual([refused.status, Object.keys(refused.body)], [422, ['errors']])
    assert.deepEqual(Object.keys((await ask('GET', '/v1/nobody')) as object), ['errors'])
  })

  it('leaves the index and plain attributes as they are', async () => {
    const { body: index } = await target.call('GET', '/v1')
    assert.deepEqual(index.resources, { users: '/v1/users', articles: '/v1/articles' })
    const { body } = await target.call('GET', '/v1/articles/1/title')
    assert.deepEqual({ ...body, timestamp: '' }, { success: true, timestamp: '', resource: 'article', attribute: 'title', value: 'a1' })
  })
})

describeTargets('the envelope of Django REST framework', { entities, seed, envelope: REST_FRAMEWORK, deletedStatus: 204 }, target => {
  it('has the pages of a list, bare records, and no body for a deletion', async () => {
    const page = await target.call('GET', '/v1/articles?limit=2&offset=2')
    assert.deepEqual(Object.keys(page.body), ['count', 'next', 'previous', 'results'])
    const { results, ...links } = page.body
    assert.deepEqual(links, { count: 5, next: '/v1/articles?limit=2&offset=4', previous: '/v1/articles?limit=2&offset=0' })
    assert.deepEqual(
      results.map(({ id }: { id: number }) => id),
      [3, 4],
    )
    assert.deepEqual((await target.call('GET', '/v1/articles/1')).body, first)
    assert.equal((await target.call('GET', '/v1/articles/1/title')).body, 'a1')
    const gone = await target.call('DELETE', '/v1/articles/1')
    assert.deepEqual([gone.status, gone.body, gone.headers['content-type']], [204, undefined, undefined])
    assert.equal((await target.call('DELETE', '/v1/users/1/articles')).status, 204)
    assert.equal((await target.call('GET', '/v1/articles')).body.count, 0)
    assert.equal((await target.call('DELETE', '/v1/articles/1')).status, 404)
  })
})

describeTargets('a bare list', { entities, seed, envelope: { list: 'bare' }, fresh: 'suite' }, target => {
  it('says its count and its pages in headers, for HEAD as well', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { body, headers } = await target.call(method, '/v1/articles?limit=2&offset=2')
      assert.deepEqual(
        body?.map(({ id }: { id: number }) => id),
        method === 'HEAD' ? undefined : [3, 4],
      )
      assert.equal(headers['x-total-count'], '5')
      assert.equal(headers['link'], '</v1/articles?limit=2&offset=0>; rel="prev", </v1/articles?limit=2&offset=4>; rel="next"')
    }
    const { headers } = await target.call('GET', '/v1/articles')
    assert.deepEqual([headers['x-total-count'], headers['link']], ['5', undefined])
    assert.deepEqual((await target.call('GET', '/v1/articles/1')).body.article, first)
  })
})

describe('an envelope', () => {
  it('may nest parts, and has what each part means', async () => {
    await using engine = await make(NESTED)
    const ask = async (...request: Parameters<RestEngine['handle']>): Promise<unknown> => (await engine.handle(...request)).body as unknown
    assert.deepEqual(await ask('GET', '/v1/articles?limit=2&offset=2&sort=id.desc&id!=1'), {
      data: [
        { id: 3, title: 'a3', author: 1 },
        { id: 2, title: 'a2', author: 1 },
      ],
      meta: { total: 4, page: 2, pages: 2, at: { offset: 2, limit: 2, sort: 'id.desc', filter: [['id!=', '1']] } },
    })
    assert.deepEqual(((await ask('GET', '/v1/articles?limit=0')) as { meta: object }).meta, {
      total: 5,
      page: null,
      pages: null,
      at: { offset: 0, limit: 0, sort: 'id.asc', filter: [] },
    })
    assert.deepEqual(await ask('GET', '/v1/articles/1'), { data: { item: first, type: 'article' }, ok: true })
    const made = { id: 6, title: 'x', author: null }
    assert.deepEqual(await ask('POST', '/v1/articles', undefined, { title: 'x' }), {
      data: { item: made, type: 'article' },
      done: 'OK',
      ok: true,
    })
    assert.deepEqual(await ask('DELETE', '/v1/articles/6'), { removed: [made], one: made, number: 1 })
    assert.deepEqual(await ask('DELETE', '/v1/users/1/articles?id=1'), { removed: [first], one: null, number: 1 })
    const all = (await ask('POST', '/v1/articles', undefined, [{ title: 'y' }, { title: 'z' }])) as {
      data: object[]
      meta: { total: number; page: number }
    }
    assert.deepEqual([all.data.length, all.meta.total, all.meta.page], [2, 2, 1])
  })

  it('is not that of what is asked inside of requests, of CSV, nor of custom routes', async () => {
    const routes: EngineOptions['routes'] = [
      {
        method: 'GET',
        path: '/{version}/asked',
        handler: async ctx => ({ body: { asked: await ctx.ask('GET', '/articles', { limit: 1 }) } }),
      },
      { method: 'GET', path: '/{version}/own', handler: () => ({ body: { success: true, resource: 'articles', articles: [] } }) },
    ]
    await using engine = await make(CONDUIT, { routes })
    assert.deepEqual((await engine.handle('GET', '/v1/asked')).body, { asked: [first] })
    assert.deepEqual((await engine.handle('GET', '/v1/own')).body, { success: true, resource: 'articles', articles: [] })
    const csv = await engine.handle('GET', '/v1/articles?attributes=id&id=1', undefined, undefined, { headers: { accept: 'text/csv' } })
    assert.equal(csv.body, 'id\r\n1\r\n')
  })

  it('keeps what a wrapper has put beside, and what a wrapper has answered instead', async () => {
    const wrapper = resource(Article, {
      list: async (ctx, next) => {
        if (ctx.query['mine'] !== undefined) return { body: { mine: true } }
        const answer = await next()
        return { ...answer, body: { ...(answer.body as object), took: 3 } }
      },
    })
    await using engine = await make(CONDUIT, { resources: [wrapper], parameters: { mine: () => undefined } })
    assert.deepEqual((await engine.handle('GET', '/v1/articles?id=1')).body, { articles: [first], articlesCount: 1, took: 3 })
    assert.deepEqual((await engine.handle('GET', '/v1/articles?mine=1')).body, { mine: true })
  })

  it('of refusals gets the error and the request, and may fail', async () => {
    const asked: unknown[] = []
    const failures: unknown[] = []
    const error: Envelope['error'] = (given, request) => {
      asked.push([given.status, given.code, request])
      if (given.status === 404) throw new Error('mine')
      return { message: given.title }
    }
    await using engine = await make({ error }, { onError: failure => void failures.push(failure) })
    assert.deepEqual((await engine.handle('GET', '/v1/articles?nope=1')).body, { message: 'A parameter is not valid' })
    assert.deepEqual(asked, [[400, 'parameter_invalid', { method: 'GET', path: '/v1/articles?nope=1' }]])
    const failed = await engine.handle('GET', '/v1/articles/99')
    assert.deepEqual([failed.status, failed.body.code, (failures[0] as Error).message], [500, 'internal_error', 'mine'])
    const problem = await engine.handle('GET', '/v1/articles?nope=1', undefined, undefined, {
      headers: { accept: 'application/problem+json' },
    })
    assert.equal(problem.body.code, 'parameter_invalid')
    using _ = engine.fail('GET /v1/articles', { status: 503 })
    assert.deepEqual(Object.keys((await engine.handle('GET', '/v1/articles')).body), ['message'])
  })

  it("is that of the token's user, of the journal, of fetch and of interception", async () => {
    const login = auth({ entity: User, identifier: 'name', paths: { login: 'users/login', me: 'user' } })
    await using engine = await make(
      { record: { '{singular}': 'record' } },
      { auth: login, seed: { users: [{ id: 1, name: 'Ann', password: 'secret' }] } },
    )
    const headers = { authorization: `Bearer ${engine.token(1)}` }
    assert.deepEqual((await engine.handle('GET', '/v1/user?attributes=id', undefined, undefined, { headers })).body, { user: { id: 1 } })
    assert.deepEqual(engine.requests.at(-1)!.response, { user: { id: 1 } })
    const ask = async (answer: Promise<Response>): Promise<unknown> => (await answer).json()
    assert.deepEqual(await ask(engine.fetch('http://localhost/v1/users/1?attributes=id', { headers })), { user: { id: 1 } })
    using _ = engine.intercept('https://api.example.test')
    assert.deepEqual(await ask(fetch('https://api.example.test/v1/users/1?attributes=id', { headers })), { user: { id: 1 } })
  })

  it('shows its headers to pages of other origins', async () => {
    await using engine = await make({ list: 'bare' })
    const server = createServer(engine, { cors: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/articles`, {
        headers: { origin: 'https://a.test' },
      })
      assert.match(headers.get('access-control-expose-headers')!, /Link, X-Total-Count$/)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it('is refused when the engine is created, with the nearest part', async () => {
    const refused = (envelope: unknown, message: RegExp): Promise<void> => assert.rejects(make(envelope as Envelope), message)
    await refused({ list: { a: 'recods' } }, /envelope: list\.a: there is no part "recods"\. Did you mean "records"\?/)
    await refused({ list: { a: { b: 'record' } } }, /list\.a\.b: there is no part "record"\. Did you mean "records"/)
    await refused({ record: { a: 'count' } }, /record\.a: there is no part "count".*Parts are record, resource, status/)
    await refused({ lists: {} }, /unknown option "lists"\. Did you mean "list"\?/)
    await refused({ list: {} }, /list is empty/)
    await refused({ list: ['records'] }, /list must be "bare", or an object/)
    await refused({ list: { '{name}': 'records' } }, /keys may hold \{plural\} and \{singular\}/)
    await refused({ list: { a: 'count', b: { c: 'count' } } }, /the part "count" is there twice/)
    await refused({ error: 'x' }, /"error" must be a function/)
    for (const given of [[], 'bare', false, null])
      await refused(given, /envelope must be an object .* or \{ list: "bare", record: "bare" \} for records alone\.$/)
    await assert.rejects(make(undefined, { deletedStatus: 202 as never }), /"deletedStatus" must be one of 200, 204/)
  })
})

const Number7 = defineEntity({
  name: 'Article',
  properties: { id: p.integer().primary(), title: p.integer(), extra: p.string().nullable() },
})
const Reader = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })

/** What differs in the records of another backend, whose answers have the same form. */
async function differencesOf(envelope: Envelope, deletedStatus: 200 | 204): Promise<string[]> {
  await using engine = await make(envelope, { deletedStatus })
  const other = { entities: [Reader, Number7], seed: { articles: [{ title: 7 }], users: [{ name: 'B' }] }, envelope, deletedStatus }
  await using backend = await RestEngine.create(other)
  const { differences } = await checkAgainst(backend.fetch, engine)
  const found = differences.flatMap(({ kind, resource: of, attribute }) => (attribute === undefined ? [] : [`${kind} ${of} ${attribute}`]))
  assert.ok(found.length > 3, found.join())
  return found.toSorted()
}

/** All that reads answers goes by the templates. */
describe('what follows an envelope', () => {
  const WORLDS: readonly (readonly [string, Envelope, 200 | 204])[] = [
    ['Conduit', CONDUIT, 200],
    ['Django REST framework', REST_FRAMEWORK, 204],
    ['nested', NESTED, 200],
    ['bare', { list: 'bare', record: 'bare' }, 204],
    ['records alone', { list: { all: 'records' } }, 200],
  ]
  for (const [name, envelope, deletedStatus] of WORLDS) {
    it(`is the OpenAPI document, and the self-test: ${name}`, async () => {
      await using engine = await make(envelope, { deletedStatus })
      for (const form of [{}, { details: true }, { attributes: true }]) {
        const conformity = new Conformity(await engine.openapi({ ...form, bulk: true }))
        await using world = await engine.fork()
        for (const [method, path, body] of [
          ['GET', '/v1/articles?limit=2'],
          ['GET', '/v1/articles/1'],
          ['GET', '/v1/articles/1/author'],
          ['GET', '/v1/articles/1/title'],
          ['GET', '/v1/articles/99'],
          ['POST', '/v1/articles', { title: 'n' }],
          ['POST', '/v1/articles', [{ title: 'n' }]],
          ['POST', '/v1/articles', { titel: 'n' }],
          ['PUT', '/v1/articles/1', { title: 'm' }],
          ['PUT', '/v1/articles/1/author', null],
          ['DELETE', '/v1/articles/2'],
          ['DELETE', '/v1/users/1/articles?id=3'],
        ] as const)
          assert.deepEqual(conformity.faultsOf(method, path, await world.handle(method, path, undefined, body)), [], `${method} ${path}`)
      }
      const { report } = await tryPromises(engine, { runs: 3 }, false)
      assert.deepEqual(report.failures, [])
    })

    it(`is the typed client: ${name}`, async () => {
      await using engine = await make(envelope, { deletedStatus })
      const { error: _, ...templates } = envelope
      for (const target of [engine, engine.fetch]) {
        const api = client(target, { users: User, articles: Article }, { envelope: templates })
        assert.deepEqual((await api.articles.list({ limit: 2, sort: 'id' })).items.length, 2)
        const ids: number[] = []
        for await (const { id } of api.articles.all({ limit: 2 })) ids.push(id)
        assert.ok(ids.length >= 4 && new Set(ids).size === ids.length)
        const made = await api.articles.create({ title: 'new' })
        assert.equal((await api.articles.update(made.id, { title: 'newer' })).title, 'newer')
        assert.equal(await api.articles.getAttribute(made.id, 'title'), 'newer')
        assert.equal((await api.users.related(1, 'articles').list({ title: 'a3' })).items[0]?.title, 'a3')
        const removed: unknown = await api.articles.delete(made.id)
        assert.deepEqual(removed, deletedStatus === 204 ? undefined : { id: made.id, title: 'newer', author: null })
        await assert.rejects(async () => api.articles.get(made.id), { status: 404 })
      }
      await assert.rejects(
        async () => client(engine, { articles: Article }).articles.list(),
        name === 'records alone' ? /no body of this API/ : /no body of this API/,
      )
    })

    it(`is the comparison with a backend of the same form: ${name}`, async () => {
      await using engine = await make(envelope, { deletedStatus })
      await using same = await make(envelope, { deletedStatus })
      const equal = await checkAgainst(same.fetch, engine)
      assert.deepEqual(equal.differences, [], String(equal))
      assert.deepEqual(await differencesOf(envelope, deletedStatus), await differencesOf({}, 200))
    })
  }

  it('is the docs page', async () => {
    for (const envelope of [CONDUIT, NESTED, REST_FRAMEWORK]) {
      await using engine = await make(envelope)
      const server = createServer(engine, { docs: true }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      try {
        const page = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/docs/model`)
        // The example of a record is found in the schema of its answer.
        assert.match(await page.text(), /&quot;title&quot;: &quot;a1&quot;|"title": "a1"|a1/)
      } finally {
        server.close()
        server.closeAllConnections()
      }
    }
  })

  it('reads what it has written: any template, for any names', async () => {
    const parts = TEMPLATE_PARTS.list.filter(part => part !== 'records')
    const key = oneof(
      constantFrom('{plural}', '{singular}', '{plural}Count', 'x_{plural}'),
      string({ minLength: 1, maxLength: 5 }).filter(text => !/[{}]|__proto__|^\d+$/.test(text)),
    )
    const chosen = recordOf({
      order: shuffledSubarray([...parts], { minLength: 0 }),
      keys: dictionary(key, constantFrom(0, 1, 2), { minKeys: 1, maxKeys: 8, noNullPrototype: true }),
      plural: constantFrom('articles', 'blog_entries'),
      singular: constantFrom('article', 'blog_entry'),
    })
    await check(
      asyncProperty(chosen, async ({ order, keys, plural, singular }) => {
        // Keys that become one are another template.
        const named = Object.keys(keys).map(each => each.replaceAll('{plural}', plural).replaceAll('{singular}', singular))
        if (new Set(named).size !== named.length) return
        const all = ['records', ...order]
        const inner: Record<string, string> = {}
        const template: Record<string, unknown> = {}
        for (const [index, [name, depth]] of Object.entries(keys).entries()) {
          const part = all[index]
          if (part === undefined) continue
          if (depth === 2 && index > 0) inner[name] = part
          else template[name] = part
        }
        if (Object.keys(inner).length > 0 && !Object.hasOwn(template, 'nested')) template['nested'] = inner
        const compiled = compileTemplate(template, 'list', 'spec')
        const values = Object.fromEntries([...compiled.parts].map(part => [part, part === 'records' ? [{ id: 1 }] : `value of ${part}`]))
        const body = compiled.build({ plural, singular }, values)
        assert.deepEqual(compiled.read(JSON.parse(JSON.stringify(body))), values)
        const path = compiled.pathOf('records', { plural, singular })!
        assert.deepEqual(
          path.reduce<unknown>((at, each) => (at as Record<string, unknown>)[each], body),
          [{ id: 1 }],
        )
      }),
      { label: 'envelopes', runs: 300 },
    )
  })

  it('is nothing where there is no option', async () => {
    await using engine = await make(undefined)
    const { body } = await engine.handle('GET', '/v1/articles/1')
    assert.deepEqual(Object.keys(body), ['success', 'timestamp', 'resource', 'article'])
    assert.equal((await engine.handle('DELETE', '/v1/articles/1')).status, 200)
  })
})
