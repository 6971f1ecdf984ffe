/**
 * Marks: links between records and the user who asks, with paths of their own. Whoever may read a record may mark it, and changes nothing
 * else by that.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, client, resource, RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.uuid().primary(),
    name: p.string().unique(),
    email: p.string(),
    password: p.string().hidden(),
    follows: () => p.manyToMany(User).inversedBy('followers').hidden(),
    followers: () => p.manyToMany(User).mappedBy('follows').hidden(),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    slug: p.string().unique(),
    isDraft: p.boolean().default(false),
    author: () => p.manyToOne(User),
    changedAt: p
      .datetime()
      .onCreate(() => new Date(0))
      .onUpdate(() => new Date(1)),
    likedBy: () => p.manyToMany(User).owner(),
  },
})
const entities = [User, Post]
const [ann, bob] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'] as const
const seed = {
  users: [
    { id: ann, name: 'Ann', email: 'ann@example.com', password: 'x' },
    { id: bob, name: 'Bob', email: 'bob@example.com', password: 'x' },
  ],
  posts: [
    { slug: 'a', author: 'Ann' },
    { slug: 'b', author: 'Bob' },
    { slug: 'draft', author: 'Ann', isDraft: true },
  ],
}
const options = {
  entities,
  seed,
  auth: auth({ entity: User, secret: 'that of a spec, which is long enough', public: ['GET /v1/*'] }),
  resources: [
    resource(User, { key: 'name', access: { update: false }, marks: { follow: { list: 'followers', shown: 'following' } } }),
    resource(Post, {
      key: 'slug',
      scope: () => ({ isDraft: false }),
      write: () => false,
      attributes: { likedBy: { readOnly: true } },
      marks: { like: { list: 'likedBy', shown: 'liked' }, star: 'likedBy' },
    }),
  ],
} satisfies Partial<EngineOptions>

const asker =
  (engine: RestEngine, id: string | undefined) =>
  async (line: string, body?: unknown): Promise<unknown> => {
    const headers = id === undefined ? {} : { authorization: `Bearer ${engine.token({ id })}` }
    const answer = await engine.send(line, { body, headers })
    return answer.status < 400 ? answer.body[answer.body.resource] : [answer.status, answer.body.code]
  }

describeStores('marks', () => {
  it('are set by POST and taken away by DELETE, and doing so twice changes nothing', async () => {
    await using engine = await createEngine(options)
    const ask = asker(engine, bob)
    const shown = { id: 1, slug: 'a', isDraft: false, author: 'Ann', changedAt: '1970-01-01T00:00:00.000Z' }
    for (let times = 0; times < 2; times++)
      assert.deepEqual(await ask('POST /v1/posts/a/like'), { ...shown, likedBy: ['Bob'], liked: true })
    assert.deepEqual(engine.requests.at(-1)?.changes, [])
    assert.deepEqual(await ask('DELETE /v1/posts/a/star'), { ...shown, likedBy: [], liked: false })
    assert.deepEqual(await ask('DELETE /v1/posts/a/like'), { ...shown, likedBy: [], liked: false })
    assert.deepEqual(((await ask('POST /v1/users/Ann/follow')) as { following: boolean }).following, true)
  })

  it('are shown, filtered and sorted by for each caller', async () => {
    await using engine = await createEngine(options)
    await asker(engine, bob)('POST /v1/posts/b/like')
    const slugs = async (id: string | undefined, query: string): Promise<string[]> =>
      ((await asker(engine, id)(`GET /v1/posts?${query}`)) as { slug: string }[]).map(({ slug }) => slug)
    assert.deepEqual(await slugs(bob, 'liked=true'), ['b'])
    assert.deepEqual(await slugs(ann, 'liked=true'), [])
    assert.deepEqual(await slugs(undefined, 'liked=false'), ['a', 'b'])
    assert.deepEqual(await slugs(bob, 'sort=liked.desc'), ['b', 'a'])
    assert.deepEqual(await slugs(bob, 'author.following=false'), ['a', 'b'])
  })

  it('need a log-in and a record that exists for the caller, and no right to change one', async () => {
    await using engine = await createEngine(options)
    assert.deepEqual(await asker(engine, undefined)('POST /v1/posts/a/like'), [401, 'token_missing'])
    const ask = asker(engine, bob)
    assert.deepEqual(await ask('POST /v1/posts/draft/like'), [404, 'record_not_found'])
    assert.deepEqual(await ask('POST /v1/posts/none/like'), [404, 'record_not_found'])
    assert.deepEqual(await ask('PUT /v1/posts/a', { likedBy: ['Bob'] }), [403, 'forbidden'])
    assert.deepEqual(await ask('POST /v1/posts/a/likedBy', 'Bob'), [400, 'action_not_possible'])
    assert.deepEqual(await ask('PUT /v1/posts/a/like', {}), [405, 'method_not_allowed'])
    assert.deepEqual(await ask('GET /v1/posts/a/like'), [405, 'method_not_allowed'])
    assert.deepEqual(await ask('POST /v1/posts/a/like/b'), [404, 'path_unknown'])
  })
})

describe('marks', () => {
  it('are described, and called by the typed client', async () => {
    await using engine = await RestEngine.create({ ...options, deletedStatus: 204, envelope: { record: { '{singular}': 'record' } } })
    const { paths } = (await engine.openapi()) as { paths: Record<string, object> }
    assert.deepEqual(Object.keys(paths['/v1/posts/{id}/like']!), ['parameters', 'post', 'delete'])
    for (const line of ['POST /v1/posts/a/like', 'DELETE /v1/posts/a/like'] as const) {
      const [method, path] = line.split(' ') as [string, string]
      const response = await engine.send(line, { headers: { authorization: `Bearer ${engine.token({ id: bob })}` } })
      assert.deepEqual([response.status, response.body.post.slug], [200, 'a'])
      assert.deepEqual(await engine.conforms({ method, path }, response), [])
    }
    const api = client(engine, { posts: Post }, { token: engine.token({ id: bob }), envelope: { record: { '{singular}': 'record' } } })
    assert.deepEqual((await api.posts.mark('a', 'like')).likedBy, ['Bob'])
    assert.deepEqual((await api.posts.unmark('a', 'like')).likedBy, [])
    engine.fail('POST /v1/posts/*/like', { status: 503 })
    assert.throws(() => engine.fail('POST /v1/posts/*/lik', { status: 503 }), /the attribute "lik" of posts is unknown/)
  })

  it('are refused at the start where there is no such list, name or log-in', async () => {
    const refuse = (config: object, more: Partial<EngineOptions>, message: RegExp): Promise<void> =>
      assert.rejects(
        RestEngine.create({ entities, auth: auth({ entity: User }), resources: [resource(Post, config)], ...more }),
        (error: Error) => error instanceof TypeError && message.test(error.message),
      )
    await refuse(
      { marks: { like: 'likedBi' } },
      {},
      /resource\(Post\): marks\.like: "likedBi" is no many-to-many list of the users who log in; those are likedBy\. Did you mean "likedBy"\?/,
    )
    await refuse({ marks: { like: 'author' } }, {}, /"author" is no many-to-many list/)
    await refuse({ marks: { slug: 'likedBy' } }, {}, /"slug" is an attribute already/)
    await refuse({ marks: { like: { list: 'likedBy', shown: 'slug' } } }, {}, /"slug" is an attribute already/)
    await refuse({ marks: { like: { list: 'likedBy', show: 'liked' } } }, {}, /Did you mean "shown"\?/)
    await refuse({ marks: { 'a/b': 'likedBy' } }, {}, /must be a path segment/)
    await refuse({ marks: { like: 'likedBy' } }, { auth: undefined as never }, /the option "auth" is missing/)
    await refuse({ marks: [] }, {}, /must be an object/)
  })
})
