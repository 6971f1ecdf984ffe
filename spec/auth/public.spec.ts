/** What is public is decided by what a path means: by no spelling of a path does a caller without a token get more, or less. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, resource } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    email: p.string(),
    password: p.string().hidden(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User).nullable() },
})
const BlogEntry = defineEntity({ name: 'BlogEntry', properties: { id: p.string().primary(), text: p.string() } })
const Setting = defineEntity({ name: 'Setting', properties: { id: p.integer().primary(), theme: p.string() } })

const seed = {
  users: [
    { id: 1, email: 'ann', password: '' },
    { id: 2, email: 'bob', password: '' },
  ],
  posts: [{ id: 1, title: 'first', author: 1 }],
  blog_entries: [
    { id: 'news', text: 'open' },
    { id: 'a b', text: 'blank' },
  ],
  settings: [{ id: 1, theme: 'dark' }],
}

function create(open: readonly string[], more: Partial<EngineOptions> = {}): Promise<RestEngine> {
  return RestEngine.create({
    entities: [User, Post, BlogEntry, Setting],
    seed,
    auth: auth({ entity: User, public: open }),
    resources: [resource(Setting, { single: 1 })],
    ...more,
  })
}

const statusOf = async (engine: RestEngine, line: string): Promise<number> => (await engine.send(line)).status

/** Percent-encodes some characters of a segment. */
const encodeSome = (segment: string, bits: number): string =>
  [...segment]
    .map((character, at) =>
      (bits >> (at % 30)) & 1 || !/[\w.~-]/.test(character)
        ? [...Buffer.from(character)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')
        : character,
    )
    .join('')

/** The names of the resources in paths. */
const NAMES = {
  users: ['users', 'user'],
  posts: ['posts', 'post'],
  blog_entries: ['blog_entries', 'blog_entry', 'blog-entries', 'blog-entry', 'blogEntries', 'blogEntry'],
  settings: ['settings', 'setting'],
}
const RESTS = {
  users: ['', '/1', '/2', '/1/email', '/1/posts', '/1/posts/1'],
  posts: ['', '/1', '/1/title', '/1/author'],
  blog_entries: ['', '/news', '/a b', '/news/text'],
  settings: ['', '/1', '/theme', '/1/theme'],
}

const requestArb = fc.constantFrom(...(Object.keys(NAMES) as (keyof typeof NAMES)[])).chain(list =>
  fc.record({
    list: fc.constant(list),
    name: fc.constantFrom(...NAMES[list]),
    rest: fc.constantFrom(...RESTS[list]),
    method: fc.constantFrom('GET', 'HEAD', 'QUERY', 'DELETE'),
    bits: fc.nat(),
    slash: fc.boolean(),
  }),
)

const PATTERNS = [
  'GET /v1/*',
  '* /v1/posts*',
  'GET /v1/user/1',
  'GET /v1/users/%31',
  'GET /v1/users*',
  'GET /v1/blogEntr*',
  'GET /v1/blog-entry/news',
  'GET /v1/setting/1',
  '* /v1/*/1',
  '!GET /v1/users*',
  '!* /v1/users/1',
  '!GET /v1/user',
  '!GET /v1/blogEntries/news',
  '!GET /v1/*/posts',
  '!GET /v1/settings/theme',
]

describe('what is public', () => {
  it('is the same in all spellings of a path', { timeout: 120_000 }, async () => {
    await check(
      fc.asyncProperty(
        fc.subarray(PATTERNS, { minLength: 1 }),
        fc.array(requestArb, { minLength: 40, maxLength: 40 }),
        async (open, requests) => {
          await using engine = await create(open)
          for (const { list, name, rest, method, bits, slash } of requests) {
            const body = method === 'QUERY' ? {} : undefined
            const linked = await engine.handle(method, encodeURI(`/v1/${list}${rest}`), undefined, body)
            if (linked.status === 200 && method === 'DELETE') await engine.reset()
            const path = `/v1/${[name, ...rest.split('/').slice(1)].map(segment => encodeSome(segment, bits)).join('/')}${slash ? '/' : ''}`
            const { status } = await engine.handle(method, path, undefined, body)
            if (status === 200 && method === 'DELETE') await engine.reset()
            assert.equal(status, linked.status, `${method} ${path} is ${status}, by ${open.join(', ')}`)
          }
        },
      ),
      { label: 'spellings of public paths', runs: 60 },
    )
  })

  it('is not what "!" takes out, in any of 110 spellings', async () => {
    await using engine = await create(['GET /v1/*', '!GET /v1/users*'])
    const heads = [
      'users',
      'user',
      '%75sers',
      'user%73',
      'u%73er',
      '%75%73%65%72%73',
      '%75%73er',
      'us%65r',
      'use%72s',
      'us%65%72',
      'u%73%65rs',
    ]
    const tails = ['', '/', '?limit=1', '/1', '/%31', '/1/', '/1/email', '/1/%65mail', '/1/posts', '/1?depth=0']
    let tried = 0
    for (const head of heads)
      for (const tail of tails) {
        tried++
        assert.equal(await statusOf(engine, `GET /v1/${head}${tail}`), 401, `${head}${tail}`)
      }
    assert.equal(tried, 110)
    assert.equal(await statusOf(engine, 'GET /v1/blogEntries'), 200)
  })
})

describe('patterns of "public"', () => {
  it('take out what a relation leads to, and leave other relations open', async () => {
    await using engine = await create(['GET /v1/*', 'POST /v1/*', '!* /v1/users*'])
    for (const line of ['GET /v1/posts/1/author', 'GET /v1/users/1/posts', 'DELETE /v1/posts/1/author'])
      assert.equal(await statusOf(engine, line), 401, line)
    for (const line of ['GET /v1/posts/1', 'GET /v1/posts/1/title']) assert.equal(await statusOf(engine, line), 200, line)
    await using others = await create(['GET /v1/*', '!GET /v1/users/2', '!GET /v1/posts/7'])
    assert.equal(await statusOf(others, 'GET /v1/posts/1/author'), 401, 'this may be user 2')
    assert.equal(await statusOf(others, 'GET /v1/users/1/posts'), 200)
    assert.equal(await statusOf(others, 'GET /v1/users/1/posts/7'), 401)
    assert.equal(await statusOf(others, 'GET /v1/users/1/posts/1'), 200)
    await using open = await create(['GET /v1/posts*'])
    assert.equal(await statusOf(open, 'GET /v1/posts/1/author'), 200)
  })

  it('take out IDs that the database may take for the same', async () => {
    await using engine = await create(['GET /v1/*', '!GET /v1/blog_entries/news'])
    for (const id of ['news', 'NEWS', 'n%C3%A9ws', 'news%20']) assert.equal(await statusOf(engine, `GET /v1/blog-entries/${id}`), 401, id)
    assert.equal(await statusOf(engine, 'GET /v1/blog-entries/a%20b'), 200)
  })

  it('of a custom route are for the route alone', async () => {
    const answer = (text: string): { readonly body: unknown } => ({ body: text })
    const routes = [
      { method: 'GET', path: '/{version}/user', handler: () => answer('who asks') },
      { method: 'GET', path: '/{version}/posts', handler: () => answer('some posts') },
      { method: 'GET', path: '/{version}/posts/drafts', handler: () => answer('drafts') },
      { method: 'GET', path: '/{version}/tags', handler: () => answer('tags') },
    ]
    await using engine = await create(['GET /v1/user', 'GET /v1/posts*', '!GET /v1/posts/drafts', 'GET /v1/tags'], { routes })
    for (const path of ['user', '%75ser', 'posts', 'posts/1', 'post/1', 'tags', 't%61gs'])
      assert.equal(await statusOf(engine, `GET /v1/${path}`), 200, path)
    for (const path of ['users', 'user/1', 'users/1', 'post', 'posts/drafts', 'posts/draft%73', 'post/drafts'])
      assert.equal(await statusOf(engine, `GET /v1/${path}`), 401, path)
    assert.equal((await engine.handle('QUERY', '/v1/posts', undefined, {})).status, 401, 'the route answers no QUERY')
    assert.equal((await engine.send('GET /v1/t%61gs')).body, 'tags')
  })

  it('hold with the log-in at any path, in every spelling of the path', async () => {
    await using engine = await create(['GET /v1/*'], {
      auth: auth({ entity: User, public: ['GET /v1/*'], paths: { login: 'users/login', me: 'user' } }),
    })
    const credentials = { email: 'ann', password: 'x' }
    for (const path of ['users/login', 'users/%6cogin'])
      assert.equal((await engine.send(`POST /v1/${path}`, { body: credentials })).body.code, 'login_failed')
    assert.ok(!JSON.stringify(engine.requests).includes('"x"'))
    assert.equal((await engine.send('GET /v1/user')).body.code, 'token_missing')
    assert.equal(await statusOf(engine, 'GET /v1/users'), 200)
  })

  it('hold below a base, and without a version', async () => {
    await using engine = await create(['GET /*', '!GET /users*'], { base: '/api', versions: [] })
    for (const path of ['users', 'user', '%75sers/1', 'posts/1/author']) assert.equal(await statusOf(engine, `GET /api/${path}`), 401, path)
    for (const path of ['posts', 'blogEntry/news', 'settings', '']) assert.equal(await statusOf(engine, `GET /api/${path}`), 200, path)
  })

  it('hold with names that a look-up of the application knows', async () => {
    const lookup = (name: string): object | undefined => ({ people: User, person: User, posts: Post })[name]
    await using engine = await create(['GET /v1/*', '!GET /v1/people*'], { lookup })
    for (const path of ['people', 'person', '%70erson/1', 'posts/1/author'])
      assert.equal(await statusOf(engine, `GET /v1/${path}`), 401, path)
    assert.equal(await statusOf(engine, 'GET /v1/posts'), 200)
    const fails = (): never => {
      throw new Error('no look-up')
    }
    await using failing = await create(['GET /v1/*'], { lookup: fails })
    assert.equal(await statusOf(failing, 'GET /v1/posts'), 401)
  })

  it('are shown by the OpenAPI document as they hold', async () => {
    await using engine = await create(['GET /v1/*', '!GET /v1/user*', '!GET /v1/post/1'])
    const { paths } = (await engine.openapi({ details: true })) as { paths: Record<string, Record<string, { security?: unknown }>> }
    const isOpen = (path: string): boolean => paths[path]!['get']!.security !== undefined
    const shown = ['/v1/users', '/v1/users/{id}', '/v1/posts/{id}/author', '/v1/posts', '/v1/posts/{id}'].map(path => [path, isOpen(path)])
    assert.deepEqual(shown, [
      ['/v1/users', false],
      ['/v1/users/{id}', false],
      ['/v1/posts/{id}/author', false],
      ['/v1/posts', true],
      ['/v1/posts/{id}', true],
    ])
  })
})

describe('a pattern of "public" that can match nothing', () => {
  const refused: [string, Partial<EngineOptions>, RegExp][] = [
    [
      '!GET /v1/pots/1',
      {},
      /"GET \/v1\/pots\/1" can meet no request: the resource "pots" is unknown\. Did you mean "GET \/v1\/posts\/1"\?/,
    ],
    ['GET /v1/usrs*', {}, /the resource "usrs" is unknown\. Did you mean/],
    ['GET /v1/posts/1/titel', {}, /the attribute "titel" of posts is unknown\. Did you mean "GET \/v1\/posts\/1\/title"\?/],
    ['GET /posts', {}, /the version "posts" is unknown\. Did you mean "GET \/v1\/posts"\?/],
    ['GET /v2/posts', {}, /the version "v2" is unknown/],
    ['GET /api/v1/posts', { base: '/api' }, /the version "api" is unknown/],
    ['GET /pots', { versions: [] }, /the resource "pots" is unknown\. Did you mean "GET \/posts"\?/],
    [`GET /v1/${'*a'.repeat(30)}`, {}, /has more than 20 stars/],
  ]
  for (const [pattern, more, message] of refused) {
    it(`is refused: ${pattern.slice(0, 40)}`, () => assert.rejects(create([pattern], more), message))
  }
})
