/** Bodies that repeat the key of their record. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

describe('a key of relations and UUIDs', () => {
  it('may be repeated in a body', async () => {
    const Owner = defineEntity({ name: 'Owner', properties: { id: p.uuid().primary() } })
    const Card = defineEntity({
      name: 'Card',
      properties: { owner: () => p.manyToOne(Owner).primary(), number: p.integer().primary(), note: p.string() },
    })
    const id = '0b2f6c2e-2f6e-4a44-9e53-6a3f2b7a5a11'
    await using engine = await RestEngine.create({
      entities: [Owner, Card],
      seed: { owners: [{ id }], cards: [{ owner: id, number: 1, note: 'a' }] },
    })
    const { body } = await engine.handle('GET', `/v1/cards/${id}~1`)
    const put = await engine.handle('PUT', `/v1/cards/${id}~1`, undefined, { ...body.card, note: 'b' })
    assert.deepEqual([put.status, put.body.card.note], [200, 'b'])
    assert.equal((await engine.handle('PUT', `/v1/owners/${id}`, undefined, { id: id.toUpperCase() })).status, 200)
  })
})
