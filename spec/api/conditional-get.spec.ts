/** `If-None-Match` of GET and HEAD: 304, and when it must not be given. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, createServer, resource } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Answer, Target } from '../helpers/targets.ts'

const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    version: p.integer().version(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    version: p.integer().version(),
    author: () => p.manyToOne(Author),
    editor: () => p.manyToOne(Author).nullable(),
    tags: () => p.manyToMany(Tag),
  },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), word: p.string() } })
const entities = [Author, Post, Tag]
const resources = [
  resource(Post, { computed: { stats: { flag: 'titles', titles: { type: 'integer', sql: () => '(select count(*) from post)' } } } }),
]
const seed = {
  authors: [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ],
  tags: [{ id: 1, word: 'sea' }],
  posts: [{ id: 1, title: 'A', author: 1, editor: 2, tags: [1] }],
}

/** GET under a condition. */
const ask = (target: Pick<Target, 'call'>, path: string, condition: string, method = 'GET'): Promise<Answer> =>
  target.call(method, path, undefined, undefined, { 'if-none-match': condition })

describeTargets(
  'a GET under a condition',
  { entities, resources, seed, everyTarget: 'headers come by transports, times from files' },
  target => {
    const OWN = '/v1/posts/1?attributes=id,title,version,author'

    it('is 304 without a body while the version is the one named', async () => {
      const first = await target.call('GET', OWN)
      assert.equal(first.headers['etag'], '"1"')
      for (const condition of ['"1"', 'W/"1"', '"0", W/"1"', '*']) {
        for (const method of ['GET', 'HEAD']) {
          const { status, headers, body } = await ask(target, OWN, condition, method)
          assert.deepEqual([status, body, headers['etag']], [304, undefined, '"1"'], `${method} ${condition}`)
          for (const name of ['content-type', 'content-length']) assert.equal(headers[name], undefined, name)
        }
      }
      for (const condition of ['"0"', '1', '', '"', 'W/1']) assert.equal((await ask(target, OWN, condition)).status, 200, condition)
      assert.equal((await target.call('PUT', '/v1/posts/1', undefined, { title: 'B' })).status, 200)
      const { status, headers, body } = await ask(target, OWN, '"1"')
      assert.deepEqual([status, headers['etag'], body.post.title], [200, '"2"', 'B'])
    })

    it('is answered whole where a value may have changed without the version', async () => {
      // A list, a link that the database empties, a computed attribute, an expanded record.
      for (const query of [
        '',
        'attributes=version,tags',
        'attributes=version,editor',
        'attributes=version,stats&titles',
        'attributes=version,author&expand=author',
      ]) {
        const { status, headers } = await ask(target, `/v1/posts/1?${query}`, '"1"')
        assert.deepEqual([status, headers['etag']], [200, '"1"'], query)
      }
      // Another author may have the same version.
      assert.equal((await ask(target, '/v1/posts/1/author?attributes=name,version', '"1"')).status, 200)
    })

    it('is as any other where there is no tag, or no record', async () => {
      for (const path of ['/v1/posts', '/v1/tags/1', '/v1/posts/1/title', '/v1'])
        assert.equal((await ask(target, path, '*')).status, 200, path)
      assert.equal((await ask(target, '/v1/posts/7', '*')).status, 404)
      assert.equal((await ask(target, '/v1/posts?limit=x', '*')).status, 400)
    })
  },
)

const PATHS = [
  '/v1',
  '/v1/openapi.json',
  '/v1/posts',
  '/v1/posts?limit=0',
  '/v1/posts/1',
  '/v1/posts/1?depth=2',
  '/v1/posts/1?attributes=title',
  '/v1/posts/1/title',
  '/v1/posts/1/author',
  '/v1/posts/1/tags',
  '/v1/tags/1',
]

