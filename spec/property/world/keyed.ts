/**
 * Keyed: one small model, served with some of its resources by another key (`resource(E, { key })`). What is asked and answered is written
 * with the primary keys: a request is translated to the keys that an engine shows, and its answer back, so that engines with different keys
 * can be compared.
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/sqlite'
import type { EntitySchema } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import { RestEngine, resource } from '../../../lib/index.ts'
import type { HookContext } from '../../../lib/index.ts'
import type { EngineOptions } from '../../helpers/stores.ts'

export type Name = 'users' | 'profiles' | 'tags' | 'articles' | 'comments'

/** The property that takes the place of the ID, in each resource. */
export const KEYS: Readonly<Record<Name, string>> = { users: 'name', profiles: 'code', tags: 'label', articles: 'slug', comments: 'number' }

/** The resource that each relation leads to. */
const TARGETS: Readonly<Record<string, Name>> = {
  user: 'users',
  author: 'users',
  reviewer: 'users',
  profile: 'profiles',
  tags: 'tags',
  article: 'articles',
  parent: 'articles',
  children: 'articles',
  articles: 'articles',
  reviewed: 'articles',
  comments: 'comments',
}

function makeEntities(): readonly EntitySchema[] {
  const User: EntitySchema = defineEntity({
    name: 'User',
    properties: {
      id: p.integer().primary(),
      name: p.string().unique(),
      age: p.integer().default(1),
      profile: () => p.oneToOne(Profile).mappedBy('user').nullable(),
      articles: () => p.oneToMany(Article).mappedBy('author'),
      reviewed: () => p.oneToMany(Article).mappedBy('reviewer'),
    },
  })
  const Profile: EntitySchema = defineEntity({
    name: 'Profile',
    properties: {
      id: p.integer().primary(),
      code: p.uuid().unique(),
      user: () => p.oneToOne(User).owner().nullable(),
    },
  })
  const Tag: EntitySchema = defineEntity({
    name: 'Tag',
    properties: { id: p.integer().primary(), label: p.string().unique(), articles: () => p.manyToMany(Article).mappedBy('tags') },
  })
  const Article: EntitySchema = defineEntity({
    name: 'Article',
    properties: {
      id: p.integer().primary(),
      slug: p.string().unique(),
      title: p.string().default(''),
      author: () => p.manyToOne(User),
      reviewer: () => p.manyToOne(User).nullable(),
      parent: () => p.manyToOne(Article).nullable(),
      children: () => p.oneToMany(Article).mappedBy('parent'),
      tags: () => p.manyToMany(Tag).owner(),
      comments: () => p.oneToMany(Comment).mappedBy('article').orphanRemoval(),
    },
  })
  const Comment: EntitySchema = defineEntity({
    name: 'Comment',
    properties: {
      id: p.integer().primary(),
      number: p.bigint().unique(),
      text: p.string().default(''),
      article: () => p.manyToOne(Article),
    },
  })
  return [User, Profile, Tag, Article, Comment]
}

const NAMES: readonly Name[] = ['users', 'profiles', 'tags', 'articles', 'comments']

/**
 * The value of a key that each ID has from the beginning, and which new records are given. None of them can be taken for a primary key of
 * its resource.
 */
