/**
 * Bodies that come wrapped as answers are, by the option `envelope`: for every way in, in forms, sign-ups, the OpenAPI document, the typed
 * client and the self-test.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, client, resource, RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    password: p.string().hidden().nullable(),
    articles: () => p.oneToMany(Article).mappedBy('author'),
  },
})
const Article = defineEntity({
  name: 'Article',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User).nullable() },
})
/** Its text has the name of its key in the envelope. */
const Comment = defineEntity({ name: 'Comment', properties: { id: p.integer().primary(), comment: p.string() } })
/** An object has that name. */
const Setting = defineEntity({
  name: 'Setting',
  properties: { id: p.integer().primary(), setting: p.json().nullable(), name: p.string().nullable() },
})
const entities = [User, Article, Comment, Setting]
const seed = { users: [{ id: 1, name: 'Ann', password: 'secret' }], articles: [{ id: 1, title: 'a', author: 1 }] }
const BY_NAME = { record: { '{singular}': 'record' } } as const
const NESTED = { record: { data: { item: 'record', type: 'resource' }, done: 'status' } } as const

const asker =
  (target: Target) =>
  async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await target.call(method, path, undefined, body)
    return answer.status < 400 ? answer.body : [answer.status, answer.body.code, answer.body.detail]
  }

describeTargets('bodies that are wrapped by the name of their resource', { entities, seed, envelope: BY_NAME }, target => {
  const ask = asker(target)

  it('are taken by POST, PUT and PATCH, and so are those that are not', async () => {
    assert.deepEqual(await ask('POST', '/v1/articles', { article: { title: 'b' } }), { article: { id: 2, title: 'b', author: null } })
    assert.deepEqual(await ask('POST', '/v1/articles', { title: 'c' }), { article: { id: 3, title: 'c', author: null } })
    assert.deepEqual(await ask('PUT', '/v1/articles/2', { article: { title: 'd' } }), { article: { id: 2, title: 'd', author: null } })
    assert.deepEqual(await ask('PATCH', '/v1/articles/2', { article: { author: 1 } }), { article: { id: 2, title: 'd', author: 1 } })
    assert.deepEqual(await ask('PATCH', '/v1/articles/2', { title: 'e' }), { article: { id: 2, title: 'e', author: 1 } })
  })

  it('are taken by the paths of relations, whose records they are', async () => {
    assert.deepEqual(await ask('POST', '/v1/users/1/articles', { article: { title: 'b' } }), { article: { id: 2, title: 'b', author: 1 } })
    assert.deepEqual(await ask('PUT', '/v1/articles/1/author', { user: { name: 'Bo' } }), { article: { id: 1, title: 'a', author: 1 } })
    assert.deepEqual(await ask('GET', '/v1/articles/1/author?depth=0'), { user: { id: 1, name: 'Bo' } })
    assert.deepEqual(await ask('POST', '/v1/users/1/articles', 1), { user: { id: 1, name: 'Bo', articles: [1, 2] } })
  })

  it('are refused where they are wrapped by another name, or have more beside', async () => {
    const refused = async (body: unknown): Promise<string> => ((await ask('POST', '/v1/articles', body)) as [number, string, string])[2]
    assert.match(await refused({ user: { title: 'b' } }), /user/)
    assert.match(await refused({ article: { title: 'b' }, title: 'c' }), /article/)
    assert.match(await refused({ article: 'b' }), /article/)
    assert.match(await refused({ article: { titel: 'b' } }), /titel.*Did you mean "title"/)
    assert.match(await refused({ article: { article: { title: 'b' } } }), /article/)
    assert.deepEqual(((await ask('GET', '/v1/articles')) as { count: number }).count, 1)
  })

  it('are told from records whose attribute has that name, by what may stand there', async () => {
    assert.deepEqual(await ask('POST', '/v1/comments', { comment: 'hi' }), { comment: { id: 1, comment: 'hi' } })
    assert.deepEqual(await ask('POST', '/v1/comments', { comment: { comment: 'ho' } }), { comment: { id: 2, comment: 'ho' } })
    const must = /^Bodies of settings must be wrapped, \{ "setting": \{ \.\.\. \} \}/
    const [status, code, detail] = (await ask('POST', '/v1/settings', { name: 'x' })) as [number, string, string]
    assert.deepEqual([status, code], [400, 'body_invalid'])
    assert.match(detail, must)
    const whole = { setting: { setting: { setting: { a: 1 } }, name: 'x' } }
    assert.deepEqual(await ask('POST', '/v1/settings', whole), { setting: { id: 1, ...whole.setting } })
  })

  it('leaves arrays, lists and plain values as they are', async () => {
    const { articles } = (await ask('POST', '/v1/articles', [{ title: 'b' }, { title: 'c' }])) as { articles: unknown[] }
    assert.equal(articles.length, 2)
    assert.deepEqual(await ask('PUT', '/v1/users/1/articles', [2]), { user: { id: 1, name: 'Ann', articles: [2] } })
    assert.deepEqual(await ask('PUT', '/v1/articles/1/title', 'z'), { article: { id: 1, title: 'z', author: null } })
    assert.deepEqual(await ask('PUT', '/v1/settings/1/setting', { setting: 1 }), [
      404,
      'record_not_found',
      'There is no setting with the ID 1.',
    ])
  })
})

