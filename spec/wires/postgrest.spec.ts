/** The entry `mikro-rest/wire/postgrest`, asked by supabase-js. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { auth, resource, type RestEngine } from '../../lib/index.ts'
import { postgrest, supabase, type RpcFunction } from '../../lib/wires/postgrest/index.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'
import { Command } from '../helpers/command.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { Comment, entities, openClient, seed, User, type ClientAnswer, type ClientQuery, type Supabase } from './supabase-model.ts'

const rpc: Record<string, RpcFunction> = {
  async total_views({ factor }, api) {
    const { records } = await api.list('posts')
    return records.reduce((sum, { views }) => sum + Number(views), 0) * Number(factor)
  },
  touch: () => undefined,
  greeting: () => 'hello',
}

async function withClient(work: (sb: Supabase, engine: RestEngine) => Promise<void>, options: object = {}): Promise<void> {
  await using engine = await createEngine({ entities, seed, versions: [], wire: supabase({ rpc }), ...options })
  using client = await openClient(engine)
  await work(client.sb, engine)
}

async function ok(query: PromiseLike<ClientAnswer>): Promise<ClientAnswer> {
  const answer = await query
  assert.equal(answer.error, null, JSON.stringify(answer.error))
  return answer
}
const rowsOf = async (query: ClientQuery): Promise<readonly Record<string, unknown>[]> => (await ok(query)).data
const idsOf = async (query: ClientQuery): Promise<unknown[]> => (await rowsOf(query)).map(({ id }) => id)
const refusedAs = async (query: PromiseLike<ClientAnswer>): Promise<[number, string | undefined]> => {
  const { status, error } = await query
  return [status, error?.code]
}

/** `GET /posts?...` of the wire `postgrest`. */
async function ask(engine: RestEngine, path: string, init: RequestInit = {}) {
  const response = await engine.fetch(`http://api.test${path}`, init)
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text) as never,
  }
}