function keyOf(name: Name, id: number): string {
  if (name === 'profiles') return `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`
  if (name === 'comments') return String(9_007_199_254_740_993n + BigInt(1000 - id))
  return `${['z', 'ü/', 'x~', 'a b', '%'][id % 5]!}${name}${id}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A record that a request names, by its primary key. Key 99 is that of no record. */
interface Ref {
  readonly of: Name
  readonly id: number
}

export interface KeyedRequest {
  readonly method: string
  readonly path: readonly (string | Ref)[]
  readonly query: Readonly<Record<string, string | number | readonly (string | Ref)[]>>
  readonly body: unknown
}

function isRef(value: unknown): value is Ref {
  return typeof value === 'object' && value !== null && 'of' in value && 'id' in value && Object.keys(value).length === 2
}

/** What else an engine has in another way, and answers alike nevertheless. */
export interface OtherWays {
  /** Answers and bodies are in an envelope of the application. */
  readonly wraps: boolean
  /** The title of a new article is given by the engine, in one of two in the place of the body; a change has none. */
  readonly fills: boolean
}

const NO_OTHER_WAYS: OtherWays = { wraps: false, fills: false }

/** The title that new articles get where they are filled. */
const FILLED = 'filled'

/** All parts, so that the engine's own form can be told from it. */
const ENVELOPE = {
  list: {
    data: 'records',
    meta: { count: 'count', offset: 'offset', limit: 'limit', sort: 'sort', filter: 'filter', previous: 'previous', next: 'next' },
    of: 'resource',
    ok: 'success',
  },
  record: { inner: { '{singular}': 'record' }, of: 'resource', done: 'status', ok: 'success' },
} as const

/** Returns the body of an answer in the engine's own form. */
function unwrap(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { of, ok, data, meta, inner, done } = body
  if (typeof of !== 'string') return body
  if (meta !== undefined) return { success: ok, resource: of, ...(meta as object), [of]: data }
  return {
    success: ok,
    resource: of,
    ...(done === undefined ? {} : { status: done }),
    [of]: (inner as Readonly<Record<string, unknown>>)[of],
  }
}

const SINGULAR: Readonly<Record<Name, string>> = {
  users: 'user',
  profiles: 'profile',
  tags: 'tag',
  articles: 'article',
  comments: 'comment',
}

/** One engine, and which of its resources have another key. */
export class Keyed implements AsyncDisposable {
  readonly engine: RestEngine
  readonly keyed: ReadonlySet<Name>
  readonly #ways: OtherWays
  /** Whether it is the one that has things in other ways. */
  readonly #isOther: boolean

  private constructor(engine: RestEngine, keyed: ReadonlySet<Name>, ways: OtherWays, isOther: boolean) {
    this.engine = engine
    this.keyed = keyed
    this.#ways = ways
    this.#isOther = isOther
  }

  /** @param flushes whether all writes go through MikroORM's unit of work */
  static async of(
    keyed: ReadonlySet<Name>,
    {
      flushes = false,
      scoped = false,
      ways = NO_OTHER_WAYS,
      isOther = false,
      create = (options: EngineOptions): Promise<RestEngine> => RestEngine.create(options),
    } = {},
  ): Promise<Keyed> {
    const entities = makeEntities()
    const resources = NAMES.map((name, index) =>
      resource(entities[index]!, {
        ...(keyed.has(name) ? { key: KEYS[name] } : {}),
        ...(scoped && name === 'users' ? { scope: () => ({ age: { $lt: 4 } }), write: () => ({ age: { $lt: 3 } }) } : {}),
        ...(name === 'articles' ? { computed: { isMine: isMine(isOther) } } : {}),
        ...(name === 'articles' && ways.fills && isOther ? { attributes: { title: { fill: () => FILLED } } } : {}),
        ...(scoped && name === 'tags' ? { scope: () => ({ id: { $lt: 4 } }) } : {}),
      } as never),
    )
    const engine = await create({
      entities: [...entities],
      resources,
      ...(ways.wraps && isOther ? { envelope: ENVELOPE } : {}),
      clock: () => new Date('2026-01-01T00:00:00Z'),
      ...(flushes ? { orm: { subscribers: [{ afterFlush: () => {} }] } } : {}),
    })
    const made = new Keyed(engine, keyed, ways, isOther)
    await engine.seed(made.translate(SEED) as never)
    return made
  }

  /** What stands for a primary key. */
  idOf({ of, id }: Ref): string | number {
    return this.keyed.has(of) ? (this.#keys.get(`${of} ${id}`) ?? keyOf(of, id)) : id
  }

  translate(value: unknown): unknown {
    if (isRef(value)) return this.idOf(value)
    if (Array.isArray(value)) return value.map(each => this.translate(each))
    if (typeof value !== 'object' || value === null) return value
    const given = Object.entries(value).filter(([, each]) => each !== undefined)
    return Object.fromEntries(given.map(([name, each]) => [name, this.translate(each)]))
  }

  /** Returns an answer with primary keys in the place of others, and what the journal says, too. */
  async ask({ method, path, query, body }: KeyedRequest): Promise<unknown> {
    const segments = path.map(segment => (isRef(segment) ? encodeURIComponent(String(this.idOf(segment))).replaceAll('~', '%7E') : segment))
    const pairs = Object.entries(query).map(([name, value]) => {
      const texts = Array.isArray(value) ? (value as readonly (string | Ref)[]).map(each => this.#write(each)).join(',') : textOf(value)
      return `${name}=${encodeURIComponent(texts)}`
    })
    const target = `/v1/${segments.join('/')}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`
    const sent = this.#send(method, path, this.translate(body))
    const answer = await this.engine.handle(method, target, {}, sent, { headers: { 'x-user': '2' } })
    const shown = unwrap(answer.body as Readonly<Record<string, unknown>>)
    const { changes = [] } = this.engine.requests.at(-1)!
    for (const { resource: name, before, after } of changes) {
      this.#learn(name as Name, before)
      this.#learn(name as Name, after)
    }
    return {
      told: { method, target, body: sent },
      status: answer.status,
      location: this.#readPath(answer.headers['location'], path.some(isRef) && method !== 'POST'),
      body: answer.status < 400 ? this.#readBody(shown, method !== 'GET') : this.#readRefusal(shown),
      changes: changes
        .map(({ type, resource: name, id, before, after }) => ({
          type,
          resource: name,
          id: this.#readChanged(id, name as Name, after ?? before),
          before: this.#readRecord(before, false),
          after: this.#readRecord(after, false),
        }))
        .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    }
  }

  /** A text of a filter as it means itself. */
  #write(value: string | Ref): string {
    return isRef(value) ? String(this.idOf(value)).replaceAll(/[\\,*]/g, '\\$&') : value
  }

  /** @param isMoved whether the path is that of a record which has got another key: one by the primary key stays where it is */
  #readPath(path: string | undefined, isMoved: boolean): unknown {
    if (path === undefined || isMoved) return undefined
    const [, , name, segment] = path.split('/')
    return `/${name!}/${String(this.#read(decodeURIComponent(segment!), name as Name))}`
  }

  /** The body as this engine takes it. */
  #send(method: string, path: KeyedRequest['path'], body: unknown): unknown {
    const [name, , attribute] = path
    const of = (path.length === 1 || path.length === 2 ? name : TARGETS[textOf(attribute)]) as Name
    const isRecord = typeof body === 'object' && body !== null && !Array.isArray(body)
    const filled = this.#ways.fills && of === 'articles' ? this.#fill(method, body) : body
    const isWrapped = this.#ways.wraps && this.#isOther && isRecord && (path.length < 3 || method === 'POST' || attribute === 'author')
    return isWrapped ? { inner: { [SINGULAR[of]]: filled } } : filled
  }

  #fill(method: string, body: unknown): unknown {
    if (Array.isArray(body)) return body.map(each => (typeof each === 'object' ? this.#fill(method, each) : (each as unknown)))
    if (typeof body !== 'object' || body === null) return body
    const { title: _, ...rest } = body as Readonly<Record<string, unknown>>
    return method === 'POST' && !this.#isOther ? { ...rest, title: FILLED } : rest
  }

  /** @param isWritten whether a list is no page, of which an envelope says more than the engine itself */
  #readBody(body: Readonly<Record<string, unknown>>, isWritten: boolean): unknown {
    const { timestamp: _, filter: __, next, previous, resource: named, ...rest } = body
    const records = rest[String(named)]
    if (isWritten && Array.isArray(records)) return { named, records: records.map(each => this.#readRecord(each)) }
    const list = Array.isArray(records) ? records.map(each => this.#readRecord(each)) : this.#readRecord(records)
    return { ...rest, named, isFirst: previous === null, isLast: next === null, [String(named)]: list }
  }

  #readRefusal({ code, errors }: Readonly<Record<string, unknown>>): unknown {
    const listed = (errors ?? []) as readonly Readonly<Record<string, unknown>>[]
    return { code, errors: listed.map(each => `${String(each['attribute'])} ${String(each['code'])}`).toSorted() }
  }

  #readRecord(record: unknown, isWhole = true): unknown {
    if (typeof record !== 'object' || record === null) return record
    return Object.fromEntries(
      Object.entries(record).map(([name, value]) => {
        const target = TARGETS[name]
        if (target === undefined) return [name, value as unknown]
        const one = (each: unknown): unknown =>
          typeof each === 'object' && each !== null ? this.#readRecord(each, isWhole) : this.#read(each, target)
        return [name, Array.isArray(value) ? value.map(one) : one(value)]
      }),
    )
  }

  /** The primary key of what is shown. */
  #read(shown: unknown, of: Name): unknown {
    if (!this.keyed.has(of) || shown === null || shown === undefined)
      return shown === undefined ? shown : shown === null ? null : Number(shown)
    const known = this.#ids.get(`${of} ${textOf(shown)}`)
    if (known !== undefined) return known
    for (let id = 1; id < 10; id++) if (keyOf(of, id) === textOf(shown)) return id
    return assert.fail(`${textOf(shown)} is no key of ${of}`)
  }

  /** A new record may have the key that another one gives up in the same request. */
  #readChanged(shown: unknown, of: Name, record: Readonly<Record<string, unknown>> | null): unknown {
    const key = this.keyed.has(of) ? record?.[KEYS[of]] : record?.['id']
    return key !== undefined && textOf(key) === textOf(shown) ? Number(record!['id']) : this.#read(shown, of)
  }

  /** The keys that records have got since the seed, by their IDs, and the other way round. */
  readonly #keys = new Map<string, string>()
  readonly #ids = new Map<string, number>()

  #learn(of: Name, record: Readonly<Record<string, unknown>> | null): void {
    const [id, key] = [record?.['id'], record?.[KEYS[of]]]
    if (id === undefined || key === undefined) return
    this.#keys.set(`${of} ${textOf(id)}`, textOf(key))
    this.#ids.set(`${of} ${textOf(key)}`, Number(id))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine.close()
  }
}

