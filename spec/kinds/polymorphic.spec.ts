/** Relations to one of several entities (MikroORM's polymorphic ones), held against a model in plain JavaScript. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Cascade, defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine, resource } from '../../lib/index.ts'
import { check, costly } from '../helpers/check.ts'
import { watchStatements } from '../helpers/statements.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { Comment, Photo, Post, User, entities } from './polymorphic.ts'

type Body = Record<string, unknown> & {
  resource: string
  code?: string
  errors?: { code: string; attribute?: string; allowed?: unknown }[]
}
type Answer = { status: number; body: Body; headers: Record<string, string> }
type Type = 'post' | 'photo' | 'comment'
interface Link {
  readonly type: Type
  readonly id: number
}

const folder = mkdtempSync(join(tmpdir(), 'polymorphic-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const causes: unknown[] = []
const onError = (error: unknown): void => void causes.push(error)

async function call(engine: RestEngine, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = (await engine.handle(method, path, {}, body)) as Answer
  assert.ok(answer.status < 500, `${method} ${path}: ${causes.splice(0).map(String).join()}`)
  return answer
}

async function done(engine: RestEngine, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await call(engine, method, path, body)
  assert.equal(answer.status, 200, `${method} ${path} ${JSON.stringify(answer.body)}`)
  return answer.body[answer.body.resource]
}

async function refused(engine: RestEngine, method: string, path: string, body: unknown, status: number, code: string, attribute?: string) {
  const answer = await call(engine, method, path, body)
  const told = answer.body.errors?.map(fault => fault.code) ?? [answer.body.code]
  assert.deepEqual([answer.status, told], [status, [code]], `${method} ${path} ${JSON.stringify(answer.body)}`)
  if (attribute !== undefined) assert.equal(answer.body.errors?.[0]?.attribute, attribute)
  return answer
}

/** The stored link of a row. */
async function stored(engine: RestEngine, id: number): Promise<unknown> {
  const [row] = await engine.orm.em.getConnection().execute(`select target_type as type, target_id as id from comment where id = ${id}`)
  return row
}

// The model in plain JavaScript: what a comment links, and what is asked of it.

interface World {
  readonly users: readonly { id: number; name: string }[]
  readonly posts: readonly { id: number; title: string; size: number | null; author: number | null }[]
  readonly photos: readonly { id: number; url: string; size: number | null; author: number | null }[]
  readonly comments: readonly { id: number; text: string | null; target: Link | null }[]
}

/** A record that a comment is about; attributes that it does not have are undefined. */
type Target =
  | { type: Type; id: number; title?: string; url?: string; size?: number | null; author?: number | null; text?: string | null }
  | undefined

function targetOf(world: World, link: Link | null): Target {
  if (link === null) return undefined
  const list: readonly { id: number }[] = { post: world.posts, photo: world.photos, comment: world.comments }[link.type]
  const found = list.find(({ id }) => id === link.id)
  return found === undefined ? undefined : { ...found, type: link.type }
}

function commentsOn(world: World, target: Target): World['comments'] {
  if (target === undefined) return []
  return world.comments.filter(comment => comment.target?.type === target.type && comment.target.id === target.id)
}

function authorOf(world: World, target: Target): string | null {
  return world.users.find(({ id }) => id === (target?.author ?? null))?.name ?? null
}

/** Filters on comments, each with what it means. */
const FILTERS: readonly (readonly [query: string, holds: (target: Target, world: World) => boolean])[] = [
  ['target=null', target => target === undefined],
  ['target=post:1', target => target?.type === 'post' && target.id === 1],
  ['target=post:1,photo:2,comment:1', target => ['post1', 'photo2', 'comment1'].includes(`${target?.type}${target?.id}`)],
  ['target=photo:1,null', target => target === undefined || (target.type === 'photo' && target.id === 1)],
  ['target.type=post', target => target?.type === 'post'],
  ['target.type=photo,comment', target => target?.type === 'photo' || target?.type === 'comment'],
  ['target.type=null', target => target === undefined],
  ['target.type=p*', target => target?.type.startsWith('p') === true],
  ['target.id=1', target => target?.id === 1],
  ['target.id>=2', target => (target?.id ?? 0) >= 2],
  ['target.title=b', target => target?.title === 'b'],
  ['target.title=null', target => (target?.title ?? null) === null],
  ['target.title~=*B*', target => target?.title?.includes('b') === true],
  ['target.size=null', target => (target?.size ?? null) === null],
  ['target.size>1', target => (target?.size ?? 0) > 1],
  ['target.url|target.title=a', target => target?.url === 'a' || target?.title === 'a'],
  ['target.author=1', target => target?.author === 1],
  ['target.author=null', target => (target?.author ?? null) === null],
  ['target.author.name=Ann', (target, world) => authorOf(world, target) === 'Ann'],
  ['target.author.name=null', (target, world) => authorOf(world, target) === null],
  [
    'target.author.posts=1',
    (target, world) => target?.author != null && world.posts.some(({ id, author }) => id === 1 && author === target.author),
  ],
  ['target.comments=1', (target, world) => commentsOn(world, target).some(({ id }) => id === 1)],
  ['target.comments=null', (target, world) => commentsOn(world, target).length === 0],
  ['target.comments.text=null', (target, world) => commentsOn(world, target).some(({ text }) => text === null)],
  ['target.comments.target.type=photo', (target, world) => commentsOn(world, target).length > 0 && target?.type === 'photo'],
  [
    'target.target=post:1',
    (target, world) => {
      const behind = target?.type === 'comment' ? targetOf(world, world.comments.find(({ id }) => id === target.id)!.target) : undefined
      return behind?.type === 'post' && behind.id === 1
    },
  ],
  [
    'target.target.title=null',
    (target, world) => {
      const behind = target?.type === 'comment' ? targetOf(world, world.comments.find(({ id }) => id === target.id)!.target) : undefined
      return (behind?.title ?? null) === null
    },
  ],
]

type Key = string | number | null

