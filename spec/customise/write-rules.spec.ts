/** Rules for writing: of the rows that the caller sees, those it may write, by whatever path a request touches them. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, resource } from '../../lib/index.ts'
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
    profile: () => p.oneToOne(Profile).mappedBy('user'),
    notes: () => p.oneToMany(Note).mappedBy('user').orphanRemoval(),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    author: () => p.manyToOne(User).nullable(),
    fans: () => p.manyToMany(User).mappedBy('favorites'),
    comments: () => p.oneToMany(Comment).mappedBy('post'),
  },
})
const Comment = defineEntity({
  name: 'Comment',
  properties: {
    id: p.integer().primary(),
    text: p.string(),
    by: () => p.manyToOne(User).deleteRule('set null').nullable(),
    post: () => p.manyToOne(Post).deleteRule('cascade'),
  },
})
const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string(), user: () => p.manyToOne(User) } })
const Profile = defineEntity({
  name: 'Profile',
  properties: { id: p.integer().primary(), text: p.string(), user: () => p.oneToOne(User).inversedBy('profile').nullable() },
})
/** Two classes in one table, of which one has a rule. */
const Animal = defineEntity({
  name: 'Animal',
  discriminatorColumn: 'kind',
  discriminatorValue: 'animal',
  properties: { id: p.integer().primary(), kind: p.enum(['animal', 'dog']), name: p.string() },
})
const Dog = defineEntity({ name: 'Dog', extends: Animal, discriminatorValue: 'dog', properties: { tag: p.string().nullable() } })
const Seat = defineEntity({
  name: 'Seat',
  properties: { row: p.string().primary(), number: p.integer().primary(), of: p.integer(), note: p.string().nullable() },
})

type Asked = readonly [method: string, path: string, body?: unknown]

interface Caller {
  readonly headers: Readonly<Record<string, string>>
}
const me = ({ headers }: Caller): number => Number(headers['x-me'] ?? -1)