describeStores('the wire of PostgREST, asked by supabase-js', () => {
  it('selects columns by the names of the database', () =>
    withClient(async sb => {
      const [first] = await rowsOf(sb.from('users').select!())
      assert.deepEqual(Object.keys(first!), ['id', 'name', 'email', 'age', 'role', 'active', 'created_at'])
      assert.deepEqual(await rowsOf(sb.from('users').select!('id,fullName:name').eq!('id', 1)), [{ id: 1, fullName: 'Ann' }])
      assert.deepEqual(await rowsOf(sb.from('posts').select!('id,author_id').eq!('id', 1)), [{ id: 1, author_id: 2 }])
      assert.deepEqual(await rowsOf(sb.from('posts').select!('id,meta->>color,v:views::text').eq!('id', 1)), [
        { id: 1, color: 'red', v: '10' },
      ])
    }))

  it('filters', () =>
    withClient(async sb => {
      const users = (): ClientQuery => sb.from('users').select!('id')
      assert.deepEqual(await idsOf(sb.from('posts').select!('id').gt!('views', 10).lte!('views', 40).neq!('id', 3)), [2, 4])
      assert.deepEqual(await idsOf(users().like!('name', 'A%')), [1])
      assert.deepEqual(await idsOf(users().like!('name', 'a%')), [])
      assert.deepEqual(await idsOf(users().likeAnyOf!('name', ['A%', 'C%'])), [1, 3])
      assert.deepEqual(await idsOf(users().in!('name', ['Ann', 'Dee, "D" (x)'])), [1, 4])
      assert.deepEqual(await idsOf(users().is!('age', null)), [2])
      assert.deepEqual(await idsOf(users().not!('age', 'is', null)), [1, 3, 4])
      assert.deepEqual(await idsOf(users().is!('active', false)), [3])
      assert.deepEqual(await idsOf(users().match!({ role: 'viewer', active: true })), [4])
      assert.deepEqual(await idsOf(users().filter!('age', 'gte', 30)), [1, 4])
      assert.deepEqual(await idsOf(users().or!('name.eq.Ann,and(age.gt.20,age.lt.30)')), [1, 3])
      assert.deepEqual(await idsOf(users().or!('name.eq."Dee, \\"D\\" (x)",role.not.in.(viewer,editor)')), [1, 4])
      assert.deepEqual(await idsOf(users().ilike!('name', '%B%')), [2])
      assert.deepEqual(await idsOf(sb.from('posts').select!('id').eq!('meta->>color', 'blue')), [2, 4])
      assert.deepEqual(await idsOf(sb.from('posts').select!('id').contains!('meta', { color: 'red' })), [1, 3, 5])
      assert.deepEqual(await idsOf(sb.from('posts').select!('id').textSearch!('title', 'post & 3')), [3])
      assert.deepEqual(await idsOf(users().not!('age', 'eq', 30)), [3, 4], 'NULL is neither equal nor unequal')
    }))

  it('embeds tables, each with filters, order and limit of its own', () =>
    withClient(async sb => {
      const posts = (columns: string): ClientQuery => sb.from('posts').select!(columns)
      assert.deepEqual(await rowsOf(posts('id,author:users(name)').eq!('id', 1)), [{ id: 1, author: { name: 'Bob' } }])
      const two = [
        { id: 1, text: 'c1' },
        { id: 2, text: 'c2' },
      ]
      assert.deepEqual(await rowsOf(posts('id,comments(id,text)').eq!('id', 1)), [{ id: 1, comments: two }])
      assert.deepEqual(await rowsOf(posts('id,tags(name)').eq!('id', 2)), [{ id: 2, tags: [{ name: 'js' }, { name: 'db' }] }])
      assert.deepEqual(await rowsOf(sb.from('users').select!('id,posts(id,comments(text))').eq!('id', 2)), [
        {
          id: 2,
          posts: [
            { id: 1, comments: [{ text: 'c1' }, { text: 'c2' }] },
            { id: 4, comments: [] },
          ],
        },
      ])
      assert.deepEqual(await rowsOf(posts('id,comments(count)').in!('id', [1, 3])), [
        { id: 1, comments: [{ count: 2 }] },
        { id: 3, comments: [{ count: 0 }] },
      ])
      assert.deepEqual(await idsOf(posts('id,comments!inner(id)').eq!('comments.text', 'c3')), [2])
      assert.deepEqual(await rowsOf(posts('id,comments(id)').eq!('comments.text', 'c2').lte!('id', 2)), [
        { id: 1, comments: [{ id: 2 }] },
        { id: 2, comments: [] },
      ])
      const last = posts('id,comments(id)').eq!('id', 1).order!('id', { referencedTable: 'comments', ascending: false })
      assert.deepEqual(await rowsOf(last.limit!(1, { referencedTable: 'comments' })), [{ id: 1, comments: [{ id: 2 }] }])
      assert.deepEqual(await rowsOf(posts('id,...users(author_name:name)').eq!('id', 1)), [{ id: 1, author_name: 'Bob' }])
      assert.deepEqual(await idsOf(posts('id,comments()').is!('comments', null)), [3, 4, 5])
      assert.deepEqual(await idsOf(sb.from('comments').select!('id,posts!inner(users!inner())').eq!('posts.users.name', 'Cy')), [3])
    }))

  it('embeds a table twice, filters a row without its link, and pages inside of pages', () =>
    withClient(async sb => {
      const posts = (columns: string): ClientQuery => sb.from('posts').select!(columns)
      const twice = posts('id,first:comments(id),last:comments(id)').eq!('id', 1).eq!('first.text', 'c1').eq!('last.text', 'c2')
      assert.deepEqual(await rowsOf(twice), [{ id: 1, first: [{ id: 1 }], last: [{ id: 2 }] }])
      const tags = posts('id,js:tags(name),all:tags(name)').eq!('id', 2).eq!('js.name', 'js').order!('id', { referencedTable: 'all' })
      assert.deepEqual(await rowsOf(tags), [{ id: 2, js: [{ name: 'js' }], all: [{ name: 'js' }, { name: 'db' }] }])
      assert.deepEqual(await rowsOf(posts('id,author_id,users(name)').lte!('id', 2).eq!('users.name', 'Bob')), [
        { id: 1, author_id: 2, users: { name: 'Bob' } },
        { id: 2, author_id: 3, users: null },
      ])
      assert.deepEqual(await rowsOf(posts('id,users(name)').lte!('id', 2).eq!('users.name', 'Bob')), [
        { id: 1, users: { name: 'Bob' } },
        { id: 2, users: null },
      ])
      const nested = sb.from('users').select!('id,posts(id,comments(id))').eq!('id', 2).order!('id', { referencedTable: 'posts' })
      const cut = nested.limit!(1, { referencedTable: 'posts' }).limit!(1, { referencedTable: 'posts.comments' })
      const last = cut.order!('id', { referencedTable: 'posts.comments', ascending: false })
      assert.deepEqual(await rowsOf(last), [{ id: 2, posts: [{ id: 1, comments: [{ id: 2 }] }] }])
      const counted = posts('id,comments(count)').lte!('id', 3).eq!('comments.text', 'c2')
      assert.deepEqual(await rowsOf(counted), [
        { id: 1, comments: [{ count: 1 }] },
        { id: 2, comments: [{ count: 0 }] },
        { id: 3, comments: [{ count: 0 }] },
      ])
    }))

  it('embeds a table in itself: the rows below a row, and by the column the row above', async () => {
    const Folder = defineEntity({
      name: 'Folder',
      tableName: 'folders',
      properties: () => ({
        id: p.integer().primary(),
        parent: () => p.manyToOne(Folder).nullable(),
        children: () => p.oneToMany(Folder).mappedBy('parent'),
        detail: () => p.oneToOne(Detail).mappedBy('folder').nullable(),
      }),
    })
    const Detail = defineEntity({
      name: 'Detail',
      tableName: 'details',
      properties: () => ({ folder: () => p.oneToOne(Folder).primary(), text: p.string() }),
    })
    await using engine = await createEngine({
      entities: [Folder, Detail],
      versions: [],
      wire: postgrest(),
      seed: { folders: [{ id: 1 }, { id: 2, parent: 1 }, { id: 3, parent: 1 }], details: [{ folder: 2, text: 'two' }] },
    })
    const read = async (query: string): Promise<unknown> => (await ask(engine, `/folders?${query}`)).body
    assert.deepEqual(await read('select=id,folders(id)&id=eq.1'), [{ id: 1, folders: [{ id: 2 }, { id: 3 }] }])
    assert.deepEqual(await read('select=id,parent_id(id)&id=gte.2'), [
      { id: 2, parent_id: { id: 1 } },
      { id: 3, parent_id: { id: 1 } },
    ])
    assert.deepEqual(await read('select=id,details!inner(text)'), [{ id: 2, details: { text: 'two' } }], 'a key that is a link')
    assert.deepEqual((await ask(engine, '/details?select=folder_id,text,folders(id)')).body, [
      { folder_id: 2, text: 'two', folders: { id: 2 } },
    ])
  })

  it('pages, counts and shapes', () =>
    withClient(async (sb, engine) => {
      const posts = (...select: readonly unknown[]): ClientQuery => sb.from('posts').select!(...select)
      assert.deepEqual(await idsOf(posts('id').order!('views', { ascending: false })), [5, 4, 3, 2, 1])
      assert.deepEqual(await idsOf(sb.from('users').select!('id').order!('age')), [3, 1, 4, 2])
      assert.deepEqual(await idsOf(sb.from('users').select!('id').order!('age', { nullsFirst: true })), [2, 3, 1, 4])
      assert.deepEqual(await idsOf(posts('id,users(name)').order!('users(name)').order!('id')), [3, 1, 4, 2, 5])
      assert.deepEqual(await idsOf(posts('id').range!(1, 2)), [2, 3])
      assert.equal((await ok(posts('*', { count: 'exact', head: true }))).count, 5)
      const page = await ok(posts('id', { count: 'exact' }).range!(0, 1))
      assert.deepEqual([page.count, (page.data as unknown[]).length, page.status], [5, 2, 206])
      assert.deepEqual(await refusedAs(posts('id', { count: 'exact' }).range!(9, 10)), [416, 'PGRST103'])
      assert.equal((await ok(sb.from('users').select!().eq!('id', 1).single!())).data['name'], 'Ann')
      assert.deepEqual(await refusedAs(sb.from('users').select!().eq!('id', 99).single!()), [406, 'PGRST116'])
      assert.equal((await ok(sb.from('users').select!().eq!('id', 99).maybeSingle!())).data, null)
      assert.equal((await ok(sb.from('tags').select!('id,name').eq!('id', 1).csv!())).data, 'id,name\n1,js')
      const texts = await ask(engine, '/rest/v1/posts?select=title,meta,t:meta->>color,m:meta::text&id=eq.1', {
        headers: { accept: 'text/csv' },
      })
      assert.equal(texts.text, 'title,meta,t,m\n"Post 1","{""color"": ""red""}",red,"{""color"": ""red""}"')
      const plan = await ask(engine, '/rest/v1/posts', { headers: { accept: 'application/vnd.pgrst.plan+json' } })
      assert.deepEqual([plan.status, (plan.body as { code: string }).code], [406, 'PGRST107'])
      assert.deepEqual(await rowsOf(sb.from('users').select!('count()')), [{ count: 4 }])
      assert.deepEqual(await rowsOf(posts('published,views.sum()')), [
        { published: true, sum: 90 },
        { published: false, sum: 60 },
      ])
      const many = Array.from({ length: 1200 }, (_, index) => ({ id: index + 100, name: `tag ${index}` }))
      await engine.handle('POST', '/tags', {}, many.slice(0, 1000))
      await engine.handle('POST', '/tags', {}, many.slice(1000))
      assert.equal((await rowsOf(sb.from('tags').select!('id'))).length, 1202)
    }))

  it('inserts, updates, upserts and deletes', () =>
    withClient(async sb => {
      const inserted = await ok(sb.from('users').insert!({ name: 'Eve', email: 'eve@x.test' }))
      assert.deepEqual([inserted.status, inserted.data], [201, null])
      const one = await ok(sb.from('posts').insert!({ title: 'New', author_id: 1 }).select!('id,title,views,users(name)').single!())
      assert.deepEqual(one.data, { id: 6, title: 'New', views: 0, users: { name: 'Ann' } })
      const names = (rows: readonly Record<string, unknown>[]): unknown[] => rows.map(({ name }) => name)
      assert.deepEqual(names(await rowsOf(sb.from('tags').insert!([{ name: 'a' }, { name: 'b' }]).select!())), ['a', 'b'])
      assert.deepEqual(await refusedAs(sb.from('tags').insert!([{ name: 'zz' }, { name: 'a' }])), [409, '23505'])
      assert.deepEqual(await rowsOf(sb.from('tags').select!().eq!('name', 'zz')), [], 'all or nothing')
      assert.deepEqual(await idsOf(sb.from('posts').update!({ published: true }).eq!('published', false).select!('id')), [2, 4, 6])
      assert.equal((await ok(sb.from('posts').update!({ views: 0 }).eq!('id', 1))).status, 204)
      assert.equal((await ok(sb.from('posts').update!({ views: 1 }, { count: 'exact' }).in!('id', [1, 2]))).count, 2)
      assert.deepEqual(await refusedAs(sb.from('posts').update!({ views: 2 }).gte!('id', 1).maxAffected!(2)), [400, 'PGRST124'])
      const upserted = sb.from('users').upsert!({ id: 1, name: 'Anna', email: 'ann@x.test' }).select!('id,name,age').single!()
      assert.deepEqual((await ok(upserted)).data, { id: 1, name: 'Anna', age: 30 })
      const both = [
        { name: 'Bobby', email: 'bob@x.test' },
        { name: 'Flo', email: 'flo@x.test' },
      ]
      assert.deepEqual(names(await rowsOf(sb.from('users').upsert!(both, { onConflict: 'email' }).select!('name'))), ['Bobby', 'Flo'])
      const ignored = await ok(sb.from('tags').upsert!({ name: 'a' }, { onConflict: 'name', ignoreDuplicates: true }).select!())
      assert.deepEqual([ignored.status, ignored.data], [201, []])
      const { error } = await sb.from('users').upsert!({ name: 'Ann', email: 'y@x.test' }, { onConflict: 'name' })
      assert.equal(error?.code, '42P10')
      assert.deepEqual(await idsOf(sb.from('comments').delete!().eq!('post_id', 1).select!('id')), [1, 2])
      assert.deepEqual(await refusedAs(sb.from('users').delete!().eq!('id', 1)), [409, '23503'])
      assert.deepEqual(await refusedAs(sb.from('users').delete!()), [400, '21000'])
      assert.deepEqual(await refusedAs(sb.from('users').update!({ age: 1 })), [400, '21000'])
      assert.equal((await rowsOf(sb.from('users').select!())).length, 6)
    }))

  it('refuses with the codes of PostgreSQL and PostgREST', () =>
    withClient(async sb => {
      const taken = await sb.from('users').insert!({ name: 'X', email: 'ann@x.test' })
      assert.deepEqual([taken.status, taken.error!.code], [409, '23505'])
      assert.equal(taken.error!.message, 'duplicate key value violates unique constraint "users_email_key"')
      assert.deepEqual(await refusedAs(sb.from('posts').insert!({ title: 'x', author_id: 999 })), [409, '23503'])
      assert.deepEqual(await refusedAs(sb.from('users').insert!({ name: 'X' })), [400, '23502'])
      assert.deepEqual(await refusedAs(sb.from('users').insert!({ name: 'X'.repeat(51), email: 'x' })), [400, '22001'])
      assert.deepEqual(await refusedAs(sb.from('users').insert!({ name: 'X', email: 'x', role: 'king' })), [400, '23514'])
      assert.deepEqual(await refusedAs(sb.from('users').select!().eq!('id', 'abc')), [400, '22P02'])
      assert.deepEqual(await refusedAs(sb.from('users').select!('nope')), [400, '42703'])
      assert.deepEqual(await refusedAs(sb.from('users').select!().eq!('nope', 1)), [400, '42703'])
      assert.deepEqual(await refusedAs(sb.from('users').insert!({ nope: 1 })), [400, 'PGRST204'])
      assert.deepEqual(await refusedAs(sb.from('nope').select!()), [404, 'PGRST205'])
      assert.deepEqual(await refusedAs(sb.from('users').select!('id,tags(id)')), [400, 'PGRST200'])
      assert.deepEqual(await refusedAs(sb.from('users').select!('id').eq!('posts.id', 1)), [400, 'PGRST108'])
      assert.deepEqual(await refusedAs(sb.from('users').select!('id,posts(id)').order!('posts(id)')), [400, 'PGRST118'])
      assert.deepEqual(await refusedAs(sb.from('users').select!('id,,')), [400, 'PGRST100'])
      const misplaced = await sb.from('users').select!('id').range!('x', 9)
      assert.match(misplaced.error!.message, /failed to parse offset \(x\)/)
    }))

  it('calls functions', () =>
    withClient(async sb => {
      assert.equal((await ok(sb.rpc('total_views', { factor: 2 }))).data, 300)
      assert.equal((await ok(sb.rpc('total_views', { factor: 2 }, { get: true }))).data, 300)
      assert.equal((await ok(sb.rpc('greeting'))).data, 'hello')
      assert.deepEqual(await refusedAs(sb.rpc('touch')), [204, undefined])
      assert.deepEqual(await refusedAs(sb.rpc('nope')), [404, 'PGRST202'])
      assert.deepEqual(await refusedAs(sb.rpc('constructor')), [404, 'PGRST202'])
    }))

  it('shows what the caller may see: scopes are row-level security', async () => {
    await using engine = await createEngine({
      entities,
      seed,
      versions: [],
      wire: postgrest(),
      resources: [
        resource(User, { scope: () => ({ id: { $lte: 2 } }), attributes: { email: { private: true } } }),
        resource(Comment, { access: false }),
      ],
    })
    assert.deepEqual((await ask(engine, '/users?select=id')).body, [{ id: 1 }, { id: 2 }])
    assert.equal((await ask(engine, '/users?select=email')).body['code'], '42703')
    assert.equal((await ask(engine, '/users?email=like.a*')).body['code'], '42703')
    assert.equal((await ask(engine, '/comments')).body['code'], 'PGRST205')
    assert.equal((await ask(engine, '/posts?select=id,comments(id)')).body['code'], 'PGRST200')
    // Cy is out of scope, with posts 2 and 5.
    assert.deepEqual((await ask(engine, '/posts?select=id,users(name)&id=eq.2')).body, [{ id: 2, users: null }])
    assert.deepEqual((await ask(engine, '/posts?select=id,users!inner()&id=in.(1,2)')).body, [{ id: 1 }])
    assert.deepEqual((await ask(engine, '/posts?select=id,users!inner()&users.name=eq.Cy')).body, [])
  })

  it('tells ranges, preferences and places in headers', async () => {
    await using engine = await createEngine({ entities, seed, versions: [], wire: postgrest() })
    const page = await ask(engine, '/posts?select=id&limit=2', { headers: { prefer: 'count=exact' } })
    assert.deepEqual(
      [page.status, page.headers.get('content-range'), page.headers.get('preference-applied')],
      [206, '0-1/5', 'count=exact'],
    )
    const ranged = await ask(engine, '/posts?select=id', { headers: { range: '1-2' } })
    assert.deepEqual([ranged.body, ranged.headers.get('content-range')], [[{ id: 2 }, { id: 3 }], '1-2/*'])
    const send = (body: unknown, prefer: string): RequestInit => ({
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', prefer },
    })
    const made = await ask(engine, '/tags', send({ name: 'x' }, 'return=headers-only'))
    assert.deepEqual([made.status, made.headers.get('location')], [201, '/tags?id=eq.3'])
    const broken = await ask(engine, '/tags', { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } })
    assert.deepEqual([broken.status, broken.body['code']], [400, 'PGRST102'])
    assert.equal((await ask(engine, '/tags', send([{ name: 'y' }, { id: 9 }], ''))).body['code'], 'PGRST102')
    assert.equal((await ask(engine, '/users?columns=name,email,role', send([{ name: 'y', email: 'y' }], ''))).body['code'], '23502')
    assert.equal((await ask(engine, '/users?columns=name,email,role', send([{ name: 'y', email: 'y' }], 'missing=default'))).status, 201)
    assert.equal((await ask(engine, '/posts', { headers: { 'accept-profile': 'other' } })).body['code'], 'PGRST106')
    assert.equal((await ask(engine, '/posts', { headers: { prefer: 'handling=strict, anything' } })).body['code'], 'PGRST122')
    const put = await ask(engine, '/tags?id=eq.3', { ...send({ id: 3, name: 'put' }, 'return=representation'), method: 'PUT' })
    assert.deepEqual([put.status, put.body], [200, [{ id: 3, name: 'put' }]])
  })
})

