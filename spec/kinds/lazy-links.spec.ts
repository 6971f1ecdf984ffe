/** Lazy properties with references: what a body says of them is written. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Owner = defineEntity({ name: 'Owner', properties: { id: p.integer().primary(), name: p.string().nullable() } })
const Card = defineEntity({
  name: 'Card',
  properties: {
    id: p.integer().primary(),
    text: p.string().nullable().lazyRef(),
    owner: () => p.oneToOne(Owner).owner().nullable().lazy().ref(),
    keeper: () => p.manyToOne(Owner).nullable().lazy().ref(),
  },
})

describeStores('lazy properties with references', () => {
  it('are seeded, shown and changed', async () => {
    const seed = { owners: [{ id: 1 }, { id: 2 }], cards: [{ id: 1, owner: 1, keeper: 2, text: 'a' }] }
    await using engine = await createEngine({ entities: [Owner, Card], seed })
    const put = async (path: string, body: unknown, shown: object): Promise<void> => {
      const answer = await engine.handle('PUT', `/v1/${path}`, undefined, body)
      const read = await engine.handle('GET', '/v1/cards/1')
      assert.deepEqual([answer.status, (answer.body as Record<string, unknown>)['card']], [200, shown])
      assert.deepEqual((read.body as Record<string, unknown>)['card'], shown)
    }
    await put('cards/1', {}, { id: 1, text: 'a', owner: 1, keeper: 2 })
    await put('cards/1', { owner: 2, keeper: 1 }, { id: 1, text: 'a', owner: 2, keeper: 1 })
    await put('cards/1', { owner: null, keeper: null, text: 'b' }, { id: 1, text: 'b', owner: null, keeper: null })
    await put('cards/1/owner', { name: 'x' }, { id: 1, text: 'b', owner: 3, keeper: null })
    await put('cards/1/owner', null, { id: 1, text: 'b', owner: null, keeper: null })
    await put('cards/1', { keeper: { name: 'y' }, text: null }, { id: 1, text: null, owner: null, keeper: 4 })
  })

  it('count no version where a body gives the values that they have', async () => {
    const properties = {
      id: p.integer().primary(),
      text: p.string().lazy().nullable(),
      long: p.text().nullable().lazyRef(),
      size: p.integer().lazy().default(3),
      at: p.datetime().lazy().nullable(),
      title: p.string().nullable(),
      version: p.integer().version(),
    }
    for (const subscribers of [[], [{ afterFlush: () => {} }]]) {
      await using engine = await createEngine({ entities: [defineEntity({ name: 'Note', properties })], orm: { subscribers } })
      const same = { text: 'a', long: 'b', size: 4, at: '2026-01-01T00:00:00.000Z' }
      await engine.handle('POST', '/v1/notes', undefined, { ...same, title: 'x' })
      const patch = async (body: object): Promise<number> => {
        const answer = await engine.handle('PATCH', '/v1/notes/1', undefined, body)
        assert.equal(answer.status, 200)
        return answer.body.note.version as number
      }
      for (const [name, value] of Object.entries(same)) assert.equal(await patch({ [name]: value }), 1, name)
      assert.equal(await patch({ ...same, title: 'y' }), 2)
      assert.equal(await patch({ ...same, text: 'c' }), 3)
      for (let time = 0; time < 2; time++) assert.equal(await patch({ text: null, long: null }), 4)
    }
  })
})