function specify(orm: NonNullable<EngineOptions['orm']>): void {
  let engine: RestEngine
  let start: Snapshot

  before(async () => {
    engine = await createEngine({
      entities: [User, Post, Comment, Note, Profile, Animal, Dog, Seat],
      seed: {
        users: [
          { id: 1, name: 'ann' },
          { id: 2, name: 'bob' },
        ],
        posts: [
          { id: 1, title: 'a', author: 1 },
          { id: 2, title: 'b', author: 2, fans: [2] },
          { id: 3, title: 'c', author: 1, fans: [2] },
        ],
        comments: [
          { id: 1, text: 'mine on mine', by: 1, post: 3 },
          { id: 2, text: 'his on mine', by: 2, post: 1 },
        ],
        notes: [
          { id: 1, text: 'kept', user: 1 },
          { id: 2, text: 'x', user: 1 },
        ],
        profiles: [{ id: 1, text: 'bob', user: 2 }],
        animals: [
          { id: 1, kind: 'animal', name: 'cat' },
          { id: 2, kind: 'dog', name: 'rex' },
        ],
        seats: [
          { row: 'a', number: 1, of: 1 },
          { row: 'a', number: 2, of: 2 },
        ],
      },
      resources: [
        resource(User, { write: ctx => ({ id: me(ctx) }) }),
        resource(Post, { write: async ctx => Promise.resolve({ author: me(ctx) }) }),
        resource(Comment, { write: ctx => ({ by: me(ctx) }) }),
        resource(Note, { write: () => ({ text: { $ne: 'kept' } }) }),
        resource(Profile, { write: ctx => ctx.headers['x-profiles'] === 'all' }),
        resource(Dog, { write: ctx => (ctx.headers['x-dogs'] === undefined ? undefined : { name: ctx.headers['x-dogs'] }) }),
        resource(Seat, { write: ctx => ({ of: me(ctx) }) }),
      ],
      orm,
    })
    start = await engine.snapshot()
  })
  afterEach(() => engine.restore(start))
  after(() => engine.close())

  async function ask([method, path, body]: Asked, headers: Record<string, string> = { 'x-me': '1' }) {
    const answer = await engine.handle(method, `/v1${path}`, {}, body, { headers })
    return { status: answer.status, code: answer.body.code as unknown, detail: answer.body.detail as unknown }
  }
  const dump = () =>
    Promise.all(
      ['user', 'post', 'comment', 'note', 'profile', 'animal', 'seat', 'user_favorites'].map(table =>
        engine.orm.em.getConnection().execute(`select * from "${table}" order by 1, 2`),
      ),
    )

  const CHANGE = (what: string): string => `You may not change the ${what}.`
  const OUTSIDE = (what: string): string => `The ${what} would be outside of what you may write.`
  const REFUSED: readonly (readonly [what: string, asked: Asked, detail: string])[] = [
    ['a change', ['PUT', '/posts/2', { title: 'x' }], CHANGE('post 2')],
    ['a change of nothing', ['PATCH', '/posts/2', {}], CHANGE('post 2')],
    ['a change of an attribute', ['PUT', '/posts/2/title', 'x'], CHANGE('post 2')],
    ['a change with errors', ['PATCH', '/posts/2', { title: 7 }], CHANGE('post 2')],
    ['giving a row away', ['PATCH', '/posts/1', { author: 2 }], OUTSIDE('post')],
    ['letting go of it', ['PUT', '/posts/1/author', null], OUTSIDE('post')],
    ['taking a row by the list of its path', ['PUT', '/users/1/posts', [1, 2]], CHANGE('post 2')],
    ['taking a row by a list of a body', ['PUT', '/users/1', { posts: [1, 2, 3] }], CHANGE('post 2')],
    ['taking a row by a new record', ['POST', '/users', { id: 1, name: 'eve', posts: [2] }], 'Another user has this "id" already.'],
    ['putting a row into another list', ['PUT', '/users/2/posts', [2, 1]], OUTSIDE('post')],
    ['taking a row out of another list', ['PUT', '/users/2/posts', []], CHANGE('post 2')],
    ['a new record', ['POST', '/posts', { title: 'n', author: 2 }], OUTSIDE('post')],
    ['a new record in a list', ['POST', '/users/2/posts', { title: 'n' }], OUTSIDE('post')],
    ['a nested new record', ['PUT', '/users/2', { posts: [2, { title: 'n' }] }], OUTSIDE('post')],
    ['a new record with a nested one', ['POST', '/posts', { title: 'n', author: { name: 'eve' } }], OUTSIDE('user')],
    [
      'a member of an array',
      [
        'POST',
        '/posts',
        [
          { title: 'n', author: 1 },
          { title: 'n', author: 2 },
        ],
      ],
      `[1]: ${OUTSIDE('post')}`,
    ],
    ['a many-to-many list of another', ['PUT', '/users/2', { favorites: [] }], CHANGE('user 2')],
    ['a many-to-many list, seen from its other side', ['PUT', '/posts/2/fans', [1]], CHANGE('user 2')],
    ['the same, of a new record', ['POST', '/posts', { title: 'n', author: 1, fans: [2] }], CHANGE('user 2')],
    ['a new record in the many-to-many list of another', ['POST', '/users/2/favorites', { title: 'n', author: 1 }], CHANGE('user 2')],
    ['a list whose former members the model removes', ['PUT', '/users/1/notes', [2]], CHANGE('note 1')],
    ['a removal', ['DELETE', '/posts/2'], CHANGE('post 2')],
    ['a removal of what a list has', ['DELETE', '/users/2/favorites'], CHANGE('post 2')],
    ['a removal with which the database removes others', ['DELETE', '/posts/1'], CHANGE('comment 2')],
    ['a removal of a linked record', ['DELETE', '/posts/2/author'], CHANGE('post 2')],
    ['a change of a linked record', ['PUT', '/posts/2/author', { name: 'x' }], CHANGE('user 2')],
    ['unlinking from the other side of a one-to-one', ['PATCH', '/users/2', { profile: null }], CHANGE('profile 1')],
    ['taking over a one-to-one', ['PATCH', '/users/1', { profile: 1 }], CHANGE('profile 1')],
    ['a row of a class, by the path of another', ['PATCH', '/animals/2', { name: 'x' }], CHANGE('dog 2')],
    ['a new row of a class', ['POST', '/animals', { kind: 'dog', name: 'x' }], OUTSIDE('dog')],
    ['a row with a key of several parts', ['PATCH', '/seats/a~2', { note: 'x' }], CHANGE('seat a~2')],
  ]
  for (const [what, asked, detail] of REFUSED) {
    it(`refuse ${what}, and change nothing`, async () => {
      const rows = await dump()
      const answer = await ask(asked)
      assert.equal(answer.detail, detail)
      if (!detail.includes('already')) assert.deepEqual([answer.status, answer.code], [403, 'forbidden'])
      assert.deepEqual(await dump(), rows)
    })
  }

  const ALLOWED: readonly (readonly [what: string, asked: Asked])[] = [
    ['a change of an own row', ['PUT', '/posts/1', { title: 'x' }]],
    ['a list that keeps its rows', ['PUT', '/users/2', { posts: [2] }]],
    ['own rows in a list', ['PUT', '/users/1/posts', [1, 3]]],
    ['the own many-to-many list', ['PUT', '/users/1/favorites', [2, 3]]],
    ['a link from its other side, where the links of others stay', ['PUT', '/posts/3/fans', [1, 2]]],
    ['an own new row', ['POST', '/users/1/posts', { title: 'n' }]],
    ['a removal that takes the link of another with it', ['DELETE', '/posts/3']],
    ['a row of a class without a rule', ['PATCH', '/animals/1', { name: 'x' }]],
    ['a row with a key of several parts', ['PATCH', '/seats/a~1', { note: 'x' }]],
  ]
  for (const [what, asked] of ALLOWED) {
    it(`allow ${what}`, async () => {
      const { status, detail } = await ask(asked)
      assert.equal(status, 200, String(detail))
    })
  }

  it('may be all, none, or nothing, which is none', async () => {
    assert.equal((await ask(['PATCH', '/profiles/1', { text: 'x' }])).status, 403)
    assert.equal((await ask(['PATCH', '/profiles/1', { text: 'x' }], { 'x-profiles': 'all' })).status, 200)
    assert.equal((await ask(['PATCH', '/dogs/2', { tag: 'x' }])).status, 403)
    assert.equal((await ask(['PATCH', '/dogs/2', { tag: 'x' }], { 'x-dogs': 'rex' })).status, 200)
  })

  it('are asked before the write that they judge, so that it cannot make itself allowed', async () => {
    for (const orm of [{}, { subscribers: [{ afterFlush: () => {} }] }]) {
      const write = async (ctx: HookContext) => ({ id: { $in: (await ctx.em.find(Comment, {})).map(each => each.post.id) } })
      await using own = await createEngine({ entities: [User, Post, Comment, Note, Profile], resources: [resource(Post, { write })], orm })
      for (const asked of [
        ['/v1/posts', { id: 9, title: 'n', comments: [{ text: 'x' }] }],
        ['/v1/comments', { text: 'x', post: { id: 9, title: 'n' } }],
      ] as const) {
        const { status, body } = await own.handle('POST', asked[0], {}, asked[1])
        assert.deepEqual([status, body.code], [403, 'forbidden'], JSON.stringify(body))
      }
    }
  })

  it('do not hold for the application', async () => {
    await engine.seed({ posts: [{ title: 'seeded', author: 2 }] })
    const route = await engine.handle('GET', '/v1/posts', 'title=seeded')
    assert.equal((route.body as { count: number }).count, 1)
  })

  it('pass the self-test, whose answers the OpenAPI document describes', async () => {
    const report = await engine.selfTest({ runs: 1 })
    assert.ok(report.passed, String(report))
  })
}

