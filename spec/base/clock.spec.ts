/** The clock: whichever way a model says "now", it is the engine's. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { EntitySchema, defineEntity, p, sql } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { Clock } from '../../lib/foundation/async/clock.ts'
import { resource, RestEngine } from '../../lib/index.ts'
import { followClock } from '../../lib/databases/orm/model-time.ts'
import { skipUpdateOfCreated } from '../../lib/databases/orm/on-update.ts'
import { check } from '../helpers/check.ts'
import { FAKES, whileFaked } from '../helpers/faked-date.ts'

/** Each way to say the time, with what it is in the API at a time; the ways come as functions so that every engine reads them anew. */
const WAYS = {
  onCreate: [() => p.datetime().onCreate(() => new Date()), (now: Date) => now.toISOString()],
  onCreateOfNumber: [() => p.bigint('number').onCreate(() => Date.now()), (now: Date) => now.getTime()],
  onCreateOfSeconds: [() => p.integer().onCreate(() => Math.floor(Date.now() / 1000)), (now: Date) => Math.floor(now.getTime() / 1000)],
  onCreateOfBigint: [() => p.bigint().onCreate(() => BigInt(Date.now())), (now: Date) => String(now.getTime())],
  onCreateOfText: [() => p.string().onCreate(() => new Date().toISOString()), (now: Date) => now.toISOString()],
  onCreateOfDate: [() => p.date().onCreate(() => new Date().toISOString().slice(0, 10)), (now: Date) => now.toISOString().slice(0, 10)],
  onCreateOfTime: [() => p.time().onCreate(() => new Date().toISOString().slice(11, 19)), (now: Date) => now.toISOString().slice(11, 19)],
  sqlNow: [() => p.datetime().default(sql.now()), seconds],
  currentTimestamp: [() => p.datetime().defaultRaw('current_timestamp'), seconds],
  currentTimestampUpper: [() => p.datetime().defaultRaw('CURRENT_TIMESTAMP'), seconds],
  currentDate: [() => p.date().defaultRaw('current_date'), (now: Date) => now.toISOString().slice(0, 10)],
  currentTime: [() => p.time().defaultRaw('current_time'), (now: Date) => now.toISOString().slice(11, 19)],
  datetimeNow: [() => p.datetime().defaultRaw("(datetime('now'))"), seconds],
  datetimeAlone: [() => p.datetime().defaultRaw('(datetime())'), seconds],
  datetimeThen: [
    () => p.datetime().defaultRaw("(datetime('NOW', '+1 day'))"),
    (now: Date) => seconds(new Date(now.getTime() + 86_400_000)),
  ],
  milliseconds: [() => p.datetime().defaultRaw("(cast(unixepoch('subsec') * 1000 as integer))"), (now: Date) => now.toISOString()],
  strftime: [() => p.datetime().defaultRaw("(strftime('%s', 'now') * 1000)"), seconds],
  unixepoch: [() => p.integer().defaultRaw('(unixepoch())'), (now: Date) => Math.floor(now.getTime() / 1000)],
  version: [() => p.datetime().version(), seconds],
} as const satisfies Record<string, readonly [() => unknown, (now: Date) => unknown]>

function seconds(now: Date): string {
  return `${now.toISOString().slice(0, 19)}.000Z`
}

/** A stable constant that looks like a time, and what is no time at all. */
const CONSTANTS = {
  old: () => p.datetime().onCreate(() => new Date(0)),
  late: () => p.datetime().onCreate(() => new Date(Date.now() + 60_000)),
  count: () => p.integer().onCreate(() => 0),
  text: () => p.string().onCreate(() => 'now'),
  today: () => p.string().onCreate(() => new Date().toISOString().slice(0, 10)),
}

function eventOf() {
  const ways = Object.fromEntries(Object.entries(WAYS).map(([name, [property]]) => [name, property()]))
  const constants = Object.fromEntries(Object.entries(CONSTANTS).map(([name, property]) => [name, property()]))
  return defineEntity({
    name: 'Event',
    properties: {
      id: p.integer().primary(),
      name: p.string().default(''),
      ...(ways as { onCreate: ReturnType<(typeof WAYS)['onCreate'][0]> }),
      ...constants,
      updated: p
        .datetime()
        .nullable()
        .onUpdate(() => new Date()),
    },
  })
}

class Note {
  id!: number
  text!: string
  createdAt = new Date()
  updatedAt = Date.now()
}
const NoteSchema = new EntitySchema<Note>({
  class: Note,
  properties: {
    id: { type: 'integer', primary: true },
    text: { type: 'string' },
    createdAt: { type: 'datetime' },
    updatedAt: { type: 'bigint', runtimeType: 'number' },
  },
})