/** Whether an article is that of user 2: by a value, or by the user who asks. */
function isMine(byCaller: boolean): object {
  const user = byCaller ? (ctx: HookContext): number => Number(ctx.headers['x-user']) : 2
  return { type: 'boolean', sql: (row: string) => ({ sql: `${row}.author_id = ?`, params: [user] }) }
}

const ref = (of: Name, id: number): Ref => ({ of, id })

const SEED = {
  comments: [1, 2, 3, 4].map(id => ({ id, number: keyOf('comments', id), text: `c${id}`, article: ref('articles', 1 + (id % 2)) })),
  articles: [1, 2, 3].map(id => ({
    id,
    slug: keyOf('articles', id),
    title: `t${id}`,
    author: ref('users', 1 + (id % 2)),
    reviewer: id === 2 ? null : ref('users', 4 - id),
    parent: id === 3 ? ref('articles', 1) : null,
    tags: [ref('tags', id), ref('tags', 4)],
  })),
  users: [1, 2, 3, 4].map(id => ({ id, name: keyOf('users', id), age: id })),
  tags: [1, 2, 3, 4, 5].map(id => ({ id, label: keyOf('tags', id) })),
  profiles: [1, 2].map(id => ({ id, code: keyOf('profiles', id), user: ref('users', 3 - id) })),
}

