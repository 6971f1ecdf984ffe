/**
 * The option `key`: a unique attribute takes the place of the ID wherever clients meet one. That nothing else differs is the matter of
 * spec/property/keys.spec.ts.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defineEntity, p, type EntitySchema } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { RestEngine, auth, client, resource } from '../../lib/index.ts'
import type { EngineOptions, Explanation, RestResponse } from '../../lib/index.ts'
import { thresholds } from '../../lib/foundation/base/thresholds.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Author: EntitySchema = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string().unique(),
    age: p.integer().default(30),
    articles: () => p.oneToMany(Article).mappedBy('author'),
    profile: () => p.oneToOne(Profile).mappedBy('author').nullable(),
  },
})
const Profile: EntitySchema = defineEntity({
  name: 'Profile',
  properties: { id: p.integer().primary(), bio: p.string(), author: () => p.oneToOne(Author).owner() },
})
const Tag: EntitySchema = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string().unique() } })
const Article: EntitySchema = defineEntity({
  name: 'Article',
  properties: {
    id: p.integer().primary(),
    slug: p.string().unique(),
    title: p.string().default(''),
    author: () => p.manyToOne(Author).deleteRule('cascade'),
    reviewer: () => p.manyToOne(Author).nullable(),
    tags: () => p.manyToMany(Tag).owner(),
    comments: () => p.oneToMany(Comment).mappedBy('article'),
  },
})
const Comment: EntitySchema = defineEntity({
  name: 'Comment',
  properties: { id: p.integer().primary(), number: p.bigint().unique(), text: p.string().default(''), article: () => p.manyToOne(Article) },
})

/** The parts of the OpenAPI document that are looked at. */
interface Described {
  readonly components: {
    readonly parameters: { readonly ArticleId: { readonly schema: unknown; readonly description: string } }
    readonly schemas: { readonly Article: { readonly properties: { readonly author: { readonly anyOf: readonly unknown[] } } } }
  }
}

const entities = [Author, Profile, Tag, Article, Comment]
const resources = [
  resource(Author, { key: 'name' }),
  resource(Tag, { key: 'name', attributes: { id: { private: true } } }),
  resource(Article, { key: 'slug' }),
  resource(Comment, { key: 'number' }),
]
const seed = {
  comments: [{ number: '9007199254740993', text: 'hi', article: 'how-to' }],
  articles: [
    { slug: 'how-to', title: 'How to', author: 'ann', tags: ['training', 'dragons'] },
    { slug: 'a b/c~%', author: 'bob', reviewer: 'ann', tags: [] },
  ],
  authors: [{ name: 'ann' }, { name: 'bob' }],
  tags: [{ name: 'dragons' }, { name: 'training' }],
  profiles: [{ bio: 'b', author: 'ann' }],
}
const HOW_TO = {
  id: 1,
  slug: 'how-to',
  title: 'How to',
  author: 'ann',
  reviewer: null,
  tags: ['dragons', 'training'],
  comments: ['9007199254740993'],
}

async function start(options: EngineOptions = {}): Promise<RestEngine> {
  return createEngine({ entities, resources, seed, ...options })
}

async function ask(engine: RestEngine, method: string, path: string, body?: unknown, status = 200): Promise<RestResponse> {
  const answer = await engine.handle(method, `/v1${path}`, undefined, body)
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  return answer
}

async function slugs(engine: RestEngine, query: string): Promise<unknown> {
  const { body } = await ask(engine, 'GET', `/articles?${query}`)
  return body.articles.map(({ slug }: { slug: string }) => slug)
}

async function codes(engine: RestEngine, method: string, path: string, body: unknown): Promise<unknown> {
  const answer = await ask(engine, method, path, body, 422)
  return answer.body.errors.map(({ code, attribute, detail }: Record<string, unknown>) => [code, attribute, detail])
}

