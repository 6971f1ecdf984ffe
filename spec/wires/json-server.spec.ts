/** The grammar of json-server, of both generations, with the requests that its admin clients send. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, fromJson } from '../../lib/index.ts'
import { jsonServer } from '../../lib/wires/json-server/index.ts'
import { Command, runAll } from '../helpers/command.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string().length(50),
    age: p.integer().nullable(),
    role: p.string().default('viewer'),
    active: p.boolean().default(true),
    password: p.string().hidden().nullable(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    views: p.integer().default(0),
    rating: p.float().nullable(),
    meta: p.json<object>().nullable(),
    author: () => p.manyToOne(User).nullable(),
    comments: () => p.oneToMany(Comment).mappedBy('post'),
    tags: () => p.manyToMany(Tag),
  },
})
const Comment = defineEntity({
  name: 'Comment',
  properties: { id: p.integer().primary(), text: p.string(), post: () => p.manyToOne(Post).nullable() },
})
const Tag = defineEntity({
  name: 'Tag',
  properties: { id: p.integer().primary(), name: p.string().unique(), posts: () => p.manyToMany(Post).mappedBy('tags') },
})
const entities = [User, Post, Comment, Tag]
const seed = {
  users: [
    { id: 1, name: 'Ann', age: 30, role: 'admin', password: 'secret' },
    { id: 2, name: 'Bob', age: null, role: 'editor', password: 'hidden' },
    { id: 3, name: 'Cy', age: 25, active: false },
    { id: 4, name: 'Dee, "D" (x)', age: 41 },
  ],
  tags: [
    { id: 1, name: 'js' },
    { id: 2, name: 'db' },
  ],
  posts: [1, 2, 3, 4, 5].map(id => ({
    id,
    title: `Post ${id}`,
    views: id * 10,
    author: (id % 3) + 1,
    meta: { color: id % 2 === 1 ? 'red' : 'blue' },
    tags: id % 2 === 1 ? [1] : [1, 2],
  })),
  comments: [1, 2, 3].map(id => ({ id, text: `c${id}`, post: id === 3 ? 2 : 1 })),
}

type Row = Readonly<Record<string, unknown>>

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: never
}

async function ask(
  engine: RestEngine,
  path: string,
  method = 'GET',
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await engine.fetch(`http://api.test${path}`, { method, headers: { ...type, ...headers }, ...content })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text === '' ? undefined : JSON.parse(text)) as never }
}

async function idsOf(engine: RestEngine, path: string, headers: Record<string, string> = {}): Promise<unknown[]> {
  const { status, body } = await ask(engine, path, 'GET', undefined, headers)
  assert.equal(status, 200, `${path} ${JSON.stringify(body)}`)
  return (body as readonly Row[]).map(({ id }) => id)
}

for (const version of [0, 1] as const)
  describeStores(`json-server ${version}`, () => {
    const create = (): Promise<RestEngine> => createEngine({ entities, seed, wire: jsonServer({ version }) })

    it('answers the requests of ra-data-json-server', async () => {
      await using engine = await create()
      const page = '_start=0&_end=2&_sort=views&_order=DESC'
      const list = await ask(engine, `/posts?${page}`)
      assert.deepEqual([(list.body as Row[]).map(({ id }) => id), list.headers.get('x-total-count')], [[5, 4], '5'])
      assert.match(list.headers.get('access-control-expose-headers')!, /X-Total-Count/)
      assert.deepEqual(await idsOf(engine, `/posts?${page}&q=post+3`), [3])
      assert.deepEqual(
        await idsOf(engine, '/posts?_start=0&_end=9&_sort=views&_order=DESC&views_gte=20&title_like=post&id_ne=3'),
        [5, 4, 2],
      )
      const embed = await ask(engine, '/posts?_start=0&_end=2&_sort=id&_order=ASC&_embed=comments')
      assert.deepEqual(embed.body[0]['comments'], [
        { id: 1, text: 'c1', postId: 1 },
        { id: 2, text: 'c2', postId: 1 },
      ])
      assert.deepEqual((await ask(engine, '/posts/1')).body, {
        id: 1,
        title: 'Post 1',
        views: 10,
        rating: null,
        meta: { color: 'red' },
        authorId: 2,
        tags: [1],
      })
      const missing = await ask(engine, '/posts/99')
      assert.deepEqual([missing.status, missing.body], [404, version === 0 ? {} : { error: 'Not Found' }])
      assert.deepEqual(await idsOf(engine, '/posts?id=1&id=3'), [1, 3])
      const reference = await ask(engine, `/posts?authorId=2&${page}`)
      assert.deepEqual([(reference.body as Row[]).map(({ id }) => id), reference.headers.get('x-total-count')], [[4, 1], '2'])
      const made = await ask(engine, '/posts', 'POST', { title: 'n', authorId: 1 })
      assert.deepEqual([made.status, made.body['id'], made.body['authorId']], [201, 6, 1])
      assert.equal(made.headers.get('location')!.replace('http://api.test', ''), '/posts/6')
      const { body: whole } = await ask(engine, '/posts/1')
      assert.equal((await ask(engine, '/posts/1', 'PUT', { ...(whole as Row), title: 'x' })).body['title'], 'x')
      for (const id of [2, 3]) assert.equal((await ask(engine, `/posts/${id}`, 'PUT', { title: 'same', authorId: 1 })).status, 200)
      assert.equal((await ask(engine, '/tags/2', 'DELETE')).status, 200)
      assert.equal((await ask(engine, '/tags/2')).status, 404)
      for (const id of [1, 2]) assert.equal((await ask(engine, `/comments/${id}`, 'DELETE')).status, 200)
    })

    it("answers the requests of Refine's simple-rest", async () => {
      await using engine = await create()
      const list = await ask(engine, '/posts?_start=2&_end=4&_sort=id&_order=asc')
      assert.deepEqual([(list.body as Row[]).length, list.headers.get('x-total-count')], [2, '5'])
      assert.deepEqual(await idsOf(engine, '/users?name_like=n&age_gte=20&role=admin&id_ne=7'), [1])
      assert.deepEqual(await idsOf(engine, '/users?_sort=active,id&_order=asc,desc'), [3, 4, 2, 1])
      assert.deepEqual(await idsOf(engine, '/users?id=1&id=2'), [1, 2])
      assert.equal((await ask(engine, '/users/1')).body['name'], 'Ann')
      const { body } = await ask(engine, '/tags', 'POST', { name: 'new' })
      assert.equal((await ask(engine, `/tags/${String(body['id'])}`, 'PATCH', { name: 'newer' })).body['name'], 'newer')
      assert.equal((await ask(engine, `/tags/${String(body['id'])}`, 'DELETE', {})).status, 200)
    })

    it('filters and sorts by values, texts, links, and inside of JSON', async () => {
      await using engine = await create()
      for (const [query, ids] of [
        ['age_gte=26', [1, 4]],
        ['age_gte=25.5', [1, 4]],
        ['age_lte=30', [1, 3]],
        ['age:lt=30', [3]],
        ['age:gt=30&id:in=1,4', [4]],
        ['name:contains=N', [1]],
        ['name:startsWith=b&_=1', [2]],
        ['name:endsWith=%28X%29', [4]],
        ['name_like=%5Ea.*n%24', [1]],
        ['name_like=100%25', []],
        ['age_like=4', [4]],
        ['active=false', [3]],
        ['active=0', []],
        ['age=zz', []],
        ['age_ne=30&age_ne=41', version === 0 ? [3] : [2, 3]],
        ['_sort=-id', [4, 3, 2, 1]],
        ['_sort=age', [3, 1, 4, 2]],
        ['_sort=-age', [2, 4, 1, 3]],
        ['_sort=nothing,id&_order=asc,desc', version === 0 ? [4, 3, 2, 1] : [4, 3, 2, 1]],
        ['q=AN', [1]],
        ['q=41', [4]],
        ['_start=1&_limit=2', [2, 3]],
        ['_end=0', []],
        ['_start=3&_end=1', []],
      ] as const)
        assert.deepEqual(await idsOf(engine, `/users?${query}`), ids, query)
      for (const [query, ids] of [
        ['meta.color=blue', [2, 4]],
        ['meta.color_ne=blue&views_lte=30', [1, 3]],
        ['author.name=Bob', [1, 4]],
        ['author.age:gt=26&_sort=author.name,-id', [3]],
        ['authorId=2&authorId=3', [1, 2, 4, 5]],
        ['authorId_gte=3', [2, 5]],
        ['authorId=zz', []],
        ['_sort=authorId,-id', [3, 4, 1, 5, 2]],
        ['q=blue', [2, 4]],
      ] as const)
        assert.deepEqual(await idsOf(engine, `/posts?${query}`), ids, query)
    })

    it('gives pages with links', async () => {
      await using engine = await create()
      const page = await ask(engine, '/users?_page=2&_limit=2&_sort=id&name_ne=x%26y')
      assert.deepEqual([(page.body as Row[]).map(({ id }) => id), page.headers.get('x-total-count')], [[3, 4], '4'])
      assert.equal(page.headers.get('access-control-expose-headers'), 'X-Total-Count, Link')
      assert.match(
        page.headers.get('link')!,
        /^<[^>]*\/users\?_page=1&_limit=2&_sort=id&name_ne=x%26y>; rel="first", <[^>]+_page=1&[^>]+>; rel="prev", <[^>]+_page=2&[^>]+>; rel="last"$/,
      )
      assert.equal((await ask(engine, '/users?_page=1&_limit=4')).headers.get('link'), null)
    })

    it('embeds, lists below a record, and leaves unknown relations out', async () => {
      await using engine = await create()
      assert.deepEqual(await idsOf(engine, '/posts?q=ann&_expand=author'), [], 'q looks into the record itself')
      assert.equal((await ask(engine, '/posts/5?_expand=author')).body['author']['name'], 'Cy')
      assert.equal((await ask(engine, '/posts/5?_expand=user')).body['user']['name'], 'Cy')
      assert.equal((await ask(engine, '/comments?_embed=post')).body[2]['post']['title'], 'Post 2')
      assert.deepEqual(Object.keys((await ask(engine, '/comments/1?_embed=nothing')).body), ['id', 'text', 'postId'])
      assert.deepEqual(await idsOf(engine, '/posts/1/comments?_sort=-id'), [2, 1])
      assert.deepEqual(await idsOf(engine, '/posts/zz/comments'), [])
      assert.equal((await ask(engine, '/posts/1/tags')).status, 404)
      const made = await ask(engine, '/posts/2/comments', 'POST', { text: 'new' })
      assert.deepEqual([made.status, made.body], [201, { id: 4, text: 'new', postId: 2 }])
    })

    it('replaces by PUT, changes by PATCH, and takes numbers as texts', async () => {
      await using engine = await create()
      const changed = await ask(engine, '/posts/1', 'PATCH', { id: 7, views: '12', rating: '', authorId: '3' })
      assert.deepEqual(
        [changed.body['id'], changed.body['views'], changed.body['rating'], changed.body['authorId'], changed.body['title']],
        [1, 12, null, 3, 'Post 1'],
      )
      const replaced = await ask(engine, '/posts/1', 'PUT', { title: 5, tags: [2] })
      assert.deepEqual(replaced.body, { id: 1, title: '5', views: 12, rating: null, meta: null, authorId: null, tags: [2] })
      const { body } = await ask(engine, '/posts/2?_embed=comments&_expand=author')
      const again = await ask(engine, '/posts/2', 'PUT', { ...(body as Row), title: 'sent back' })
      assert.deepEqual([again.status, again.body['title'], again.body['authorId']], [200, 'sent back', 3])
      assert.equal((await ask(engine, '/comments/3')).body['postId'], 2)
      for (const value of [[1], 5, 'x', null]) assert.equal((await ask(engine, '/posts/1', 'PATCH', value)).status, 400)
      assert.equal((await ask(engine, '/posts/99', 'PUT', {})).status, 404)
      assert.equal((await ask(engine, '/posts', 'DELETE')).status, 404)
      const taken = await ask(engine, '/posts', 'POST', { id: '1', title: 'x' })
      assert.deepEqual([taken.status, taken.body['error']], [409, 'unique_conflict'])
      assert.equal((await ask(engine, '/posts', 'POST', { id: null, title: 'x' })).body['id'], 6)
    })

    it('removes what depends, and empties other links', async () => {
      await using engine = await create()
      const removed = await ask(engine, '/posts/1', 'DELETE')
      assert.deepEqual([removed.status, Object.keys(removed.body).length], [200, version === 0 ? 0 : 7])
      if (version === 0) return assert.deepEqual(await idsOf(engine, '/comments'), [3])
      assert.deepEqual((await ask(engine, '/comments/1')).body, { id: 1, text: 'c1', postId: null })
      assert.equal((await ask(engine, '/posts/2?_dependent=comments', 'DELETE')).status, 200)
      assert.deepEqual(await idsOf(engine, '/comments'), [1, 2])
    })

    it('answers nothing with 500', async () => {
      await using engine = await create()
      const paths = [
        '__proto__',
        'constructor',
        'toString',
        'a.b.c',
        'author.',
        '.author',
        'meta.',
        'tags',
        'comments.text',
        'title',
        'id',
        'views',
      ]
      const operators = ['', '_gte', ':lt', '_ne', '_like', ':in', ':contains', ':', '_', '_in']
      const values = ['', 'null', '%00', '1e999', '-0', '9'.repeat(400), '%25%5C_', '%F0%9F%92%A9', '.*'.repeat(50), '(a%2B)%2B$']
      for (const name of paths)
        for (const operator of operators)
          for (const value of values) {
            const { status } = await ask(engine, `/posts?${name}${operator}=${value}`)
            assert.ok(status < 500, `${name}${operator}=${value} ${status}`)
          }
      for (const query of [
        '_page=-1',
        '_page=1e9&_limit=1e9',
        '_start=99999999999999999999',
        '_sort=__proto__',
        '_sort=tags',
        '_sort=,-,',
        '_where=5',
      ])
        assert.equal((await ask(engine, `/posts?${query}`)).status, 200, query)
      for (const body of [{ __proto__x: 1 }, JSON.parse('{"__proto__":{"a":1},"title":"x"}'), { title: {} }, { title: 'x', tags: [{}] }])
        assert.ok((await ask(engine, '/posts', 'POST', body)).status < 500, JSON.stringify(body))
    })
  })

describe('json-server 1', () => {
  it('wraps a page, clamped to the last', async () => {
    await using engine = await RestEngine.create({ entities, seed, wire: jsonServer() })
    const { body } = await ask(engine, '/users?_page=9&_per_page=3')
    assert.deepEqual(
      { ...(body as Row), data: (body['data'] as Row[]).map(({ id }) => id) },
      {
        first: 1,
        prev: 1,
        next: null,
        last: 2,
        pages: 2,
        items: 4,
        data: [4],
      },
    )
    assert.equal(((await ask(engine, '/users?_page=1')).body['data'] as Row[]).length, 4)
  })

  it('looks for texts in texts alone, and for nothing by an empty field', async () => {
    await using engine = await createEngine({ entities, seed, wire: jsonServer() })
    assert.deepEqual(await idsOf(engine, '/users?age:contains=3'), [])
    assert.deepEqual(await idsOf(engine, '/users?age_like=3'), [1])
    assert.deepEqual(await idsOf(engine, '/posts?meta:contains=red&meta.color:startsWith=R'), [])
    assert.deepEqual(await idsOf(engine, '/posts?meta.color:startsWith=R'), [1, 3, 5])
    assert.deepEqual(await idsOf(engine, '/users?name=&age:gt=&role=admin'), [1])
    await using older = await createEngine({ entities, seed, wire: jsonServer({ version: 0 }) })
    assert.deepEqual(await idsOf(older, '/users?name='), [])
  })

  it('reads _where, and null as a value', async () => {
    await using engine = await RestEngine.create({ entities, seed, wire: jsonServer() })
    const where = (tree: unknown): Promise<unknown[]> => idsOf(engine, `/users?id=9&_where=${encodeURIComponent(JSON.stringify(tree))}`)
    assert.deepEqual(await where({ or: [{ age: { gt: 40 } }, { name: { startsWith: 'an' } }] }), [1, 4])
    assert.deepEqual(await where({ and: [{ age: { gte: 25 } }, { age: { lt: 41 } }], name: { ne: 'Cy' } }), [1])
    assert.deepEqual(await where({ nothing: { eq: 1 } }), [])
    assert.deepEqual(await idsOf(engine, '/users?age=null'), [2])
    assert.deepEqual(await idsOf(engine, '/users?age:ne=null'), [1, 3, 4])
    assert.deepEqual(await idsOf(engine, '/users?_where=%7B'), [1, 2, 3, 4])
    assert.deepEqual(await where({ age: { over: 5 } }), [1, 2, 3, 4])
    assert.deepEqual(await where({ age: { over: 5, gt: 40 } }), [4])
    assert.deepEqual(await where({ missing: { age: { eq: 30 } } }), [])
    assert.deepEqual(await idsOf(engine, '/users?nothing=1'), [])
    const deep = `${'{"or":['.repeat(5000)}{}${']}'.repeat(5000)}`
    assert.ok((await ask(engine, `/users?_where=${encodeURIComponent(deep)}`)).status < 500)
    const posts = encodeURIComponent(JSON.stringify({ or: [{ meta: { color: { eq: 'blue' } } }, { author: { name: { eq: 'Ann' } } }] }))
    assert.deepEqual(await idsOf(engine, `/posts?_where=${posts}`), [2, 3, 4])
  })

  it('refuses other options', () => {
    assert.throws(() => jsonServer({ version: 2 as never }), /"version" must be 0 \(json-server 0\.17\) or 1, got 2/)
    assert.throws(() => jsonServer({ vers: 1 } as never), /no option "vers"/)
  })
})

const DATA = {
  posts: [
    { id: 'z9', title: 'Tea', authorId: 1, tagIds: [2, 1] },
    { id: 'a1', title: 'Coffee', authorId: null, tagIds: [1] },
  ],
  comments: [{ id: 1, body: 'Nice', postId: 'z9' }],
  authors: [{ id: 1, name: 'Ann', team_id: 5 }],
  leaders: [{ id: 1 }],
  teams: [{ id: 5, name: 'T', leader: 1 }],
  tags: [{ id: 1 }, { id: 2 }],
  profile: { name: 'typicode' },
}

describe('json-server of a JSON file', () => {
  const create = (version: 0 | 1 = 1): Promise<RestEngine> =>
    RestEngine.create({ ...fromJson(DATA, { open: true }), wire: jsonServer({ version }) })

  it('keeps the keys of the file, and answers /db', async () => {
    await using engine = await create()
    const { body } = await ask(engine, '/db')
    const byId = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1))
    assert.deepEqual(Object.keys(body), Object.keys(DATA))
    assert.deepEqual(byId(body['posts']), byId(DATA.posts))
    assert.deepEqual({ ...(body as Row), posts: DATA.posts }, DATA)
    assert.deepEqual(((await ask(engine, '/authors?_embed=posts')).body[0]['posts'] as Row[]).length, 1)
    assert.deepEqual((await ask(engine, '/authors/1?_expand=team')).body['team'], { id: 5, name: 'T', leader: 1 })
  })

  it('takes new properties, lists of IDs, and records without properties', async () => {
    await using engine = await create()
    const made = await ask(engine, '/posts', 'POST', { id: 'new', stars: [1], authorId: '1', tagIds: ['1'] })
    assert.deepEqual(made.body, { id: 'new', title: null, authorId: 1, tagIds: [1], stars: [1] })
    assert.deepEqual((await ask(engine, '/posts/new', 'PUT', { title: 'x' })).body, {
      id: 'new',
      title: 'x',
      authorId: null,
      tagIds: [],
      stars: null,
    })
    assert.equal(typeof (await ask(engine, '/posts', 'POST', {})).body['id'], 'string')
  })

  it('serves an object', async () => {
    await using engine = await create(0)
    assert.deepEqual((await ask(engine, '/profile')).body, { name: 'typicode' })
    assert.deepEqual((await ask(engine, '/profile', 'PATCH', { age: 3 })).body, { name: 'typicode', age: 3 })
    assert.deepEqual((await ask(engine, '/profile', 'PUT', { age: 4 })).body, { name: null, age: 4 })
    const made = await ask(engine, '/profile', 'POST', { name: 'x' })
    assert.deepEqual([made.status, made.body], [201, { name: 'x', age: null }])
    assert.equal((await ask(engine, '/profile/1')).status, 404)
    assert.equal((await ask(engine, '/profile', 'DELETE')).status, 404)
  })

  it('reads JSON as text, and forms', async () => {
    await using engine = await create()
    const post = (body: string | URLSearchParams): Promise<Response> => engine.fetch('http://api.test/teams', { method: 'POST', body })
    assert.deepEqual(await (await post('{"name":"text"}')).json(), { id: 6, name: 'text', leader: null })
    assert.deepEqual(await (await post(new URLSearchParams({ name: 'form' }))).json(), { id: 7, name: 'form', leader: null })
    assert.equal((await post('{')).status, 400)
  })

  it('lists all records, beyond the longest page', async () => {
    const items = Array.from({ length: 2500 }, (_, index) => ({ id: index + 1, n: index % 7 }))
    await using engine = await RestEngine.create({ ...fromJson({ items }), wire: jsonServer() })
    assert.equal((await idsOf(engine, '/items')).length, 2500)
    assert.deepEqual(
      await idsOf(engine, '/items?_start=999&_end=2001'),
      Array.from({ length: 1002 }, (_, index) => index + 1000),
    )
    assert.equal((await idsOf(engine, '/items?q=249')).length, 13)
  })
})

const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    text: p.string(),
    stars: p.integer().nullable(),
    meta: p.json<object>().nullable(),
    tenant: p.integer(),
    parent: () => p.manyToOne(Note).nullable(),
    member: () => p.manyToOne(Member).nullable(),
    notes: () => p.oneToMany(Note).mappedBy('parent'),
  },
})
const Member = defineEntity({
  name: 'Member',
  properties: {
    id: p.integer().primary(),
    email: p.string().unique(),
    password: p.string().hidden(),
    tenant: p.integer(),
    notes: () => p.oneToMany(Note).mappedBy('member'),
  },
})

describe('json-server of two tenants', () => {
  it('shows and changes no row out of scope, by any request', async () => {
    const logIn = auth({ entity: Member, secret: 'x'.repeat(32), password: 'password', identifier: 'email' })
    await using engine = await RestEngine.create({
      entities: [Member, Note],
      auth: logIn,
      defaults: { scope: { tenant: ctx => (ctx.user as { tenant?: number } | undefined)?.tenant } },
      seed: {
        members: [1, 2].map(id => ({ id, email: `m${id}@x.test`, password: `secret${id}`, tenant: id })),
        notes: Array.from({ length: 40 }, (_, index) => ({
          id: index + 1,
          text: `tenant${(index % 2) + 1} ${index}`,
          stars: index % 5,
          tenant: (index % 2) + 1,
          meta: { owner: `tenant${(index % 2) + 1}` },
          member: (index % 2) + 1,
          parent: index < 4 ? null : (index % 4) + 1,
        })),
      },
      wire: jsonServer(),
    })
    const { body } = await engine.handle('POST', '/v1/login', undefined, { email: 'm1@x.test', password: 'secret1' })
    const headers = { authorization: `Bearer ${String((body as Row)['auth_token'])}` }
    const second = await engine.handle('POST', '/v1/login', undefined, { email: 'm2@x.test', password: 'secret2' })
    const bearer = `Bearer ${String((second.body as Row)['auth_token'])}`
    const others = async (): Promise<unknown> => (await ask(engine, '/db', 'GET', undefined, { authorization: bearer })).body
    const known = (await others()) as { readonly notes: readonly Row[] }
    assert.equal(known.notes.length, 20)
    assert.equal((await idsOf(engine, '/notes', headers)).length, 20)
    let seed = 7
    const pick = <T>(list: readonly T[]): T => list[(seed = (seed * 1103515245 + 12345) % 2147483648) % list.length]!
    const conditions = [
      'q=tenant2',
      'text_like=tenant2',
      'text:contains=tenant2',
      'tenant=2',
      'tenant_ne=1',
      'id:in=2,4,6',
      'id=2&id=4',
      'meta.owner=tenant2',
      'member.email=m2@x.test',
      'memberId=2',
      'parentId=2',
      'parent.text_like=tenant2',
      'parent.member.password_like=secret',
      'password=secret2',
      `_where=${encodeURIComponent('{"or":[{"tenant":{"eq":2}},{"meta":{"owner":{"contains":"tenant2"}}},{"member":{"email":{"startsWith":"m2"}}}]}')}`,
    ]
    const views = ['', '_embed=notes', '_embed=parent&_expand=member', '_page=1&_per_page=50', '_sort=-parent.text', '_start=0&_end=100']
    const paths = [
      '/notes',
      '/members',
      '/notes/2',
      '/notes/3',
      '/members/2/notes',
      '/members/1/notes',
      '/notes/2/notes',
      '/db',
      '/members/2',
    ]
    for (let round = 0; round < 150; round++) {
      const path = `${pick(paths)}?${pick(conditions)}&${pick(views)}&${pick(conditions)}`
      const answer = await ask(engine, path, 'GET', undefined, headers)
      assert.ok(answer.status < 500, path)
      assert.doesNotMatch(JSON.stringify(answer.body ?? null), /tenant2|m2@|secret/, path)
    }
    for (let round = 0; round < 60; round++) {
      const method = pick(['PUT', 'PATCH', 'DELETE', 'POST'])
      const path = pick([
        '/notes/2',
        '/notes/4',
        '/members/2',
        '/notes/2/notes',
        '/members/2/notes',
        '/notes/4?_dependent=notes',
        '/notes',
        '/notes/3',
      ])
      const sent = pick([
        { text: 'x' },
        { text: 'x', tenant: 1 },
        { parentId: 2 },
        { memberId: 2, text: 'y' },
        { id: 2, text: 'z' },
        { notes: [2] },
      ])
      const answer = await ask(engine, path, method, method === 'DELETE' ? undefined : sent, headers)
      assert.ok(answer.status < 500, `${method} ${path}`)
      assert.doesNotMatch(JSON.stringify(answer.body ?? null), /tenant2|m2@|secret/, `${method} ${path}`)
    }
    assert.deepEqual(await others(), known)
  })
})

describe('--as json-server', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'as-json-server-'))
    await writeFile(join(folder, 'db.json'), FILE)
  })
  after(() => rm(folder, { recursive: true }))

  it('serves a file to pages of any origin, and saves new properties', async () => {
    await using command = new Command(folder, 'db.json', '--as', 'json-server', '--save=sync', '--port', '0', '--quiet')
    const origin = await command.origin()
    assert.match(command.stdout, /serves db\.json as json-server.* at [^]*\n {2}\/docs\n[^]*curl '\S+\/posts'/)
    assert.doesNotMatch(command.stdout, /Documentation/)
    const headers = { 'content-type': 'application/json', origin: 'http://localhost:5173' }
    const made = await fetch(`${origin}/posts`, { method: 'POST', headers, body: '{"title":"New","stars":3,"userId":"1"}' })
    assert.deepEqual([made.status, made.headers.get('access-control-allow-origin')], [201, '*'])
    assert.deepEqual(await made.json(), { id: 2, title: 'New', userId: 1, stars: 3 })
    assert.equal(made.headers.get('location'), `${origin}/posts/2`)
    const page = await fetch(`${origin}/posts?_page=1&_limit=1`, { headers })
    assert.match(page.headers.get('access-control-expose-headers')!, /^(?!.*X-Total-Count.*X-Total-Count).*X-Total-Count/)
    assert.match(page.headers.get('link')!, new RegExp(`<${origin}/posts\\?_page=2&_limit=1>; rel="next"`))
    assert.deepEqual(await (await fetch(`${origin}/docs`)).json(), [{ id: 1, text: 'a collection' }])
    const removed = await fetch(`${origin}/posts/1`, { method: 'DELETE', headers })
    assert.equal(removed.status, 200)
    const saved = JSON.parse(await readFile(join(folder, 'db.json'), 'utf8')) as { posts: unknown }
    assert.deepEqual(saved.posts, [{ id: 2, title: 'New', userId: 1, stars: 3 }])
    assert.equal(await command.stop(), 0)
  })

  it('answers --get, and refuses other names and what serves nothing', async () => {
    await writeFile(join(folder, 'one.json'), FILE)
    const [got, missing, wrong, ejected] = runAll(folder, [
      ['one.json', '--as', 'json-server', '--get', '/posts?_embed=user'],
      ['one.json', '--as', 'json-server', '--get', '/nothing'],
      ['one.json', '--as', 'json-sever', '--get', '/posts'],
      ['one.json', '--as', 'json-server', '--eject', 'out'],
    ])
    assert.deepEqual(JSON.parse(got!.stdout), [{ id: 1, title: 'Tea', userId: 1, user: { id: 1, name: 'Ann' } }])
    assert.deepEqual([got!.code, missing!.code, missing!.stdout], [0, 1, '{"error":"Not Found"}'])
    assert.match(wrong!.stderr, /--as takes json-server, postgrest, supabase, got "json-sever"\. Did you mean "json-server"\?/)
    assert.match(ejected!.stderr, /it does not go with --eject/)
  })
})

const FILE = `{
  "posts": [{ "id": 1, "title": "Tea", "userId": 1 }],
  "users": [{ "id": 1, "name": "Ann" }],
  "docs": [{ "id": 1, "text": "a collection" }]
}`
