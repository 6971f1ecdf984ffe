/** The usual filter of soft deletion: what a change of the marked attribute answers, with and without rules. */
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
    it(`lets a record go by PUT of its own attribute: ${how}`, async () => {
      await using engine = await start(options)
      const put = await engine.handle('PUT', '/v1/posts/1', undefined, { deletedAt: AT })
      assert.deepEqual([put.status, put.body.post], [200, { id: 1, title: 'a', deletedAt: AT }])
      assert.equal((await engine.handle('GET', '/v1/posts/1')).status, 404)
      assert.equal((await engine.handle('GET', '/v1/posts')).body.count, 1)
      const attribute = await engine.handle('PUT', '/v1/posts/2/deletedAt', undefined, AT)
      assert.equal(attribute.status, 200, JSON.stringify(attribute.body))
      assert.equal((await engine.handle('GET', '/v1/posts')).body.count, 0)
    })
  }

  it('is no scope of the application, which keeps its records', async () => {
    await using engine = await start({ resources: [resource(Post, { scope: () => ({ title: { $ne: 'x' } }) })] })
    assert.equal((await engine.handle('PUT', '/v1/posts/1', undefined, { title: 'x' })).status, 403)
    assert.equal((await engine.handle('PUT', '/v1/posts/1', undefined, { title: 'x', deletedAt: AT })).status, 403)
    assert.equal((await engine.handle('GET', '/v1/posts')).body.count, 2)
  })
})
