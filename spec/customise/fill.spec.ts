/** What the engine gives to records in the place of the client, and attributes that depend on the caller. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, resource } from '../../lib/index.ts'
import type { HookContext, Snapshot } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import type { EngineOptions } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
    favorites: () => p.manyToMany(Post).inversedBy('fans'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    author: () => p.manyToOne(User),
    editor: p.string().nullable(),
    comments: () => p.oneToMany(Comment).mappedBy('post'),
    fans: () => p.manyToMany(User).mappedBy('favorites'),
    cover: () => p.manyToOne(Cover).nullable(),
  },
})
const Comment = defineEntity({
  name: 'Comment',
  properties: { id: p.integer().primary(), text: p.string(), by: () => p.manyToOne(User), post: () => p.manyToOne(Post) },
})
const Cover = defineEntity({
  name: 'Cover',
  properties: { id: p.integer().primary(), url: p.string(), by: p.integer(), changedBy: p.integer().nullable() },
})
const Pet = defineEntity({
  name: 'Pet',
  discriminatorColumn: 'kind',
  discriminatorValue: 'pet',
  properties: { id: p.integer().primary(), kind: p.enum(['pet', 'dog']), name: p.string() },
})
const Dog = defineEntity({ name: 'Dog', extends: Pet, discriminatorValue: 'dog', properties: { owner: p.integer().nullable() } })

const me = ({ headers }: HookContext): number | undefined => (headers['x-me'] === undefined ? undefined : Number(headers['x-me']))

const RESOURCES = [
  resource(Post, {
    attributes: {
      author: { fill: me },
      editor: { fill: { create: () => 'new', update: async (ctx, body) => Promise.resolve(`${me(ctx)}: ${Object.keys(body).join()}`) } },
    },
    computed: {
      favorited: {
        type: 'boolean',
        sql: post => ({
          sql: `exists (select 1 from user_favorites f where f.post_id = ${post}.id and f.user_id = ?)`,
          params: [ctx => me(ctx) ?? 0],
        }),
      },
      asked: { type: 'string', sql: () => ({ sql: `cast(? as varchar(20))`, params: [ctx => ctx.action] }) },
    },
  }),
  resource(Comment, { attributes: { by: { fill: me } } }),
  resource(Cover, { attributes: { by: { fill: me }, changedBy: { fill: { update: me } } } }),
  resource(Dog, { attributes: { owner: { fill: me } } }),
]

function specify(orm: NonNullable<EngineOptions['orm']>): void {
  let engine: RestEngine
  let start: Snapshot

  before(async () => {
    engine = await createEngine({
      entities: [User, Post, Comment, Cover, Pet, Dog],
      resources: RESOURCES,
      seed: {
        posts: [
          { id: 1, title: 'a', author: 1 },
          { id: 2, title: 'b', author: 2 },
        ],
        users: [
          { id: 1, name: 'ann', favorites: [2] },
          { id: 2, name: 'bob', favorites: [1, 2] },
        ],
      },
      orm,
    })
    start = await engine.snapshot()
  })
  afterEach(() => engine.restore(start))
  after(() => engine.close())

  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = { 'x-me': '2' }) => {
    const answer = await engine.handle(method, `/v1${path}`, {}, body, { headers })
    return { status: answer.status, body: answer.body }
  }

  it('give a new record its value, wherever it is made', async () => {
    const { body: posted } = await ask('POST', '/posts', { title: 'n' })
    assert.deepEqual([posted.post.author, posted.post.editor], [2, 'new'])
    const { body: appended } = await ask('POST', '/posts/1/comments', { text: 't' })
    assert.equal(appended.comment.by, 2)
    const { body: nested } = await ask('POST', '/posts', { title: 'n', comments: [{ text: 't' }], cover: { url: 'u' } })
    assert.deepEqual((await ask('GET', `/posts/${nested.post.id}/comments`)).body.comments[0].by, 2)
    assert.deepEqual((await ask('GET', `/covers/${nested.post.cover}`)).body.cover, {
      id: nested.post.cover,
      url: 'u',
      by: 2,
      changedBy: null,
    })
    const { body: members } = await ask('POST', '/posts', [{ title: 'x' }, { title: 'y' }])
    assert.deepEqual(
      members.posts.map(({ author }: { author: number }) => author),
      [2, 2],
    )
    const { body: dog } = await ask('POST', '/pets', { kind: 'dog', name: 'rex' })
    assert.equal(dog.pet?.owner, 2, JSON.stringify(dog))
    const { body: pet } = await ask('POST', '/pets', { kind: 'pet', name: 'tom' })
    assert.equal(pet.pet.owner, undefined)
  })

  it('give a changed record its value, and one that is made in the place of none', async () => {
    assert.equal((await ask('PATCH', '/posts/1', { title: 'z' })).body.post.editor, '2: title')
    assert.equal((await ask('PUT', '/posts/1/title', 'zz')).body.post.author, 1)
    await ask('PUT', '/posts/1/cover', { url: 'u' })
    assert.deepEqual((await ask('GET', '/posts/1/cover')).body.cover, { id: 1, url: 'u', by: 2, changedBy: null })
    await ask('PUT', '/posts/1/cover', { url: 'v' }, { 'x-me': '1' })
    assert.deepEqual((await ask('GET', '/posts/1/cover')).body.cover, { id: 1, url: 'v', by: 2, changedBy: 1 })
  })

  it('refuse what a body gives itself', async () => {
    for (const [method, path, body, at] of [
      ['POST', '/posts', { title: 'a', author: 1 }, 'author'],
      ['POST', '/posts', { author: 2, title: 'a' }, 'author'],
      ['POST', '/posts', { title: 'a', editor: 'x' }, 'editor'],
      ['POST', '/posts', [{ title: 'a' }, { title: 'a', author: 1 }], 'author'],
      ['POST', '/posts/1/comments', { text: 'x', by: 2 }, 'by'],
      ['POST', '/posts', { title: 'a', comments: [{ text: 'x', by: 2 }] }, 'comments.0.by'],
      ['PATCH', '/posts/1', { author: 2 }, 'author'],
      ['PATCH', '/posts/1', { title: 'x', editor: 'x' }, 'editor'],
      ['PUT', '/posts/1/author', 2, 'author'],
      ['PUT', '/posts/1/editor', 'x', 'editor'],
      ['PATCH', '/covers/1', { by: 2 }, undefined],
    ] as const) {
      // The engine's own values have just been given by the same names.
      await ask('POST', '/posts', { title: 'a' })
      const { status, body: answer } = await ask(method, path, body)
      if (at === undefined) assert.equal(status, 404)
      else
        assert.deepEqual(
          [status, answer.errors[0].code, answer.errors[0].attribute.replace(/^\d\./, '')],
          [422, 'read_only', at],
          JSON.stringify(answer),
        )
    }
  })

  it('refuse a new record that needs what there is none of', async () => {
    const { status, body } = await ask('POST', '/posts', { title: 'a' }, {})
    assert.deepEqual([status, body.code], [403, 'forbidden'])
    assert.match(body.detail, /"author"/)
    assert.equal((await ask('POST', '/dogs', { name: 'stray' }, {})).body.dog.owner, null)
  })

  it('do not hold for the application, which sets it', async () => {
    await engine.seed({ posts: [{ id: 9, title: 's', author: 1, editor: 'seed' }] })
    assert.equal((await ask('GET', '/posts/9')).body.post.editor, 'seed')
    const made = await engine.given('post', { author: 2 })
    assert.equal(made['author'], 2)
  })

  it('show, filter and sort by what depends on the caller', async () => {
    for (const [user, favorites] of [
      ['1', [2]],
      ['2', [1, 2]],
      ['3', []],
    ] as const) {
      const caller = { 'x-me': user }
      const found = await ask('GET', '/posts?favorited=true&attributes=id', undefined, caller)
      assert.deepEqual(
        found.body.posts.map(({ id }: { id: number }) => id),
        favorites,
      )
      const sorted = await ask('GET', '/posts?sort=favorited.desc,id&attributes=id,favorited', undefined, caller)
      assert.deepEqual(
        sorted.body.posts.map((post: { favorited: boolean }) => post.favorited),
        [favorites.length > 0, favorites.length > 1],
      )
      const one = await ask('GET', '/posts/2', undefined, caller)
      assert.deepEqual([one.body.post.favorited, one.body.post.asked], [favorites.includes(2 as never), 'get'])
      const changed = await ask('PATCH', '/posts/2', { title: `by ${user}` }, caller)
      assert.deepEqual([changed.body.post.favorited, changed.body.post.asked], [favorites.includes(2 as never), 'update'])
      const below = await ask('GET', '/users/2/favorites?favorited=false&depth=2', undefined, caller)
      assert.equal(below.body.count, 2 - favorites.length)
      const through = await ask('GET', '/users?favorites.favorited=true&attributes=id', undefined, caller)
      assert.equal(through.body.count, favorites.length === 0 ? 0 : 2)
      const removed = await ask('DELETE', '/users/2/favorites?favorited=false&title=nope*', undefined, caller)
      assert.equal(removed.status, 200)
    }
  })
}

describeStores('attributes that the engine gives', () => specify({}))

describe('attributes that the engine gives, by the unit of work', () => specify({ subscribers: [{ afterFlush: () => {} }] }))

describe('an attribute that the engine gives', () => {
  it('leaves a write planned, passes the self-test, and is in no body of the OpenAPI document', async () => {
    await using engine = await RestEngine.create({
      entities: [User, Post, Comment, Cover],
      resources: [
        resource(Post, { attributes: { author: { fill: () => 1 }, editor: { fill: { create: () => 'new', update: () => 'old' } } } }),
      ],
      seed: { users: [{ id: 1, name: 'ann' }] },
    })
    const caller = { headers: { 'x-me': '1' } }
    for (const [method, path] of [
      ['POST', '/v1/posts'],
      ['PATCH', '/v1/posts/1'],
    ] as const) {
      const { writes } = await engine.explain(method, path, undefined, { title: 'y' }, caller)
      assert.match(JSON.stringify(writes), /by statements/)
      await engine.handle('POST', '/v1/posts', {}, { title: 'first' }, caller)
    }
    const report = await engine.selfTest({ runs: 1 })
    assert.ok(report.passed, String(report))
    const { components } = (await engine.openapi()) as unknown as { components: { schemas: Record<string, { properties?: object }> } }
    for (const [name, { properties = {} }] of Object.entries(components.schemas))
      if (/^Post(New|Patch)$/.test(name)) assert.ok(!('author' in properties) && !('editor' in properties), name)
  })

  it('is the caller by the primary key also where clients know users by another key', async () => {
    const Member = defineEntity({
      name: 'Member',
      properties: { id: p.string().primary(), name: p.string().unique(), password: p.string().hidden() },
    })
    const Note = defineEntity({
      name: 'Note',
      properties: { id: p.integer().primary(), by: () => p.manyToOne(Member), text: p.string() },
    })
    await using engine = await RestEngine.create({
      entities: [Member, Note],
      auth: auth({ entity: Member, identifier: 'name', hash: false }),
      resources: [
        resource(Member, { key: 'name' }),
        resource(Note, {
          attributes: { by: { fill: ctx => (ctx.headers['x-for'] === undefined ? ctx.user?.['id'] : ctx.headers['x-for']) } },
          write: ctx => ({ by: ctx.user?.['id'] }),
        }),
      ],
      seed: {
        members: [
          { id: 'm1', name: 'ann', password: 'x' },
          { id: 'm2', name: 'bob', password: 'x' },
        ],
      },
    })
    const post = async (headers: Record<string, string>) => {
      const token = engine.token('m2')
      return engine.handle('POST', '/v1/notes', {}, { text: 'a' }, { headers: { authorization: `Bearer ${token}`, ...headers } })
    }
    const own = await post({})
    assert.deepEqual((own.body as { note: unknown }).note, { id: 1, by: 'bob', text: 'a' })
    assert.equal((await post({ 'x-for': 'bob' })).status, own.status)
    // Of anybody else the key is that of clients.
    assert.equal((await post({ 'x-for': 'ann' })).status, 403)
    assert.equal((await post({ 'x-for': 'm1' })).status, 422)
  })

  it('is refused where it cannot be given', async () => {
    const create = (attributes: object) =>
      RestEngine.create({ entities: [User, Post, Comment, Cover], resources: [resource(Post, { attributes })] })
    await assert.rejects(create({ author: { fill: 5 } }), /attributes.author: "fill" must be an object/)
    await assert.rejects(create({ author: { fill: { creates: me } } }), /fill: unknown .*"creates".*create/s)
    await assert.rejects(create({ author: { fill: { create: 5 } } }), /fill.create must be a function/)
    await assert.rejects(create({ comments: { fill: me } }), /"comments" cannot be filled: it is more than a value or a link/)
  })

  it('may not answer later in SQL', async () => {
    const errors: unknown[] = []
    await using engine = await RestEngine.create({
      entities: [Cover],
      resources: [
        resource(Cover, {
          computed: {
            late: { type: 'integer', sql: () => ({ sql: '?', params: [async (ctx: HookContext) => Promise.resolve(me(ctx))] }) },
          },
        }),
      ],
      onError: error => errors.push(error),
    })
    assert.equal((await engine.handle('GET', '/v1/covers')).status, 500)
    assert.match(String(errors[0]), /must give its value at once, got a promise/)
  })
})
