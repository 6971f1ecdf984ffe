/** The option `wire`: another grammar of requests and answers, for every way in. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, RestError, auth, createServer, resource } from '../../lib/index.ts'
import type { Wire, WireAnswer, WireApi, WireRequest } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    email: p.string().unique(),
    password: p.string().hidden(),
    tenant: p.integer(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    views: p.integer().nullable(),
    meta: p.json<object>().nullable(),
    author: () => p.manyToOne(Author),
  },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), slug: p.string().unique(), label: p.string() } })
const Vault = defineEntity({ name: 'Vault', properties: { id: p.integer().primary(), code: p.string() } })

const seed = {
  authors: [
    { id: 1, name: 'Ann', email: 'ann@example.test', password: 'a', tenant: 1 },
    { id: 2, name: 'Bob', email: 'bob@example.test', password: 'b', tenant: 2 },
  ],
  posts: [
    { id: 1, title: 'One', views: 3, author: 1, meta: { color: 'red' } },
    { id: 2, title: 'Two', views: null, author: 1, meta: { size: { width: 7 } } },
    { id: 3, title: 'Three', views: 30, author: 2 },
  ],
}

/** `GET /posts?where={...}&sort=-views`, `POST /posts`; each test may answer by itself. */
function plainWire(answer?: (request: WireRequest, api: WireApi) => Promise<WireAnswer | undefined>, more: Partial<Wire> = {}): Wire {
  return {
    async answer(request, api) {
      const own = await answer?.(request, api)
      if (own !== undefined) return own
      const { method, segments, pairs, body } = request
      const [name = '', id] = segments
      const query = Object.fromEntries(pairs)
      if (method === 'POST') return { status: 201, body: await api.create(name, body) }
      if (method === 'PATCH') return { status: 200, body: await api.update(name, id!, body) }
      if (method === 'DELETE') return { status: 200, body: await api.remove(name, id!) }
      if (id !== undefined)
        return { status: 200, body: await api.get(name, id, query['with'] === undefined ? {} : { expand: [query['with']] }) }
      const where = query['where'] === undefined ? {} : { where: JSON.parse(query['where']) as object }
      const { records, count } = await api.list(name, { ...where, ...(query['sort'] === undefined ? {} : { sort: [query['sort']] }) })
      return { status: 200, headers: { 'x-total': String(count) }, body: records }
    },
    refuse: ({ status, code, detail }, { method, path }) => ({ status, body: { refused: code, detail, method, path } }),
    ...more,
  }
}

const entities = [Author, Post, Tag]

async function ask(engine: RestEngine, path: string, method = 'GET', body?: unknown, headers: Record<string, string> = {}) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }
  const response = await engine.fetch(`http://api.test${path}`, { method, headers, ...sent })
  const said = await response.text()
  return { status: response.status, headers: response.headers, body: (said === '' ? undefined : JSON.parse(said)) as never }
}
/** By a client on `node:http`. */
async function getText(url: string): Promise<string> {
  const [incoming] = (await once(httpsGet(url), 'response')) as [IncomingMessage]
  return text(incoming)
}
const where = (condition: unknown): string => `where=${encodeURIComponent(JSON.stringify(condition))}`

