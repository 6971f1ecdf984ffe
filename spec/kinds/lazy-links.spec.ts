/** Lazy properties with references: what a body says of them is written. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

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

describe('lazy properties with references', () => {
  it('are seeded, shown and changed', async () => {
    const seed = { owners: [{ id: 1 }, { id: 2 }], cards: [{ id: 1, owner: 1, keeper: 2, text: 'a' }] }
    await using engine = await RestEngine.create({ entities: [Owner, Card], seed })
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
})