describeStores('a key of the application', () => {
  it('is the ID in paths, and the only one', async () => {
    await using engine = await start()
    assert.deepEqual((await ask(engine, 'GET', '/articles/how-to')).body.article, HOW_TO)
    assert.equal((await ask(engine, 'GET', '/articles/how-to/title')).body.value, 'How to')
    assert.equal((await ask(engine, 'GET', '/articles/how-to/author')).body.author.name, 'ann')
    assert.equal((await ask(engine, 'GET', '/authors/ann/profile')).body.profile.author, 'ann')
    assert.equal((await ask(engine, 'GET', '/comments/9007199254740993/article')).body.article.slug, 'how-to')
    assert.equal((await ask(engine, 'GET', `/articles/${encodeURIComponent('a b/c~%')}`)).body.article.author, 'bob')
    const missing = await ask(engine, 'GET', '/articles/1', undefined, 404)
    assert.equal(missing.body.detail, 'There is no article with the ID 1.')
    assert.equal(
      (await ask(engine, 'GET', '/comments/abc', undefined, 404)).body.detail,
      'There is no comment with the ID abc: an ID of a comment is an integer.',
    )
    await ask(engine, 'GET', '/articles/nope/tags', undefined, 404)
    await ask(engine, 'GET', '/authors/nope/profile', undefined, 404)
    await ask(engine, 'DELETE', '/articles/1', undefined, 404)
    await ask(engine, 'PUT', '/articles/nope/title', 'x', 404)
  })

  it('is shown by relations, at every depth', async () => {
    await using engine = await start()
    const { body } = await ask(engine, 'GET', '/articles/how-to?depth=2&expand=author')
    assert.deepEqual(body.article.author.articles[0].tags, ['dragons', 'training'])
    assert.deepEqual(body.article.tags, [{ name: 'dragons' }, { name: 'training' }])
    assert.equal(body.article.comments[0].article, 'how-to')
    const list = await ask(engine, 'GET', '/articles/how-to/tags?limit=1')
    assert.deepEqual(list.body.tags, [{ name: 'dragons' }])
    assert.equal(list.body.next, '/v1/articles/how-to/tags?limit=1&offset=1')
    assert.equal(list.body.sort, null, 'a primary key that is private is not named')
  })

  it('filters by relation, and does not cost a statement more', async () => {
    await using engine = await start()
    assert.deepEqual(await slugs(engine, 'author=ann'), ['how-to'])
    assert.deepEqual(await slugs(engine, '!author=ann'), ['a b/c~%'])
    assert.deepEqual(await slugs(engine, 'reviewer=null'), ['how-to'])
    assert.deepEqual(await slugs(engine, 'tags=dragons,nope'), ['how-to'])
    assert.deepEqual(await slugs(engine, 'tags=null'), ['a b/c~%'])
    assert.deepEqual(await slugs(engine, 'comments=9007199254740993'), ['how-to'])
    assert.deepEqual(await slugs(engine, 'author=1'), [])
    const many = Array.from({ length: thresholds.listedValues + 1 }, (_, index) => `x${index}`)
    assert.deepEqual(await slugs(engine, `author=${[...many, 'ann'].join()}`), ['how-to'])
    assert.equal((await engine.handle('GET', '/v1/articles?comments=x')).body.errors[0].code, 'value_invalid')
    await using plain = await createEngine({ entities })
    const count = async (of: RestEngine, path: string): Promise<number> => (await of.explain('GET', `/v1/${path}`)).statements.length
    for (const [keyed, path] of [
      ['articles/how-to?depth=0', 'articles/1?depth=0'],
      ['articles/how-to?attributes=author,reviewer', 'articles/1?attributes=author,reviewer'],
      ['articles?author=ann&depth=0', 'articles?author=1&depth=0'],
      ['articles/how-to/tags?depth=0', 'articles/1/tags?depth=0'],
    ] as const) {
      await plain.reset()
      await plain.seed({
        authors: [{ id: 1, name: 'ann' }],
        tags: [{ id: 1, name: 't' }],
        articles: [{ id: 1, slug: 's', author: 1, tags: [1] }],
      })
      assert.equal(await count(engine, keyed), await count(plain, path), path)
    }
  })

  it('links in bodies; a missing one is named as it was given', async () => {
    await using engine = await start()
    const created = await ask(engine, 'POST', '/articles', {
      slug: 'new',
      author: 'bob',
      reviewer: 'ann',
      tags: ['training', { name: 'neu' }],
      comments: ['9007199254740993', { number: 5 }],
    })
    assert.equal(created.headers.location, '/v1/articles/new')
    assert.deepEqual(created.body.article.tags, ['training', 'neu'])
    assert.deepEqual(created.body.article.comments, ['9007199254740993', '5'])
    const below = await ask(engine, 'POST', '/authors/ann/articles?attributes=title', { slug: 'x y', author: 'ann' })
    assert.equal(below.headers.location, '/v1/articles/x%20y')
    assert.deepEqual((await ask(engine, 'PUT', '/articles/new/tags', ['dragons'])).body.article.tags, ['dragons'])
    assert.equal((await ask(engine, 'PUT', '/articles/new/author', 'ann')).body.article.author, 'ann')
    assert.equal((await ask(engine, 'PUT', '/articles/new', { reviewer: null })).body.article.reviewer, null)
    assert.equal((await ask(engine, 'PATCH', '/articles/new', { author: { name: 'cid' } })).body.article.author, 'cid')
    assert.deepEqual(
      await codes(engine, 'POST', '/articles', { slug: 's', author: 'nobody', tags: ['dragons', 'nope', 5] }),
      [
        ['reference_not_found', 'author', '"author": there is no author with the ID nobody.'],
        ['reference_not_found', 'tags.1', '"tags.1": there is no tag with the ID nope.'],
        ['value_invalid', 'tags.2', '"tags.2" must be the ID of a tag (a string) or an object to create one.'],
      ]
        .toSorted((a, b) => (a[0]! > b[0]! ? -1 : 1))
        .toSorted((a, b) => (a[1]! < b[1]! ? -1 : 1)),
    )
    assert.deepEqual(
      ((await codes(engine, 'POST', '/authors/ann/articles', { slug: 's', author: 'bob' })) as unknown[][])[0]!.slice(0, 2),
      ['conflict', 'author'],
    )
  })

  it('may be changed: the answer bears the new one, and so does Location', async () => {
    await using engine = await start()
    const renamed = await ask(engine, 'PUT', '/articles/how-to', { slug: 'how/so' })
    assert.deepEqual([renamed.headers.location, renamed.body.article.slug], ['/v1/articles/how%2Fso', 'how/so'])
    assert.equal((await ask(engine, 'GET', '/comments')).body.comments[0].article, 'how/so')
    await ask(engine, 'GET', '/articles/how-to', undefined, 404)
    const same = await ask(engine, 'PUT', '/articles/how%2Fso', { slug: 'how/so', title: 't' })
    assert.equal(same.headers.location, undefined)
    const attribute = await ask(engine, 'PUT', '/articles/how%2Fso/slug', 'b')
    assert.equal(attribute.headers.location, '/v1/articles/b')
    assert.equal((await ask(engine, 'PUT', '/articles/b', { slug: 'a b/c~%' }, 409)).body.errors[0].code, 'not_unique')
    assert.equal((await ask(engine, 'PUT', '/articles/b', { id: 9 }, 422)).body.errors[0].code, 'key_fixed')
  })

  it('is written by statements of a plan', async () => {
    await using engine = await start()
    const ways = async (method: string, path: string, body?: object): Promise<unknown> => {
      const explained: Explanation = await engine.explain(method, `/v1${path}`, undefined, body)
      assert.equal(explained.status, 200, `${method} ${path}`)
      return explained.writes
    }
    const planned = ['by statements of a plan']
    assert.deepEqual(await ways('POST', '/articles', { slug: 'n', author: 'bob' }), planned)
    assert.deepEqual(await ways('POST', '/articles', { slug: 'n', author: 'bob', tags: ['dragons', { name: 'x' }] }), planned)
    assert.deepEqual(await ways('POST', '/authors/ann/articles', { slug: 'n' }), planned)
    assert.deepEqual(await ways('PATCH', '/articles/how-to', { reviewer: 'bob', slug: 'z' }), planned)
    assert.deepEqual(await ways('PUT', '/articles/how-to/tags', ['dragons']), planned)
    assert.deepEqual(await ways('DELETE', '/comments/9007199254740993'), planned)
  })

  it('is the ID in the journal, of records that go, too', async () => {
    await using engine = await start()
    await ask(engine, 'PUT', '/articles/how-to', { slug: 'b', tags: ['dragons'] })
    assert.deepEqual(engine.requests.at(-1)!.changes, [
      {
        type: 'update',
        resource: 'articles',
        id: 'b',
        before: { id: 1, slug: 'how-to', title: 'How to', author: 'ann', reviewer: null, tags: ['dragons', 'training'] },
        after: { id: 1, slug: 'b', title: 'How to', author: 'ann', reviewer: null, tags: ['dragons'] },
      },
    ])
    await ask(engine, 'PUT', '/articles/b/tags', ['training'])
    assert.deepEqual(engine.requests.at(-1)!.changes, [
      { type: 'update', resource: 'articles', id: 'b', before: { tags: ['dragons'] }, after: { tags: ['training'] } },
    ])
    await ask(engine, 'DELETE', '/comments/9007199254740993')
    await ask(engine, 'DELETE', `/articles/${encodeURIComponent('a b/c~%')}`)
    await ask(engine, 'DELETE', '/authors/ann/profile')
    await ask(engine, 'DELETE', '/authors/ann')
    const gone = engine.requests
      .at(-1)!
      .changes!.map(({ resource: name, id, before }) => [name, id, before.author ?? before.name, before.tags])
    assert.deepEqual(
      gone.toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
      [
        ['articles', 'b', 'ann', ['training']],
        ['authors', 'ann', 'ann', undefined],
      ],
    )
  })

  it('is given to `expect`', async () => {
    await using engine = await start()
    const change = (): Promise<unknown> => engine.send('PUT /v1/articles/how-to', { body: { title: 'x' } })
    await engine.expect({ articles: { updated: 1 } }, change)
  })

  it('links made-up records, and the records of a seed in any order', async () => {
    await using engine = await start()
    const made = await engine.given('article', { author: 'ann', tags: ['dragons'] })
    assert.deepEqual([made['author'], made['tags']], ['ann', ['dragons']])
    const alone = await engine.given('article', { slug: 'alone' })
    assert.equal(typeof alone['author'], 'string')
    await engine.seed({
      articles: [{ slug: 's', author: 'new', tags: ['dragons', 't'] }],
      tags: [{ name: 't' }],
      authors: [{ name: 'new' }],
    })
    assert.deepEqual((await ask(engine, 'GET', '/articles/s')).body.article.tags, ['dragons', 't'])
    await assert.rejects(
      engine.seed({ articles: [{ slug: 'u', author: 'none' }] }),
      /"articles\.0\.author": there is no author with the ID none/,
    )
    await assert.rejects(engine.given('article', { author: 'none' }), /there is no author with the ID none/)
  })

  it('names no record that is out of scope', async () => {
    const scoped = [resource(Author, { key: 'name', scope: () => ({ age: { $lt: 40 } }) }), ...resources.slice(1)]
    await using engine = await start({ resources: scoped })
    await ask(engine, 'PUT', '/authors/ann', { age: 50 }, 403)
    await engine.seed({ authors: [{ name: 'old', age: 60 }], articles: [{ slug: 'o', author: 'old' }] })
    await ask(engine, 'GET', '/authors/old', undefined, 404)
    await ask(engine, 'GET', '/authors/old/articles', undefined, 404)
    await ask(engine, 'PUT', '/authors/old', { age: 1 }, 404)
    assert.deepEqual((await ask(engine, 'GET', '/articles/o')).body.article.author, null)
    assert.deepEqual(await slugs(engine, 'author=old'), [])
    const [error] = (await codes(engine, 'POST', '/articles', { slug: 'q', author: 'old' })) as unknown[][]
    const [none] = (await codes(engine, 'POST', '/articles', { slug: 'q', author: 'xxx' })) as unknown[][]
    assert.deepEqual(error, ['reference_not_found', 'author', '"author": there is no author with the ID old.'])
    assert.deepEqual(none![2], '"author": there is no author with the ID xxx.')
  })

  it('of a row out of scope is refused like one that no row has, whatever the body', async () => {
    const scoped = [resource(Author, { key: 'name', scope: () => ({ age: { $lt: 40 } }) }), ...resources.slice(1)]
    await using engine = await start({ resources: scoped })
    await engine.seed({ authors: [{ name: 'old', age: 60 }] })
    for (const [method, place] of [
      ['PUT', ''],
      ['PATCH', '/age'],
      ['PUT', '/articles'],
      ['POST', '/articles'],
      ['DELETE', ''],
      ['DELETE', '/articles'],
    ] as const)
      for (const body of [undefined, null, 5, 'x', [], {}, [5], { nope: 1 }, { age: 'x' }]) {
        const [hidden, none] = await Promise.all(
          ['old', 'xxx'].map(async name => {
            const answer = await engine.handle(method, `/v1/authors/${name}${place}`, {}, body)
            return JSON.stringify([answer.status, { ...(answer.body as object), timestamp: '' }]).replaceAll(name, 'NAME')
          }),
        )
        assert.equal(hidden, none, `${method} ${place} ${JSON.stringify(body)}`)
      }
    await ask(engine, 'PUT', '/authors/old', 5, 404)
  })

  it('cannot be a text that leads to no record in a path, neither in POST nor in PUT', async () => {
    await using engine = await start()
    for (const name of ['', '.', '..']) {
      assert.deepEqual(((await codes(engine, 'POST', '/authors', { name })) as unknown[][])[0]?.slice(0, 2), ['value_invalid', 'name'])
      assert.deepEqual(((await codes(engine, 'PATCH', '/authors/ann', { name })) as unknown[][])[0]?.slice(0, 2), ['value_invalid', 'name'])
    }
  })

  it('is in the document, and conforms to it', async () => {
    await using engine = await start()
    const document = (await engine.openapi({ details: true })) as unknown as Described
    assert.deepEqual(document.components.parameters.ArticleId.schema, { type: 'string' })
    assert.equal(document.components.parameters.ArticleId.description, 'The ID of an article: its "slug".')
    const { author } = document.components.schemas.Article.properties
    assert.deepEqual(author.anyOf[0], { type: 'string' })
  })

  it('holds in forks, and in one version alone', async () => {
    const two = [resource(Article, { key: 'slug', versions: ['v1'] }), resource(Article, { versions: ['v2'] })]
    await using engine = await start({
      resources: [...two, ...resources.filter(({ entity }) => entity !== Article)],
      versions: ['v1', 'v2'],
    })
    await using world = await engine.fork()
    assert.deepEqual((await ask(world, 'GET', '/articles/how-to')).body.article, HOW_TO)
    assert.deepEqual((await world.handle('GET', '/v2/articles/1')).body.article, HOW_TO)
    await ask(world, 'PUT', '/articles/how-to', { slug: 'x' })
    assert.deepEqual((await ask(engine, 'GET', '/articles/how-to')).body.article, HOW_TO)
  })

  it('is the ID of a user who logs in, whose token outlives a change of it', async () => {
    const User: EntitySchema = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), name: p.string().unique(), password: p.string().hidden() },
    })
    await using engine = await createEngine({
      entities: [User],
      resources: [resource(User, { key: 'name' })],
      auth: auth({ entity: User, identifier: 'name', secret: 'a secret of this spec', paths: { me: '/me', signUp: '/sign-up' } }),
    })
    const signed = await engine.handle('POST', '/v1/sign-up', undefined, { name: 'ann', password: 'secret' })
    assert.equal(signed.status, 200, JSON.stringify(signed.body))
    assert.equal(signed.headers['location'], '/v1/users/ann')
    const headers = { authorization: `Bearer ${signed.body.auth_token}` }
    const renamed = await engine.handle('PUT', '/v1/me', undefined, { name: 'anna' }, { headers })
    assert.equal(renamed.status, 200, JSON.stringify(renamed.body))
    assert.equal((await engine.handle('GET', '/v1/me', undefined, undefined, { headers })).body.user.name, 'anna')
    assert.equal((await engine.handle('GET', '/v1/users/anna', undefined, undefined, { headers })).status, 200)
  })

  it('names the record that may not be written', async () => {
    await using engine = await start({
      resources: [resource(Author, { key: 'name', write: () => ({ age: { $lt: 40 } }) }), ...resources.slice(1)],
    })
    await engine.seed({ authors: [{ name: 'old', age: 60 }] })
    assert.equal((await ask(engine, 'PUT', '/authors/old', { age: 1 }, 403)).body.detail, 'You may not change the author old.')
    await ask(engine, 'PUT', '/authors/ann', { age: 39 })
  })

  it('is the ID of a single record', async () => {
    await using engine = await start({
      resources: [resource(Author, { key: 'name', single: 'ann', singular: 'me', name: 'authors' }), ...resources.slice(1)],
    })
    assert.equal((await ask(engine, 'GET', '/authors')).body.me.id, 1)
    assert.equal((await ask(engine, 'PUT', '/authors', { age: 9 })).body.me.age, 9)
  })

  it('is what the client takes', async () => {
    await using engine = await start()
    const api = client(engine, { articles: Article })
    assert.equal((await api.articles.get('a b/c~%'))['author'], 'bob')
    assert.equal((await api.articles.update('how-to', { author: 'bob' }))['author'], 'bob')
  })

  it('passes the self-test', async () => {
    await using engine = await start()
    await engine.given.many('comment', 3)
    const { failures } = await engine.selfTest({ seed: 1, runs: 1 })
    assert.deepEqual(failures, [])
  })
})

