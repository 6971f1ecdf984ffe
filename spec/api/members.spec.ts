/** The path of one record of a list: it is read and deleted as by the list, and does not exist where it is not in it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { client, resource, RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { describeTargets } from '../helpers/targets.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
    likes: () => p.manyToMany(Post).owner(),
    secrets: () => p.manyToMany(Post).owner().hidden(),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), slug: p.string().unique(), author: () => p.manyToOne(User), version: p.integer().version() },
})
const Seat = defineEntity({
  name: 'Seat',
  properties: { row: p.string().primary(), number: p.integer().primary(), holders: () => p.manyToMany(User).owner() },
})
const entities = [User, Post, Seat]
const seed = {
  users: [
    {
      id: 1,
      name: 'Ann',
      posts: [
        { id: 1, slug: 'a' },
        { id: 2, slug: 'b' },
      ],
    },
    { id: 2, name: 'Bob', posts: [{ id: 3, slug: 'c' }], likes: [1, 3], secrets: [1] },
  ],
  seats: [{ row: 'a/b', number: 1, holders: [2] }],
}

describeTargets('the path of a record of a list', { entities, seed }, target => {
  const say = async (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<unknown> => {
    const answer = await target.call(method, path, undefined, body, headers)
    return answer.status < 400 ? answer.body[answer.body.resource] : [answer.status, answer.body.code]
  }

  it('gives the record, with the parameters of one record', async () => {
    assert.deepEqual(await say('GET', '/v1/users/1/posts/2'), { id: 2, slug: 'b', author: 1, version: 1 })
    assert.deepEqual(await say('GET', '/v1/users/2/likes/1?attributes=slug'), { slug: 'a' })
    const { body } = await target.call('GET', '/v1/users/1/posts/2')
    assert.deepEqual(Object.keys(body), ['success', 'timestamp', 'resource', 'post'])
    assert.equal((await target.call('HEAD', '/v1/users/1/posts/2')).status, 200)
    assert.deepEqual(await say('GET', '/v1/users/1/posts/2?sort=id'), [400, 'parameter_invalid'])
    assert.deepEqual(await say('GET', '/v1/users/1/posts/2?slug=b'), [400, 'parameter_invalid'])
    assert.equal(((await say('GET', '/v1/seats/a%2Fb~1/holders/2')) as { name: string }).name, 'Bob')
  })

  it('does not exist for a record that is not in the list, an owner that is not there, and a list that is hidden', async () => {
    for (const path of ['/v1/users/1/posts/3', '/v1/users/1/posts/99', '/v1/users/1/posts/x', '/v1/users/9/posts/1'])
      for (const method of ['GET', 'DELETE']) assert.deepEqual(await say(method, path), [404, 'record_not_found'], `${method} ${path}`)
    assert.match((await target.call('GET', '/v1/users/1/posts/3')).body.detail, /^"posts" of the user 1 has no post with the ID 3/)
    for (const method of ['GET', 'DELETE', 'OPTIONS'])
      assert.deepEqual(await say(method, '/v1/users/2/secrets/1'), [404, 'attribute_not_found'], method)
    for (const path of ['/v1/users/1/posts/1/slug', '/v1/users/1/name/1', '/v1/posts/1/author/1'])
      assert.deepEqual(await say('GET', path), [404, 'path_unknown'], path)
    assert.equal((await target.call('GET', '/v1/posts')).body.count, 3)
  })

  it('is deleted as by the path of the list, and is gone from all others', async () => {
    assert.deepEqual(await say('DELETE', '/v1/users/2/likes/1'), { id: 1, slug: 'a', author: 1, version: 1 })
    assert.deepEqual(await say('GET', '/v1/posts/1'), [404, 'record_not_found'])
    assert.deepEqual(((await say('GET', '/v1/users/2')) as { likes: number[] }).likes, [3])
    assert.deepEqual(await say('DELETE', '/v1/users/2/likes/1'), [404, 'record_not_found'])
    assert.deepEqual(await say('DELETE', '/v1/users/1/posts/2', undefined, { 'if-match': '"9"' }), [412, 'precondition_failed'])
    assert.deepEqual(await say('DELETE', '/v1/users/1/posts/2', undefined, { 'if-match': '"1"' }), {
      id: 2,
      slug: 'b',
      author: 1,
      version: 1,
    })
  })

  it('takes no other method that writes', async () => {
    for (const method of ['POST', 'PUT', 'PATCH']) {
      const { status, headers } = await target.call(method, '/v1/users/1/posts/2', undefined, {})
      assert.deepEqual([status, headers['allow']], [405, 'GET, HEAD, QUERY, DELETE, OPTIONS'], method)
    }
    assert.equal((await target.call('OPTIONS', '/v1/users/1/posts/2')).headers['allow'], 'GET, HEAD, QUERY, DELETE, OPTIONS')
  })
})

describe('the path of a record of a list', () => {
  const make = (options: Partial<EngineOptions>): Promise<RestEngine> => RestEngine.create({ entities, seed, ...options })
  const status = async (engine: RestEngine, line: string): Promise<number> => (await engine.send(line)).status

  it('keeps to keys, scopes, access and rules for writing', async () => {
    await using engine = await make({
      seed: {
        profile: seed.users.map(({ posts, likes = [], ...user }) => ({
          ...user,
          posts,
          likes: likes.map(id => (id === 1 ? 'a' : 'c')),
          secrets: [],
        })),
      },
      resources: [
        resource(User, { single: 2, name: 'profile' }),
        resource(Post, {
          key: 'slug',
          scope: () => ({ slug: { $ne: 'b' } }),
          write: () => ({ author: 2 }),
          access: (_, action) => action !== 'update',
        }),
      ],
    })
    assert.equal(await status(engine, 'GET /v1/profile/likes/a'), 200)
    assert.equal(await status(engine, 'GET /v1/profile/likes/b'), 404)
    assert.equal(await status(engine, 'DELETE /v1/profile/likes/a'), 403)
    assert.equal(await status(engine, 'GET /v1/posts/a'), 200)
    assert.equal(await status(engine, 'DELETE /v1/profile/likes/c'), 200)
    assert.equal(await status(engine, 'GET /v1/posts/c'), 404)
  })

  it('is refused to those who may not delete, or read, the record', async () => {
    await using engine = await make({
      resources: [resource(User, { attributes: { likes: { readOnly: true } } }), resource(Post, { access: { delete: false } })],
    })
    assert.equal(await status(engine, 'DELETE /v1/users/1/posts/1'), 403)
    assert.equal(await status(engine, 'DELETE /v1/users/2/likes/1'), 405)
    assert.equal(await status(engine, 'GET /v1/users/2/likes/1'), 200)
  })

  it('is wrapped as an action on the record, which has its ID', async () => {
    const seen: unknown[] = []
    await using engine = await make({
      resources: [resource(Post, { delete: (ctx, next) => (seen.push([ctx.resource, ctx.action, ctx.id, ctx.attribute]), next()) })],
    })
    assert.equal(await status(engine, 'DELETE /v1/users/1/posts/2'), 200)
    assert.deepEqual(seen, [['posts', 'delete', '2', 'posts']])
  })

  it('is met by faults, and read by the typed client', async () => {
    await using engine = await make({ deletedStatus: 204 })
    assert.equal(await status(engine, 'DELETE /v1/users/1/posts/2'), 204)
    engine.fail('GET /v1/users/*/posts/1', { status: 503 })
    assert.equal(await status(engine, 'GET /v1/users/1/posts/1'), 503)
    const api = client(engine, { users: User })
    assert.deepEqual(await api.users.related(2, 'likes').get(3, { attributes: 'slug' }), { slug: 'c' })
    assert.equal(Object.hasOwn(((await engine.openapi()) as { paths: object }).paths, '/v1/users/{id}/posts/{member}'), false)
  })
})