const anyRef = (of: Name): fc.Arbitrary<Ref> =>
  fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 5 }) }, { weight: 1, arbitrary: fc.constant(99) }).map(id => ref(of, id))
const someRefs = (of: Name): fc.Arbitrary<Ref[]> => fc.uniqueArray(anyRef(of), { maxLength: 3, selector: ({ id }) => id })
const depth = fc.option(
  fc.record({ depth: fc.constantFrom(0, 1, 2), expand: fc.constantFrom('', '', 'tags', 'author', 'author.articles', 'comments') }),
  { nil: {} },
)

const FILTERS: readonly (readonly [resource: Name, path: string, target: Name])[] = [
  ['articles', 'author', 'users'],
  ['articles', 'reviewer', 'users'],
  ['articles', 'tags', 'tags'],
  ['articles', 'parent', 'articles'],
  ['articles', 'parent.author', 'users'],
  ['articles', 'comments', 'comments'],
  ['articles', 'author.profile', 'profiles'],
  ['articles', 'tags.articles', 'articles'],
  ['comments', 'article', 'articles'],
  ['comments', 'article.tags', 'tags'],
  ['users', 'profile', 'profiles'],
  ['users', 'articles', 'articles'],
  ['users', 'articles|reviewed', 'articles'],
  ['users', 'articles.comments', 'comments'],
  ['profiles', 'user', 'users'],
  ['tags', 'articles.author', 'users'],
]
const SORTS: Readonly<Record<Name, readonly string[]>> = {
  users: ['articles', 'name', 'profile.id', 'articles.title.desc'],
  profiles: ['user.age', 'user.articles'],
  tags: ['articles', 'articles.author.age'],
  articles: ['author.name', 'reviewer', 'comments.desc', 'tags', 'parent.author.age'],
  comments: ['article.title', 'article.comments'],
}

