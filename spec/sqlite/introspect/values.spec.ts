/** Values of SQLite files: what columns of each declared type show, take and store, and values that do not fit. */
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serve } from './world.ts'

/** Declared type, what SQLite stores, what is shown, what is written, what is stored then. */
const TYPES: readonly (readonly [string, string, unknown, unknown, unknown])[] = [
  ['integer', '7', 7, -8, -8],
  ['int', '7', 7, 0, 0],
  ['tinyint(1)', '1', true, false, 0],
  ['tinyint(1)', '7', 7, 8, 8],
  ['unsigned mediumint', '7', 7, 9, 9],
  ['bigint', '9007199254740993', '9007199254740993', '9223372036854775807', 9223372036854775807n],
  ['text', "'Ünï'", 'Ünï', 'a\0b', 'a\0b'],
  ['varchar(5)', "'abcde'", 'abcde', 'ü🙂345', 'ü🙂345'],
  ['nvarchar(160)', "'a'", 'a', '007', '007'],
  ['character varying(20)', "'a'", 'a', '', ''],
  ['clob', "'a'", 'a', 'b', 'b'],
  ['real', '1.5', 1.5, 2, 2],
  ['double precision', '0.1', 0.1, -1e300, -1e300],
  ['float', '3', 3, 0.25, 0.25],
  ['numeric(10,2)', '0.99', 0.99, 12.5, 12.5],
  ['decimal(10,2)', '5', 5, '7.25', 7.25],
  ['numeric', '1.25', 1.25, 3, 3],
  ['boolean', '1', true, false, 0],
  ['bool', '0', false, true, 1],
  ['date', "'2020-02-29'", '2020-02-29', '2021-01-01', '2021-01-01'],
  ['time', "'10:11:12'", '10:11:12', '23:59', '23:59:00'],
  ['datetime', "'2020-02-29 10:11:12'", '2020-02-29T10:11:12.000Z', '2021-01-01T00:00:00+01:00', '2020-12-31 23:00:00'],
  ['json', `'{"a":[1]}'`, { a: [1] }, [1, { b: null }], '[1,{"b":null}]'],
  ['jsonb', `'3'`, 3, 'x', '"x"'],
  [
    'uuid',
    "'6fa459ea-ee8a-3ca4-894e-db77e160355e'",
    '6fa459ea-ee8a-3ca4-894e-db77e160355e',
    '6FA459EA-EE8A-3CA4-894E-DB77E1603550',
    '6fa459ea-ee8a-3ca4-894e-db77e1603550',
  ],
  ['blob', "x'00ff'", 'AP8=', 'AQI=', Buffer.from([1, 2])],
  ['varbinary(10)', "x'01'", 'AQ==', '', Buffer.from([])],
  ['', '5', 5, 'text', 'text'],
  ['', "'x5'", 'x5', 6, 6],
  ['point', "'1 2'", '1 2', 'a', 'a'],
  ['string', "'s'", 's', 't', 't'],
]

const create = TYPES.map(([type], index) => `c${index} ${type}`).join(', ')
const insert = TYPES.map(([, stored]) => stored).join(', ')

