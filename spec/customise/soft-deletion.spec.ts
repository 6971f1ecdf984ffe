/** The usual filter of soft deletion: what a change of the marked attribute, and DELETE, answer, with and without rules. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, resource } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'

const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), title: p.string(), deletedAt: p.datetime().nullable() },
  filters: { present: { name: 'present', cond: { deletedAt: null }, default: true } },
})

const AT = '2026-01-31T12:00:00.000Z'

async function start(options: Partial<EngineOptions> = {}): Promise<RestEngine> {
  return RestEngine.create({ entities: [Post], seed: { posts: [{ title: 'a' }, { title: 'b' }] }, ...options })
}

describe('a filter of soft deletion', () => {
  for (const [how, options] of [
    ['alone', {}],
    ['beside a rule', { resources: [resource(Post, { access: { update: () => true } })] }],
    ['beside a scope', { resources: [resource(Post, { scope: () => ({ title: { $ne: 'x' } }) })] }],
  ] as const) {
    for (const listens of [false, true])
      it(`lets PUT and PATCH take a record out of it, which is a deletion: ${how}${listens ? ', by the unit of work' : ''}`, async () => {
        await using engine = await start({ ...options, ...(listens ? { orm: { subscribers: [{ afterFlush() {} }] } } : {}) })
        for (const [method, path, body] of [
          ['PUT', '/v1/posts/1', { deletedAt: AT }],
          ['PATCH', '/v1/posts/2/deletedAt', AT],
        ] as const) {
          const removed = await engine.handle(method, path, undefined, body)
          const { status, post } = removed.body as unknown as { status: string; post: { deletedAt: unknown } }
          assert.deepEqual([removed.status, status, post.deletedAt], [200, 'OK', null], path)
          assert.equal((await engine.handle('GET', path)).status, 404)
          assert.equal((await engine.handle(method, path, undefined, body)).status, 404)
        }
        assert.equal((await engine.handle('GET', '/v1/posts')).body.count, 0)
        const all = await engine.orm.em.fork().find(Post, {}, { filters: false })
        assert.deepEqual(
          all.map(({ deletedAt }) => deletedAt?.toISOString()),
          [AT, AT],
        )
        const posted = await engine.handle('POST', '/v1/posts', undefined, { title: 'c', deletedAt: AT })
        assert.deepEqual([posted.status, posted.body.code], [403, 'outside_scope'])
      })
  }

  it('holds for what a path leads to, and for whom a rule for writing keeps out', async () => {
    const Author = defineEntity({
      name: 'Author',
      properties: { id: p.integer().primary(), best: () => p.manyToOne(Post).nullable() },
    })
    const resources = [resource(Post, { write: () => ({ title: 'a' }) })]
    await using engine = await start({
      entities: [Post, Author],
      resources,
      seed: {
        posts: [
          { id: 1, title: 'a' },
          { id: 2, title: 'b' },
        ],
        authors: [{ id: 1, best: 1 }],
      },
    })
    assert.equal((await engine.handle('PATCH', '/v1/posts/2', undefined, { deletedAt: AT })).status, 403)
    const changed = await engine.handle('PUT', '/v1/authors/1/best', undefined, { deletedAt: AT })
    assert.deepEqual([changed.status, (changed.body as unknown as { author: object }).author], [200, { id: 1, best: null }])
  })

  it('that is a function of parameters is a scope: no write takes a record out of it', async () => {
    const Note = defineEntity({
      name: 'Note',
      properties: { id: p.integer().primary(), tenant: p.integer() },
      filters: { own: { name: 'own', cond: () => ({ tenant: 1 }), default: true } },
    })
    await using engine = await start({ entities: [Note], seed: { notes: [{ tenant: 1 }] } })
    const refused = await engine.handle('PATCH', '/v1/notes/1', undefined, { tenant: 2 })
    assert.deepEqual([refused.status, refused.body.code], [403, 'outside_scope'])
  })

  it('lets a record go by DELETE, which a wrapper of the application turns into a mark', async () => {
    const remove = async ({ em, id }: { em: { nativeUpdate(...given: unknown[]): Promise<number> }; id?: string }) => {
      await em.nativeUpdate(Post, { id: Number(id) }, { deletedAt: new Date(AT) })
      return { status: 204 }
    }
    await using engine = await start({ resources: [resource(Post, { delete: remove as never })] })
    assert.equal((await engine.handle('DELETE', '/v1/posts/1')).status, 204)
    assert.equal((await engine.handle('GET', '/v1/posts/1')).status, 404)
    assert.equal((await engine.handle('GET', '/v1/posts')).body.count, 1)
  })

  it('stands beside a scope of the application, which keeps its records, too', async () => {
    await using engine = await start({ resources: [resource(Post, { scope: () => ({ title: { $ne: 'x' } }) })] })
    assert.equal((await engine.handle('PUT', '/v1/posts/1', undefined, { title: 'x' })).status, 403)
    assert.equal((await engine.handle('PUT', '/v1/posts/1', undefined, { title: 'x', deletedAt: AT })).status, 403)
    assert.equal((await engine.handle('GET', '/v1/posts')).body.count, 2)
    assert.equal((await engine.handle('PUT', '/v1/posts/1', undefined, { deletedAt: AT })).status, 200)
  })

  for (const [how, answer] of [
    ['at once', <T>(value: T) => value],
    ['later', async <T>(value: T) => value],
  ] as const)
    it(`asks no rule twice in a request that takes a record out of it: rules that answer ${how}`, async () => {
      const asked: string[] = []
      const ask = <T>(name: string, value: T) => {
        asked.push(name)
        return answer(value)
      }
      const rules = {
        scope: () => ask('scope', { title: { $ne: 'x' } }) as { title: object },
        access: (_: unknown, action: string) => ask(action, true),
      }
      await using engine = await start({ resources: [resource(Post, rules)] })
      for (const [method, path, body] of [
        ['PUT', '/v1/posts/1', { deletedAt: AT }],
        ['PATCH', '/v1/posts/2/deletedAt', AT],
      ] as const) {
        asked.length = 0
        assert.equal((await engine.handle(method, path, undefined, body)).status, 200)
        assert.deepEqual(asked.toSorted(), ['scope', 'update'], path)
      }
    })
})