const Account = defineEntity({
  name: 'Account',
  properties: {
    id: p.integer().primary(),
    email: p.string().unique(),
    password: p.string().hidden(),
    nick: p.string().nullable(),
  },
})
const Note = defineEntity({
  name: 'Note',
  properties: () => ({ id: p.integer().primary(), text: p.string(), owner: () => p.manyToOne(Account) }),
})

/** The password of both accounts, "pw". */
const PW = cheapHash('pw')

/** Notes are those of their owner; the anonymous see none. */
async function withAccounts(work: (sb: Supabase, engine: RestEngine) => Promise<void>, more: object = {}): Promise<void> {
  await using engine = await createEngine({
    entities: [Account, Note],
    versions: [],
    auth: auth({ entity: Account, ttl: 600, secret: 'of the spec', public: ['* /*'], refresh: { ttl: 3600 }, ...more }),
    wire: supabase(),
    resources: [resource(Note, { scope: ctx => ({ owner: (ctx.user?.['id'] as number | undefined) ?? 0 }) })],
    seed: {
      accounts: [
        { id: 1, email: 'a@x.test', password: PW, nick: 'Ann' },
        { id: 2, email: 'b@x.test', password: PW },
      ],
      notes: [
        { id: 1, text: 'of a', owner: 1 },
        { id: 2, text: 'of b', owner: 2 },
      ],
    },
  })
  using client = await openClient(engine)
  await work(client.sb, engine)
}