describeStores('a wire', () => {
  it('answers every way in by its own grammar, and leaves engine.handle alone', async () => {
    await using engine = await createEngine({ entities, seed, wire: plainWire() })
    const list = await ask(engine, '/posts?sort=id.desc')
    assert.deepEqual([list.status, list.headers.get('x-total')], [200, '3'])
    assert.deepEqual(
      (list.body as { id: number; author: number }[]).map(({ id, author }) => [id, author]),
      [
        [3, 2],
        [2, 1],
        [1, 1],
      ],
    )
    assert.deepEqual((await ask(engine, '/posts/1?with=author')).body['author']['name'], 'Ann')
    const { body } = await engine.handle('GET', '/v1/posts')
    assert.equal(body.count, 3)

    using api = engine.intercept('https://backend.test')
    assert.equal(((await (await fetch('https://backend.test/posts/3')).json()) as { title: string }).title, 'Three')
    assert.deepEqual(api.origins, ['https://backend.test'])
    assert.match(await getText('https://backend.test/posts/3'), /"Three"/)
  })

  it('shows IDs of to-one relations, and no list that it has not named', async () => {
    await using engine = await createEngine({ entities, seed, wire: plainWire() })
    assert.deepEqual(Object.keys((await ask(engine, '/authors/1')).body), ['id', 'name', 'email', 'tenant'])
    const { body } = await ask(engine, '/authors/1?with=posts')
    assert.deepEqual(Object.keys(body['posts'][0]), ['id', 'title', 'views', 'meta', 'author'])
  })

  it('gives conditions the rights of the caller: hidden, closed and unknown attributes are 400', async () => {
    await using engine = await createEngine({
      entities: [...entities, Vault],
      seed,
      wire: plainWire(),
      resources: [resource(Vault, { access: false }), resource(Author, { scope: () => ({ tenant: 1 }) })],
    })
    const titles = async (condition: unknown): Promise<unknown> =>
      ((await ask(engine, `/posts?${where(condition)}`)).body as { title: string }[]).map(({ title }) => title)
    assert.deepEqual(await titles({ views: { $gte: 3 }, author: { name: 'Ann' } }), ['One'])
    assert.deepEqual(await titles({ $or: [{ views: 30 }, { title: 'Two' }] }), ['Two', 'Three'])
    // NULL is neither equal nor unequal.
    assert.deepEqual(await titles({ views: { $ne: 3 } }), ['Three'])
    assert.deepEqual(await titles({ $not: { views: 3 } }), ['Three'])
    assert.deepEqual(await titles({ title: { $like: 't%' } }), [])
    assert.deepEqual(await titles({ title: { $ilike: 't%' } }), ['Two', 'Three'])
    assert.deepEqual(await titles({ title: { $ilike: '_WO' } }), ['Two'])
    assert.deepEqual(await titles({ meta: { color: 'red' } }), ['One'])
    assert.deepEqual(await titles({ meta: { size: { width: { $gte: 5 } } } }), ['Two'])
    assert.deepEqual(await titles({ $or: [{ meta: { color: { $in: ['red', 'x'] } } }, { meta: { 'si;ze': null } }] }), [
      'One',
      'Two',
      'Three',
    ])
    assert.deepEqual(await titles({ meta: { color: { $ilike: 'R%' } } }), ['One'])
    // Bob is out of scope, and so is his name.
    assert.deepEqual(await titles({ author: { name: 'Bob' } }), [])
    for (const condition of [
      { author: { password: 'a' } },
      { meta: { 'a"b': 1 } },
      { views: { $like: '3' } },
      { pasword: 1 },
      { $where: 1 },
      { views: { $regex: 'x' } },
      { views: 'x' },
      5,
      [1],
    ]) {
      const { status, body } = await ask(engine, `/posts?${where(condition)}`)
      assert.deepEqual([status, body['refused']], [400, 'parameter_invalid'], JSON.stringify(condition))
    }
    assert.equal((await ask(engine, '/vaults')).status, 403)
    assert.equal((await ask(engine, '/nothing')).status, 404)
  })

  it('expands lists with conditions, order and page of their own, seen with the rights of the caller', async () => {
    const expand = (pairs: WireRequest['pairs']): never => JSON.parse(pairs[0]![1]) as never
    const wire = plainWire(async ({ pairs }, api) => ({
      status: 200,
      body: (await api.list('authors', { expand: expand(pairs) })).records,
    }))
    const scoped = resource(Post, { scope: ({ headers }) => (headers['x-less'] === undefined ? undefined : { views: 3 }) })
    await using engine = await createEngine({ entities, seed, versions: [], wire, resources: [scoped] })
    const lists = async (query: object, headers = {}): Promise<unknown> => {
      const { status, body } = await ask(engine, `/?expand=${encodeURIComponent(JSON.stringify([query]))}`, 'GET', undefined, headers)
      if (status !== 200) return [status, (body as { refused: string }).refused]
      return (body as { posts: { id: number }[] | number }[]).map(({ posts }) =>
        typeof posts === 'number' ? posts : posts.map(({ id }) => id),
      )
    }
    assert.deepEqual(await lists({ posts: { where: { title: { $like: 'T%' } } } }), [[2], [3]])
    assert.deepEqual(await lists({ posts: { sort: ['views.desc.nullslast'], limit: 1 } }), [[1], [3]])
    assert.deepEqual(await lists({ posts: { sort: ['id.desc'], offset: 1 } }), [[1], []])
    assert.deepEqual(await lists({ posts: { where: { views: { $gt: 0 } }, count: true } }), [1, 1])
    assert.deepEqual(await lists({ posts: {} }, { 'x-less': '1' }), [[1], []])
    assert.deepEqual(await lists({ posts: { where: { title: 'One' }, count: true } }, { 'x-less': '1' }), [1, 0])
    assert.deepEqual(await lists({ posts: { where: { author: { password: 'a' } } } }), [400, 'parameter_invalid'])
    assert.deepEqual(await lists({ posts: { where: { nope: 1 } } }), [400, 'parameter_invalid'])
    assert.deepEqual(await lists({ nope: { where: { id: 1 } } }), [400, 'parameter_invalid'])
    assert.deepEqual(await lists({ posts: { expand: [{ author: { where: { name: 'Bob' }, attributes: ['name'] } }] } }), [[1, 2], [3]])
    const inner = await ask(engine, `/?expand=${encodeURIComponent('[{"posts":{"expand":[{"author":{"where":{"name":"Bob"}}}]}}]')}`)
    assert.deepEqual(
      (inner.body as { posts: { author: unknown }[] }[]).map(({ posts }) => posts.map(({ author }) => author !== null)),
      [[false, false], [true]],
    )
    assert.equal((await ask(engine, `/?expand=${encodeURIComponent('[{"posts":{"size":1}}]')}`)).status, 500)
  })

  it('sorts NULL first or last, as the grammar of the engine does', async () => {
    await using engine = await createEngine({ entities, seed, wire: plainWire() })
    const ids = async (sort: string): Promise<unknown> =>
      ((await ask(engine, `/posts?sort=${sort}`)).body as { id: number }[]).map(({ id }) => id)
    assert.deepEqual(await ids('views'), [2, 1, 3])
    assert.deepEqual(await ids('views.nullslast'), [1, 3, 2])
    assert.deepEqual(await ids('views.desc'), [3, 1, 2])
    assert.deepEqual(await ids('views.desc.nullsfirst'), [2, 3, 1])
    const { body } = await engine.handle('GET', '/v1/posts?sort=views.asc.nullslast,id.desc&limit=1&offset=2')
    assert.deepEqual([body.sort, body.posts.map(({ id }: { id: number }) => id)], ['views.asc.nullslast,id.desc', [2]])
  })

  it('bounds conditions: deep and long ones are 400', async () => {
    await using engine = await createEngine({ entities, seed, wire: plainWire() })
    const nested = (levels: number): string => `where=${encodeURIComponent(`${'{"$not":'.repeat(levels)}{"id":1}${'}'.repeat(levels)}`)}`
    const wide = (parts: number): string => where({ $or: Array.from({ length: parts }, (_, id) => ({ id })) })
    for (const [query, status] of [
      [nested(28), 200],
      [nested(3000), 400],
      [wide(400), 200],
      [wide(5000), 400],
      [where({ id: { $in: Array.from({ length: 900 }, (_, id) => id) } }), 200],
    ] as const)
      assert.equal((await ask(engine, `/posts?${query}`)).status, status, query.slice(0, 40))
    const deep = `where=${encodeURIComponent(`{"views":${'{"$not":'.repeat(3000)}{"$eq":1}${'}'.repeat(3000)}}`)}`
    assert.equal((await ask(engine, `/posts?${deep}`)).status, 400)
  })

  it('knows records by the key that clients see', async () => {
    const Item = defineEntity({ name: 'Item', properties: { id: p.integer().primary(), tag: () => p.manyToOne(Tag).nullable() } })
    await using engine = await createEngine({
      entities: [Tag, Item],
      resources: [resource(Tag, { key: 'slug' })],
      seed: { tags: [{ id: 7, slug: 'red', label: 'Red' }], items: [{ id: 1, tag: 'red' }, { id: 2 }] },
      wire: plainWire(),
    })
    const ids = async (condition: unknown): Promise<unknown> =>
      ((await ask(engine, `/items?${where(condition)}`)).body as { id: number }[]).map(({ id }) => id)
    assert.deepEqual(await ids({ tag: 'red' }), [1])
    assert.deepEqual(await ids({ tag: { $in: ['red', null] } }), [1, 2])
    assert.deepEqual(await ids({ tag: null }), [2])
    assert.equal((await ask(engine, '/tags/red')).body['label'], 'Red')
  })

  it('is one transaction where it writes, taken back where the answer is 400 or more', async () => {
    const wire = plainWire(async ({ segments }, api) => {
      if (segments[0] !== 'pair') return undefined
      await api.create('tags', { slug: 'a', label: 'A' })
      const last = await api.create('tags', { slug: segments[1], label: 'B' }).catch((error: unknown) => error as RestError)
      return last instanceof RestError ? { status: 409, body: { code: last.code, detail: last.detail } } : { status: 201, body: {} }
    })
    const errors: unknown[] = []
    await using engine = await createEngine({ entities, wire, onError: error => errors.push(error) })
    const refused = await ask(engine, '/pair/a', 'POST')
    assert.deepEqual([refused.status, refused.body['code']], [409, 'unique_conflict'])
    assert.equal((await engine.handle('GET', '/v1/tags')).body.count, 0)
    assert.equal((await ask(engine, '/pair/b', 'POST')).status, 201)
    assert.equal((await engine.handle('GET', '/v1/tags')).body.count, 2)
    assert.deepEqual(errors, [] as unknown[], 'a refusal that the wire has caught is no failure')
  })

  it('has one entry in the journal, with what the client sent and the rows that changed', async () => {
    const wire = plainWire(async ({ method, segments }, api) => {
      if (method !== 'POST' || segments[0] !== 'two') return undefined
      await api.create('tags', { slug: 'a', label: 'A' })
      return { status: 201, body: await api.create('tags', { slug: 'b', label: 'B' }) }
    })
    await using engine = await createEngine({ entities, wire })
    await ask(engine, '/two?x=1', 'POST', { foreign: true })
    const [entry, ...others] = engine.requests
    assert.deepEqual(others, [])
    assert.deepEqual([entry!.method, entry!.path, entry!.status, entry!.body], ['POST', '/two', 201, { foreign: true }])
    assert.deepEqual(
      entry!.changes!.map(change => change.resource),
      ['tags', 'tags'],
    )
    assert.equal((entry!.response as { slug: string }).slug, 'b')
  })

  it('weighs answers in the journal by the records that they show', async () => {
    const tags = Array.from({ length: 1000 }, (_, index) => ({ slug: `tag-${index}`, label: 'x' }))
    const wire = plainWire(async (_request, api) => {
      const { records } = await api.list('tags', { limit: 300 })
      return { status: 200, body: records }
    })
    await using engine = await createEngine({ entities, seed: { tags }, wire })
    for (let call = 0; call < 15; call++) await (await engine.fetch('http://api.test/tags')).text()
    const kept = engine.requests.map(({ response }) => response !== undefined)
    assert.deepEqual(kept, [...Array.from({ length: 5 }, () => false), ...Array.from({ length: 10 }, () => true)])
  })

  it('asks log-in and scopes of each call, and asks as another caller', async () => {
    const wire = plainWire(async ({ segments, headers }, api) => {
      if (segments[0] === 'session')
        return { status: 200, body: await api.ask('POST', '/login', undefined, { email: 'bob@example.test', password: 'b' }) }
      if (segments[0] !== 'both') return undefined
      const bob = api.as({ authorization: headers['x-other']! })
      const [own, other] = [await api.list('posts'), await bob.list('posts')]
      return { status: 200, body: [own.count, other.count] }
    })
    await using engine = await createEngine({
      entities: [Author, Post],
      seed,
      wire,
      auth: auth({ entity: Author, secret: 'x'.repeat(32), password: 'password', identifier: 'email' }),
      resources: [resource(Post, { scope: ctx => ({ author: ctx.user!['id'] as number }) })],
    })
    assert.deepEqual((await ask(engine, '/posts')).body['refused'], 'token_missing')
    const { auth_token: token } = (await ask(engine, '/session', 'POST', {})).body as { auth_token: string }
    const ann = engine.token({ id: 1 })
    assert.deepEqual((await ask(engine, '/posts', 'GET', undefined, { authorization: `Bearer ${token}` })).headers.get('x-total'), '1')
    const both = await ask(engine, '/both', 'GET', undefined, { authorization: `Bearer ${ann}`, 'x-other': `Bearer ${token}` })
    assert.deepEqual(both.body, [2, 1])
  })
})

