/** The typed client against an engine in the process, a server over HTTP, and a fetch function: the same calls give the same. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { RestEngine, RestError, auth, client, createServer, hashPassword, literal } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    email: p.string().unique(),
    age: p.integer().nullable(),
    password: p.string().hidden().default(''),
    at: p.datetime().onCreate(() => new Date('2026-01-01')),
    posts: () => p.oneToMany(Post).mappedBy('user').orphanRemoval(),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.bigint().primary(),
    title: p.string(),
    body: p.blob().nullable(),
    user: () => p.manyToOne(User),
    editor: () => p.manyToOne(User).nullable(),
    tags: () => p.manyToMany(Tag),
  },
})
const Tag = defineEntity({ name: 'Tag', properties: { code: p.string().primary(), text: p.string() } })
const entities = { users: User, posts: Post, tags: Tag }

const seed = {
  users: [
    { id: 1, name: 'Ann', email: 'ann@example.com', age: 30 },
    { id: 2, name: 'Bob', email: 'bob@example.com', age: null },
    { id: 3, name: 'Smith, *', email: 'smith@example.com', age: 50 },
    { id: 4, name: 'null', email: 'null@example.com', age: 60 },
  ],
  tags: [
    { code: 'a/b ?#%', text: 'odd' },
    { code: 'x', text: 'plain' },
  ],
  posts: [
    { id: 1, title: 'One', user: 1, tags: ['x'] },
    { id: 2, title: 'Two', user: 1, editor: 2, tags: ['a/b ?#%', 'x'] },
    { id: 3, title: '=Three', user: 2 },
  ],
}

const targets = ['engine', 'http', 'fetch'] as const

for (const target of targets) {
  describe(`client of ${target === 'engine' ? 'an engine' : target === 'http' ? 'a URL' : 'a fetch function'}`, () => {
    let engine: RestEngine
    let server: Server
    let url: string
    before(async () => {
      engine = await RestEngine.create({ entities: Object.values(entities), seed })
      server = createServer(engine).listen(0, '127.0.0.1')
      await once(server, 'listening')
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })
    after(async () => {
      server.close()
      await engine.close()
    })
    const connect = () => client(target === 'engine' ? engine : target === 'http' ? url : engine.fetch, entities)

    it('reads lists with filters, order and pages', async () => {
      const api = connect()
      const page = await api.users.list({ 'age>': 30, 'age<=': 60, sort: 'age.desc', limit: 1 })
      assert.deepEqual([page.count, page.items.map(({ name }) => name), page.limit, page.sort], [2, ['null'], 1, 'age.desc'])
      assert.deepEqual(page.filter, [
        ['age>', '30'],
        ['age<=', '60'],
      ])
      assert.equal(page.previous, null)
      assert.match(page.next ?? '', /^\/v1\/users\?/)
      assert.deepEqual(
        (await api.users.list({ age: [30, null], sort: 'id' })).items.map(({ id }) => id),
        [1, 2],
      )
      assert.equal((await api.users.list({ 'age!=': null })).count, 3)
      assert.equal((await api.users.list({ $: { '!age': null } })).count, 3)
      assert.equal((await api.users.list({ 'name~=': 'a*' })).count, 1)
      assert.equal((await api.users.list({ 'posts.title': 'T*' })).count, 1)
      assert.equal((await api.posts.list({ editor: null })).count, 2)
      assert.equal((await api.users.list({ 'at<': new Date('2026-01-02') })).count, 4)
      assert.equal((await api.posts.list({ 'title>': '=', 'title<': '>' })).count, 1)
      assert.equal((await api.users.list({ $: { 'posts.tags.text': 'odd', age: 30 } })).count, 1)
      assert.equal((await api.posts.list({ $: { tags: ['x', 'a/b ?#%'] } })).count, 1)
      assert.equal((await api.posts.list({ tags: ['x', 'a/b ?#%'] })).count, 2)
    })

    it('writes groups, and conditions on one and the same related record', async () => {
      const api = connect()
      const names = async (query: Parameters<typeof api.users.list>[0]): Promise<unknown> =>
        (await api.users.list(query)).items.map(record => (record as { readonly name: string }).name)
      assert.deepEqual(await names({ '|': [{ name: 'Ann' }, { 'age>': 50, email: '*@example.com' }] }), ['Ann', 'null'])
      assert.deepEqual(await names({ '!|': [{ name: ['Ann', 'null'] }, { age: null }] }), ['Smith, *'])
      assert.deepEqual(await names({ posts: { title: 'Two', tags: 'x' } }), ['Ann'])
      assert.deepEqual(await names({ posts: { title: '=*', editor: null } }), ['Bob'])
      assert.deepEqual(await names({ 'age>=': 30, '|': [{ '!posts': { 'title>=': '=Three' } }] }), ['Smith, *', 'null'])
      assert.deepEqual(await names({ $: { '!posts': { 'tags.text': 'odd' }, '|': [{ 'age>': 40 }, { name: 'Ann' }] } }), [
        'Smith, *',
        'null',
      ])
      await assert.rejects(api.users.list({ '|': [] }), /"\|" takes an array of query objects/)
      await assert.rejects(api.users.list({ posts: { '|': [{}] } }), /has a query object without conditions/)
    })

    it('finds texts as they are by literal()', async () => {
      const api = connect()
      assert.deepEqual(
        (await api.users.list({ name: literal('Smith, *') })).items.map(({ id }) => id),
        [3],
      )
      assert.deepEqual(
        (await api.users.list({ name: literal('null') })).items.map(({ id }) => id),
        [4],
      )
    })

    it('reads page after page', async () => {
      const api = connect()
      assert.deepEqual(
        (await api.users.page(2, { limit: 3, sort: 'id' })).items.map(({ id }) => id),
        [4],
      )
      const names: string[] = []
      for await (const { name } of api.users.all({ limit: 1, sort: 'name.desc', attributes: ['name'] })) names.push(name)
      assert.deepEqual(names, ['null', 'Smith, *', 'Bob', 'Ann'])
      const titles: string[] = []
      for await (const { title } of api.users.related(1, 'posts').all({ limit: 1 })) titles.push(title)
      assert.deepEqual(titles, ['One', 'Two'])
      await assert.rejects(api.users.page(1, { limit: 5000 }), RangeError)
      await assert.rejects(api.users.page(0), RangeError)
    })

    it('reads records as asked for', async () => {
      const api = connect()
      assert.deepEqual(await api.users.get(1), {
        id: 1,
        name: 'Ann',
        email: 'ann@example.com',
        age: 30,
        at: '2026-01-01T00:00:00.000Z',
        posts: ['1', '2'],
      })
      const post = await api.posts.get('2', { expand: ['user', 'tags'], attributes: ['id', 'user.name', 'tags.text'] })
      assert.deepEqual(post, { id: '2', user: { name: 'Ann' }, tags: [{ text: 'odd' }, { text: 'plain' }] })
      assert.deepEqual(await api.posts.get(1, { depth: 0 }), { id: '1', title: 'One', body: null })
      assert.equal((await api.tags.get('a/b ?#%')).text, 'odd')
      const editor = await api.posts.getAttribute(2, 'editor')
      assert.equal(editor?.name, 'Bob')
      assert.equal(await api.posts.getAttribute(1, 'editor'), null)
      assert.equal(await api.users.getAttribute(1, 'age'), 30)
    })

    it('creates, changes and deletes', async () => {
      const api = connect()
      const bytes = new Uint8Array([0, 255, 10])
      const user = await api.users.create(
        { name: 'Cid', email: 'cid@example.com', at: new Date(0), posts: [{ title: 'New', body: bytes, tags: ['x'] }] },
        { expand: 'posts' },
      )
      assert.deepEqual([user.at, user.posts[0]?.title, user.posts[0]?.body], ['1970-01-01T00:00:00.000Z', 'New', 'AP8K'])
      assert.equal((await api.users.update(user.id, { age: 5 })).age, 5)
      assert.equal((await api.users.update(user.id, { age: null, name: 'Cyd' }, { attributes: ['name'] })).name, 'Cyd')
      assert.equal((await api.users.setAttribute(user.id, 'age', 7)).age, 7)
      const posts = api.users.related(user.id, 'posts')
      assert.equal((await posts.create({ title: 'More' })).user, user.id)
      assert.deepEqual(
        (await posts.list({ sort: 'title' })).items.map(({ title }) => title),
        ['More', 'New'],
      )
      assert.deepEqual(
        (await posts.delete({ title: 'M*' })).items.map(({ title }) => title),
        ['More'],
      )
      const [only] = (await posts.list()).items
      await api.posts.setAttribute(only!.id, 'editor', 2)
      await api.posts.setAttribute(only!.id, 'tags', [{ code: 'new', text: 'made' }, 'x'])
      assert.deepEqual((await api.posts.get(only!.id)).tags, ['new', 'x'])
      await api.posts.setAttribute(only!.id, 'editor', { name: 'Robert' })
      assert.equal((await api.users.get(2)).name, 'Robert')
      await api.posts.setAttribute(only!.id, 'editor', null)
      assert.equal((await api.posts.get(only!.id)).editor, null)
      assert.equal((await api.users.delete(user.id)).name, 'Cyd')
      await assert.rejects(api.users.get(user.id), { status: 404, code: 'record_not_found' })
    })

    it('throws RestErrors with code, status and errors', async () => {
      const api = connect()
      await assert.rejects(api.users.get(99), (error: RestError) => {
        assert.ok(error instanceof RestError)
        assert.deepEqual([error.status, error.code], [404, 'record_not_found'])
        return true
      })
      await assert.rejects(api.users.create({}), (error: RestError) => {
        assert.deepEqual(
          error.errors?.map(({ code, attribute }) => [code, attribute]),
          [
            ['required', 'name'],
            ['required', 'email'],
          ],
        )
        return error.status === 422
      })
      await assert.rejects(api.users.list({ $: { nme: 'x' } }), { status: 400, code: 'parameter_invalid' })
      await assert.rejects(api.users.list({ id: [] }), TypeError)
      await assert.rejects(api.users.get(''), TypeError)
    })

    it('ends with a signal, and sends headers', async () => {
      const api = connect()
      await assert.rejects(api.users.list({}, { signal: AbortSignal.abort(new Error('enough')) }), /enough/)
      await assert.rejects(api.withHeaders({ 'if-match': '"never"' }).users.update(1, { age: 1 }), { status: 412 })
      await assert.rejects(api.users.update(1, { age: 1 }, {}, { headers: { 'if-match': '"never"' } }), { status: 412 })
    })

    it('finds what a filter in the process finds, for any text', async () => {
      const api = connect()
      const text = fc.string({
        unit: fc.constantFrom('a', ',', '*', '\\', '=', '&', '%', '+', ' ', '<', '>', '!', '#', 'é', '"'),
        maxLength: 8,
      })
      await check(
        fc.asyncProperty(text, async value => {
          const post = await api.posts.create({ title: value, user: 1 })
          const found = await api.posts.list({
            title: literal(value),
            'title>=': literal(value),
            limit: 1000,
            $: { '!title>': literal(value) },
          })
          assert.ok(found.items.length > 0 && found.items.every(({ title }) => title === value), JSON.stringify(value))
          await api.posts.delete(post.id)
        }),
        { label: `texts that a client of ${target} finds`, runs: 60 },
      )
    })
  })
}

describe('client', () => {
  it('takes version, path in front of it, and fetch functions of other apps', async () => {
    await using engine = await RestEngine.create({ entities: Object.values(entities), versions: ['v2', 'v3'] })
    await engine.seed(seed)
    assert.equal((await client(engine, entities).users.list()).next, null)
    assert.match((await client(engine, entities, { version: 'v3' }).users.list({ limit: 1 })).next ?? '', /^\/v3\//)
    await assert.rejects(client(engine.fetch, entities).users.list(), { status: 404, code: 'version_unknown' })
    const asked: string[] = []
    const api = client(
      (url, init) => {
        asked.push(url)
        return engine.fetch(url.replace('https://api.example.com/base/path', 'http://x/v2'), init)
      },
      entities,
      { url: 'https://api.example.com/base/path/', version: null },
    )
    assert.equal((await api.users.list({ name: 'A*' })).count, 1)
    assert.deepEqual(asked, ['https://api.example.com/base/path/users?name=A*'])
  })

  it('takes any resource where types alone are imported', async () => {
    await using engine = await RestEngine.create({ entities: Object.values(entities), seed })
    const api = client<typeof entities>(engine)
    assert.equal((await api.users.get(1)).name, 'Ann')
    assert.equal(api.users, api.users)
    // A client may be what an async function gives.
    assert.equal((await (await Promise.resolve(api)).tags.list()).count, 2)
  })

  it('uses the fetch of the moment, so that interceptions are met', async () => {
    await using engine = await RestEngine.create({ entities: Object.values(entities), seed })
    const api = client('https://api.example.test', entities)
    using interception = engine.intercept('https://api.example.test')
    assert.equal(interception.origins.length, 1)
    assert.equal((await api.users.get(1)).name, 'Ann')
  })

  it('logs in and out', async () => {
    await using engine = await RestEngine.create({ entities: Object.values(entities), auth: auth({ entity: User }) })
    await engine.seed({ users: [{ name: 'Ann', email: 'ann@example.com', password: await hashPassword('secret') }] })
    const api = client(engine, entities)
    await assert.rejects(api.users.list(), (error: RestError) => error.code === 'token_missing' && 'www-authenticate' in error.headers)
    await assert.rejects(api.login({ email: 'ann@example.com', password: 'wrong' }), { status: 401, code: 'login_failed' })
    const own = await api.login({ email: 'ann@example.com', password: 'secret' })
    assert.equal((await own.users.list()).count, 1)
    await own.logout()
    await assert.rejects(own.users.list(), { code: 'token_revoked' })
    assert.equal((await api.withToken(engine.token(1)).users.list()).count, 1)
    assert.equal((await client(engine, entities, { token: engine.token(1) }).users.list()).count, 1)
    await assert.rejects(api.users.list(), { code: 'token_missing' })
  })

  it('sends of each header the latest: of the call, of withHeaders and withToken in their order, of the client', async () => {
    const sent: Record<string, string>[] = []
    const fetch = (_: unknown, { headers }: { headers: Record<string, string> }): Promise<Response> => {
      sent.push(headers)
      return Promise.resolve(Response.json({ success: true, status: 'OK', resource: 'users', count: 0, users: [] }))
    }
    const api = client(fetch as never, entities, {
      token: 'first',
      headers: { 'X-Step': 'client', authorization: 'none', 'x-other': 'kept' },
    })
    const stepped = api.withToken('second').withHeaders({ 'x-step': 'with', Authorization: 'Bearer third' })
    await api.users.list()
    await stepped.users.list()
    await stepped.withToken('fourth').users.list({}, { headers: { 'X-STEP': 'call', Accept: 'application/x' } })
    assert.deepEqual(
      sent.map(headers => ({ ...headers })),
      [
        { accept: 'application/json', 'x-step': 'client', authorization: 'Bearer first', 'x-other': 'kept' },
        { accept: 'application/json', 'x-step': 'with', authorization: 'Bearer third', 'x-other': 'kept' },
        { accept: 'application/x', 'x-step': 'call', authorization: 'Bearer fourth', 'x-other': 'kept' },
      ],
    )
  })

  it('says what an answer is that is none of this API', async () => {
    const page = (status: number) => () => Promise.resolve(new Response('<html>', { status }))
    await assert.rejects(client(page(502), entities).users.list(), { name: 'RestError', status: 502, code: 'unknown' })
    await assert.rejects(client(page(200), entities).users.list(), /no body of this API: "<html>"/)
  })

  it('refuses what it cannot use', async () => {
    await using engine = await RestEngine.create({ entities: Object.values(entities) })
    assert.throws(() => client('not a URL', entities), /not the URL of an API/)
    assert.throws(() => client('http://x/?a=1', entities), /not the URL of an API/)
    assert.throws(() => client({} as never, entities), /target/)
    assert.throws(() => client(engine, { login: User }), /method of the client/)
    assert.throws(() => client(engine, entities, { url: 'http://x' }), /goes with a fetch function/)
    assert.throws(() => client(engine, entities, { versoin: 'v1' } as never), /Did you mean "version"/)
    const known = /client: "userz" is not among the entities that it was made with \(users, posts, tags\)\. Did you mean "users"\?/
    const untyped = client(engine, entities) as unknown as Record<
      string,
      { list(): Promise<unknown>; related(id: number, name: string): { list(): Promise<unknown> } }
    >
    await assert.rejects(untyped['userz']!.list(), known)
    await assert.rejects(untyped['userz']!.related(1, 'posts').list(), known)
    await assert.rejects(
      (client(engine, {}) as unknown as typeof untyped)['users']!.list(),
      /made with \(none\)\. Add it, as in client\(target, \{ users: Entity \}\)/,
    )
    // A client that is awaited is not taken for a promise.
    assert.equal(typeof (await Promise.resolve(client(engine, {}))).withToken, 'function')
    const api = client(engine, entities)
    await assert.rejects(api.users.list({ $: { age: {} } }), TypeError)
    await assert.rejects(api.users.list({ 'at>': new Date(Number.NaN) }), /invalid date/)
    await assert.rejects(api.users.create({ at: new Date(Number.NaN) }), /invalid date/)
    await assert.rejects(api.users.page(1, { offset: 3 }), /"limit" without "offset"/)
  })
})
