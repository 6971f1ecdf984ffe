/** Foreign keys that share a column with the key of their record: lists of them take no record whose key says something else. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p, type EntitySchema } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

const Room: EntitySchema = defineEntity({
  name: 'Room',
  properties: { tenant: p.integer().primary(), number: p.integer().primary(), desks: () => p.oneToMany(Desk).mappedBy('room') },
})
const Desk: EntitySchema = defineEntity({
  name: 'Desk',
  properties: {
    tenant: p.integer().primary(),
    number: p.integer().primary(),
    room: () => p.manyToOne(Room).joinColumns('tenant', 'room_number').nullable(),
  },
})

describe('lists by foreign keys that share a column', () => {
  it('take records of the same part of the key, and refuse others', async () => {
    const seed = {
      rooms: [
        { tenant: 5, number: 1 },
        { tenant: 24, number: 1 },
      ],
      desks: [
        { tenant: 5, number: 1 },
        { tenant: 24, number: 3, room: '24~1' },
      ],
    }
    await using engine = await RestEngine.create({ entities: [Room, Desk], seed })
    const send = async (method: string, path: string, body: unknown) => engine.handle(method, `/v1/${path}`, undefined, body)
    const before = (await engine.handle('GET', '/v1/desks')).body.desks
    for (const [method, path, body, attribute] of [
      ['PUT', 'rooms/5~1', { desks: ['5~1', '24~3'] }, 'desks.1'],
      ['POST', 'rooms', { tenant: 5, number: 2, desks: ['24~3'] }, 'desks.0'],
      ['PUT', 'rooms/5~1', { desks: [{ tenant: 24, number: 9 }] }, 'desks.0'],
    ] as const) {
      const answer = await send(method, path, body)
      assert.equal(answer.status, 422, JSON.stringify(answer.body))
      assert.deepEqual([answer.body.errors[0].code, answer.body.errors[0].attribute], ['conflict', attribute])
      assert.deepEqual((await engine.handle('GET', '/v1/desks')).body.desks, before)
    }
    assert.deepEqual((await send('PUT', 'rooms/5~1', { desks: ['5~1', { tenant: 5, number: 2 }] })).body.room.desks, ['5~1', '5~2'])
  })
})