interface SessionData {
  readonly session: { readonly access_token: string; readonly expires_in: number; readonly refresh_token: string } | null
  readonly user: { readonly id: string; readonly email: string; readonly user_metadata: object } | null
}

describeStores('the log-in of Supabase', () => {
  it('logs in, tells the user, refreshes and signs out', () =>
    withAccounts(async sb => {
      assert.deepEqual(await rowsOf(sb.from('note').select!('id,text')), [])
      const failed = await sb.auth['signInWithPassword']!({ email: 'a@x.test', password: 'no' })
      assert.equal(failed.error?.code, 'invalid_credentials')
      const { data, error } = await sb.auth['signInWithPassword']!({ email: 'a@x.test', password: 'pw' })
      assert.equal(error, null)
      const { session, user } = data as SessionData
      assert.deepEqual([session?.expires_in, user?.id, user?.email, user?.user_metadata], [600, '1', 'a@x.test', { nick: 'Ann' }])
      assert.deepEqual(await rowsOf(sb.from('note').select!('id,text')), [{ id: 1, text: 'of a' }])
      const own = await sb.auth['getUser']!()
      assert.equal((own.data as SessionData).user?.email, 'a@x.test')
      const refreshed = await sb.auth['refreshSession']!()
      assert.equal(refreshed.error, null)
      assert.notEqual((refreshed.data as SessionData).session?.refresh_token, session?.refresh_token)
      assert.deepEqual(await idsOf(sb.from('note').select!('id')), [1])
      const changed = await sb.auth['updateUser']!({ data: { nick: 'Anna' } })
      assert.deepEqual((changed.data as SessionData).user?.user_metadata, { nick: 'Anna' })
      await sb.auth['signOut']!()
      assert.deepEqual(await rowsOf(sb.from('note').select!('id')), [])
    }))

  it('refuses rows of another user with 42501', () =>
    withAccounts(async sb => {
      assert.deepEqual(await refusedAs(sb.from('note').insert!({ text: 'x', owner_id: 1 })), [401, '42501'])
      await sb.auth['signInWithPassword']!({ email: 'a@x.test', password: 'pw' })
      assert.deepEqual(await refusedAs(sb.from('note').insert!({ text: 'x', owner_id: 2 })), [403, '42501'])
      assert.deepEqual(await refusedAs(sb.from('note').update!({ owner_id: 2 }).eq!('id', 1)), [403, '42501'])
      assert.deepEqual(await rowsOf(sb.from('note').update!({ text: 'mine' }).eq!('id', 2).select!()), [])
      assert.equal((await ok(sb.from('note').insert!({ text: 'y', owner_id: 1 }))).status, 201)
      assert.deepEqual(await refusedAs(sb.from('account').select!('password')), [400, '42703'])
    }))

  it('signs up', () =>
    withAccounts(async sb => {
      const made = await sb.auth['signUp']!({ email: 'c@x.test', password: 'secret', options: { data: { nick: 'Cy' } } })
      assert.equal(made.error, null)
      const { user, session } = made.data as SessionData
      assert.deepEqual([user?.email, user?.user_metadata, typeof session?.access_token], ['c@x.test', { nick: 'Cy' }, 'string'])
      assert.equal((await sb.auth['signUp']!({ email: 'c@x.test', password: 'secret' })).error?.code, 'user_already_exists')
      assert.equal((await sb.auth['signInWithPassword']!({ email: 'c@x.test', password: 'secret' })).error, null)
      const odd = await sb.auth['signUp']!({ email: 'd@x.test', password: 'secret', options: { data: { nope: 1 } } })
      assert.equal(odd.error?.code, 'validation_failed')
    }))

  it('answers odd requests in its own shape', async () =>
    withAccounts(async (_, engine) => {
      const post = (path: string, body: string): ReturnType<typeof ask> =>
        ask(engine, path, { method: 'POST', body, headers: { 'content-type': 'application/json', apikey: 'k' } })
      for (const body of ['5', '[]', 'null', '{', '{"email":5,"password":{}}', '{"email":"a","password":null}']) {
        const answer = await post('/auth/v1/token?grant_type=password', body)
        assert.equal(answer.status, 400, body)
        assert.equal(typeof answer.body['msg'], 'string')
      }
      assert.equal((await post('/auth/v1/token?grant_type=magic', '{}')).body['error_code'], 'invalid_request')
      assert.equal(
        (await post('/auth/v1/token?grant_type=refresh_token', '{"refresh_token":"x"}')).body['error_code'],
        'refresh_token_not_found',
      )
      const user = (authorization?: string): ReturnType<typeof ask> =>
        ask(engine, '/auth/v1/user', { headers: { apikey: 'k', ...(authorization === undefined ? {} : { authorization }) } })
      assert.deepEqual([(await user()).status, (await user('Bearer k')).status, (await user('Bearer x.y.z')).status], [401, 403, 403])
      assert.equal((await ask(engine, '/storage/v1/object/b')).status, 404)
    }))
})