describe('a wire', () => {
  it('gets what never reached it as refusals in its own form: faults, limits, sizes, types, bad paths, the base', async () => {
    await using engine = await RestEngine.create({ entities, seed, base: '/rest', wire: plainWire(), limits: { maxBodyBytes: 100 } })
    const server = createServer(engine).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const send = async (path: string, init: RequestInit = {}): Promise<[number, string | undefined]> => {
      const response = await fetch(origin + path, init)
      const said = (await response.json()) as { refused?: string }
      return [response.status, said.refused]
    }
    const json = { 'content-type': 'application/json' }
    assert.deepEqual(await send('/rest/posts'), [200, undefined])
    assert.deepEqual(await send('/posts'), [404, 'path_unknown'])
    assert.deepEqual(await send('/rest/posts/%zz'), [400, 'path_malformed'])
    assert.deepEqual(await send('/rest/posts?a=%zz'), [400, 'query_malformed'])
    assert.deepEqual(await send('/rest/posts', { method: 'POST', headers: json, body: `"${'x'.repeat(200)}"` }), [413, 'body_too_large'])
    assert.deepEqual(await send('/rest/posts', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' }), [
      415,
      'media_type_unsupported',
    ])
    assert.deepEqual(await send('/rest/posts', { method: 'POST', headers: json, body: '{' }), [400, 'json_malformed'])
    engine.fail('GET /posts', { status: 503, times: 1 })
    assert.deepEqual(await send('/rest/posts'), [503, 'fault_injected'])
    engine.fail('GET /strange/7', { status: 503, times: 1 })
    assert.deepEqual(await send('/rest/strange/7'), [503, 'fault_injected'])
    server.closeAllConnections()
    server.close()
  })

  it('refuses an answer that is none, and its own failure, with a 500 that tells nothing', async () => {
    const errors: unknown[] = []
    const answers: Record<string, () => unknown> = {
      none: () => undefined,
      status: () => ({ status: 99 }),
      more: () => ({ status: 200, bodi: 1 }),
      thrown: () => {
        throw new Error('secret')
      },
    }
    const wire = plainWire(({ segments }) => Promise.resolve(answers[segments[0]!]!() as never))
    await using engine = await RestEngine.create({
      entities,
      wire: { ...wire, answer: ({ segments }) => answers[segments[0]!]!() as never },
      onError: error => errors.push(error),
    })
    for (const name of Object.keys(answers)) {
      const { status, body } = await ask(engine, `/${name}`)
      assert.deepEqual([status, body['refused']], [500, 'internal_error'], name)
      assert.doesNotMatch(JSON.stringify(body), /secret|wire\.answer/)
    }
    assert.equal(errors.length, 4)
    await using broken = await RestEngine.create({
      entities,
      onError: error => errors.push(error),
      wire: plainWire(
        () => {
          throw new Error('x')
        },
        {
          refuse: () => {
            throw new Error('secret')
          },
        },
      ),
    })
    const { status, body } = await ask(broken, '/posts')
    assert.deepEqual([status, body['code']], [500, 'internal_error'])
  })

  it('takes forms, texts and bytes where it says so, and sends texts and bytes as they are', async () => {
    const seen: unknown[] = []
    const wire = plainWire(
      ({ body, segments }) => {
        seen.push(body)
        return Promise.resolve({ status: 200, body: segments[0] === 'bytes' ? new Uint8Array([0, 255]) : 'plain' })
      },
      { takes: ['form', 'text', 'bytes'] },
    )
    await using engine = await RestEngine.create({ entities, wire })
    const post = (path: string, type: string, body: NonNullable<RequestInit['body']>): Promise<Response> =>
      engine.fetch(`http://api.test${path}`, { method: 'POST', headers: { 'content-type': type }, body })
    const said = await post('/text', 'application/x-www-form-urlencoded', 'a=1&b[c]=2')
    assert.deepEqual([await said.text(), said.headers.get('content-type')], ['plain', 'text/plain; charset=utf-8'])
    await post('/text', 'text/csv', 'a,b')
    const bytes = await post('/bytes', 'image/png', new Uint8Array([1, 2]))
    assert.deepEqual([...new Uint8Array(await bytes.arrayBuffer())], [0, 255])
    await post('/text', 'application/json', '{"a":[1]}')
    assert.deepEqual(seen, [{ a: '1', b: { c: '2' } }, 'a,b', new Uint8Array([1, 2]), { a: [1] }])
  })

  it('gets HEAD, and its body is left out', async () => {
    await using engine = await RestEngine.create({ entities, seed, wire: plainWire() })
    const response = await engine.fetch('http://api.test/posts', { method: 'HEAD' })
    assert.deepEqual([response.status, response.headers.get('x-total'), await response.text()], [200, '3', ''])
  })

  it('may differ between ways in', async () => {
    await using engine = await RestEngine.create({ entities, seed })
    const server = createServer(engine, { wire: plainWire() }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    assert.equal(((await (await fetch(`${origin}/posts`)).json()) as unknown[]).length, 3)
    assert.equal(((await (await engine.fetch('http://api.test/v1/posts')).json()) as { count: number }).count, 3)
    using api = engine.intercept('https://backend.test', { wire: plainWire() })
    assert.equal(((await (await fetch('https://backend.test/posts')).json()) as unknown[]).length, 3)
    assert.deepEqual(api.origins, ['https://backend.test'])
    assert.match(await getText('https://backend.test/posts/3'), /"Three"/)
    server.closeAllConnections()
    server.close()
  })

  it('is no part of what is described, which says so', async () => {
    const said = (document: { readonly info: object }): boolean => /speak another grammar/.test(JSON.stringify(document.info))
    await using wired = await createEngine({ entities, seed, wire: plainWire() })
    assert.ok(said(await wired.openapi()))
    assert.match((await wired.selfTest({ runs: 1, timeout: 500 })).toString(), /- The grammar of the option "wire": all requests are/)
    await using engine = await createEngine({ entities, seed })
    assert.ok(!said(await engine.openapi()))
    const server = createServer(engine, { wire: plainWire(), docs: true, workbench: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    assert.ok(said(await engine.openapi()), 'a server may have a wire of its own')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    assert.match(await (await fetch(`${origin}/docs`)).text(), /speak another grammar/)
    const { hasWire, root } = (await (await fetch(`${origin}/_ui/outline.json`)).json()) as { hasWire?: true; root: string }
    assert.deepEqual([hasWire, root], [true, '/v1'])
    // The workbench asks in the grammar that it knows.
    for (const kind of ['look', 'plain']) {
      const asked = await fetch(`${origin}/v1/posts`, { headers: { 'x-workbench': kind } })
      assert.equal(((await asked.json()) as { count: number }).count, 3)
    }
    server.closeAllConnections()
    server.close()
  })

  it('refuses to write where the engine or the way in only reads', async () => {
    await using engine = await RestEngine.create({ entities, seed, readOnly: true, wire: plainWire() })
    const { status, body } = await ask(engine, '/tags', 'POST', { slug: 'a', label: 'A' })
    assert.deepEqual([status, body['refused']], [405, 'method_not_allowed'])
    assert.equal((await ask(engine, '/posts')).status, 200)
  })

  it('is ended by the time budget of its request', async () => {
    const wire = plainWire(async (_, api) => {
      await new Promise(resolve => setTimeout(resolve, 60))
      return { status: 200, body: await api.list('posts') }
    })
    await using engine = await RestEngine.create({ entities, seed, wire, limits: { timeout: 20 } })
    const { status, body } = await ask(engine, '/posts')
    assert.deepEqual([status, body['refused']], [503, 'timeout'])
  })

  it('describes the resources that somebody may ask for', async () => {
    let described: WireApi['resources'] = []
    const wire = plainWire((_, api) => {
      described = api.resources
      return Promise.resolve({ status: 200, body: [] })
    })
    await using engine = await RestEngine.create({ entities: [...entities, Vault], wire, resources: [resource(Vault, { access: false })] })
    await ask(engine, '/')
    assert.deepEqual(
      described.map(({ name, singular, table, key }) => [name, singular, table, key]),
      [
        ['authors', 'author', 'author', ['id']],
        ['posts', 'post', 'post', ['id']],
        ['tags', 'tag', 'tag', ['id']],
      ],
    )
    const post = described.find(({ name }) => name === 'posts')!
    assert.deepEqual(post.attributes.at(-1), {
      name: 'author',
      kind: 'toOne',
      type: undefined,
      nullable: false,
      column: 'author_id',
      target: 'authors',
      ids: undefined,
      writable: true,
      inverse: 'posts',
      through: undefined,
    })
    assert.deepEqual(post.attributes[2], {
      name: 'views',
      kind: 'scalar',
      type: 'integer',
      nullable: true,
      column: 'views',
      target: undefined,
      ids: undefined,
      writable: true,
      inverse: undefined,
      through: undefined,
    })
    assert.ok(!described[0]!.attributes.some(({ name }) => name === 'password'))
    assert.ok(Object.isFrozen(described) && Object.isFrozen(post) && Object.isFrozen(post.attributes))
  })

  it('tells the log-in of the engine', async () => {
    const told: WireApi['logIn'][] = []
    const wire = plainWire((_, api) => {
      told.push(api.logIn)
      return Promise.resolve({ status: 200, body: [] })
    })
    await using engine = await RestEngine.create({ entities, wire, auth: auth({ entity: Author, ttl: 60, paths: { login: 'sessions' } }) })
    await using open = await RestEngine.create({ entities, wire })
    await ask(engine, '/')
    await ask(open, '/')
    const paths = { login: '/sessions', logout: '/logout' }
    assert.deepEqual(told, [{ users: 'authors', identifier: 'email', password: 'password', ttl: 60, paths }, undefined])
  })

  it('is refused where it is no wire', async () => {
    for (const wire of [
      5,
      {},
      { answer: () => {} },
      { answer() {}, refuse() {}, takes: ['json'] },
      { answer() {}, refuse() {}, ansver: 1 },
    ])
      await assert.rejects(RestEngine.create({ entities, wire: wire as never }), /wire/)
  })
})
