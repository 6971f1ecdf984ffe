/** Links one by one: an ID in a POST to a list, and `connect` and `disconnect` in bodies, beside the array that replaces a list. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, client, resource } from '../../lib/index.ts'
import type { Snapshot } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import type { EngineOptions } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
    notes: () => p.oneToMany(Note).mappedBy('user').orphanRemoval(),
    bills: () => p.oneToMany(Bill).mappedBy('user'),
    favorites: () => p.manyToMany(Post).inversedBy('fans'),
    ranked: () => p.manyToMany(Post).fixedOrder(),
    tags: () => p.manyToMany(Tag),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    author: () => p.manyToOne(User).nullable(),
    fans: () => p.manyToMany(User).mappedBy('favorites'),
  },
})
const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), user: () => p.manyToOne(User) } })
const Bill = defineEntity({ name: 'Bill', properties: { id: p.integer().primary(), user: () => p.manyToOne(User) } })
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string().unique() } })

const inOrder = (ids: readonly unknown[]): unknown[] => ids.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))

const ENTITIES = [User, Post, Note, Bill, Tag]

function specify(orm: NonNullable<EngineOptions['orm']>): void {
  let engine: RestEngine
  let start: Snapshot

  before(async () => {
    engine = await createEngine({
      entities: ENTITIES,
      seed: {
        posts: [1, 2, 3, 4].map(id => ({ id, title: `p${id}`, author: id === 4 ? 2 : 1 })),
        notes: [1, 2].map(id => ({ id, user: 1 })),
        bills: [{ id: 1, user: 1 }],
        tags: [{ id: 1, name: 'old' }],
        users: [
          { id: 1, name: 'ann', favorites: [1], ranked: [2, 1], tags: ['old'] },
          { id: 2, name: 'bob' },
        ],
      },
      resources: [resource(Tag, { key: 'name' })],
      orm,
    })
    start = await engine.snapshot()
  })
  afterEach(() => engine.restore(start))
  after(() => engine.close())

  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await engine.handle(method, `/v1${path}`, {}, body)
    return { status: answer.status, body: answer.body }
  }
  const list = async (name: string): Promise<unknown> => (await ask('GET', '/users/1')).body.user[name]

  it('link by an ID in a POST, and answer with the record that has the list', async () => {
    for (const _ of [1, 2]) {
      const { status, body } = await ask('POST', '/users/1/favorites', 2)
      assert.deepEqual([status, body.resource, body.user.favorites], [200, 'user', [1, 2]])
    }
    assert.deepEqual((await ask('POST', '/users/1/posts', 4)).body.user.posts, [1, 2, 3, 4])
    assert.deepEqual((await ask('POST', '/users/2/tags', 'old')).body.user.tags, ['old'])
    assert.equal((await ask('POST', '/users/1/favorites', { title: 'new' })).body.resource, 'post')
    // Arrays make records.
    assert.equal((await ask('POST', '/users/1/favorites', [{ title: 'x' }, 1])).status, 400)
  })

  const CHANGES: readonly (readonly [name: string, change: object, after: readonly (string | number)[]])[] = [
    ['favorites', { connect: [3, 1, 3] }, [1, 3]],
    ['favorites', { disconnect: [1, 2, 99] }, []],
    ['favorites', { connect: [4], disconnect: [1] }, [4]],
    ['ranked', { connect: [4] }, [2, 1, 4]],
    ['ranked', { connect: [3], disconnect: [2] }, [1, 3]],
    ['posts', { connect: [4] }, [1, 2, 3, 4]],
    ['posts', { connect: [4], disconnect: [2, 99] }, [1, 3, 4]],
    ['posts', { disconnect: [4] }, [1, 2, 3]],
    ['notes', { disconnect: [1] }, [2]],
    ['bills', { disconnect: [99] }, [1]],
    ['tags', { connect: ['new', 'old', 'newer', 'new'], create: true }, ['old', 'new', 'newer']],
    ['tags', { disconnect: ['old', 'nope'] }, []],
  ]
  for (const [name, change, expected] of CHANGES) {
    it(`change "${name}" by ${JSON.stringify(change)}, in a body and by its path`, async () => {
      for (const [path, body] of [
        ['/users/1', { name: 'x', [name]: change }],
        [`/users/1/${name}`, change],
      ] as const) {
        const { status, body: answer } = await ask('PATCH', path, body)
        assert.equal(status, 200, JSON.stringify(answer))
        const shown = answer.user[name] as unknown[]
        assert.deepEqual(name === 'ranked' ? shown : inOrder(shown), name === 'ranked' ? expected : inOrder(expected))
        assert.deepEqual(await list(name), answer.user[name])
        await engine.restore(start)
      }
    })
  }

  it('give a new record its members', async () => {
    const { status, body } = await ask('POST', '/users', {
      name: 'eve',
      favorites: { connect: [1], disconnect: [2] },
      tags: { connect: ['t'], create: true },
    })
    assert.deepEqual([status, body.user.favorites, body.user.tags], [200, [1], ['t']], JSON.stringify(body))
  })

  it('take from either side', async () => {
    assert.deepEqual((await ask('PATCH', '/posts/1', { fans: { connect: [2], disconnect: [1] } })).body.post.fans, [2])
  })

  const REFUSED: readonly (readonly [path: string, body: unknown, status: number, text: RegExp])[] = [
    ['/users/1/favorites', { connect: [99] }, 422, /"favorites.connect.0": there is no post with the ID 99/],
    ['/users/1/favorites', { connect: ['x'] }, 422, /"favorites.connect.0" must be the ID of a post \(an integer\)\./],
    ['/users/1/favorites', { connect: [{ title: 'x' }] }, 422, /"favorites.connect.0" must be the ID of a post/],
    ['/users/1/favorites', { disconnect: ['x'] }, 422, /"favorites.disconnect.0" must be the ID of a post/],
    ['/users/1/favorites', { connect: 1 }, 422, /"favorites.connect" must be an array of IDs/],
    ['/users/1/favorites', { connect: [2], disconnect: [2] }, 422, /"favorites" links and unlinks one post/],
    [
      '/users/1',
      { favorites: { conect: [1] } },
      422,
      /"favorites" must be an array of IDs or objects, or an object with "connect" and "disconnect"/,
    ],
    ['/users/1', { favorites: {} }, 422, /or an object with "connect" and "disconnect"/],
    ['/users/1/favorites', { conect: [1] }, 400, /or an object with "connect" and "disconnect"/],
    [
      '/users/1',
      { favorites: { connect: [2], create: true } },
      422,
      /"favorites.create" works where clients know the posts by a unique attribute/,
    ],
    ['/users/1', { tags: { connect: ['x'], create: 'yes' } }, 422, /"tags.create" must be true or false/],
    ['/users/1', { tags: { connect: ['x'] } }, 422, /"tags.connect.0": there is no tag with the ID x/],
    ['/posts/4', { author: 2, fans: [{ name: 'n', posts: { connect: [4] } }] }, 422, /contradicts/],
    ['/users/1', { bills: { disconnect: [1] } }, 409, /"bills": the bill 1 would be left without its "user"/],
  ]
  for (const [path, body, status, text] of REFUSED) {
    it(`refuse ${JSON.stringify(body)} for ${path}`, async () => {
      const answer = await ask('PUT', path, body)
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      assert.match(answer.body.detail, text)
    })
  }

  it('never conflict, however many come at once', async () => {
    const answers = await Promise.all([
      ...[1, 2, 3, 4, 1, 2, 3, 4].map(id => ask('POST', '/users/2/favorites', id)),
      ...['a', 'b', 'a', 'b'].map(name => ask('PATCH', '/users/2', { tags: { connect: [name], create: true } })),
    ])
    for (const { status, body } of answers) assert.equal(status, 200, JSON.stringify(body))
    const { favorites, tags } = (await ask('GET', '/users/2')).body.user
    assert.deepEqual(
      [favorites.toSorted(), tags.toSorted()],
      [
        [1, 2, 3, 4],
        ['a', 'b'],
      ],
    )
  })
}

describeStores('links one by one', () => specify({}))

describe('links one by one, by the unit of work', () => specify({ subscribers: [{ afterFlush: () => {} }] }))

describe('a link', () => {
  it('needs the rights that a change of the list needs', async () => {
    await using engine = await RestEngine.create({
      entities: ENTITIES,
      resources: [
        resource(User, { access: { update: ctx => ctx.headers['x-may'] !== undefined } }),
        resource(Post, { access: { create: false, update: ctx => ctx.headers['x-may'] === 'all' } }),
      ],
      seed: { users: [{ id: 1, name: 'ann' }], posts: [{ id: 1, title: 'a' }] },
    })
    const link = async (list: string, headers: Record<string, string>): Promise<number> =>
      (await engine.handle('POST', `/v1/users/1/${list}`, {}, 1, { headers })).status
    assert.deepEqual([await link('favorites', {}), await link('favorites', { 'x-may': 'own' })], [403, 200])
    assert.deepEqual([await link('posts', { 'x-may': 'own' }), await link('posts', { 'x-may': 'all' })], [403, 200])
  })

  it('is planned, described, and a call of the client', async () => {
    await using engine = await RestEngine.create({
      entities: ENTITIES,
      seed: { users: [{ id: 1, name: 'ann' }], posts: [{ id: 1, title: 'a' }] },
    })
    const { writes } = await engine.explain('POST', '/v1/users/1/favorites', undefined, 1)
    assert.match(JSON.stringify(writes), /by statements/)
    for (const [method, path, body] of [
      ['POST', '/v1/users/1/favorites', 1],
      ['PATCH', '/v1/users/1', { favorites: { disconnect: [1] } }],
      ['POST', '/v1/users/1/favorites', { title: 'b' }],
    ] as const) {
      const answer = await engine.handle(method, path, {}, body)
      assert.deepEqual(await engine.conforms({ method, path }, answer), [])
    }
    const api = client(engine, { users: User })
    assert.deepEqual((await api.users.related(1, 'posts').link(1))['posts'], [1])
    assert.deepEqual((await api.users.related(1, 'posts').unlink(1))['posts'], [])
    await api.users.update(1, { posts: { connect: [1] } })
  })
})