describe('values of a file', () => {
  it('are shown and stored as their declared type says', async () => {
    await using file = await serve(`create table t (id integer primary key, ${create}); insert into t values (1, ${insert});`)
    const record = await file.get('ts/1')
    for (const [index, [type, , shown]] of TYPES.entries()) assert.deepEqual(record[`c${index}`], shown, `c${index} ${type}`)
    const body = Object.fromEntries(TYPES.map(([, , , written], index) => [`c${index}`, written]))
    const { id } = await file.write('POST', 'ts', body)
    await file.write('PUT', 'ts/1', body)
    for (const [index, [type, , , , stored]] of TYPES.entries()) {
      for (const key of [1, id]) {
        const [row] = await storedOf(file.path, `select c${index} as v from t where id = ${key}`)
        assert.deepEqual(row, stored, `c${index} ${type}`)
      }
    }
    assert.deepEqual(await file.get('ts/1'), { ...(await file.get(`ts/${id}`)), id: 1 })
  })

  it('are found by what is shown, and sorted', async () => {
    await using file = await serve(
      `create table t (id integer primary key, ${create}); insert into t values (1, ${insert}); insert into t (id) values (2);`,
    )
    for (const [index, [type, , shown]] of TYPES.entries()) {
      const name = `c${index}`
      if (/json/.test(type)) {
        const json = encodeURIComponent(JSON.stringify(shown).replaceAll(',', String.raw`\,`))
        assert.deepEqual(await file.get(`ts?${name}=${json}&attributes=id`), [{ id: 1 }])
        assert.deepEqual(await file.get(`ts?${name}=null&attributes=id`), [{ id: 2 }])
        continue
      }
      if (typeof shown === 'object' || /blob|binary/.test(type)) {
        await file.ask('GET', `ts?${name}=1`, undefined, 400)
        continue
      }
      const value = encodeURIComponent(shown as string)
      for (const filter of [`${name}=${value}`, `${name}>=${value}`, `${name}<=${value}`, `!${name}=null`]) {
        assert.deepEqual(await file.get(`ts?${filter}&attributes=id`), [{ id: 1 }], `${type}: ${filter}`)
      }
      assert.deepEqual(await file.get(`ts?!${name}=${value}&attributes=id`), [{ id: 2 }], type)
      assert.deepEqual(await file.get(`ts?sort=${name}&attributes=id`), [{ id: 2 }, { id: 1 }], type)
      assert.deepEqual(await file.get(`ts?sort=${name}.desc&attributes=id`), [{ id: 1 }, { id: 2 }], type)
    }
  })

  it('that do not fit are shown as they are, found, and left alone by other writes', async () => {
    const odd = {
      i: "'abc'",
      big: '9007199254740993',
      t: "x'01ff'",
      b: "'maybe'",
      b2: '7',
      d: "'yesterday'",
      d2: "x'00'",
      day: "'soon'",
      tm: 12,
      r: "'real'",
      inf: '9e999',
      n: "'num'",
      j: "'{bad'",
      u: "'no uuid'",
      bl: "'text'",
      e: "'zzz'",
      long: "'too long'",
    }
    const declared =
      'i integer, big integer, t text, b boolean, b2 boolean, d datetime, d2 datetime, day date, tm time, ' +
      "r real, inf real, n numeric(5,2), j json, u uuid, bl blob, e text check (e in ('a', 'b')), long varchar(3)"
    const shown = {
      i: 'abc',
      big: '9007199254740993',
      t: 'Af8=',
      b: 'maybe',
      b2: 7,
      d: 'yesterday',
      d2: 'AA==',
      day: 'soon',
      tm: 12,
      r: 'real',
      inf: null,
      n: 'num',
      j: '{bad',
      u: 'no uuid',
      bl: 'text',
      e: 'zzz',
      long: 'too long',
    }
    await using file = await serve(
      `create table t (id integer primary key, ${declared}, note text); ` +
        `insert into t (id, ${Object.keys(odd).join()}) values (1, ${Object.values(odd).join()});`,
    )
    assert.deepEqual(await file.get('ts/1'), { id: 1, ...shown, note: null })
    const before = await storedOf(file.path, `select ${Object.keys(odd).join()} from t`)
    assert.deepEqual(await file.write('PUT', 'ts/1', { note: 'seen' }), { id: 1, ...shown, note: 'seen' })
    assert.deepEqual(await storedOf(file.path, `select ${Object.keys(odd).join()} from t`), before)
    for (const name of Object.keys(odd)) {
      for (const query of [`sort=${name}`, `sort=${name}.desc`, `!${name}=null`, `${name}=null`]) {
        const { status } = await file.engine.handle('GET', `/v1/ts?${query}`)
        assert.ok(status === 200 || status === 400, query)
      }
    }
    assert.deepEqual(await file.get('ts?t~=*a*&attributes=id'), [])
    assert.equal((await file.ask('GET', 'ts?e=zzx', undefined, 400)).errors[0].code, 'value_invalid')
    assert.equal((await file.get('ts?e=zzz&attributes=id')).length, 1)
    assert.equal((await file.ask('PUT', 'ts/1', { e: 'zzy', long: 'four' }, 422)).errors.length, 2)
    // What is given as it is shown stays as it is, though nobody may write it.
    await file.write('PUT', 'ts/1', { ...shown })
    assert.deepEqual(await storedOf(file.path, `select ${Object.keys(odd).join()} from t`), before)
  })

  it('that are bytes in a column of another type equal no text, not even the base64 that is shown', async () => {
    await using file = await serve(
      `create table t (id integer primary key, name text, n integer); create index names on t (name);
       insert into t values (1, 'abc', 2), (2, x'616263', x'616263'), (3, 'YWJj', 3), (4, null, null);`,
    )
    assert.deepEqual(await file.get('ts/2'), { id: 2, name: 'YWJj', n: 'YWJj' })
    const found = async (query: string) => ((await file.get(`ts?${query}&attributes=id`)) as { id: number }[]).map(({ id }) => id)
    assert.deepEqual(await found('name=YWJj'), [3])
    assert.deepEqual(await found('name=YWJj,abc'), [1, 3])
    assert.deepEqual(await found('name=YWJ*'), [3])
    assert.deepEqual(await found('name~=*ywj*'), [3])
    assert.deepEqual(await found('!name=abc'), [2, 3, 4])
    assert.deepEqual(await found('name=null'), [4])
    assert.deepEqual(await found('name>zzz'), [2])
    assert.deepEqual(await found('sort=name.desc'), [2, 1, 3, 4])
    assert.deepEqual(await found('n>0'), [1, 3])
    assert.deepEqual(await found('n<=3'), [1, 3])
    assert.equal((await file.ask('GET', 'ts?n=YWJj', undefined, 400)).errors[0].code, 'value_invalid')
  })

  it('of columns without a type are text or numbers, and compared as what they are', async () => {
    await using file = await serve(
      `create table t (id integer primary key, v); insert into t (v) values (5), ('5'), (10), ('a'), (x'00'), (null), ('B');`,
    )
    const ids = async (query: string): Promise<number[]> => (await file.get(`ts?${query}`)).map((each: { id: number }) => each.id)
    assert.deepEqual(await ids('v=5'), [1, 2])
    assert.deepEqual(await ids('v=5,a'), [1, 2, 4])
    assert.deepEqual(await ids('!v=5'), [3, 4, 5, 6, 7])
    assert.deepEqual(await ids('v>5'), [3])
    assert.deepEqual(await ids('v>=B'), [4, 7])
    assert.deepEqual(await ids('v=*'), [2, 4, 7])
    assert.deepEqual(await ids('v~=b'), [7])
    assert.deepEqual(await ids('sort=v'), [6, 1, 3, 2, 7, 4, 5])
    await file.ask('PUT', 'ts/1', { v: true }, 422)
    await file.ask('PUT', 'ts/1', { v: {} }, 422)
  })

  it('of JSON in the binary form of SQLite are shown as JSON, other bytes as they are, and both stay', async () => {
    await using file = await serve(`
      create table t (id integer primary key, data json, note text);
      insert into t (data) values (jsonb('{"a":[1,{"b":"x"}]}')), (x'00ff'), ('{"a":1}'), (jsonb('{"n":4634343214213523454}'));
    `)
    const shown = [{ a: [1, { b: 'x' }] }, 'AP8=', { a: 1 }, { n: '4634343214213523454' }]
    assert.deepEqual(
      (await file.get('ts?sort=id')).map(({ data }: { data: unknown }) => data),
      shown,
    )
    const before = file.rows('select hex(data) as data from t')
    for (const [at, data] of shown.entries()) await file.write('PUT', `ts/${at + 1}`, { data, note: 'seen' })
    assert.deepEqual(file.rows('select hex(data) as data from t'), before)
  })

  it('of columns whose type SQLite does not know are refused where it would make other values of them, with a note', async () => {
    await using file = await serve(`
      create table room (id integer primary key, code string);
      create table phone (number phone primary key, n int);
      insert into phone values ('+49 30', 1);
    `)
    assert.match(file.engine.notes.join(), /^room\.code \(string\), phone\.number \(phone\): SQLite does not know the type, /)
    for (const code of ['007', '12345678901234567890', '1e3', ' 7', '1.50', '.5']) {
      const [error] = (await file.ask('POST', 'rooms', { code }, 422)).errors
      assert.equal(error.detail, `"code" must be another value: SQLite would make ${Number(code)} of it in a column of this type.`)
      assert.equal(error.attribute, 'code')
      await file.ask('POST', 'phones', { number: code }, 422)
    }
    for (const code of ['A1', '7', 7, 1.5, '+49 30', ''])
      assert.equal(String((await file.write('POST', 'rooms', { code })).code), String(code))
    assert.equal((await file.write('POST', 'phones', { number: '+49 31' })).number, '+49 31')
  })

  it('of enums, defaults, generated columns and lengths are checked', async () => {
    await using file = await serve(`
      create table t (
        id integer primary key, /* a comment, check (id in (1)) */
        state text not null default 'new' check (state in ('new', 'it''s', 'a,b')),
        "Level" int check ("Level" in (1, 2, -3) or "Level" is null),
        size text,
        price real not null default (1 + 1),
        at datetime default current_timestamp,
        twice real generated always as (price * 2),
        half real as (price / 2) stored,
        nick text collate nocase unique,
        name varchar(3) not null,
        none text default null,
        constraint sizes check ((size IN ('S', 'M'))),
        check (price > 0)
      );
    `)
    assert.deepEqual(
      internalsOf(file.engine)
        .model.byName.get('ts')!
        .attributes.flatMap(attribute => ('required' in attribute && attribute.required ? [attribute.name] : [])),
      ['name'],
    )
    const record = await file.write('POST', 'ts', { name: 'abc' })
    assert.match(record.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/)
    assert.deepEqual(
      { ...record, at: 0 },
      { id: 1, state: 'new', level: null, size: null, price: 2, at: 0, twice: 4, half: 1, nick: null, name: 'abc', none: null },
    )
    const refused = await file.ask('POST', 'ts', { state: 'its', level: 4, twice: 1, half: 1, name: 'abcd' }, 422)
    assert.deepEqual(
      refused.errors.map(({ attribute, code }: { attribute: string; code: string }) => [attribute, code]),
      [
        ['state', 'not_allowed'],
        ['level', 'not_allowed'],
        ['twice', 'read_only'],
        ['half', 'read_only'],
        ['name', 'too_long'],
      ],
    )
    assert.deepEqual(refused.errors[0].allowed, ['new', "it's", 'a,b'])
    assert.deepEqual(refused.errors[1].allowed, [1, 2, -3])
    await file.write('PUT', 'ts/1', { state: "it's", level: -3, size: 'M', nick: 'Bob' })
    assert.match((await file.ask('PUT', 'ts/1', { price: -1 }, 422)).detail, /check/i)
    assert.deepEqual(await file.get('ts?twice=4&attributes=half'), [{ half: 1 }])
    await file.ask('POST', 'ts', { name: 'x', nick: 'BOB' }, 409)
    await file.write('POST', 'ts', { name: 'x', nick: 'alice' })
    await file.write('POST', 'ts', { name: 'x', nick: 'Carl' })
    assert.deepEqual(await file.get('ts?nick=bob'), [])
    assert.deepEqual(
      (await file.get('ts?sort=nick')).map(({ nick }: { nick: string }) => nick),
      ['Bob', 'Carl', 'alice'],
    )
  })

  it('that a trigger or a strict table refuses are faults of the body', async () => {
    await using file = await serve(`
      create table t (id integer primary key, v int);
      create trigger no_negative before insert on t when new.v < 0 begin select raise(abort, 'v must not be negative'); end;
      create trigger log after update on t begin insert into log values (old.v, new.v); end;
      create table log (before int, after int);
      create table sturdy (id integer primary key, a any, i int) strict;
    `)
    const refused = await file.ask('POST', 'ts', { v: -1 }, 422)
    assert.match(refused.detail, /v must not be negative/)
    const { id } = await file.write('POST', 'ts', { v: 1 })
    await file.write('PUT', `ts/${id}`, { v: 2 })
    assert.deepEqual(await file.get('logs'), [{ before: 1, after: 2 }])
    assert.deepEqual(await file.write('POST', 'sturdies', { a: 1.5, i: 3 }), { id: 1, a: 1.5, i: 3 })
  })
})

/** The values of the first row, with integers as they are beyond 2^53. */
async function storedOf(path: string, sql: string): Promise<unknown[]> {
  const { default: Database } = await import('better-sqlite3')
  const db = new Database(path, { readonly: true })
  try {
    const [row] = db.prepare(sql).safeIntegers(true).raw().all() as unknown[][]
    return row!.map(value => (typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value))
  } finally {
    db.close()
  }
}