/** What comments are sorted by. */
const SORTS: readonly (readonly [sort: string, value: (target: Target, world: World) => Key])[] = [
  ['target', target => (target === undefined ? 0 : 1)],
  ['target.type', target => target?.type ?? null],
  ['target.id', target => target?.id ?? null],
  ['target.size', target => target?.size ?? null],
  ['target.title', target => target?.title ?? null],
  ['target.author.name', (target, world) => authorOf(world, target)],
  ['target.author', (target, world) => (authorOf(world, target) === null ? 0 : 1)],
  ['target.comments', (target, world) => commentsOn(world, target).length],
]

function compare(a: Key, b: Key): number {
  if (a === b) return 0
  if (a === null) return -1
  return b === null || a > b ? 1 : -1
}

const arbitraryWorld: fc.Arbitrary<World> = fc
  .record({
    authors: fc.array(fc.constantFrom('Ann', 'Bob'), { minLength: 1, maxLength: 3 }),
    posts: fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.option(fc.integer({ min: 0, max: 3 })), fc.option(fc.nat(2))), { maxLength: 3 }),
    photos: fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.option(fc.integer({ min: 0, max: 3 })), fc.option(fc.nat(2))), {
      maxLength: 3,
    }),
    comments: fc.array(
      fc.tuple(fc.option(fc.constantFrom('a', 'x')), fc.constantFrom<Type | null>('post', 'photo', 'comment', null), fc.nat(5)),
      {
        minLength: 1,
        maxLength: 8,
      },
    ),
  })
  .map(({ authors, posts, photos, comments }) => {
    const users = authors.map((name, index) => ({ id: index + 1, name }))
    const author = (at: number | null): number | null => (at === null ? null : (at % users.length) + 1)
    const counts = { post: posts.length, photo: photos.length, comment: comments.length }
    return {
      users,
      posts: posts.map(([title, size, by], index) => ({ id: index + 1, title, size, author: author(by) })),
      photos: photos.map(([url, size, by], index) => ({ id: index + 1, url, size, author: author(by) })),
      comments: comments.map(([text, type, at], index) => ({
        id: index + 1,
        text,
        target: type === null || counts[type] === 0 ? null : { type, id: (at % counts[type]) + 1 },
      })),
    }
  })

async function idsOf(engine: RestEngine, query: string): Promise<unknown[]> {
  const records = (await done(engine, 'GET', `/v1/comments?attributes=id&${query}`)) as { id: number }[]
  return records.map(({ id }) => id)
}