describeStores('rules for writing', () => specify({}))

describe('rules for writing, by the unit of work', () => specify({ subscribers: [{ afterFlush: () => {} }] }))

describe('a rule for writing', () => {
  it('leaves a write planned, which explain says', async () => {
    await using engine = await RestEngine.create({
      entities: [Seat],
      resources: [resource(Seat, { write: () => ({ of: 1 }) })],
      seed: { seats: [{ row: 'a', number: 1, of: 1 }] },
    })
    const { writes } = await engine.explain('PATCH', '/v1/seats/a~1', undefined, { note: 'y' })
    assert.match(JSON.stringify(writes), /by statements/)
  })

  it('is not passed by what the engine has asked for before', async () => {
    const Shelf = defineEntity({
      name: 'Shelf',
      properties: { id: p.integer().primary(), name: p.string(), books: () => p.manyToMany(Book) },
    })
    const Book = defineEntity({
      name: 'Book',
      properties: { id: p.integer().primary(), name: p.string(), of: () => p.manyToOne(Shelf).nullable() },
    })
    const Page = defineEntity({ name: 'Page', properties: { id: p.integer().primary(), book: () => p.manyToOne(Book) } })
    await using engine = await RestEngine.create({
      entities: [Shelf, Book, Page],
      resources: [
        resource(Shelf, { scope: () => ({ name: { $ne: 'hidden' } }) }),
        resource(Book, { scope: () => ({ name: { $ne: 'hidden' } }) }),
      ],
      routes: [
        {
          method: 'POST',
          path: '/v1/many',
          handler: async ctx => {
            const books = [
              { name: 'c', of: 1 },
              { name: 'd', of: 2 },
            ]
            return { body: (await ctx.ask('POST', '/books', {}, books, { as: 'engine' })) as unknown }
          },
        },
        {
          method: 'POST',
          path: '/v1/shelve',
          handler: async ctx => ({ body: (await ctx.ask('POST', '/pages', {}, [{ book: 2 }, { book: 4 }], { as: 'engine' })) as unknown }),
        },
      ],
      seed: {
        books: [
          { id: 1, name: 'hidden' },
          { id: 2, name: 'b' },
          { id: 3, name: 'hidden' },
        ],
        shelves: [
          { id: 1, name: 'a', books: [1, 2, 3] },
          { id: 2, name: 'b' },
        ],
      },
    })
    for (const path of ['/v1/many', '/v1/shelve']) {
      const { status, body } = await engine.handle('POST', path)
      assert.equal(status, 200, JSON.stringify(body))
    }
    assert.equal((await engine.handle('PUT', '/v1/shelves/1/books', {}, [])).status, 200)
    assert.equal((await engine.orm.em.getConnection().execute('select * from shelf_books')).length, 2)
  })
})