describeTargets('tags of answers', { entities, resources, seed, etag: 'answer' }, target => {
  it('are those of the content: the same for the same, whatever the time', async () => {
    for (const path of PATHS) {
      const { status, headers } = await target.call('GET', path)
      const etag = headers['etag']!
      assert.equal(status, 200)
      assert.match(etag, /^(?:W\/"|"1;)[\w-]{22}"$/, path)
      target.engine.clock.advance('1h')
      assert.equal((await target.call('HEAD', path)).headers['etag'], etag, path)
      for (const method of ['GET', 'HEAD']) {
        const again = await ask(target, path, etag, method)
        assert.deepEqual([again.status, again.body, again.headers['etag']], [304, undefined, etag], path)
      }
    }
  })

  it('are weak, but for those of a record with a version, with which it can be changed', async () => {
    const { headers } = await target.call('GET', '/v1/posts/1?depth=2')
    const put = (condition: string, title: string) => target.call('PUT', '/v1/posts/1', undefined, { title }, { 'if-match': condition })
    assert.equal((await put('"0;xyz"', 'B')).status, 412)
    assert.equal((await put(`W/${headers['etag']!}`, 'B')).status, 412)
    assert.equal((await put(headers['etag']!, 'B')).status, 200)
    assert.equal((await put(headers['etag']!, 'C')).status, 412)
    assert.match((await target.call('GET', '/v1/tags/1')).headers['etag']!, /^W\//)
  })

  it('are not given to refusals and changes', async () => {
    assert.equal((await target.call('GET', '/v1/posts/7')).headers['etag'], undefined)
    assert.equal((await target.call('PUT', '/v1/tags/1', undefined, { word: 'x' })).headers['etag'], undefined)
    assert.equal((await ask(target, '/v1/posts/7', '*')).status, 404)
  })
})

type Step = { readonly does: number; readonly id: number; readonly other: number }

/** Changes of any kind; refusals are no matter. */
const CHANGES: readonly ((step: Step) => readonly [method: string, path: string, body?: unknown])[] = [
  ({ id, other }) => ['PUT', `/v1/posts/${id}`, { title: `T${other}` }],
  ({ id, other }) => ['PUT', `/v1/posts/${id}`, { author: other }],
  ({ id, other }) => ['PUT', `/v1/posts/${id}/editor`, other === 3 ? null : other],
  ({ id, other }) => ['PUT', `/v1/posts/${id}/tags`, other === 3 ? [] : [other]],
  ({ id, other }) => ['PUT', `/v1/authors/${id}`, { name: `N${other}` }],
  ({ id, other }) => ['PUT', `/v1/tags/${id}`, { word: `W${other}` }],
  ({ id, other }) => ['POST', '/v1/posts', { title: `P${id}`, author: other }],
  ({ id }) => ['POST', '/v1/tags', { word: `W${id}` }],
  ({ id }) => ['DELETE', `/v1/authors/${id}`],
  ({ id }) => ['DELETE', `/v1/tags/${id}`],
]
const READ = [
  ...PATHS,
  '/v1/authors/1?attributes=id,name,version',
  '/v1/posts/1?attributes=id,title,version,author',
  '/v1/posts/1?attributes=version,editor',
  '/v1/posts/1?attributes=version,author&expand=author',
]

describe('a 304', () => {
  for (const etag of ['version', 'answer'] as const) {
    it(`never hides a change (${etag})`, { timeout: 120_000 }, async () => {
      await using origin = await RestEngine.create({
        entities,
        resources,
        etag,
        seed: { ...seed, authors: [...seed.authors, { id: 3, name: 'Cid' }] },
      })
      const step = fc.record({
        does: fc.nat({ max: CHANGES.length - 1 }),
        id: fc.integer({ min: 1, max: 3 }),
        other: fc.integer({ min: 1, max: 3 }),
      })
      let unmodified = 0
      await check(
        fc.asyncProperty(fc.array(step, { maxLength: 8 }), async steps => {
          await using world = await origin.fork()
          const known = new Map<string, { etag: string; content: string }>()
          const read = async (): Promise<void> => {
            for (const path of READ) {
              const before = known.get(path)
              const answer = await world.handle('GET', path, undefined, undefined, before && { headers: { 'if-none-match': before.etag } })
              const whole = await world.handle('GET', path)
              const content = JSON.stringify({ ...(whole.body as object), timestamp: '' })
              if (answer.status === 304) {
                unmodified++
                assert.equal(content, before?.content, path)
              } else {
                assert.equal(JSON.stringify({ ...(answer.body as object), timestamp: '' }), content)
                // A tag of the answer is another one only when the answer is.
                if (etag === 'answer' && before !== undefined && answer.status === 200) assert.notEqual(content, before.content, path)
              }
              const tag = whole.headers['etag']
              if (tag === undefined) known.delete(path)
              else known.set(path, { etag: tag, content })
            }
          }
          await read()
          for (const each of steps) {
            const [method, path, body] = CHANGES[each.does]!(each)
            await world.handle(method, path, undefined, body)
            await read()
          }
        }),
        { label: `304 by ${etag}`, runs: 30 },
      )
      assert.ok(unmodified > 30)
    })
  }
})

describe('conditions elsewhere', () => {
  it('work by fetch and by intercepted fetch; CORS shows the tag', async () => {
    await using engine = await RestEngine.create({ entities, resources, seed, etag: 'answer' })
    using _ = engine.intercept('https://api.example.test')
    for (const get of [engine.fetch, fetch]) {
      const first = await get('https://api.example.test/v1/tags')
      const again = await get('https://api.example.test/v1/tags', { headers: { 'if-none-match': first.headers.get('etag')! } })
      assert.deepEqual([again.status, await again.text(), again.headers.get('content-length')], [304, '', null])
    }
    const server = createServer(engine, { cors: true }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const response = await fetch(`http://127.0.0.1:${port}/v1/tags`, { headers: { origin: 'https://app.example.test' } })
    assert.match(response.headers.get('access-control-expose-headers')!, /\bETag\b/)
    server.close()
    server.closeAllConnections()
  })

  it('leave a tag of the application as it is, and take it at its word', async () => {
    const get = async (_ctx: unknown, next: () => Promise<{ headers?: Record<string, string>; body?: unknown }>) => {
      const answer = await next()
      return { ...answer, headers: { ...answer.headers, etag: '"mine"', 'cache-control': 'max-age=5' } }
    }
    for (const etag of ['version', 'answer'] as const) {
      await using engine = await RestEngine.create({ entities, resources: [resource(Author, { get })], seed, etag })
      const headers = { 'if-none-match': '"mine"' }
      const answer = await engine.handle('GET', '/v1/authors/1', undefined, undefined, { headers })
      assert.deepEqual([answer.status, answer.headers], [304, { etag: '"mine"', 'cache-control': 'max-age=5' }])
    }
  })

  it('do not trust a version behind a wrapper, which may have changed the answer', async () => {
    const get = async (_ctx: unknown, next: () => Promise<object>) => next()
    await using engine = await RestEngine.create({ entities, resources: [resource(Author, { get })], seed })
    const path = '/v1/authors/1?attributes=name,version'
    assert.equal((await engine.handle('GET', path, undefined, undefined, { headers: { 'if-none-match': '"1"' } })).status, 200)
  })

  it('are described', async () => {
    for (const etag of ['version', 'answer'] as const) {
      await using engine = await RestEngine.create({ entities, etag })
      const { paths } = (await engine.openapi({ details: true })) as unknown as {
        paths: Record<string, { get: { responses: object; parameters?: object[] } }>
      }
      const described = (path: string) => '304' in paths[path]!.get.responses
      assert.deepEqual(
        ['/v1/posts/{id}', '/v1/tags/{id}', '/v1/posts', '/v1', '/v1/posts/{id}/author'].map(described),
        etag === 'version' ? [true, false, false, false, false] : [true, true, true, true, true],
      )
    }
  })

  it('refuse an unknown kind of tags', async () => {
    await assert.rejects(RestEngine.create({ entities, etag: 'weak' as never }), /"etag" must be one of "version", "answer", got "weak"/)
  })
})