describe('relations to one of several entities, on SQLite', () => {
  for (const database of [':memory:', join(folder, 'one.sqlite')]) {
    describe(database === ':memory:' ? 'in memory' : 'in a file', () => {
      let engine: RestEngine
      before(async () => {
        rmSync(database, { force: true })
        engine = await RestEngine.create({
          entities,
          database,
          onError,
          seed: {
            users: [{ id: 1, name: 'Ann' }],
            posts: [
              { id: 1, title: 'p', author: 1, meta: { color: 'red' }, grade: 'x' },
              { id: 2, title: 'q', size: 2 },
            ],
            photos: [{ id: 1, url: 'u', size: 1, grade: 7 }],
            comments: [
              { id: 1, text: 'a', target: { type: 'post', id: 1 } },
              { id: 2, target: { type: 'photo', id: 1 } },
              { id: 3, text: 'c', target: { type: 'comment', id: 2 } },
              { id: 4 },
            ],
            pins: [{ id: 1, on: { type: 'photo', id: 1 } }, { id: 2 }],
            flags: [
              { id: 1, of: { type: 'post', id: 1 } },
              { id: 2, of: { type: 'photo', id: 1 } },
            ],
          },
        })
      })
      beforeEach(() => engine.reset())
      after(() => engine.close())

      it('are shown as an ID with its resource, and expanded as the record with it', async () => {
        assert.deepEqual(await done(engine, 'GET', '/v1/comments?attributes=target'), [
          { target: { type: 'post', id: 1 } },
          { target: { type: 'photo', id: 1 } },
          { target: { type: 'comment', id: 2 } },
          { target: null },
        ])
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/1?depth=0'), { id: 1, text: 'a', changes: 1 })
        const photo = { id: 1, url: 'u', size: 1, grade: 7, author: null, comments: [2], pin: 1 }
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/2?depth=2&attributes=target'), { target: { type: 'photo', ...photo } })
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/3?depth=0&expand=target&attributes=target'), {
          target: { type: 'comment', id: 2, text: null, changes: 1 },
        })
        assert.deepEqual(
          await done(engine, 'GET', '/v1/comments/3?depth=0&expand=target.target&attributes=target.target.url,target.target.type'),
          {
            target: { target: { type: 'photo', url: 'u' } },
          },
        )
        assert.deepEqual(
          await done(engine, 'GET', '/v1/comments?depth=2&attributes=target.title,target.author,!target.author.posts&limit=2'),
          [{ target: { title: 'p', author: 1 } }, { target: { author: null } }],
        )
        assert.deepEqual(await done(engine, 'GET', '/v1/pins?depth=2&attributes=on.type,on.id'), [
          { on: { type: 'photo', id: 1 } },
          { on: null },
        ])
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/2/target'), photo)
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/2/target?attributes=url'), { url: 'u' })
        const empty = await call(engine, 'GET', '/v1/comments/4/target')
        assert.deepEqual(
          [empty.status, empty.body.resource, empty.body['attribute'], empty.body['value']],
          [200, 'comment', 'target', null],
        )
        assert.equal((await call(engine, 'GET', '/v1/comments/9/target')).status, 404)
        assert.deepEqual(await done(engine, 'GET', '/v1/posts/1/comments?target.title=p&attributes=id'), [{ id: 1 }])
        assert.deepEqual(await done(engine, 'GET', '/v1/comments?target.meta.color=red&attributes=id'), [{ id: 1 }])
      })

      it('cost a fixed number of statements', async () => {
        const cost = async (path: string): Promise<number> => (await watchStatements(() => done(engine, 'GET', path))).sql.length
        assert.equal(await cost('/v1/comments?depth=0&expand=target&attributes=id,target'), 1 + 3)
        await engine.seed({
          comments: Array.from({ length: 60 }, (_, index) => ({ target: { type: ['post', 'photo', 'comment'][index % 3]!, id: 1 } })),
        })
        assert.equal(await cost('/v1/comments?depth=0&expand=target&attributes=id,target'), 1 + 3)
        assert.equal(await cost('/v1/comments?attributes=id,target'), 1)
      })

      it('refuse what cannot be meant', async () => {
        await refused(engine, 'GET', '/v1/comments?target=1', undefined, 400, 'value_invalid')
        await refused(engine, 'GET', '/v1/comments?target=user:1', undefined, 400, 'value_invalid')
        await refused(engine, 'GET', '/v1/comments?target=post:x', undefined, 400, 'value_invalid')
        await refused(engine, 'GET', '/v1/comments?target=post:*', undefined, 400, 'operator_invalid')
        await refused(engine, 'GET', '/v1/comments?target>=post:1', undefined, 400, 'operator_invalid')
        await refused(engine, 'GET', '/v1/comments?target.type=user', undefined, 400, 'value_invalid')
        const unknown = await refused(engine, 'GET', '/v1/comments?target.titel=x', undefined, 400, 'attribute_unknown')
        assert.ok((unknown.body.errors![0]!.allowed as string[]).includes('title'))
        await refused(engine, 'GET', '/v1/comments?expand=target.title', undefined, 400, 'not_a_relation')
        await refused(engine, 'GET', '/v1/comments?expand=target.nothing', undefined, 400, 'attribute_unknown')
        await refused(engine, 'GET', '/v1/comments?sort=target.grade', undefined, 400, 'not_sortable')
        await refused(engine, 'GET', '/v1/comments?target.target.target.target.target.target.id=1', undefined, 400, 'limit_exceeded')
        assert.deepEqual(await idsOf(engine, 'target.grade=7'), [2])
        await refused(engine, 'GET', '/v1/comments/1/target?target=post:1', undefined, 400, 'parameter_not_allowed')
        await refused(engine, 'POST', '/v1/comments/1/target', {}, 400, 'action_not_possible')
      })

      it('are linked by an ID with its resource, and made by an object with more', async () => {
        const put = async (target: unknown): Promise<unknown> =>
          ((await done(engine, 'PUT', '/v1/comments/4', { target })) as { target: unknown }).target
        assert.deepEqual(await put({ type: 'photo', id: 1 }), { type: 'photo', id: 1 })
        assert.deepEqual(await stored(engine, 4), { type: 'photo', id: 1 })
        assert.deepEqual(await put({ type: 'post', id: 1 }), { type: 'post', id: 1 })
        assert.deepEqual(await put({ type: 'post', title: 'new' }), { type: 'post', id: 3 })
        assert.deepEqual(await put({ type: 'comment', target: { type: 'photo', url: 'deep', author: { name: 'Cid' } } }), {
          type: 'comment',
          id: 5,
        })
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/5?depth=2&attributes=target.url,target.author'), {
          target: { url: 'deep', author: 2 },
        })
        assert.equal(await put(null), null)
        assert.deepEqual(((await stored(engine, 4)) as { type: unknown }).type, null)
        const made = await done(engine, 'POST', '/v1/comments', { text: 'x', target: { type: 'photo', id: 1 } })
        assert.deepEqual(made, { id: 6, text: 'x', changes: 1, target: { type: 'photo', id: 1 }, comments: [] })
      })

      it('refuse links that are wrong, with the place', async () => {
        const put = (target: unknown, code: string, attribute: string) =>
          refused(engine, 'PUT', '/v1/comments/1', { target }, 422, code, attribute)
        await put(1, 'value_invalid', 'target')
        await put('post:1', 'value_invalid', 'target')
        await put([{ type: 'post', id: 1 }], 'value_invalid', 'target')
        await put({ id: 1 }, 'required', 'target.type')
        await put({ type: 'user', id: 1 }, 'not_allowed', 'target.type')
        await put({ type: 'posts', id: 1 }, 'not_allowed', 'target.type')
        await put({ type: 'post', id: 99 }, 'reference_not_found', 'target.id')
        await put({ type: 'post', id: 'x' }, 'value_invalid', 'target.id')
        await put({ type: 'post', id: null }, 'value_invalid', 'target.id')
        await put({ type: 'post' }, 'required', 'target.title')
        await put({ type: 'photo', url: 1 }, 'value_invalid', 'target.url')
        await put({ type: 'photo', url: 'u', title: 't' }, 'attribute_unknown', 'target.title')
        await refused(engine, 'POST', '/v1/flags', {}, 422, 'required', 'of')
        await refused(engine, 'PUT', '/v1/flags/1', { of: null }, 422, 'null_not_allowed', 'of')
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/1?attributes=target,changes'), {
          changes: 1,
          target: { type: 'post', id: 1 },
        })
      })

      it('have a path, which changes, links, unlinks and deletes', async () => {
        const path = '/v1/comments/1/target'
        const put = async (body: unknown): Promise<unknown> => ((await done(engine, 'PUT', path, body)) as { target: unknown }).target
        assert.deepEqual(await put({ title: 'changed' }), { type: 'post', id: 1 })
        assert.deepEqual(await put({ type: 'post', size: 9 }), { type: 'post', id: 1 })
        assert.deepEqual(await done(engine, 'GET', '/v1/posts/1?attributes=title,size'), { title: 'changed', size: 9 })
        assert.deepEqual(await put({ type: 'photo', url: 'other' }), { type: 'photo', id: 2 })
        assert.deepEqual(await put({ type: 'comment', id: 2 }), { type: 'comment', id: 2 })
        assert.equal(await put(null), null)
        await refused(engine, 'PUT', path, { title: 'none' }, 422, 'required', 'target.type')
        assert.deepEqual(await put({ type: 'post', title: 'made' }), { type: 'post', id: 3 })
        for (const body of [5, 'post:1', [], true]) assert.equal((await call(engine, 'PUT', path, body)).status, 400)
        const deleted = await call(engine, 'DELETE', path)
        assert.deepEqual([deleted.body.resource, (deleted.body['post'] as Link).id], ['post', 3])
        assert.equal((await call(engine, 'GET', '/v1/posts/3')).status, 404)
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/1?attributes=target'), { target: null })
        await refused(engine, 'DELETE', path, undefined, 404, 'record_not_found')
        await refused(engine, 'DELETE', '/v1/flags/1/of', undefined, 409, 'owner_required')
      })

      it('have other sides, lists and single ones', async () => {
        const made = (await done(engine, 'POST', '/v1/posts', {
          id: 9,
          title: 'l',
          comments: [1, { text: 'in' }, { target: { type: 'post', id: 9 } }],
        })) as Record<string, unknown>
        assert.deepEqual(made['comments'], [1, 5, 6])
        await refused(
          engine,
          'POST',
          '/v1/posts',
          { id: 10, title: 'l', comments: [{ target: { type: 'photo', id: 10 } }] },
          422,
          'conflict',
          'comments.0.target',
        )
        assert.deepEqual(await done(engine, 'POST', '/v1/photos/1/comments', { text: 'p' }), {
          id: 7,
          text: 'p',
          changes: 1,
          target: { type: 'photo', id: 1 },
          comments: [],
        })
        await refused(engine, 'POST', '/v1/photos/1/comments', { target: { type: 'post', id: 1 } }, 422, 'conflict', 'target')
        assert.deepEqual(((await done(engine, 'PUT', '/v1/photos/1', { comments: [1, 2] })) as Record<string, unknown>)['comments'], [1, 2])
        assert.deepEqual(await idsOf(engine, 'target=null'), [4, 7])
        assert.deepEqual(((await done(engine, 'DELETE', '/v1/photos/1/comments?text=a')) as unknown[]).length, 1)
        assert.deepEqual(((await done(engine, 'PUT', '/v1/posts/1', { pin: 1 })) as Record<string, unknown>)['pin'], 1)
        assert.deepEqual(await done(engine, 'GET', '/v1/pins/1'), { id: 1, on: { type: 'post', id: 1 } })
        await refused(engine, 'PUT', '/v1/pins/2', { on: { type: 'post', id: 1 } }, 409, 'not_unique', 'on')
        await done(engine, 'PUT', '/v1/pins/2', { on: { type: 'photo', id: 1 } })
        assert.deepEqual(((await done(engine, 'PUT', '/v1/posts/1/pin', null)) as Record<string, unknown>)['pin'], null)
        assert.deepEqual(await done(engine, 'GET', '/v1/photos/1/pin'), { id: 2, on: { type: 'photo', id: 1 } })
        // The model removes flags without their post.
        await done(engine, 'PUT', '/v1/posts/1', { flags: [] })
        assert.equal((await call(engine, 'GET', '/v1/flags/1')).status, 404)
        await done(engine, 'PUT', '/v1/posts/2', { flags: [{}] })
        assert.deepEqual(await done(engine, 'GET', '/v1/flags/3'), { id: 3, of: { type: 'post', id: 2 } })
      })

      it('are unlinked when what they link goes, or keep it where they cannot be without', async () => {
        await refused(engine, 'DELETE', '/v1/photos/1', undefined, 409, 'owner_required')
        await done(engine, 'DELETE', '/v1/flags/2')
        await done(engine, 'DELETE', '/v1/photos/1')
        assert.deepEqual(await idsOf(engine, 'target=null'), [2, 4])
        const { changes } = engine.requests.findLast(({ method }) => method === 'DELETE')!
        assert.deepEqual(
          changes!
            .map(({ type, resource: of, id, before, after }) => [
              type,
              of,
              id,
              before?.target ?? before?.on ?? null,
              after?.target ?? after?.on ?? null,
            ])
            .toSorted((a, b) => String(a[1]).localeCompare(String(b[1]))),
          [
            ['update', 'comments', 2, { type: 'photo', id: 1 }, null],
            ['delete', 'photos', 1, null, null],
            ['update', 'pins', 1, { type: 'photo', id: 1 }, null],
          ],
        )
        // A new record under the number of the old one is another one.
        await done(engine, 'POST', '/v1/photos', { id: 1, url: 'again' })
        assert.deepEqual(await idsOf(engine, 'target=null'), [2, 4])
        // The posts' flags go with them, as orphans do.
        await done(engine, 'DELETE', '/v1/posts/1')
        assert.equal((await call(engine, 'GET', '/v1/flags/1')).status, 404)
      })

      it('that lead nowhere link nothing, everywhere', async () => {
        // SQLite deletes the posts of a user, and knows nothing of comments.
        await done(engine, 'DELETE', '/v1/users/1')
        assert.deepEqual(await stored(engine, 1), { type: 'post', id: 1 })
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/1?attributes=target'), { target: null })
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/1?attributes=target&depth=2'), { target: null })
        assert.deepEqual(await idsOf(engine, 'target=null'), [1, 4])
        assert.deepEqual(await idsOf(engine, 'target.type=null'), [1, 4])
        assert.deepEqual(await idsOf(engine, 'target=post:1'), [])
        assert.deepEqual(await idsOf(engine, 'sort=target.desc'), [2, 3, 1, 4])
        assert.equal((await call(engine, 'GET', '/v1/comments/1/target')).body['value'], null)
        assert.deepEqual(await done(engine, 'PUT', '/v1/comments/1', { text: 'z' }), {
          id: 1,
          text: 'z',
          changes: 2,
          target: null,
          comments: [],
        })
        await refused(engine, 'DELETE', '/v1/comments/1/target', undefined, 404, 'record_not_found')
        assert.deepEqual(
          ((await done(engine, 'PUT', '/v1/comments/1', { target: { type: 'post', id: 2 } })) as Record<string, unknown>)['target'],
          { type: 'post', id: 2 },
        )
        // A kind that nobody knows.
        await engine.orm.em.getConnection().execute("update comment set target_type = 'nothing' where id = 2")
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/2?attributes=target'), { target: null })
      })

      it('keep to preconditions and versions', async () => {
        const { headers } = await call(engine, 'GET', '/v1/comments/1')
        const etag = headers['etag']!
        const put = (tag: string) =>
          engine.handle('PUT', '/v1/comments/1/target', {}, { type: 'photo', id: 1 }, { headers: { 'if-match': tag } })
        assert.equal(((await put('"0"')) as Answer).status, 412)
        assert.equal(((await put(etag)) as Answer).status, 200)
        assert.equal(((await put(etag)) as Answer).status, 412)
      })

      it('are in snapshots, forks, the journal and made-up records', async () => {
        const world = await engine.fork()
        await done(world, 'PUT', '/v1/comments/1', { target: { type: 'photo', id: 1 } })
        assert.deepEqual(
          world.requests.at(-1)!.changes!.map(({ before, after }) => [before.target, after.target]),
          [
            [
              { type: 'post', id: 1 },
              { type: 'photo', id: 1 },
            ],
          ],
        )
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/1?attributes=target'), { target: { type: 'post', id: 1 } })
        await world.reset()
        assert.deepEqual(await done(world, 'GET', '/v1/comments/1?attributes=target'), { target: { type: 'post', id: 1 } })
        assert.deepEqual((await world.given('flag'))['of'], { type: 'post', id: 3 })
        assert.deepEqual((await world.given('flag', { of: { type: 'photo' } }))['of'], { type: 'photo', id: 2 })
        assert.deepEqual((await world.given('flag', { of: { type: 'photo', id: 1 } }))['of'], { type: 'photo', id: 1 })
        assert.equal((await world.given('comment'))['target'], null)
        await assert.rejects(world.seed({ comments: [{ target: { type: 'post', id: 77 } }] }), /there is no post with the ID 77/)
        await world.seed({
          comments: [
            { id: 70, target: { type: 'comment', id: 71 } },
            { id: 71, target: { type: 'post', id: 80 } },
          ],
          posts: [{ id: 80, title: 'later' }],
        })
        assert.deepEqual(await done(world, 'GET', '/v1/comments?id>=70&attributes=target'), [
          { target: { type: 'comment', id: 71 } },
          { target: { type: 'post', id: 80 } },
        ])
        await world.close()
      })
    })
  }
})

