/**
 * Custom types that pass more than one form of a value to the database: the engine stores and looks for the one that MikroORM stores of the
 * property.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { EntitySchema, Type, defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

/** A `Date` in entities, `2026-01-31` in the database. A text goes through as it is. */
class DayType extends Type<Date, string> {
  override convertToDatabaseValue(value: Date | string): string {
    return value instanceof Date ? value.toISOString().slice(0, 10) : value
  }

  override convertToJSValue(value: Date | string): Date {
    return value instanceof Date ? value : new Date(value)
  }

  override getColumnType(): string {
    return 'date(10)'
  }
}

const Stay = defineEntity({
  name: 'Stay',
  properties: {
    from: p.type(DayType).primary(),
    to: p.type(DayType).primary(),
    note: p.string().nullable(),
    paid: p.type(DayType).nullable(),
  },
})
const DAYS = ['2026-01-31T00:00:00.000Z', '2026-02-02T00:00:00.000Z'] as const
const ID = DAYS.map(encodeURIComponent).join('~')

describeStores('a type of dates that lets texts through', { except: 'column types' }, () => {
  it('has one stored form, whoever writes: IDs, filters and links find it', async () => {
    await using engine = await createEngine({ entities: [Stay] })
    const em = engine.orm.em.fork()
    em.create(Stay, { from: new Date(DAYS[0]), to: new Date(DAYS[1]), paid: new Date(DAYS[0]) })
    await em.flush()
    const shown = { from: DAYS[0], to: DAYS[1], note: null, paid: DAYS[0] }
    const get = async (query: Record<string, string>): Promise<unknown> => (await engine.handle('GET', '/v1/stays', query)).body
    const found = await engine.handle('GET', `/v1/stays/${ID}`)
    assert.deepEqual((found.body as { stay: object }).stay, shown)
    assert.equal(((await get({ paid: DAYS[0] })) as { count: number }).count, 1)
    assert.equal(((await get({ 'paid>=': DAYS[1] })) as { count: number }).count, 0)
    const again = await engine.handle('POST', '/v1/stays', undefined, { from: DAYS[0], to: DAYS[1] })
    assert.equal(again.status, 409, 'the key is taken')
    await engine.handle('PUT', `/v1/stays/${ID}`, undefined, { paid: DAYS[1], note: 'a' })
    assert.deepEqual(await engine.orm.em.fork().getConnection().execute('select * from stay'), [
      { from: '2026-01-31', to: '2026-02-02', note: 'a', paid: '2026-02-02' },
    ])
    // Another spelling of the same day is the same value.
    await engine.handle('PUT', `/v1/stays/${ID}`, undefined, { paid: '2026-02-03T00:00Z' })
    assert.deepEqual(await engine.orm.em.fork().getConnection().execute('select paid from stay'), [{ paid: '2026-02-03' }])
    assert.equal((await engine.handle('DELETE', `/v1/stays/${ID}`)).status, 200)
  })
})

describeStores('a time that is named by the type of its column', { except: 'column types' }, () => {
  for (const type of ['datetime', 'timestamptz', 'timestamp', 'timestamptz(3)', 'Date']) {
    it(`is no change by itself, whoever writes: ${type}`, async () => {
      const updatedAt = { type, onCreate: () => new Date(), onUpdate: () => new Date() }
      for (const orm of [{}, { subscribers: [{ beforeUpdate() {} }] }]) {
        const Note = new EntitySchema({
          name: 'Note',
          properties: { id: { type: 'integer', primary: true }, name: { type: 'string' }, updatedAt },
        } as never)
        await using engine = await createEngine({ entities: [Note], orm: orm as never })
        const patch = async (body: object): Promise<string> =>
          (await engine.handle('PATCH', '/v1/notes/1', undefined, body)).body.note.updatedAt
        engine.clock.set(new Date('2020-01-01T00:00:00Z'))
        await engine.handle('POST', '/v1/notes', undefined, { name: 'a' })
        engine.clock.set(new Date('2021-01-01T00:00:00Z'))
        for (const body of [{}, { name: 'a' }, { updatedAt: '2020-01-01T00:00:00.000Z' }])
          assert.equal(await patch(body), '2020-01-01T00:00:00.000Z')
        assert.equal(await patch({ name: 'b' }), '2021-01-01T00:00:00.000Z')
      }
    })
  }
})

describeStores('a Date that the application gives a property of the type date', () => {
  it('is stored as its day, is found by it, and is no change where the day is the same', async () => {
    const Task = new EntitySchema<{ id: number; due: unknown }>({
      name: 'Task',
      properties: { id: { type: 'integer', primary: true }, due: { type: 'date', nullable: true } },
    })
    await using engine = await createEngine({ entities: [Task] })
    const em = engine.orm.em.fork()
    em.create(Task, { due: new Date('2026-01-31T00:00:00Z') })
    const other = em.create(Task, { due: '2026-02-01' })
    await em.flush()
    other.due = new Date('2026-02-02T00:00:00Z')
    await em.flush()
    const { body } = await engine.send('GET /v1/tasks?due>=2026-01-31')
    assert.deepEqual(body.tasks, [
      { id: 1, due: '2026-01-31' },
      { id: 2, due: '2026-02-02' },
    ])
    assert.equal((await engine.orm.em.fork().find(Task, { due: new Date('2026-02-02T00:00:00Z') })).length, 1)
  })
})
