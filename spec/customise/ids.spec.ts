/**
 * The rule `ids`: the IDs of a relation under a name of their own are shown, taken, filtered and sorted by; the relation is beside them.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p, type EntitySchema } from '@mikro-orm/sqlite'
import { resource } from '../../lib/index.ts'
import type { EngineOptions, RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User: EntitySchema = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.text(), posts: () => p.oneToMany(Post).mappedBy('user') },
})
const Tag: EntitySchema = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), label: p.text() } })
const Post: EntitySchema = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.text(),
    user: () => p.manyToOne(User).inversedBy('posts'),
    editor: () => p.manyToOne(User).nullable(),
    tags: () => p.manyToMany(Tag),
  },
})

const ids = { attributes: { user: { ids: 'userId' }, editor: { ids: 'editor_id' }, tags: { ids: 'tagIds' } } }
const seed = {
  users: [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ],
  tags: [
    { id: 1, label: 'a' },
    { id: 2, label: 'b' },
  ],
  posts: [
    { id: 1, title: 'one', userId: 2, tagIds: [1, 2] },
    { id: 2, title: 'two', user: 1, editor_id: 2, tags: [] },
  ],
}
const ONE = { id: 1, title: 'one', userId: 2, editor_id: null, tagIds: [1, 2] }
const TWO = { id: 2, title: 'two', userId: 1, editor_id: 2, tagIds: [] }

async function start(options: EngineOptions = {}): Promise<RestEngine> {
  return createEngine({ entities: [User, Tag, Post], resources: [resource(Post, ids)], seed, ...options })
}

async function posts(engine: RestEngine, query = ''): Promise<unknown> {
  const { status, body } = await engine.handle('GET', `/v1/posts${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.posts
}

async function refused(engine: RestEngine, body: object): Promise<unknown> {
  const answer = await engine.handle('POST', '/v1/posts', undefined, body)
  assert.equal(answer.status, 422, JSON.stringify(answer.body))
  const [first] = answer.body.errors as readonly { code: string; attribute: string }[]
  return [first!.code, first!.attribute]
}

describeStores('IDs of relations under a name of their own', () => {
  it('are shown in its place, the relation where it is expanded, asked for or at depth 2', async () => {
    await using engine = await start()
    assert.deepEqual(await posts(engine), [ONE, TWO])
    assert.deepEqual(await posts(engine, '?depth=0'), [ONE, TWO])
    assert.deepEqual(await posts(engine, '?expand=user&id=2'), [{ ...TWO, user: { id: 1, name: 'Ann', posts: [2] } }])
    assert.deepEqual(await posts(engine, '?depth=2&id=1&attributes=userId,user.name,tags'), [
      {
        userId: 2,
        user: { name: 'Bob' },
        tags: [
          { id: 1, label: 'a' },
          { id: 2, label: 'b' },
        ],
      },
    ])
    assert.deepEqual(await posts(engine, '?attributes=user&limit=1'), [{ user: 2 }])
    assert.deepEqual(await posts(engine, '?attributes=!userId,!tagIds&limit=1'), [{ id: 1, title: 'one', editor_id: null }])
  })

  it('are filtered and sorted by as values of their type', async () => {
    await using engine = await start()
    for (const [query, found] of [
      ['userId=2', [1]],
      ['userId>=2', [1]],
      ['!userId=2', [2]],
      ['editor_id=null', [1]],
      ['editor_id!=null', [2]],
      ['tagIds=2', [1]],
      ['tagIds=null', [2]],
      ['user.name=Ann', [2]],
      ['user=1', [2]],
      ['sort=userId', [2, 1]],
      ['sort=userId.desc', [1, 2]],
    ] as const) {
      const list = (await posts(engine, `?${query}`)) as { id: number }[]
      assert.deepEqual(
        list.map(({ id }) => id),
        found,
        query,
      )
    }
    const { body } = await engine.handle('GET', '/v1/users?posts.userId=1&attributes=id')
    assert.deepEqual(body.users, [{ id: 1 }])
    for (const [query, code] of [
      ['expand=userId', 'not_a_relation'],
      ['userId.name=Ann', 'attribute_unknown'],
      ['userId=x', 'value_invalid'],
    ] as const) {
      const answer = await engine.handle('GET', `/v1/posts?${query}`)
      assert.deepEqual([answer.status, answer.body.errors[0].code], [400, code], query)
    }
    assert.equal((await engine.handle('GET', '/v1/posts?userid=1')).body.errors[0].suggestion, 'userId')
  })

  it('are taken in bodies, as the relation is, and refused where both contradict each other', async () => {
    await using engine = await start()
    const send = async (method: string, path: string, body: unknown): Promise<Record<string, unknown>> => {
      const answer = await engine.handle(method, `/v1/posts${path}`, undefined, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body.post
    }
    const made = { id: 3, title: 'three', userId: 1, editor_id: null, tagIds: [2] }
    assert.deepEqual(await send('POST', '', { title: 'three', userId: 1, tagIds: [2] }), made)
    assert.deepEqual(await send('PUT', '/3', { ...made, userId: 2 }), { ...made, userId: 2 })
    assert.deepEqual(await send('PATCH', '/3', { userId: 1, user: 1, editor_id: 2 }), { ...made, editor_id: 2 })
    assert.deepEqual(await send('PATCH', '/3', { editor_id: null, tagIds: [] }), { ...made, tagIds: [] })
    assert.deepEqual((await send('PATCH', '/3', { user: { name: 'Cid' }, tags: [{ label: 'c' }] }))['userId'], 3)
    assert.equal((await send('PUT', '/3/userId', 2))['userId'], 2)
    assert.deepEqual((await send('PUT', '/3/tagIds', [1]))['tagIds'], [1])
    for (const [name, value] of [
      ['userId', 2],
      ['tagIds', [1]],
    ] as const)
      assert.deepEqual((await engine.handle('GET', `/v1/posts/3/${name}`)).body.value, value)
    assert.equal((await engine.handle('GET', '/v1/posts/3/user')).body.user.name, 'Bob')
    const title = 'x'
    assert.deepEqual(await refused(engine, { title, userId: 1, user: 2 }), ['conflict', 'userId'])
    assert.deepEqual(await refused(engine, { title, user: 2, userId: 1 }), ['conflict', 'userId'])
    assert.deepEqual(await refused(engine, { title, userId: 1, user: { name: 'x' } }), ['conflict', 'userId'])
    assert.deepEqual(await refused(engine, { title, userId: 9 }), ['reference_not_found', 'userId'])
    assert.deepEqual(await refused(engine, { title, userId: { name: 'x' } }), ['value_invalid', 'userId'])
    assert.deepEqual(await refused(engine, { title, userId: 1, tagIds: [{ label: 'x' }] }), ['value_invalid', 'tagIds'])
    assert.deepEqual(await refused(engine, { title }), ['required', 'userId'])
    assert.deepEqual(await refused(engine, { title, userId: null }), ['null_not_allowed', 'userId'])
    const nested = await engine.handle('POST', '/v1/users', undefined, { name: 'Dan', posts: [{ title: 'in', userId: 1 }] })
    assert.deepEqual([nested.status, nested.body.errors[0].attribute], [422, 'posts.0.userId'])
  })

  it('go through test data, the journal, the document and the self-test', async () => {
    await using engine = await start()
    assert.equal((await engine.given('post', { userId: 2 }))['userId'], 2)
    await engine.seed({ posts: [{ id: 50, title: 's', userId: 1, tagIds: [1] }] })
    assert.deepEqual(await posts(engine, '?id=50'), [{ id: 50, title: 's', userId: 1, editor_id: null, tagIds: [1] }])
    const { components } = (await engine.openapi()) as unknown as { components: { schemas: Record<string, Record<string, object>> } }
    const { Post: shown, PostNew: body } = components.schemas
    assert.deepEqual(shown!['required'], ['id', 'title', 'userId', 'editor_id', 'tagIds'])
    assert.deepEqual((shown!['properties'] as Record<string, object>)['userId'], { type: 'integer' })
    assert.deepEqual((body!['allOf'] as object[]).slice(1), [{ anyOf: [{ required: ['userId'] }, { required: ['user'] }] }])
    const report = await engine.selfTest({ runs: 1 })
    assert.equal(report.passed, true, String(report))
  })

  it('do not show what the caller may not see', async () => {
    const scoped = [resource(Post, ids), resource(User, { scope: () => ({ name: 'Ann' }) })]
    await using engine = await start({ resources: scoped })
    assert.deepEqual(await posts(engine), [
      { ...ONE, userId: null },
      { ...TWO, editor_id: null },
    ])
    assert.deepEqual(await posts(engine, '?userId=2'), [])
    assert.equal((await engine.handle('GET', '/v1/posts/1/userId')).body.value, null)
    await using closed = await start({ resources: [resource(Post, ids), resource(User, { access: { get: false } })] })
    assert.deepEqual(await posts(closed, '?id=1'), [{ id: 1, title: 'one', tagIds: [1, 2] }])
    assert.equal((await closed.handle('GET', '/v1/posts?userId=2')).status, 400)
    assert.equal((await closed.handle('GET', '/v1/posts/1/userId')).status, 404)
  })

  it('are refused where a record has no plain IDs, or has the name', async () => {
    const create = (attributes: object): Promise<RestEngine> => start({ seed: {}, resources: [resource(Post, { attributes } as never)] })
    await assert.rejects(create({ title: { ids: 'x' } }), /attributes\.title: "ids" is for relations/)
    await assert.rejects(create({ user: { ids: 'title' } }), /the name "title" is taken by another attribute/)
    await assert.rejects(create({ user: { ids: 'x' }, editor: { ids: 'x' } }), /the name "x" is taken/)
    await assert.rejects(create({ user: { ids: 7 } }), /"ids" must be a string/)
  })
})