const lists: fc.Arbitrary<KeyedRequest> = fc.constantFrom(...FILTERS).chain(([name, path, target]) =>
  fc
    .record({
      refs: fc.array(fc.oneof({ weight: 6, arbitrary: anyRef(target) }, { weight: 1, arbitrary: fc.constant('null') }), {
        minLength: 1,
        maxLength: 3,
      }),
      mark: fc.constantFrom('', '', '!'),
      sort: fc.option(fc.constantFrom(...SORTS[name]), { nil: undefined }),
      limit: fc.constantFrom(1, 2, 100),
      shown: depth,
    })
    .map(({ refs, mark, sort, limit, shown }) => ({
      method: 'GET',
      path: [name],
      query: { [`${mark}${path}`]: refs, ...(sort === undefined ? {} : { sort }), limit, ...shown },
      body: undefined,
    })),
)

const RELATED: readonly (readonly [Name, string])[] = [
  ['users', 'profile'],
  ['users', 'articles'],
  ['users', 'age'],
  ['profiles', 'user'],
  ['tags', 'articles'],
  ['articles', 'author'],
  ['articles', 'reviewer'],
  ['articles', 'parent'],
  ['articles', 'children'],
  ['articles', 'tags'],
  ['articles', 'comments'],
  ['comments', 'article'],
]
/** Lists, whose members have paths of their own. */
const LISTS: readonly (readonly [Name, string])[] = [
  ['users', 'articles'],
  ['tags', 'articles'],
  ['articles', 'tags'],
  ['articles', 'comments'],
]
const reads: fc.Arbitrary<KeyedRequest> = fc.oneof(
  lists,
  fc
    .constantFrom(...NAMES)
    .chain(name => fc.tuple(anyRef(name), depth).map(([id, query]) => ({ method: 'GET', path: [name, id], query, body: undefined }))),
  fc
    .constantFrom(...RELATED)
    .chain(([name, attribute]) =>
      fc
        .tuple(anyRef(name), attribute === 'age' ? fc.constant({}) : depth)
        .map(([id, query]) => ({ method: 'GET', path: [name, id, attribute], query, body: undefined })),
    ),
  fc
    .constantFrom(...LISTS)
    .chain(([name, attribute]) =>
      fc
        .tuple(anyRef(name), anyRef(TARGETS[attribute]!), depth)
        .map(([id, member, query]) => ({ method: 'GET', path: [name, id, attribute, member], query, body: undefined })),
    ),
)

/** A key for a new record: unlike those of records that are there, one that is taken now and then. */
const fresh = (name: Name): fc.Arbitrary<string> =>
  fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 10, max: 60 }) }, { weight: 1, arbitrary: fc.constant(2) }).map(id => keyOf(name, id))

const newComment = fc.record({ number: fresh('comments'), text: fc.constantFrom('n', 'm') })
const newTag = fc.record({ label: fresh('tags') })
const links = {
  reviewer: fc.option(anyRef('users')),
  parent: fc.option(anyRef('articles')),
  tags: fc.uniqueArray(fc.oneof({ weight: 4, arbitrary: anyRef('tags') }, newTag), {
    maxLength: 3,
    selector: each => JSON.stringify(each),
  }),
  comments: fc.uniqueArray(fc.oneof(anyRef('comments'), newComment), { maxLength: 2, selector: each => JSON.stringify(each) }),
}
const articleChange = fc.record(
  { slug: fresh('articles'), title: fc.constantFrom('a', 'b'), author: anyRef('users'), ...links },
  { requiredKeys: [] },
)
const newArticle = fc.record(
  { slug: fresh('articles'), author: anyRef('users'), ...links, title: fc.constant('n') },
  { requiredKeys: ['slug', 'author'] },
)

