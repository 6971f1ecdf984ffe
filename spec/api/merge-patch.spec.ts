/** PATCH with `application/merge-patch+json` merges JSON values (RFC 7396); plain JSON replaces them. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Product = defineEntity({
  name: 'Product',
  properties: { id: p.integer().primary(), name: p.string().default(''), image: p.json<object>().nullable() },
})
const image = { link: 'a', text: 'old', size: { w: 1, h: 2 }, gone: 1 }

describeStores('PATCH of a JSON attribute', () => {
  for (const listens of [false, true])
    it(`merges by its media type alone${listens ? ', by the unit of work' : ''}`, async () => {
      await using engine = await createEngine({
        entities: [Product],
        seed: { products: [{ id: 1, image }, { id: 2 }] },
        ...(listens ? { orm: { subscribers: [{ afterFlush() {} }] } } : {}),
      })
      const patch = async (path: string, body: unknown, type = 'application/merge-patch+json'): Promise<unknown> => {
        const headers = { 'content-type': type }
        const answer = await engine.handle('PATCH', `/v1/products/${path}`, {}, body, { headers })
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        return (answer.body as unknown as { product: { image: unknown } }).product.image
      }
      const merged = { link: 'a', text: 'new', size: { w: 1, d: 3 } }
      assert.deepEqual(await patch('1', { image: { text: 'new', gone: null, size: { h: null, d: 3 } } }), merged)
      assert.deepEqual(await patch('1/image', { size: [1], link: null }), { text: 'new', size: [1] })
      assert.deepEqual(await patch('1', { name: 'x' }), { text: 'new', size: [1] })
      assert.deepEqual(await patch('2', { image: { a: null, b: { c: null, d: 1 } } }), { b: { d: 1 } })
      assert.deepEqual(await patch('1', { image: { a: 1 } }, 'application/json'), { a: 1 })
      assert.equal(await patch('1', { image: null }), null)
    })

  it('merges twenty at once, each of them', async () => {
    await using engine = await createEngine({ entities: [Product], seed: { products: [{ id: 1, image: {} }] } })
    const headers = { 'content-type': 'application/merge-patch+json' }
    const names = Array.from({ length: 20 }, (_, index) => `name${index}`)
    const answers = await Promise.all(
      names.map(name => engine.handle('PATCH', '/v1/products/1', {}, { image: { [name]: 1 } }, { headers })),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const { body } = await engine.handle('GET', '/v1/products/1/image')
    assert.deepEqual(Object.keys((body as unknown as { value: object }).value).toSorted(), names.toSorted())
  })
})