describe('--as supabase', () => {
  it('serves the tables of a file below /rest/v1 to pages of any origin', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'as-supabase-'))
    const db = new Database(join(folder, 'app.sqlite'))
    db.exec("create table posts (id integer primary key, title text not null); insert into posts (title) values ('Tea')")
    db.close()
    await using command = new Command(folder, 'app.sqlite', '--as', 'supabase', '--port', '0', '--quiet')
    const origin = await command.origin()
    assert.match(command.stdout, /curl '\S+\/rest\/v1\/posts'/)
    const headers = { apikey: 'anon', authorization: 'Bearer anon', origin: 'http://localhost:5173' }
    const listed = await fetch(`${origin}/rest/v1/posts?title=ilike.t*`, { headers })
    assert.deepEqual([listed.status, await listed.json()], [200, [{ id: 1, title: 'Tea' }]])
    const matched = await fetch(`${origin}/rest/v1/posts?title=imatch.${encodeURIComponent('^t\\w+$')}`, { headers })
    assert.deepEqual(await matched.json(), [{ id: 1, title: 'Tea' }])
    assert.equal(listed.headers.get('access-control-allow-origin'), '*')
    assert.match(listed.headers.get('access-control-expose-headers')!, /Content-Range/)
    assert.equal(await command.stop(), 0)
    await rm(folder, { recursive: true })
  })

  it('serves the collections of a JSON file by their names, and logs in', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'as-supabase-'))
    const posts = [{ id: 1, title: 'Tea', userId: 1 }]
    await writeFile(join(folder, 'db.json'), JSON.stringify({ posts, users: [{ id: 1, email: 'ann@x.test', password: 'secret1' }] }))
    await using command = new Command(folder, 'db.json', '--as', 'supabase', '--login', 'users', '--port', '0', '--quiet')
    const origin = await command.origin()
    assert.match(command.stdout, /curl '\S+\/auth\/v1\/token\?grant_type=password' .*"email":"ann@x.test"[^]*curl .*\/rest\/v1\/posts'/)
    const credentials = JSON.stringify({ email: 'ann@x.test', password: 'secret1' })
    const given = { apikey: 'anon', 'content-type': 'application/json' }
    const logIn = await fetch(`${origin}/auth/v1/token?grant_type=password`, { method: 'POST', headers: given, body: credentials })
    const { access_token: token } = (await logIn.json()) as { access_token: string }
    const headers = { ...given, authorization: `Bearer ${token}` }
    const listed = await fetch(`${origin}/rest/v1/posts?select=title,user:users(email)`, { headers })
    assert.deepEqual(await listed.json(), [{ title: 'Tea', user: { email: 'ann@x.test' } }])
    assert.equal((await fetch(`${origin}/rest/v1/posts`, { headers: given })).status, 401)
    assert.equal(await command.stop(), 0)
    await rm(folder, { recursive: true })
  })
})
