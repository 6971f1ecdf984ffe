/** The clock on PostgreSQL: what a model says of the present is the engine's, whether code or the defaults of columns say it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p, sql } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { withTime } from '../../lib/databases/postgres/orm/server-time.ts'
import { FAKES, whileFaked } from '../helpers/faked-date.ts'
import { findNoServer, ownSchema } from './server-database.ts'

const WAYS = {
  onCreate: () => p.datetime().onCreate(() => new Date()),
  sqlNow: () => p.datetime().default(sql.now()),
  now: () => p.datetime().defaultRaw('now()'),
  upper: () => p.datetime().defaultRaw('CURRENT_TIMESTAMP(3)'),
  clock: () => p.datetime().defaultRaw('clock_timestamp()'),
  local: () => p.datetime().columnType('timestamp').defaultRaw('localtimestamp'),
  zone: () => p.datetime().columnType('timestamp').defaultRaw("(now() at time zone 'utc')"),
} as const

const Event = defineEntity({
  name: 'Event',
  properties: {
    id: p.integer().primary(),
    name: p.string().default('now()'),
    ...(Object.fromEntries(Object.entries(WAYS).map(([name, way]) => [name, way()])) as { now: ReturnType<(typeof WAYS)['now']> }),
    tomorrow: p.datetime().defaultRaw("now() + interval '1 day'"),
    day: p.date().defaultRaw('current_date'),
    hour: p.time().defaultRaw('localtime(0)'),
    version: p.datetime().version(),
    late: p.datetime().nullable(),
  },
})

describe('the clock of an engine on PostgreSQL', { skip: await findNoServer() }, () => {
  it('is that of defaults of columns, in requests, seeds and MikroORM', async () => {
    await using schema = ownSchema()
    await using engine = await RestEngine.create({ entities: [Event], database: schema.database })
    // oxlint-disable-next-line typescript/no-explicit-any -- specs assert on bodies freely
    const create = async (): Promise<any> => (await engine.handle('POST', '/v1/events', undefined, {})).body.event
    const before = Date.now() - 1000
    const own = await create()
    for (const name of Object.keys(WAYS)) assert.ok(Math.abs(Date.parse(own[name]) - before) < 60_000, name)
    for (const fake of Object.values(FAKES)) {
      const faked = await whileFaked(fake, '2001-02-03T04:05:06.789Z', create)
      for (const name of Object.keys(WAYS)) assert.equal(faked[name], '2001-02-03T04:05:06.789Z', name)
    }
    for (const date of ['2001-02-03T04:05:06.789Z', '1969-07-20T20:17:40.000Z']) {
      engine.clock.set(date)
      const made = await create()
      for (const name of [...Object.keys(WAYS), 'version']) assert.equal(made[name], date, name)
      assert.equal(made.name, 'now()')
      assert.equal(made.tomorrow, new Date(Date.parse(date) + 86_400_000).toISOString())
      assert.equal(made.day, date.slice(0, 10))
      assert.equal(made.hour.slice(0, 6), date.slice(11, 17))
      await engine.seed({ events: [{ name: 'seed' }, { name: 'late', now: '2020-01-01T00:00:00.000Z' }] })
      const em = engine.orm.em.fork()
      const id = await em.insert(Event, { name: 'inserted', onCreate: new Date(date) } as never)
      await em.nativeUpdate(Event, { id }, { late: sql.now() })
      const { body } = await engine.handle('GET', '/v1/events', { sort: 'id.desc', limit: 3 })
      assert.deepEqual(
        body.events.map(({ name, now, late }: Record<string, string>) => [name, now, late]),
        [
          ['inserted', date, date],
          ['late', '2020-01-01T00:00:00.000Z', null],
          ['seed', date, null],
        ],
      )
      const changed = await engine.handle('PATCH', `/v1/events/${made.id}`, undefined, { name: 'x' })
      assert.equal(changed.body.event.version, date)
    }
    engine.clock.reset()
    assert.ok(Math.abs(Date.parse((await create()).now) - before) < 60_000)
  })

  it('is put in the place of the present alone', () => {
    const at = '(to_timestamp(1000 / 1000.0)::timestamptz)'
    assert.equal(withTime("greatest(now(), '2020-01-01 now()'::timestamptz)", 1000), `greatest(${at}, '2020-01-01 now()'::timestamptz)`)
    assert.equal(withTime('current_timestamp ( 3 )', 1000), '(to_timestamp(1000 / 1000.0)::timestamptz(3))')
    for (const other of ["'now()'", '"now()"', 'my_now()', 'current_dates', 'nextval()', '7'])
      assert.equal(withTime(other, 1000), undefined)
  })
})
