/** Date-times in SQLite files: the forms in which they are stored, kept by writes, compared as times. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serve } from './world.ts'

const MOMENT = '2021-05-06T07:08:09.500Z'

/** Three stored values that rise, what is shown of them, and how MOMENT is stored beside them. */
const FORMS: readonly (readonly [string, readonly unknown[], readonly string[], unknown])[] = [
  [
    'text of SQLite',
    ['2009-01-01 00:00:00', '2009-01-02 10:00:00', '2020-12-31 23:59:59'],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:59.000Z'],
    '2021-05-06 07:08:09',
  ],
  [
    'ISO with Z',
    ['2009-01-01T00:00:00Z', '2009-01-02T10:00:00Z', '2020-12-31T23:59:59Z'],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:59.000Z'],
    '2021-05-06T07:08:09Z',
  ],
  [
    'ISO with milliseconds',
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.250Z', '2020-12-31T23:59:59.999Z'],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.250Z', '2020-12-31T23:59:59.999Z'],
    '2021-05-06T07:08:09.500Z',
  ],
  [
    'microseconds',
    ['2009-01-01 00:00:00.000000', '2009-01-02 10:00:00.250000', '2020-12-31 23:59:59.999000'],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.250Z', '2020-12-31T23:59:59.999Z'],
    '2021-05-06 07:08:09.500000',
  ],
  [
    'minutes',
    ['2009-01-01T00:00', '2009-01-02T10:00', '2020-12-31T23:59'],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:00.000Z'],
    '2021-05-06T07:08',
  ],
  [
    'UTC by name',
    ['2009-01-01 00:00:00 UTC', '2009-01-02 10:00:00 UTC', '2020-12-31 23:59:59 UTC'],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:59.000Z'],
    '2021-05-06 07:08:09 UTC',
  ],
  [
    'offset zero',
    ['2009-01-01T00:00:00+00:00', '2009-01-02T10:00:00+00:00', '2020-12-31T23:59:59+00:00'],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:59.000Z'],
    '2021-05-06T07:08:09+00:00',
  ],
  [
    'another offset',
    ['2009-01-01T02:00:00+02:00', '2009-01-02T12:00:00+02:00', '2021-01-01T01:59:59+02:00'],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:59.000Z'],
    '2021-05-06T07:08:09+00:00',
  ],
  [
    'Unix seconds',
    [1230768000, 1230890400, 1609459199],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:59.000Z'],
    1620284889.5,
  ],
  [
    'Unix milliseconds',
    [1230768000000, 1230890400000, 1609459199000],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:59.000Z'],
    1620284889500,
  ],
  [
    'Julian days',
    [2454832.5, 2454833.9166666665, 2459215.499988426],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:59.000Z'],
    2459340.797332176,
  ],
  [
    'mixed',
    [1230768000, '2009-01-02T12:00:00+02:00', '2020-12-31 23:59:59'],
    ['2009-01-01T00:00:00.000Z', '2009-01-02T10:00:00.000Z', '2020-12-31T23:59:59.000Z'],
    undefined,
  ],
]

describe('date-times of a file', () => {
  for (const [form, stored, shown, written] of FORMS) {
    it(`stored as ${form}: shown as ISO 8601, compared as times, written in the same form`, async () => {
      const values = stored.map(value => (typeof value === 'string' ? `('${value}')` : `(${String(value)})`)).join()
      await using file = await serve(
        `create table t (id integer primary key, at datetime); create index ix on t (at); insert into t (at) values ${values};`,
      )
      const ids = async (query: string): Promise<number[]> => (await file.get(`ts?${query}`)).map((each: { id: number }) => each.id)
      assert.deepEqual(
        (await file.get('ts')).map(({ at }: { at: string }) => at),
        shown,
      )
      assert.deepEqual(await ids('sort=at.desc'), [3, 2, 1])
      for (const [index, at] of shown.entries()) {
        const value = encodeURIComponent(at)
        if (form !== 'Julian days') {
          assert.deepEqual(await ids(`at=${value}`), [index + 1], at)
          assert.deepEqual(await ids(`at>=${value}`), [1, 2, 3].slice(index), at)
          assert.deepEqual(await ids(`at<${value}`), [1, 2, 3].slice(0, index), at)
        }
        const later = encodeURIComponent(new Date(Date.parse(at) + 100).toISOString())
        assert.deepEqual(await ids(`at<${later}`), [1, 2, 3].slice(0, index + 1), `before ${later}`)
        assert.deepEqual(await ids(`at>${later}`), [1, 2, 3].slice(index + 1), `after ${later}`)
        assert.deepEqual(await ids(`at=${later}`), [])
      }
      assert.deepEqual(await ids('at>=2009-01-02&at<2010-01-01'), [2])
      await file.write('PUT', 'ts/2', { at: MOMENT })
      await file.write('POST', 'ts', { at: MOMENT })
      if (written === undefined) return
      const rows = file.rows('select id, at from t where id in (2, 4)')
      for (const { at } of rows) {
        if (typeof written === 'number') assert.ok(Math.abs(at - written) < 1e-6, String(at))
        else assert.equal(at, written)
      }
    })
  }

  it('takes the form of SQLite where no row tells another', async () => {
    await using file = await serve('create table t (id integer primary key, at timestamp, day date)')
    await file.write('POST', 'ts', { at: MOMENT, day: '2021-05-06' })
    assert.deepEqual(file.rows('select * from t'), [{ id: 1, at: '2021-05-06 07:08:09', day: '2021-05-06' }])
  })

  it('keeps a date column of dates, whatever stands in one row', async () => {
    const strays = ["''", "'0000-00-00'", "'n/a'", "'2024-02-30'", "'05/01/2024'", "'2024-01'", "'2024-01-05 10:00:00'", "x'00'", '7']
    const tables = strays.map(
      (stray, at) => `create table t${at} (id integer primary key, born date); insert into t${at} values (1, '2024-01-05'), (2, ${stray});`,
    )
    await using file = await serve(tables.join('\n'))
    for (const [at, stray] of strays.entries()) {
      const [first, second] = await file.get(`t${at}`)
      assert.equal(first.born, '2024-01-05')
      assert.equal(second.born, stray.startsWith("'") ? stray.slice(1, -1) : stray === '7' ? 7 : 'AA==')
      if (/^'.+'$/.test(stray)) assert.equal((await file.get(`t${at}?born=${encodeURIComponent(second.born)}`)).length, 1)
      assert.equal((await file.get(`t${at}?born>=2024-01-01&attributes=id`))[0].id, 1)
      await file.ask('POST', `t${at}`, { born: '2024-01-05T10:00:00Z' }, 422)
      await file.write('POST', `t${at}`, { born: '2024-01-06' })
    }
  })

  it('takes a date column that holds times for date-times', async () => {
    await using file = await serve(
      `create table t (id integer primary key, day date); insert into t (day) values ('2009-01-02 00:00:00'), ('2009-01-01 00:00:00');`,
    )
    assert.deepEqual(await file.get('ts?sort=day'), [
      { id: 2, day: '2009-01-01T00:00:00.000Z' },
      { id: 1, day: '2009-01-02T00:00:00.000Z' },
    ])
    assert.deepEqual(await file.get('ts?day=2009-01-02&attributes=id'), [{ id: 1 }])
    await file.write('PUT', 'ts/1', { day: '2009-01-03' })
    assert.deepEqual(file.rows('select day from t where id = 1'), [{ day: '2009-01-03 00:00:00' }])
  })
})