describeStores('keys of several texts', () => {
  const Box = defineEntity({ name: 'Box', properties: { id: p.integer().primary(), parts: () => p.oneToMany(Part).mappedBy('box') } })
  const Part = defineEntity({
    name: 'Part',
    properties: {
      maker: p.string().primary(),
      model: p.string().primary(),
      locked: p.boolean(),
      box: () => p.manyToOne(Box).nullable(),
    },
  })
  const seed = {
    boxes: [{ id: 1 }],
    parts: [
      { maker: 'a,b', model: 'c', locked: false },
      { maker: 'a', model: 'b,c', locked: true },
    ],
  }

  for (const subscribers of [[], [{ afterUpdate() {} }]])
    it(`that read alike when joined by a comma are two rows, ${subscribers.length === 0 ? 'by statements' : 'by the unit of work'}`, async () => {
      const resources = [resource(Part, { write: () => ({ locked: false }) })]
      const engine = await createEngine({ entities: [Box, Part], orm: { subscribers }, resources, seed })
      const { status, body } = await engine.handle('PUT', '/v1/boxes/1', undefined, { parts: ['a%2Cb~c', 'a~b%2Cc'] })
      assert.equal(status, 403, JSON.stringify(body))
      assert.equal((await engine.handle('PUT', '/v1/boxes/1', undefined, { parts: ['a%2Cb~c'] })).status, 200)
    })
})
