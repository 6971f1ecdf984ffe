/** Date-times whose default is SQL, which writes a text where MikroORM writes milliseconds: both filter and sort as times. */
import assert from 'node:assert/strict'
import { defineEntity, p, raw, sql } from '@mikro-orm/sqlite'
import { createEngine, testStores } from '../helpers/stores.ts'

testStores('date-times with a default in SQL filter and sort by the time, whoever has written them', async () => {
  const Visit = defineEntity({
    name: 'Visit',
    properties: {
      id: p.integer().primary(),
      now: p.datetime().default(sql.now() as never),
      stamp: p.datetime().default(raw('current_timestamp')),
      text: p.datetime().defaultRaw('current_timestamp'),
    },
  })
  await using engine = await createEngine({ entities: [Visit], clock: () => new Date('2026-01-01T00:00:00Z') })
  const later = '2030-01-01T00:00:00.000Z'
  for (const body of [{}, { now: later, stamp: later, text: later }]) await engine.handle('POST', '/v1/visits', undefined, body)
  const ids = async (query: string): Promise<number[]> => {
    const { body } = await engine.handle('GET', `/v1/visits?${query}`)
    return (body as { visits: { id: number }[] }).visits.map(({ id }) => id)
  }
  for (const name of ['now', 'stamp', 'text']) {
    assert.deepEqual(await ids(`sort=${name}`), [1, 2])
    assert.deepEqual(await ids(`sort=${name}.desc`), [2, 1])
    assert.deepEqual(await ids(`${name}=2026-01-01T00:00:00Z`), [1])
    assert.deepEqual(await ids(`${name}>2027-01-01`), [2])
    assert.deepEqual(await ids(`${name}<2027-01-01`), [1])
  }
})

testStores('a part of a key must be given though it has a default in SQL, since the record could not be found again', async () => {
  const Line = defineEntity({
    name: 'Line',
    properties: {
      order: p.integer().primary().fieldName('order_id'),
      code: p.string().primary().defaultRaw("'first'"),
      text: p.string().defaultRaw("'none'"),
    },
  })
  await using engine = await createEngine({ entities: [Line] })
  const lacking = await engine.handle('POST', '/v1/lines', undefined, { order: 1 })
  assert.deepEqual([lacking.status, lacking.body.errors], [422, [{ code: 'required', detail: '"code" must be given.', attribute: 'code' }]])
  const made = await engine.handle('POST', '/v1/lines', undefined, { order: 1, code: 'a' })
  assert.deepEqual([made.status, made.body['line']], [200, { order: 1, code: 'a', text: 'none' }])
  assert.match(String((await engine.given('line'))['code']), /./)
})