describeStores('relations to one of several entities', () => {
  it('are filtered and sorted as a model in plain JavaScript says', async () => {
    await using engine = await createEngine({ entities, onError })
    const property = fc.asyncProperty(arbitraryWorld, async world => {
      await engine.seed(world as never)
      for (const [query, holds] of FILTERS) {
        const meets = world.comments.filter(({ target }) => holds(targetOf(world, target), world)).map(({ id }) => id)
        assert.deepEqual(await idsOf(engine, query), meets, query)
        const others = world.comments.map(({ id }) => id).filter(id => !meets.includes(id))
        if (!query.includes('|')) assert.deepEqual(await idsOf(engine, `!${query}`), others, `!${query}`)
      }
      for (const [sort, value] of SORTS) {
        for (const sign of [1, -1]) {
          const sorted = world.comments
            .toSorted(
              (a, b) => sign * compare(value(targetOf(world, a.target), world), value(targetOf(world, b.target), world)) || a.id - b.id,
            )
            .map(({ id }) => id)
          assert.deepEqual(await idsOf(engine, `sort=${sort}${sign < 0 ? '.desc' : ''}`), sorted, `${sort} ${sign}`)
        }
      }
      for (const [type, list] of [
        ['post', world.posts],
        ['photo', world.photos],
        ['comment', world.comments],
      ] as const) {
        const shown = (await done(engine, 'GET', `/v1/${type}s?attributes=id,comments`)) as { id: number; comments: number[] }[]
        const on = list.map(({ id }) => ({ id, comments: commentsOn(world, { type, id }).map(comment => comment.id) }))
        assert.deepEqual(shown, on)
        const having = on.filter(({ comments }) => comments.includes(1)).map(({ id }) => ({ id }))
        assert.deepEqual(await done(engine, 'GET', `/v1/${type}s?attributes=id&comments=1`), having)
        const byCount = on.toSorted((a, b) => b.comments.length - a.comments.length || a.id - b.id).map(({ id }) => ({ id }))
        assert.deepEqual(await done(engine, 'GET', `/v1/${type}s?attributes=id&sort=comments.desc`), byCount)
      }
      for (const { id, target } of world.comments) {
        const answer = await call(engine, 'GET', `/v1/comments/${id}/target`)
        const linked = targetOf(world, target)
        if (linked === undefined) assert.deepEqual([answer.body['attribute'], answer.body['value']], ['target', null])
        else assert.deepEqual([answer.body.resource, (answer.body[answer.body.resource] as Link).id], [linked.type, linked.id])
      }
    })
    await check(
      property.beforeEach(() => engine.reset()),
      { label: 'relations to one of several entities', runs: costly(20) },
    )
  })

  describe('with rules', () => {
    const seed = {
      users: [{ id: 1, name: 'Ann' }],
      posts: [
        { id: 1, title: 'open' },
        { id: 2, title: 'shut', author: 1 },
      ],
      photos: [{ id: 1, url: 'u' }],
      comments: [
        { id: 1, target: { type: 'post', id: 1 } },
        { id: 2, target: { type: 'post', id: 2 } },
        { id: 3, target: { type: 'photo', id: 1 } },
        { id: 4 },
      ],
    }
    const linksOf = async (engine: RestEngine, query = ''): Promise<unknown> =>
      ((await done(engine, 'GET', `/v1/comments?attributes=id,target${query}`)) as { target: Link | null }[]).map(
        ({ target }) => target && `${target.type}${target.id}`,
      )

    it('lead to nothing out of scope', async () => {
      const engine = await createEngine({ entities, seed, onError, resources: [resource(Post, { scope: () => ({ title: 'open' }) })] })
      try {
        const seen = ['post1', null, 'photo1', null]
        assert.deepEqual(await linksOf(engine), seen)
        assert.deepEqual(await done(engine, 'GET', '/v1/comments/2?depth=2&attributes=target'), { target: null })
        assert.deepEqual(await idsOf(engine, 'target=null'), [2, 4])
        assert.deepEqual(await idsOf(engine, 'target=post:2'), [])
        assert.deepEqual(await idsOf(engine, 'target.type=post'), [1])
        assert.deepEqual(await idsOf(engine, 'target.author.name=Ann'), [])
        assert.deepEqual(await idsOf(engine, 'sort=target.type.desc'), [1, 3, 2, 4])
        assert.equal((await call(engine, 'GET', '/v1/comments/2/target')).body['value'], null)
        await refused(engine, 'PUT', '/v1/comments/4', { target: { type: 'post', id: 2 } }, 422, 'reference_not_found', 'target.id')
        await refused(engine, 'DELETE', '/v1/comments/2/target', undefined, 404, 'record_not_found')
        const outside = await call(engine, 'PUT', '/v1/comments/4/target', { type: 'post', title: 'elsewhere' })
        assert.deepEqual([outside.status, outside.body.code], [403, 'outside_scope'])
      } finally {
        await engine.close()
      }
    })

    it('lead to nothing that may not be read, whoever decides it', async () => {
      for (const access of [false, () => false] as const) {
        const engine = await createEngine({ entities, seed, onError, resources: [resource(Photo, { access })] })
        try {
          assert.deepEqual(await linksOf(engine), ['post1', 'post2', null, null])
          assert.deepEqual(await done(engine, 'GET', '/v1/comments/3?depth=2&attributes=target'), { target: null })
          assert.deepEqual(await idsOf(engine, 'target=null'), [3, 4])
          await refused(engine, 'GET', '/v1/comments?target.url=u', undefined, 400, 'attribute_unknown')
          assert.equal((await call(engine, 'GET', '/v1/comments/3/target')).body['value'], null)
          const linked = await call(engine, 'PUT', '/v1/comments/4', { target: { type: 'photo', id: 1 } })
          assert.equal(linked.status, 422)
          const made = await call(engine, 'PUT', '/v1/comments/4', { target: { type: 'photo', url: 'x' } })
          assert.ok(made.status === 403 || made.status === 422, String(made.status))
        } finally {
          await engine.close()
        }
      }
    })

    it('ask for what is done to the linked record', async () => {
      const access = { update: false, delete: false, create: false }
      const engine = await createEngine({ entities, seed, onError, resources: [resource(Post, { access })] })
      try {
        assert.deepEqual(await linksOf(engine), ['post1', 'post2', 'photo1', null])
        assert.equal((await call(engine, 'PUT', '/v1/comments/1/target', { title: 'x' })).status, 403)
        assert.equal((await call(engine, 'PUT', '/v1/comments/3/target', { type: 'post', title: 'x' })).status, 403)
        assert.equal((await call(engine, 'DELETE', '/v1/comments/1/target')).status, 403)
        assert.equal((await call(engine, 'DELETE', '/v1/comments/3/target')).status, 200)
        assert.deepEqual(await linksOf(engine), ['post1', 'post2', null, null])
      } finally {
        await engine.close()
      }
    })

    it('follow the rules of attributes, names and versions', async () => {
      const engine = await createEngine({
        entities,
        seed: {
          users: seed.users,
          photos: seed.photos,
          articles: seed.posts,
          comments: [{ id: 1, target: { type: 'article', id: 1 } }],
        },
        onError,
        versions: ['v1', 'v2'],
        resources: [
          resource(Post, { name: 'articles', singular: 'article', versions: ['v1'], attributes: { title: { private: true } } }),
          resource(Comment, { versions: ['v1'] }),
          resource(Comment, { versions: ['v2'], attributes: { target: { readOnly: true, filterable: false } } }),
          resource(User, { access: { get: false } }),
        ],
      })
      try {
        assert.deepEqual(await linksOf(engine), ['article1'])
        await refused(engine, 'GET', '/v1/comments?target.title=open', undefined, 400, 'attribute_unknown')
        await refused(engine, 'GET', '/v1/comments?target.author=1', undefined, 400, 'attribute_unknown')
        // Where posts are not served, a link to one is none.
        assert.deepEqual(await done(engine, 'GET', '/v2/comments?attributes=target'), [{ target: null }])
        await refused(engine, 'GET', '/v2/comments?target=null', undefined, 400, 'not_filterable')
        await refused(engine, 'PUT', '/v2/comments/1', { target: { type: 'photo', id: 1 } }, 422, 'read_only', 'target')
      } finally {
        await engine.close()
      }
    })

    it('are understood in scopes, as MikroORM writes them', async () => {
      type Scope = (ctx: { em: { getReference: (entity: unknown, key: unknown) => unknown } }) => object
      let current: Scope
      const resources = [resource(Comment, { scope: ((ctx: never) => current(ctx)) as never })]
      await using engine = await createEngine({ entities, seed, onError, resources })
      const seen = async (scope: Scope): Promise<unknown> => {
        current = scope
        return idsOf(engine, '')
      }
      assert.deepEqual(await seen(() => ({ target: null })), [4])
      assert.deepEqual(await seen(() => ({ target: ['photo', 1] })), [3])
      assert.deepEqual(await seen(({ em }) => ({ target: em.getReference(Post, 2) })), [2])
      assert.deepEqual(await seen(() => ({ $not: { target: ['post', 1] } })), [2, 3])
      current = () => ({ target: 1 })
      const answer = (await engine.handle('GET', '/v1/comments')) as Answer
      assert.equal(answer.status, 500)
      assert.match(String(causes.splice(0)), /takes null, an entity, or \[discriminator/)
    })
  })

  it('are read with the record that they link in one state of the data, whenever a write comes between', async () => {
    const Doc = defineEntity({ name: 'Doc', properties: { id: p.integer().primary(), title: p.string() } })
    const Url = defineEntity({ name: 'Url', properties: { id: p.integer().primary(), address: p.string() } })
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), about: () => p.manyToOne([Doc, Url]) } })
    const slow = (value: unknown): Promise<unknown> => Promise.resolve(value)
    const resources = [resource(Url, { attributes: { address: { render: slow } } })]
    const seed = { docs: [{ id: 1, title: 'd' }], urls: [{ id: 5, address: 'u' }], notes: [{ id: 1, about: { type: 'doc', id: 1 } }] }
    await using engine = await createEngine({ entities: [Doc, Url, Note], resources, seed })
    const seen = new Set<string>()
    for (let turns = 0; turns < 40; turns++) {
      await done(engine, 'PUT', '/v1/notes/1', { about: { type: 'doc', id: 1 } })
      const reading = call(engine, 'GET', '/v1/notes/1/about')
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await done(engine, 'PUT', '/v1/notes/1', { about: { type: 'url', id: 5 } })
      const { body } = await reading
      seen.add(JSON.stringify(body[body.resource]))
    }
    for (const record of seen) assert.ok(record === '{"id":1,"title":"d"}' || record === '{"id":5,"address":"u"}', record)
  })

  it('are reached through lists, each record once', async () => {
    const First = defineEntity({ name: 'First', properties: { id: p.integer().primary(), size: p.integer(), mark: p.string() } })
    const Second = defineEntity({ name: 'Second', properties: { id: p.integer().primary(), size: p.integer(), mark: p.integer() } })
    const Item = defineEntity({
      name: 'Item',
      properties: { id: p.integer().primary(), box: () => p.manyToOne(Box), of: () => p.manyToOne([First, Second]).nullable() },
    })
    const Box = defineEntity({
      name: 'Box',
      properties: {
        id: p.integer().primary(),
        items: () =>
          p
            .oneToMany(Item)
            .mappedBy('box')
            .orderBy({ of: { size: 'desc' } } as never),
      },
    })
    const engine = await createEngine({
      entities: [First, Second, Item, Box],
      onError,
      seed: {
        firsts: [
          { id: 1, size: 5, mark: 'x' },
          { id: 2, size: 1, mark: 'y' },
        ],
        seconds: [
          { id: 1, size: 3, mark: 4 },
          { id: 2, size: 9, mark: 4 },
        ],
        boxes: [{ id: 1 }, { id: 2 }, { id: 3 }],
        items: [
          { id: 1, box: 1, of: { type: 'first', id: 1 } },
          { id: 2, box: 1, of: { type: 'second', id: 1 } },
          { id: 3, box: 2, of: { type: 'first', id: 2 } },
          { id: 4, box: 2, of: { type: 'second', id: 2 } },
          { id: 5, box: 2, of: { type: 'second', id: 2 } },
          { id: 6, box: 2 },
          { id: 7, box: 1, of: { type: 'second', id: 2 } },
        ],
      },
    })
    const ids = async (query: string): Promise<unknown> =>
      ((await done(engine, 'GET', `/v1/boxes?attributes=id&${query}`)) as { id: number }[]).map(({ id }) => id).join('')
    try {
      assert.equal(await ids('sort=items.of.size'), '321')
      assert.equal(await ids('sort=items.of.size.desc'), '123')
      assert.equal(await ids('sort=items.of'), '321')
      assert.equal(await ids('sort=items.of.type.desc'), '123')
      assert.equal(await ids('items.of.size>=4'), '12')
      assert.equal(await ids('items.of=null'), '2')
      assert.equal(await ids('items.of=first:1'), '1')
      assert.equal(await ids('!items.of.type=first'), '3')
      assert.deepEqual(await done(engine, 'GET', '/v1/boxes/2?attributes=items'), { items: [4, 5, 3, 6] })
      await refused(engine, 'GET', '/v1/boxes?sort=items.of.mark', undefined, 400, 'not_sortable')
      await refused(engine, 'GET', '/v1/boxes?items.of.mark=x', undefined, 400, 'value_invalid')
    } finally {
      await engine.close()
    }
  })

  it('are properties of classes that inherit, references, cascade, and need no other side', async () => {
    const Doc = defineEntity({
      name: 'Doc',
      properties: { id: p.integer().primary(), name: p.string(), secret: p.string().hidden().nullable() },
    })
    const Url = defineEntity({
      name: 'Url',
      properties: { id: p.integer().primary(), href: p.string(), memos: () => p.oneToMany(Memo).mappedBy('about') },
    })
    const Base = defineEntity({
      name: 'Base',
      discriminatorColumn: 'kind' as never,
      abstract: true,
      properties: { id: p.integer().primary(), kind: p.enum(['memo', 'task']) },
    })
    const Memo = defineEntity({
      name: 'Memo',
      extends: Base,
      discriminatorValue: 'memo',
      properties: { about: () => p.manyToOne([Doc, Url]).ref().nullable().cascade(Cascade.PERSIST, Cascade.REMOVE) },
    } as never)
    const Task = defineEntity({
      name: 'Task',
      extends: Base,
      discriminatorValue: 'task',
      properties: { owner: () => p.manyToOne([Doc, Url]).nullable() },
    } as never)
    const engine = await createEngine({ entities: [Doc, Url, Base, Memo, Task] as never, onError })
    try {
      await done(engine, 'POST', '/v1/memos', { about: { type: 'doc', name: 'd', secret: 'not to be told' } })
      assert.ok(!JSON.stringify(engine.requests.at(-1)).includes('not to be told'))
      await done(engine, 'POST', '/v1/bases', { kind: 'task', owner: { type: 'url', href: 'h' } })
      await done(engine, 'POST', '/v1/bases', { kind: 'memo', about: { type: 'url', id: 1 } })
      assert.deepEqual(await done(engine, 'GET', '/v1/bases?depth=2'), [
        { id: 1, kind: 'memo', about: { type: 'doc', id: 1, name: 'd' } },
        { id: 2, kind: 'task', owner: { type: 'url', id: 1, href: 'h', memos: [3] } },
        { id: 3, kind: 'memo', about: { type: 'url', id: 1, href: 'h', memos: [3] } },
      ])
      assert.deepEqual(await done(engine, 'GET', '/v1/bases?owner.href=h&attributes=id'), [{ id: 2 }])
      assert.deepEqual(await done(engine, 'GET', '/v1/bases?about.type=null&attributes=id'), [{ id: 2 }])
      await done(engine, 'PUT', '/v1/memos/1', { about: { type: 'url', id: 1 } })
      await done(engine, 'PUT', '/v1/bases/1', { about: { type: 'doc', id: 1 } })
      await refused(engine, 'PUT', '/v1/memos/1', { about: { type: 'doc', id: { name: 'no' } } }, 422, 'value_invalid', 'about.id')
      await done(engine, 'DELETE', '/v1/memos/1')
      assert.deepEqual(await done(engine, 'GET', '/v1/docs'), [])
      await done(engine, 'DELETE', '/v1/bases/3')
      assert.deepEqual(await done(engine, 'GET', '/v1/urls'), [])
      assert.deepEqual(await done(engine, 'GET', '/v1/tasks'), [{ id: 2, kind: 'task', owner: null }])
    } finally {
      await engine.close()
    }
  })

  it('link records with keys of any type, classes that inherit, and by other discriminators', async () => {
    const Big = defineEntity({
      name: 'Big',
      properties: { code: p.bigint().primary(), name: p.string(), links: () => p.oneToMany(Link).mappedBy('big') },
    })
    const Huge = defineEntity({
      name: 'Huge',
      properties: { number: p.bigint().primary(), name: p.string(), links: () => p.oneToMany(Link).mappedBy('big') },
    })
    const Uuid = defineEntity({ name: 'Uuid', properties: { id: p.uuid().primary(), name: p.string() } })
    const Guid = defineEntity({ name: 'Guid', properties: { id: p.uuid().primary(), type: p.string(), name: p.string() } })
    const Left = defineEntity({
      name: 'Left',
      properties: { a: p.integer().primary(), b: p.string().primary(), name: p.string(), links: () => p.oneToMany(Link).mappedBy('pair') },
    })
    const Right = defineEntity({ name: 'Right', properties: { x: p.integer().primary(), y: p.string().primary(), name: p.string() } })
    const Animal = defineEntity({
      name: 'Animal',
      discriminatorColumn: 'kind' as never,
      abstract: true,
      properties: {
        id: p.integer().primary(),
        kind: p.enum(['dog', 'cat']),
        name: p.string(),
        links: () => p.oneToMany(Link).mappedBy('being'),
      },
    })
    const Dog = defineEntity({
      name: 'Dog',
      extends: Animal,
      discriminatorValue: 'dog',
      properties: { trick: p.string().nullable() },
    } as never)
    const Cat = defineEntity({
      name: 'Cat',
      extends: Animal,
      discriminatorValue: 'cat',
      properties: { lives: p.integer().nullable() },
    } as never)
    const Plant = defineEntity({ name: 'Plant', properties: { id: p.integer().primary(), name: p.string() } })
    const Link = defineEntity({
      name: 'Link',
      properties: {
        id: p.integer().primary(),
        big: () => p.manyToOne([Big, Huge] as never).nullable(),
        uuid: () => p.manyToOne([Uuid, Guid] as never).nullable(),
        pair: () => p.manyToOne([Left, Right] as never).nullable(),
        being: () =>
          (p.manyToOne([Animal, Plant] as never) as never as { discriminatorMap(map: object): { nullable(): never } })
            .discriminatorMap({ beast: 'Animal', herb: 'Plant' })
            .nullable(),
      },
    })
    const [one, other] = ['0a000000-0000-4000-8000-000000000001', '0a000000-0000-4000-8000-000000000002']
    const engine = await createEngine({
      entities: [Big, Huge, Uuid, Guid, Left, Right, Animal, Dog, Cat, Plant, Link] as never,
      onError,
    })
    try {
      await engine.seed({
        bigs: [{ code: '9007199254740993', name: 'big' }],
        huges: [{ number: '9007199254740993', name: 'huge' }],
        uuids: [{ id: one, name: 'uuid' }],
        guids: [{ id: other, type: 't', name: 'guid' }],
        lefts: [{ a: 1, b: 'x~y', name: 'left' }],
        rights: [{ x: 1, y: 'z', name: 'right' }],
        dogs: [{ id: 1, name: 'dog', trick: 'sit' }],
        cats: [{ id: 2, name: 'cat' }],
        plants: [{ id: 1, name: 'plant' }],
      })
      const cases: [name: string, typeName: string, type: string, id: unknown, text: string, called: string][] = [
        ['big', 'type', 'big', '9007199254740993', '9007199254740993', 'big'],
        ['big', 'type', 'huge', '9007199254740993', '9007199254740993', 'huge'],
        ['uuid', 'resource', 'uuid', one, one.toUpperCase(), 'uuid'],
        ['uuid', 'resource', 'guid', other, other, 'guid'],
        ['pair', 'type', 'left', '1~x%7Ey', '1~x%7Ey', 'left'],
        ['pair', 'type', 'right', '1~z', '1~z', 'right'],
        ['being', 'type', 'animal', 2, '2', 'cat'],
        ['being', 'type', 'plant', 1, '1', 'plant'],
      ]
      for (const [name, typeName, type, id, text, called] of cases) {
        const link = { [typeName]: type, id }
        const made = (await done(engine, 'POST', '/v1/links', { [name]: link })) as Record<string, unknown>
        assert.deepEqual(made[name], link)
        const path = `/v1/links/${String(made['id'])}`
        const query = `/v1/links?attributes=id&id=${String(made['id'])}`
        assert.deepEqual(await done(engine, 'GET', `${query}&${name}=${type}:${text.replaceAll('%', '%25')}`), [{ id: made['id'] }])
        assert.deepEqual(await done(engine, 'GET', `${query}&${name}.name=${called}`), [{ id: made['id'] }])
        const expanded = (await done(engine, 'GET', `${path}?depth=2`)) as Record<string, Record<string, unknown>>
        assert.deepEqual([expanded[name]![typeName], expanded[name]!['name']], [type, called])
        assert.equal(((await done(engine, 'GET', `${path}/${name}`)) as Record<string, unknown>)['name'], called)
        await done(engine, 'PUT', path, { [name]: null })
        await done(engine, 'PUT', path, { [name]: link })
        assert.deepEqual(((await done(engine, 'GET', path)) as Record<string, unknown>)[name], link)
      }
      assert.deepEqual(await done(engine, 'GET', '/v1/lefts?links=5&attributes=links'), [{ links: [5] }])
      assert.deepEqual(await done(engine, 'GET', '/v1/cats?attributes=links'), [{ links: [7] }])
      assert.deepEqual(await done(engine, 'GET', '/v1/guids?attributes=type'), [{ type: 't' }])
      await done(engine, 'PUT', '/v1/dogs/1', { links: [7, 8] })
      assert.deepEqual(await done(engine, 'GET', '/v1/links?being=animal:1&attributes=id&being.trick=sit'), [{ id: 7 }, { id: 8 }])
      await done(engine, 'DELETE', '/v1/dogs/1')
      assert.deepEqual(await done(engine, 'GET', '/v1/links?id=7,8&attributes=being'), [{ being: null }, { being: null }])
    } finally {
      await engine.close()
    }
  })
})