describe('the clock', () => {
  let engine: RestEngine
  let Event: ReturnType<typeof eventOf>
  beforeEach(async () => {
    Event = eventOf()
    engine = await RestEngine.create({ entities: [Event] })
  })
  afterEach(() => engine.close())

  // oxlint-disable-next-line typescript/no-explicit-any -- specs assert on bodies freely
  async function create(on = engine, body: object = {}): Promise<any> {
    const answer = await on.handle('POST', '/v1/events', undefined, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.event
  }

  const DATES = ['2001-02-03T04:05:06.789Z', '1969-07-20T20:17:40.000Z', '2096-02-29T23:59:59.999Z']
  for (const [name, [, expected]] of Object.entries(WAYS)) {
    it(`is that of ${name}`, async () => {
      // Before it is set, the time is the system's.
      const before = Date.now()
      const now = (await create())[name]
      const [low, high] = [expected(new Date(before)), expected(new Date(Date.now()))].map(String)
      assert.ok(/time/i.test(name) || (String(now) >= low! && String(now) <= high!), `${now} is not from ${low} to ${high}`)
      for (const date of DATES) {
        engine.clock.set(date)
        assert.equal((await create())[name], expected(new Date(date)))
      }
      engine.clock.set(DATES[0]!)
      engine.clock.advance('31d')
      assert.equal((await create())[name], expected(new Date('2001-03-06T04:05:06.789Z')))
      engine.clock.reset()
      assert.ok(String((await create())[name]) >= String(low) || /time/i.test(name))
    })
  }

  it('leaves alone what is no time of now, and what a client gives', async () => {
    engine.clock.set('2001-02-03T04:05:06Z')
    const real = Date.now()
    const event = await create(engine, { onCreate: '2020-01-01T00:00:00.000Z', sqlNow: '2020-01-01T00:00:00.000Z' })
    assert.deepEqual([event.onCreate, event.sqlNow], ['2020-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z'])
    assert.deepEqual([event.old, event.count, event.text], ['1970-01-01T00:00:00.000Z', 0, 'now'])
    assert.ok(Date.parse(event.late as string) >= real + 60_000)
    assert.equal(event.today, new Date(real).toISOString().slice(0, 10))
  })

  for (const [name, fake] of Object.entries(FAKES)) {
    it(`is the Date of a test that fakes it, in SQL, too: ${name}`, async () => {
      await create()
      const date = '2001-02-03T04:05:06.000Z'
      await whileFaked(fake, date, async () => {
        assert.equal(engine.clock.isSystem, false)
        const answer = await engine.handle('POST', '/v1/events', undefined, {})
        assert.equal(answer.body.timestamp, date)
        for (const [way, [, expected]] of Object.entries(WAYS)) assert.equal(answer.body.event[way], expected(new Date(date)), way)
        await using later = await RestEngine.create({ entities: [eventOf()] })
        assert.equal((await create(later)).sqlNow, date)
        engine.clock.set('2002-02-03T04:05:06Z')
        assert.equal((await create()).sqlNow, '2002-02-03T04:05:06.000Z')
        engine.clock.reset()
      })
      const before = Date.now() - 1000
      assert.equal(engine.clock.isSystem, true)
      assert.ok(Date.parse((await create()).sqlNow) >= before)
    })
  }

  it('is that of onUpdate, and of the version of a change', async () => {
    const { id, updated } = await create()
    assert.equal(updated, null)
    engine.clock.set('2001-02-03T04:05:06.789Z')
    const { body } = await engine.handle('PUT', `/v1/events/${id}`, undefined, { name: 'x' })
    assert.deepEqual([body.event.updated, body.event.version], ['2001-02-03T04:05:06.789Z', '2001-02-03T04:05:06.000Z'])
    engine.clock.advance('2h')
    const next = await engine.handle('PATCH', `/v1/events/${id}/name`, undefined, 'y')
    assert.deepEqual([next.body.event.updated, next.body.timestamp], ['2001-02-03T06:05:06.789Z', '2001-02-03T06:05:06.789Z'])
  })

  it('is that of the constructor of a class, for what the engine makes', async () => {
    await using own = await RestEngine.create({
      entities: [NoteSchema],
      clock: () => new Date('2005-05-05T05:05:05Z'),
      seed: { notes: [{ id: 1, text: 'seeded' }] },
    })
    await own.handle('POST', '/v1/notes', undefined, { text: 'posted' })
    const given = '2020-01-01T00:00:00.000Z'
    await own.handle('POST', '/v1/notes', undefined, { text: 'given', createdAt: given })
    // Also where it happens to be the time of the call.
    for (let round = 0; round < 40; round++) {
      const createdAt = new Date(Date.now() + (round % 5)).toISOString()
      const { body } = await own.handle('POST', '/v1/notes', undefined, { text: 'given', createdAt })
      assert.equal(body.note.createdAt, createdAt)
    }
    const { body } = await own.handle('GET', '/v1/notes', { limit: 3 })
    assert.deepEqual(
      (body.notes as { createdAt: string; updatedAt: unknown }[]).map(({ createdAt, updatedAt }) => [createdAt, Number(updatedAt)]),
      ['2005-05-05T05:05:05.000Z', '2005-05-05T05:05:05.000Z', given].map(date => [date, Date.UTC(2005, 4, 5, 5, 5, 5)]),
    )
  })

  it('is not given to getters of a class, of the time or of no number', async () => {
    class Span {
      declare id: number
      get seen(): Date {
        return new Date()
      }
      get part(): number {
        return 0 / 0
      }
    }
    const SpanSchema = defineEntity({
      name: 'Span',
      class: Span,
      properties: { id: p.integer().primary(), seen: p.datetime().persist(false).getter(), part: p.double().persist(false).getter() },
    } as never)
    await using own = await RestEngine.create({ entities: [SpanSchema], clock: () => new Date('2005-05-05T05:05:05Z') })
    const { status, body } = await own.handle('POST', '/v1/spans', undefined, {})
    assert.deepEqual([status, body.span.part], [200, null])
  })

  it('is that of nested records, seeds, and what code writes with MikroORM', async () => {
    engine.clock.set('2001-02-03T04:05:06Z')
    await engine.seed({ events: [{ id: 7 }] })
    const em = engine.orm.em.fork()
    em.create(Event, { id: 8 } as never)
    await em.flush()
    await em
      .getConnection()
      .execute("insert into event (id, on_create) values (9, strftime('%s', 'now') * 1000)")
      .catch(() => undefined)
    for (const id of [7, 8]) {
      const { body } = await engine.handle('GET', `/v1/events/${id}`)
      assert.deepEqual([body.event.onCreate, body.event.currentTimestamp], ['2001-02-03T04:05:06.000Z', '2001-02-03T04:05:06.000Z'])
    }
  })

  it('is that of SQL in computed attributes, as soon as it is set', async () => {
    const Event = defineEntity({ name: 'Event', properties: { id: p.integer().primary(), at: p.datetime() } })
    await using own = await RestEngine.create({
      entities: [Event],
      resources: [
        resource(Event, {
          computed: {
            isOver: { type: 'boolean', sql: alias => `${alias}.at < unixepoch('now') * 1000` },
            day: { type: 'string', sql: alias => `strftime('%Y-%m-%d', ${alias}.at / 1000, 'unixepoch')` },
            days: { type: 'integer', sql: () => "cast(julianday('now') - julianday('2030-01-01') as integer)" },
          },
        }),
      ],
      seed: { events: [{ id: 1, at: '2030-01-01T12:00:00Z' }] },
    })
    const shown = async () => (await own.handle('GET', '/v1/events/1')).body.event
    assert.equal((await shown()).isOver, false)
    own.clock.set('2030-01-02T12:00:00Z')
    assert.deepEqual(await shown(), { id: 1, at: '2030-01-01T12:00:00.000Z', isOver: true, day: '2030-01-01', days: 1 })
    assert.equal((await own.handle('GET', '/v1/events', { isOver: 'true' })).body.count, 1)
    own.clock.reset()
    assert.equal((await shown()).isOver, false)
  })

  it('is each engine’s own, though they share their entities', async () => {
    await using one = await RestEngine.create({ entities: [Event], clock: () => new Date('2001-01-01T00:00:00Z') })
    await using other = await RestEngine.create({ entities: [Event] })
    other.clock.set('2002-02-02T00:00:00Z')
    await using third = await RestEngine.create({ entities: [Event] })
    const [a, b, c] = await Promise.all([create(one), create(other), create(third)])
    assert.deepEqual([a.onCreate, a.sqlNow], ['2001-01-01T00:00:00.000Z', '2001-01-01T00:00:00.000Z'])
    assert.deepEqual([b.onCreate, b.sqlNow], ['2002-02-02T00:00:00.000Z', '2002-02-02T00:00:00.000Z'])
    assert.ok(Math.abs(Date.parse(c.onCreate as string) - Date.now()) < 10_000)
    const { body } = await other.handle('PUT', '/v1/events/1', undefined, { name: 'x' })
    assert.equal(body.event.updated, '2002-02-02T00:00:00.000Z')
  })

  it('wraps the functions of a model once, however many engines share them', async () => {
    const { properties } = engine.orm.getMetadata(Event)
    const functions = [properties.updated.onUpdate, properties.onCreate.onCreate]
    skipUpdateOfCreated(engine.orm)
    followClock(engine.orm)
    assert.deepEqual([properties.updated.onUpdate, properties.onCreate.onCreate], functions)
  })

  it('keeps SQLite’s time functions as they are, but for now', async () => {
    const execute = async (text: string, values: unknown[]): Promise<unknown> => {
      const [row] = await engine.orm.em.fork().getConnection().execute<{ x: unknown }[]>(`select ${text} as x`, values)
      return row?.x
    }
    const time = fc.oneof(
      fc.date({ min: new Date('0001-01-01'), max: new Date('9999-01-01'), noInvalidDate: true }).map(date => date.toISOString()),
      fc.constantFrom('2024-02-29', '12:34', '12:34:56.7', '2460000.5', 'yesterday', '', null),
      fc.integer({ min: -1000, max: 3_000_000 }),
    )
    const modifiers = fc.array(
      fc.constantFrom(
        '+1 day',
        '-3 months',
        'start of month',
        'weekday 2',
        'utc',
        'subsec',
        'unixepoch',
        'auto',
        'nonsense',
        '+1.5 seconds',
      ),
      { maxLength: 3 },
    )
    const call = fc.oneof(
      fc.record({
        name: fc.constantFrom('date', 'time', 'datetime', 'julianday', 'unixepoch'),
        args: fc.tuple(time, modifiers).map(([t, m]) => [t, ...m]),
      }),
      fc.record({
        name: fc.constant('strftime'),
        args: fc.tuple(fc.constantFrom('%s', '%Y-%m-%d', '%f', '%j %w', '%%', 'now', ''), time, modifiers).map(([f, t, m]) => [f, t, ...m]),
      }),
      fc.record({ name: fc.constant('timediff'), args: fc.tuple(time, time).map(pair => [...pair]) }),
    )
    const textOf = ({ name, args }: { name: string; args: unknown[] }): string => `${name}(${args.map(() => '?').join()})`
    await using plain = await RestEngine.create({ entities: [defineEntity({ name: 'Thing', properties: { id: p.integer().primary() } })] })
    engine.clock.set('2011-11-11T11:11:11.111Z')
    await create()
    await check(
      fc.asyncProperty(call, async one => {
        const [row] = await plain.orm.em
          .fork()
          .getConnection()
          .execute<{ x: unknown }[]>(`select ${textOf(one)} as x`, one.args)
        assert.deepEqual(await execute(textOf(one), one.args), row?.x)
      }),
      { label: 'time functions', runs: 500 },
    )
    assert.equal(await execute("typeof(unixepoch()) || typeof(julianday('now')) || typeof(strftime('%s'))", []), 'integerrealtext')
    assert.equal(await execute("timediff('now', '2011-11-10')", []), '+0000-00-01 11:11:11.111')
    assert.equal(await execute("strftime('now')", []), 'now')
  })

  it('is said to be the system’s, or not', () => {
    const clock = new Clock()
    assert.equal(clock.isSystem, true)
    clock.advance(5)
    assert.equal(clock.isSystem, false)
    clock.reset()
    assert.equal(clock.isSystem, true)
    clock.set('2020-12-01')
    assert.equal(clock.isSystem, false)
    assert.equal(new Clock(() => new Date()).isSystem, false)
  })

  it('stays in the years 1 to 9999', async () => {
    await using engine = await RestEngine.create({ entities: [defineEntity({ name: 'Thing', properties: { id: p.integer().primary() } })] })
    const { clock } = engine
    for (const move of [
      () => clock.advance('99999999999d'),
      () => clock.advance('-99999999999d'),
      () => clock.advance(1e300),
      () => clock.set('+010000-01-01T00:00:00Z'),
      () => clock.set('-000001-01-01T00:00:00Z'),
    ])
      assert.throws(move, { name: 'RangeError', message: /years 1 to 9999/ })
    assert.equal((await engine.handle('GET', '/v1/things')).status, 200)
    clock.set('9999-12-31T23:59:59.999Z')
    assert.throws(() => {
      clock.advance(1)
    }, RangeError)
    assert.equal((await engine.handle('GET', '/v1/things')).body.timestamp, '9999-12-31T23:59:59.999Z')
  })
})