describe('a key of the application', () => {
  it('holds on a file that is started again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'key-'))
    try {
      const database = join(folder, 'a.sqlite')
      for (const title of ['How to', 'second']) {
        await using engine = await RestEngine.create({ entities, resources, seed, database })
        assert.equal((await ask(engine, 'GET', '/articles/how-to')).body.article.title, title)
        const changed = await ask(engine, 'PUT', '/articles/how-to', { title: 'second', author: 'bob', tags: ['dragons'] })
        assert.deepEqual([changed.body.article.author, changed.body.article.tags], ['bob', ['dragons']])
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('shows a link to nothing, as the file of another program may have one, as none, and finds it as such', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'key-'))
    try {
      const database = join(folder, 'a.sqlite')
      const file = new Database(database)
      file.pragma('foreign_keys = off')
      file.exec(`create table users (id integer primary key, name text not null unique);
        create table posts (id integer primary key, slug text not null unique, user_id integer references users (id));
        insert into users values (1, 'ann'); insert into posts values (1, 'a', 1), (2, 'b', 7), (3, 'c', null)`)
      file.close()
      await using engine = await RestEngine.create({
        database,
        resources: [resource('users', { key: 'name' }), resource('posts', { key: 'slug' })],
      })
      const { posts } = (await ask(engine, 'GET', '/posts')).body
      assert.deepEqual(
        posts.map(({ user }: { user: unknown }) => user),
        ['ann', null, null],
      )
      const found = async (query: string): Promise<unknown> =>
        (await ask(engine, 'GET', `/posts?${query}`)).body.posts.map(({ slug }: { slug: string }) => slug)
      assert.deepEqual([await found('user=null'), await found('!user=null'), await found('user=ann')], [['b', 'c'], ['a'], ['a']])
      assert.equal((await ask(engine, 'PUT', '/posts/b', { user: 'ann' })).body.post.user, 'ann')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  const Box: EntitySchema = defineEntity({
    name: 'Box',
    properties: {
      id: p.integer().primary(),
      code: p.string().unique(),
      label: p.string(),
      maybe: p.string().unique().nullable(),
      flag: p.boolean().unique(),
      secret: p.string().unique().hidden(),
      lid: () => p.manyToOne(Lid),
    },
  })
  const Lid: EntitySchema = defineEntity({
    name: 'Lid',
    properties: { a: p.integer().primary(), b: p.integer().primary(), code: p.string().unique() },
  })
  const Inside: EntitySchema = defineEntity({
    name: 'Inside',
    properties: { box: () => p.manyToOne(Box).primary(), no: p.integer().primary() },
  })
  const Note: EntitySchema = defineEntity({
    name: 'Note',
    properties: { id: p.integer().primary(), about: () => p.manyToOne([Box, Author] as never) as never },
  })
  const REFUSED: readonly (readonly [string, readonly EntitySchema[], unknown, RegExp])[] = [
    ['an unknown property', [], { key: 'cod' }, /resource\(Box\): "key": there is no property "cod"\. Did you mean "code"\?/],
    ['what is no name', [], { key: 5 }, /resource\(Box\): "key" must be the name of a property/],
    ['a property that is not unique', [], { key: 'label' }, /resource\(Box\): "key": "label" is not unique/],
    ['one that can be null', [], { key: 'maybe' }, /"key": "maybe" can be null/],
    ['one that cannot be a key', [], { key: 'flag' }, /"key": "flag" cannot be a key: it is a boolean/],
    ['a hidden one', [], { key: 'secret' }, /"key": "secret" is private or hidden/],
    ['a private one', [], { key: 'code', attributes: { code: { private: true } } }, /"key": "code" is private or hidden/],
    ['a rendered one', [], { key: 'code', attributes: { code: { render: String } } }, /"key": "code" is rendered/],
    ['a relation', [], { key: 'lid' }, /"key": "lid" is no plain value/],
    ['a resource that is part of a primary key', [Inside], { key: 'code' }, /"key": "box" of Inside is part of a primary key/],
    [
      'a resource that a polymorphic relation links',
      [Note, Author, Profile, Article, Tag, Comment],
      { key: 'code' },
      /"about" of Note links one of several/,
    ],
  ]
  for (const [what, more, config, message] of REFUSED) {
    it(`is refused: ${what}`, () =>
      assert.rejects(RestEngine.create({ entities: [Box, Lid, ...more], resources: [resource(Box, config as never)] }), message))
  }

  it('is refused for a primary key of several parts, and where relations show IDs by a name of their own', async () => {
    await assert.rejects(
      RestEngine.create({ entities: [Box, Lid], resources: [resource(Lid, { key: 'code' } as never)] }),
      /the primary key must be one plain property/,
    )
    const ids = resource(Profile, { attributes: { author: { ids: 'authorId' } } })
    await assert.rejects(
      RestEngine.create({ entities, resources: [resource(Author, { key: 'name' }), ids] }),
      /"author" of Profile shows the primary key/,
    )
  })

  it('refuses a link to a record out of scope as one to a record that is not there, at the same place among other refusals', async () => {
    const scoped = [
      resource(Author, { key: 'name', scope: () => ({ name: { $ne: 'secret' } }) }),
      resource(Tag, { key: 'name' }),
      resource(Article, { key: 'slug' }),
    ]
    await using engine = await RestEngine.create({ entities, resources: scoped })
    await engine.seed({ authors: [{ name: 'secret' }, { name: 'a' }] })
    const refusals = async (author: string, reviewer: string): Promise<unknown> => {
      const { body } = await ask(engine, 'POST', '/articles', { slug: 'x', author, reviewer, tags: ['none'] }, 422)
      return (body.errors as { attribute: string; code: string }[]).map(({ attribute, code }) => `${attribute} ${code}`)
    }
    const due = ['author reference_not_found', 'reviewer reference_not_found', 'tags.0 reference_not_found']
    assert.deepEqual(await refusals('nobody', 'nowhere'), due)
    assert.deepEqual(await refusals('secret', 'nowhere'), due)
    assert.deepEqual(await refusals('nobody', 'secret'), due)
  })

  it('takes the room in an answer that its values take, also in the list of one record', async () => {
    await using engine = await RestEngine.create({ entities, resources, limits: { maxAnswerBytes: 5_000 } })
    const tags = [1, 2, 3].map(id => ({ id, name: `${id}`.repeat(2_000) }))
    await engine.seed({
      authors: [{ name: 'a' }],
      tags,
      articles: [
        { slug: 'two', author: 'a', tags: tags.slice(1).map(({ name }) => name) },
        { slug: 'three', author: 'a', tags: tags.map(({ name }) => name) },
      ],
    })
    await ask(engine, 'GET', '/articles/two')
    assert.equal((await ask(engine, 'GET', '/articles/three', undefined, 400)).body.errors[0].code, 'limit_exceeded')
  })

  it('may be the primary key, which changes nothing', async () => {
    await using engine = await RestEngine.create({ entities, resources: [resource(Author, { key: 'id' })] })
    await engine.seed({ authors: [{ id: 1, name: 'a' }] })
    assert.equal((await ask(engine, 'GET', '/authors/1')).body.author.name, 'a')
  })
})
