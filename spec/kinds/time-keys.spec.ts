/** Records whose key is a time, where MikroORM's unit of work writes them together with others. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { createEngine, describeStores } from '../helpers/stores.ts'

const MOMENTS = [120, 121].map(milliseconds => new Date(milliseconds).toISOString())

describeStores('a record whose key is a time', () => {
  const Slot = defineEntity({
    name: 'Slot',
    properties: {
      at: p.datetime(3).primary(),
      size: p.integer().default(1),
      visit: () => p.oneToOne(Visit).mappedBy('slot').nullable(),
      day: () => p.manyToOne(Day).nullable(),
    },
  })
  const Visit = defineEntity({
    name: 'Visit',
    properties: {
      id: p.integer().primary(),
      slot: () => p.oneToOne(Slot).nullable(),
      first: () => p.manyToOne(Slot).nullable(),
    },
  })
  const Day = defineEntity({
    name: 'Day',
    properties: { at: p.datetime(3).primary(), number: p.integer().primary(), slots: () => p.oneToMany(Slot).mappedBy('day') },
  })
  const [at] = MOMENTS as [string]
  const seed = {
    slots: MOMENTS.map(each => ({ at: each })),
    visits: [{ id: 1, slot: at, first: at }],
    days: MOMENTS.map(each => ({ at: each, number: 1 })),
  }
  const orm = { subscribers: [{ afterFlush: () => {} }] }

  it('keeps its change where another record that is loaded links it twice', async () => {
    await using engine = await createEngine({ entities: [Slot, Visit, Day], seed, orm })
    const { status, body } = await engine.handle('PUT', `/v1/slots/${at}`, '', { size: 7, visit: null })
    assert.deepEqual([status, body.slot], [200, { at, size: 7, visit: null, day: null }])
  })

  it('is not changed by the key that it holds already', async () => {
    const Hour = defineEntity({
      name: 'Hour',
      properties: {
        at: p.datetime(3).primary(),
        next: () => p.manyToOne(Hour).mapToPk().nullable(),
        version: p.integer().version(),
      },
    })
    await using engine = await createEngine({ entities: [Hour], seed: { hours: [{ at, next: at }] }, orm })
    const { body: before } = await engine.handle('GET', `/v1/hours/${at}`)
    const { body } = await engine.handle('PUT', `/v1/hours/${at}`, '', { next: at })
    assert.deepEqual(body.hour, before.hour)
  })

  it('is another one than that of the next millisecond', async () => {
    await using engine = await createEngine({ entities: [Slot, Visit, Day], seed, orm })
    for (const day of MOMENTS) {
      const { status } = await engine.handle('PUT', `/v1/days/${encodeURIComponent(day)}~1`, '', { slots: MOMENTS })
      assert.equal(status, 200)
      const { body } = await engine.handle('GET', '/v1/slots', 'attributes=at,day')
      assert.deepEqual(
        body.slots,
        MOMENTS.map(each => ({ at: each, day: `${encodeURIComponent(day)}~1` })),
      )
    }
  })
})