describeTargets('bodies that are wrapped by fixed keys', { entities, seed, envelope: NESTED }, target => {
  it('may have the other keys of an answer, as one that is sent back', async () => {
    const ask = asker(target)
    const created = await ask('POST', '/v1/articles', { data: { item: { title: 'b' } } })
    assert.deepEqual(created, { data: { item: { id: 2, title: 'b', author: null }, type: 'article' }, done: 'OK' })
    assert.deepEqual(await ask('PUT', '/v1/articles/2', created), { data: { item: { id: 2, title: 'b', author: null }, type: 'article' } })
    assert.deepEqual(((await ask('POST', '/v1/articles', { data: { item: { title: 'b' } }, more: 1 })) as unknown[])[0], 422)
    assert.deepEqual(((await ask('POST', '/v1/articles', { data: { title: 'b' } })) as unknown[])[0], 422)
  })
})

describe('bodies that are wrapped as answers are', () => {
  const make = (options: Partial<EngineOptions>): Promise<RestEngine> => RestEngine.create({ entities, seed, ...options })

  it('come to wrappers and fills unwrapped, and to the journal as they were sent, without secrets', async () => {
    let seen: unknown
    await using engine = await make({
      envelope: BY_NAME,
      resources: [resource(User, { create: (ctx, next) => ((seen = ctx.data), next()) })],
    })
    await engine.handle('POST', '/v1/users', undefined, { user: { name: 'Bo', password: 'hidden' } })
    assert.deepEqual(seen, { name: 'Bo', password: 'hidden' })
    assert.deepEqual(engine.requests.at(-1)?.body, { user: { name: 'Bo', password: '[secret]' } })
  })

  it('are taken of code of the application in their plain form alone', async () => {
    await using engine = await make({
      envelope: BY_NAME,
      routes: [
        {
          method: 'POST',
          path: '/{version}/twice',
          handler: async ctx => ({ body: await ctx.ask('POST', '/articles', {}, ctx.data) }),
        },
      ],
    })
    const plain = await engine.handle('POST', '/v1/twice', undefined, { title: 'b' })
    assert.equal(plain.status, 200)
    const wrapped = await engine.handle('POST', '/v1/twice', undefined, { article: { title: 'b' } })
    assert.equal(wrapped.status, 422)
  })

  it('are taken of sign-ups and of the own record, but where the application says where the attributes are', async () => {
    const paths = { signUp: 'users', me: 'user' }
    await using engine = await make({ envelope: BY_NAME, auth: auth({ entity: User, identifier: 'name', paths }) })
    const body = { user: { name: 'Bo', password: 'secret' } }
    const { status, body: answer } = await engine.handle('POST', '/v1/users', undefined, body)
    assert.equal(status, 200)
    const headers = { authorization: `Bearer ${answer.auth_token}` }
    const changed = await engine.handle('PUT', '/v1/user', undefined, { user: { name: 'Bob' } }, { headers })
    assert.deepEqual([changed.status, changed.body.user.name], [200, 'Bob'])
    await using own = await make({
      envelope: BY_NAME,
      auth: auth({ entity: User, identifier: 'name', paths, credentials: given => given.user }),
    })
    assert.equal((await own.handle('POST', '/v1/users', undefined, body)).status, 200)
  })

  it('are taken of forms, in which brackets wrap', async () => {
    await using engine = await make({ envelope: BY_NAME, forms: true })
    const post = async (text: string): Promise<unknown> => {
      const answer = await engine.fetch(new Request('http://x/v1/articles', { method: 'POST', body: new URLSearchParams(text) }))
      return answer.json()
    }
    assert.deepEqual(await post('article[title]=b&article[author]=1'), { article: { id: 2, title: 'b', author: 1 } })
    assert.deepEqual(await post('title=c'), { article: { id: 3, title: 'c', author: null } })
  })

  it('are described as the document has them, and the self-test sends them so', async () => {
    for (const envelope of [BY_NAME, NESTED]) {
      await using engine = await make({ envelope })
      const document = (await engine.openapi()) as {
        paths: Record<string, Record<string, { requestBody?: { content?: Record<string, { schema: unknown }> } }>>
      }
      const { content } = document.paths['/v1/articles']!['post']!.requestBody!
      assert.deepEqual(
        content!['application/json']!.schema,
        envelope === BY_NAME
          ? {
              type: 'object',
              required: ['article'],
              properties: { article: { $ref: '#/components/schemas/ArticleNew' } },
              additionalProperties: false,
            }
          : {
              type: 'object',
              required: ['data'],
              properties: {
                data: {
                  type: 'object',
                  required: ['item'],
                  properties: { item: { $ref: '#/components/schemas/ArticleNew' } },
                  additionalProperties: false,
                },
              },
              additionalProperties: false,
            },
      )
      const report = await engine.selfTest({ seed: 1, runs: 3 })
      assert.equal(report.passed, true, String(report))
      assert.ok(report.checks.created > 0 && report.checks.refused > 0)
    }
  })

  it('are sent by the typed client where it knows their keys', async () => {
    await using engine = await make({ envelope: NESTED })
    const sent: unknown[] = []
    const api = client(
      async (url, init) => (sent.push(init.body && JSON.parse(init.body)), engine.fetch(new Request(url, init))),
      { articles: Article },
      { envelope: NESTED },
    )
    assert.deepEqual(await api.articles.create({ title: 'b' }), { id: 2, title: 'b', author: null })
    assert.deepEqual(await api.articles.update(2, { title: 'c' }), { id: 2, title: 'c', author: null })
    assert.deepEqual(sent, [{ data: { item: { title: 'b' } } }, { data: { item: { title: 'c' } } }])
    await using named = await make({ envelope: BY_NAME })
    assert.deepEqual(await client(named, { articles: Article }, { envelope: BY_NAME }).articles.create({ title: 'b' }), {
      id: 2,
      title: 'b',
      author: null,
    })
  })
})
