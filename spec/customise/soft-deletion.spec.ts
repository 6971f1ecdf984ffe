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
    it(`keeps its records from PUT and PATCH of their own attribute: ${how}`, async () => {
      await using engine = await start(options)
      for (const method of ['PUT', 'PATCH'] as const) {
        for (const [path, body] of [
          ['/v1/posts/1', { deletedAt: AT }],
          ['/v1/posts/2/deletedAt', AT],
        ] as const) {
          const refused = await engine.handle(method, path, undefined, body)
          assert.deepEqual([refused.status, refused.body.code], [403, 'outside_scope'], path)
        }
      }
      assert.equal((await engine.handle('GET', '/v1/posts')).body.count, 2)
      const posted = await engine.handle('POST', '/v1/posts', undefined, { title: 'c', deletedAt: AT })
      assert.deepEqual([posted.status, posted.body.code], [403, 'outside_scope'])
    })
  }

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
  })
})