const request = (method: string, path: readonly (string | Ref)[], body?: unknown): KeyedRequest => ({ method, path, query: {}, body })

/** Bodies that come together. They link none of each other, whose IDs could be guessed where these are counted. */
const together = (body: fc.Arbitrary<object>): fc.Arbitrary<object[]> =>
  fc
    .array(body, { minLength: 2, maxLength: 4 })
    .filter(bodies => !/"of":"(?:articles","id":[45]|comments","id":5)/.test(JSON.stringify(bodies)))

const writes: fc.Arbitrary<KeyedRequest> = fc.oneof(
  newArticle.map(body => request('POST', ['articles'], body)),
  together(newArticle).map(bodies => request('POST', ['articles'], bodies)),
  together(fc.record({ number: fresh('comments'), article: anyRef('articles') })).map(bodies => request('POST', ['comments'], bodies)),
  fc.record({ number: fresh('comments'), article: anyRef('articles') }).map(body => request('POST', ['comments'], body)),
  fc.tuple(anyRef('articles'), articleChange).map(([id, body]) => request('PATCH', ['articles', id], body)),
  fc.tuple(anyRef('users'), newArticle).map(([id, body]) => request('POST', ['users', id, 'articles'], { ...body, author: undefined })),
  fc.tuple(anyRef('users'), newArticle).map(([id, body]) => request('POST', ['users', id, 'articles'], body)),
  fc.tuple(anyRef('articles'), newTag).map(([id, body]) => request('POST', ['articles', id, 'tags'], body)),
  fc.tuple(anyRef('articles'), someRefs('tags')).map(([id, body]) => request('PUT', ['articles', id, 'tags'], body)),
  fc.tuple(anyRef('tags'), someRefs('articles')).map(([id, body]) => request('PUT', ['tags', id, 'articles'], body)),
  fc.tuple(anyRef('users'), someRefs('articles')).map(([id, body]) => request('PUT', ['users', id, 'reviewed'], body)),
  fc.tuple(anyRef('articles'), fc.option(anyRef('users'))).map(([id, body]) => request('PUT', ['articles', id, 'reviewer'], body)),
  fc.tuple(anyRef('users'), fc.option(anyRef('profiles'))).map(([id, body]) => request('PUT', ['users', id, 'profile'], body)),
  fc
    .tuple(anyRef('articles'), fc.constantFrom('x', 'y'))
    .map(([id, name]) => request('PUT', ['articles', id, 'author'], { age: name === 'x' ? 2 : 5 })),
  fc
    .tuple(anyRef('users'), fc.option(anyRef('profiles')), someRefs('articles'))
    .map(([id, profile, reviewed]) => request('PATCH', ['users', id], { profile, reviewed })),
  fc.constantFrom(...NAMES).chain(name => anyRef(name).map(id => request('DELETE', [name, id]))),
  fc
    .constantFrom<readonly [Name, string]>(['articles', 'comments'], ['articles', 'reviewer'], ['articles', 'tags'], ['users', 'profile'])
    .chain(([name, attribute]) => anyRef(name).map(id => request('DELETE', [name, id, attribute]))),
  fc
    .constantFrom(...LISTS)
    .chain(([name, attribute]) =>
      fc.tuple(anyRef(name), anyRef(TARGETS[attribute]!)).map(([id, member]) => request('DELETE', [name, id, attribute, member])),
    ),
)

export const keyedReads: fc.Arbitrary<KeyedRequest[]> = fc.array(reads, { minLength: 8, maxLength: 20, size: 'max' })
export const keyedWrites: fc.Arbitrary<KeyedRequest[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: writes }, { weight: 1, arbitrary: reads }),
  {
    minLength: 8,
    maxLength: 20,
    size: 'max',
  },
)
export const otherWays: fc.Arbitrary<OtherWays> = fc.record({ wraps: fc.boolean(), fills: fc.boolean() })
export const keyedNames: fc.Arbitrary<ReadonlySet<Name>> = fc.subarray([...NAMES]).map(names => new Set(names))
