/**
 * Columns of types that few tables have, in a PostgreSQL database that is served as it is: nothing that is asked or written is a failure of
 * the server.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { findNoServer, ownDatabase } from './server-database.ts'

/** What is shown of a stored value, and a text that is none of the type; undefined where all texts are. */
type Sample = readonly [type: string, stored: string, shown: unknown, wrong: string | undefined]

const SAMPLES: Readonly<Record<string, Sample>> = {
  mood: ['feeling', "it's", "it's", 'none'],
  best: ['best', 'ok', 'ok', 'sad'],
  oid: ['oid', '4294967295', 4294967295, '-1'],
  xid: ['xid', '7', '7', 'x'],
  xid8: ['xid8', '7', '7', '18446744073709551616'],
  tid: ['tid', '(1,2)', '(1,2)', 'x'],
  regclass: ['regclass', 'pg_class', 'pg_class', 'nowhere'],
  regproc: ['regproc', 'now', 'now', 'nowhere'],
  regtype: ['regtype', 'int', 'integer', '9999-99-99'],
  regrole: ['regrole', 'postgres', 'postgres', 'a.b.c'],
  jsonpath: ['jsonpath', '$.a[*]', '$."a"[*]', 'x y'],
  lsn: ['pg_lsn', '16/B374D848', '16/B374D848', 'x'],
  vector: ['tsvector', 'b a', "'a' 'b'", "'x"],
  search: ['tsquery', 'a & b', "'a' & 'b'", '& x'],
  range: ['int4range', '[1,3)', '[1,3)', '[3,1)'],
  ranges: ['int4multirange', '{[1,3)}', '{[1,3)}', 'x'],
  point: ['point', '(1,2)', '(1,2)', 'x'],
  polygon: ['polygon', '((1,2),(3,4))', '((1,2),(3,4))', 'x'],
  money: ['money', '-1000', '-$1,000.00', 'x'],
  bits: ['bit varying', '101', '101', 'x'],
  four: ['bit(4)', '1010', '1010', '101'],
  span: ['interval', '1 day 2 hours', '1 day 02:00:00', 'x'],
  years: ['interval year to month', '1 year', '1 year', 'x'],
  xml: ['xml', '<a>1</a>', '<a>1</a>', '<a'],
  net: ['cidr', '10.0.0.0/8', '10.0.0.0/8', '10.0.0.1/8'],
  mac: ['macaddr', '08:00:2b:01:02:03', '08:00:2b:01:02:03', 'x'],
  store: ['hstore', 'a=>1', '"a"=>"1"', 'x'],
  anyCase: ['citext', 'Abc', 'Abc', undefined],
  email: ['email', 'A@b', 'A@b', 'x'],
  tree: ['ltree', 'a.b', 'a.b', '..'],
  place: ['place', '(x,1,)', '(x,1,)', '(a,b,)'],
  letter: ['"char"', 'a', 'a', 'abc'],
  name: ['name', 'abc', 'abc', 'x'.repeat(64)],
  snapshot: ['pg_snapshot', '10:20:10,14', '10:20:10,14', 'x'],
  numbers: ['int2vector', '1 2', '1 2', 'x'],
  boxes: ['box[]', '{(3,4),(1,2);(5,6),(1,2)}', '{(3,4),(1,2);(5,6),(1,2)}', 'x'],
}

/** Lists, with an element that is none. */
const LISTS: Readonly<Record<string, readonly [type: string, stored: string, shown: unknown, wrong: string]>> = {
  moods: ['feeling[]', '{sad,ok}', ['sad', 'ok'], 'none'],
  spans: ['interval[]', '{"1 day"}', ['1 day'], 'x'],
  rangeList: ['int4range[]', '{"[1,3)"}', ['[1,3)'], 'x'],
  stores: ['hstore[]', '{"a=>1"}', ['"a"=>"1"'], 'x'],
  classes: ['regclass[]', '{pg_class}', ['pg_class'], 'nowhere'],
  places: ['place[]', '{"(x,1,)"}', ['(x,1,)'], 'x'],
  floats: ['float8[]', '{1.5,NaN,-Infinity}', [1.5, null, null], 'x'],
  times: ['timestamptz[]', '{infinity}', ['infinity'], 'x'],
}

/** Times that ISO 8601 has no form for. */
const TIMES: Readonly<Record<string, readonly [type: string, stored: string, shown: string]>> = {
  never: ['date', 'infinity', 'infinity'],
  ever: ['date', '-infinity', '-infinity'],
  ides: ['date', '0044-03-15 BC', '0044-03-15 BC'],
  neverAt: ['timestamptz', 'infinity', 'infinity'],
  everAt: ['timestamp', '-infinity', '-infinity'],
  idesAt: ['timestamptz', '0044-03-15 12:00:00+00 BC', '0044-03-15 12:00:00+00 BC'],
}

const TYPES = `create extension hstore; create extension citext; create extension ltree;
  create type mood as enum ('sad', 'ok', 'it''s'); create domain feeling as mood; create domain best as mood check (value in ('ok', 'it''s'));
  create domain email as citext check (value ~ '@'); create domain moment as timestamptz; create type place as (street text, zip int, at timestamp)`

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of answers
type Json = any

const query = (value: unknown): string => String(value).replaceAll(/[,*\\]/g, String.raw`\$&`)

describe('columns of odd types in a PostgreSQL database', { skip: await findNoServer() }, () => {
  it('are shown, found, sorted and written, and a text that is none of the type is refused', async () => {
    await using database = await ownDatabase()
    const all = { ...SAMPLES, ...LISTS, ...TIMES }
    const columns = Object.entries(all)
    const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`
    await database.run(TYPES)
    await database.run(`create table thing (id serial primary key, ${columns.map(([name, [type]]) => `"${name}" ${type}`).join(', ')});
      insert into thing (${columns.map(([name]) => `"${name}"`).join(', ')}) values (${columns.map(([, [, stored]]) => quote(stored)).join(', ')});
      insert into thing default values`)
    await using engine = await RestEngine.create({ database: database.database })
    const ask = async (method: string, path: string, given?: Record<string, string>, body?: object): Promise<Json> => {
      const answer = await engine.handle(method, path, given, body)
      assert.ok(answer.status < 500, `${method} ${path} ${JSON.stringify(given ?? body)}: ${JSON.stringify(answer.body)}`)
      return answer
    }
    assert.deepEqual(engine.notes, [])
    const { thing } = (await ask('GET', '/v1/things/1')).body
    assert.deepEqual(thing, { id: 1, ...Object.fromEntries(columns.map(([name, [, , shown]]) => [name, shown])) })

    for (const [name, [, , shown, wrong]] of Object.entries(SAMPLES)) {
      const found = await ask('GET', '/v1/things', { [name]: query(shown) })
      assert.deepEqual([found.status, found.body.count], [200, 1], `${name}: ${JSON.stringify(found.body)}`)
      for (const sort of [name, `${name}.desc`]) assert.equal((await ask('GET', '/v1/things', { sort })).status, 200, sort)
      for (const text of [wrong ?? 'x', '0', 'NULL']) {
        for (const key of [name, `${name}!`, `${name}>`, `${name}~`]) await ask('GET', '/v1/things', { [key]: text })
      }
      assert.equal((await ask('POST', '/v1/things', undefined, { [name]: shown })).status, 200, name)
      if (wrong === undefined) continue
      const value = name === 'oid' ? Number(wrong) : wrong
      for (const [method, path] of [
        ['PATCH', '/v1/things/2'],
        ['POST', '/v1/things'],
      ] as const) {
        const refused = await ask(method, path, undefined, { [name]: value })
        assert.equal(refused.status, 422, `${method} ${name}: ${JSON.stringify(refused.body)}`)
      }
    }
    for (const [name, [, , shown, wrong]] of Object.entries(LISTS)) {
      assert.equal((await ask('PATCH', '/v1/things/2', undefined, { [name]: shown })).status, 200, name)
      assert.equal((await ask('PATCH', '/v1/things/2', undefined, { [name]: [wrong] })).status, 422, name)
    }
    for (const [name, [type]] of Object.entries(TIMES)) {
      const [early, late] = type === 'date' ? ['0001-01-01', '9999-12-31'] : ['0001-01-01T00:00:00Z', '9999-12-31T00:00:00Z']
      const later = (await ask('GET', `/v1/things?${name}>${late}`)).body.count
      const earlier = (await ask('GET', `/v1/things?${name}<${early}`)).body.count
      assert.deepEqual([later, earlier], name.startsWith('never') ? [1, 0] : [0, 1], name)
      assert.equal((await ask('GET', '/v1/things', { sort: name })).status, 200)
    }
    assert.equal((await ask('PUT', '/v1/things/1', undefined, thing)).status, 200)
    assert.deepEqual((await ask('GET', '/v1/things/1')).body.thing, thing)
    const { mood, best } = ((await engine.openapi()) as Json).components.schemas.Thing.properties
    assert.deepEqual(
      [mood.enum, best.enum],
      [
        ['sad', 'ok', "it's", null],
        ['ok', "it's", null],
      ],
    )
  })

  it('are compared and sorted by the order of their type, and a filter by what is no value of the type is refused', async () => {
    await using database = await ownDatabase()
    await database.run(`create type "Size" as enum ('small', 'medium', 'large'); create domain cut as "Size"; create domain span as interval(3);
      create table parcel (id int primary key, size "Size", cut cut, price money, takes interval, span span, host inet, card macaddr, bits bit(4),
        turns int4range, at timetz, box_id int references parcel);
      insert into parcel values
        (1, 'small', 'small', '9', '9 days', '9 days', '10.0.0.9', '08:00:2b:01:02:03', '0111', '[9,10)', '10:00+02', null),
        (2, 'large', 'large', '100', '10 days', '10 days', '10.0.0.10', '08:00:2b:01:02:10', '1000', '[10,11)', '09:00+00', 1),
        (3, 'medium', 'medium', '-5', '1 mon', '1 mon', '9.0.0.1', '07:ff:2b:01:02:03', '0001', '[1,90)', '08:30+00', 1)`)
    const wanted: Readonly<Record<string, readonly [order: string, greater: string, given: string, wrong: string]>> = {
      size: ['1,3,2', '2,3', 'small', 'huge'],
      cut: ['1,3,2', '2,3', 'small', 'huge'],
      price: ['3,1,2', '2', '9', 'abc'],
      takes: ['1,2,3', '2,3', '9 days', 'abc'],
      span: ['1,2,3', '2,3', '9 days', 'abc'],
      host: ['3,1,2', '2', '10.0.0.9/32', 'abc'],
      card: ['3,1,2', '2', '08-00-2b-01-02-03', 'abc'],
      bits: ['3,1,2', '2', '0111', 'abc'],
      turns: ['3,1,2', '2', '[9\\,10)', 'abc'],
      at: ['1,3,2', '2,3', '10:00+02', 'abc'],
    }
    const text = p.string().nullable()
    const Parcel = defineEntity({
      name: 'Parcel',
      properties: {
        id: p.integer().primary(),
        size: p.enum(['small', 'medium', 'large']).nativeEnumName('Size').nullable(),
        cut: text.columnType('cut'),
        price: text.columnType('money'),
        takes: text.columnType('interval'),
        span: text.columnType('span'),
        host: text.columnType('INET'),
        card: text.columnType('macaddr'),
        bits: text.columnType('bit(4)'),
        turns: text.columnType('pg_catalog.int4range'),
        at: text.columnType('timetz'),
        box: () => p.manyToOne(Parcel).nullable(),
        parcels: () => p.oneToMany(Parcel).mappedBy('box'),
      },
    })
    for (const options of [{}, { entities: [Parcel], schema: 'keep' as const }]) {
      await using engine = await RestEngine.create({ database: database.database, ...options })
      const list = async (name: string, value: string): Promise<string> => {
        const { status, body } = await engine.handle('GET', '/v1/parcels', { [name]: value })
        return status === 200
          ? (body.parcels as { id: number }[]).map(({ id }) => id).join()
          : `${status} ${String(body.errors[0].parameter)}`
      }
      for (const [name, [order, greater, given, wrong]] of Object.entries(wanted)) {
        const all = [given, ...Array.from({ length: 30 }, () => given)]
        assert.deepEqual(
          [await list('sort', name), await list(`${name}>`, given), await list(name, given), await list(name, all.join())],
          [order, greater, '1', '1'],
          name,
        )
        assert.equal(await list('sort', `parcels.${name}.desc,id`), `1,2,3`, name)
        assert.equal(await list(`box.${name}`, given), '2,3', name)
        for (const key of [name, `${name}>`, `!${name}`, `parcels.${name}`]) assert.equal(await list(key, wrong), `400 ${key}`, key)
        assert.equal(await list(name, `${given},${wrong}`), `400 ${name}`)
        assert.equal((await engine.handle('DELETE', '/v1/parcels/1/parcels', { [name]: wrong })).status, 400)
      }
      assert.equal(await list('takes', '30 days'), '3')
      assert.equal(await list('takes', '*days'), '1,2')
    }
  })

  it('takes infinity and years that ISO 8601 does not have where it shows them', async () => {
    await using database = await ownDatabase()
    await database.run(`create table day (day date primary key); create table event (id int primary key, day date references day, at timestamptz, local timestamp(3));
      insert into day values ('infinity'), ('-infinity'), ('0044-03-15 BC'), ('2020-01-01');
      insert into event values (1, 'infinity', 'infinity', '-infinity'), (2, '0044-03-15 BC', '0044-03-15 12:00:00.123456 BC', '12345-01-01'),
        (3, '2020-01-01', '2020-01-01 00:00:00.123456', '2020-01-01')`)
    const Listened = defineEntity({
      name: 'Event',
      properties: {
        id: p.integer().primary(),
        day: p.date().nullable(),
        at: p.datetime().nullable(),
        local: p.datetime().columnType('timestamp(3)').nullable(),
      },
      // MikroORM's unit of work writes it.
      hooks: { beforeCreate: [() => {}], beforeUpdate: [() => {}] },
    })
    for (const options of [{}, { entities: [Listened], schema: 'keep' as const }]) {
      await using engine = await RestEngine.create({ database: database.database, ...options })
      const { events } = (await engine.handle('GET', '/v1/events')).body as { events: Record<string, unknown>[] }
      for (const { id, day, at, local } of events)
        for (const [name, value] of Object.entries({ day, at, local })) {
          const found = (await engine.handle('GET', '/v1/events', { [name]: String(value) })).body
          assert.deepEqual([name, value, found.events?.map((each: Json) => each.id)], [name, value, [id]])
        }
      const ids = async (query: string): Promise<Json> =>
        (await engine.handle('GET', `/v1/events?${query}`)).body.events.map(({ id }: Json) => id)
      assert.deepEqual([await ids('at<infinity'), await ids('at<=infinity'), await ids('at>infinity')], [[2, 3], [1, 2, 3], []])
      assert.deepEqual([await ids('at>2020-01-01T00:00:00.123Z'), await ids('at<=2020-01-01T00:00:00.123Z')], [[1], [2, 3]])
      const odd = { day: '-infinity', at: '-infinity', local: '0044-03-15 12:00:00 BC' }
      const made = await engine.handle('POST', '/v1/events', undefined, { id: 9, ...odd })
      assert.deepEqual([made.status, made.body.event], [200, { id: 9, ...odd }])
      for (const change of [{ at: 'infinity', local: '12345-01-01 00:00:00' }, { at: '2021-01-01T00:00:00.000Z' }, { day: 'infinity' }]) {
        const { status, body } = await engine.handle('PATCH', '/v1/events/9', undefined, change)
        assert.deepEqual([status, { ...body.event, ...change }], [200, body.event])
      }
      for (const wrong of ['0000-01-01 00:00:00 BC', '300000-01-01 00:00:00', 'Infinity', 'now', '12345-02-30 00:00:00'])
        assert.equal((await engine.handle('PATCH', '/v1/events/9', undefined, { at: wrong })).status, 422, wrong)
      assert.equal((await engine.handle('DELETE', '/v1/events/9')).status, 200)
    }
    await using engine = await RestEngine.create({ database: database.database })
    assert.equal((await engine.handle('GET', '/v1/days/infinity')).body.day.day, 'infinity')
    await using lite = await RestEngine.create({ entities: [Listened] })
    assert.equal((await lite.handle('GET', '/v1/events?at=infinity')).status, 400)
    assert.equal((await lite.handle('POST', '/v1/events', undefined, { at: 'infinity' })).status, 422)
  })

  it('may be keys', async () => {
    await using database = await ownDatabase()
    await database.run(TYPES)
    const names = [
      'mood',
      'best',
      'oid',
      'xid8',
      'regclass',
      'lsn',
      'range',
      'money',
      'four',
      'span',
      'net',
      'anyCase',
      'email',
      'tree',
      'place',
    ]
    const keys: Readonly<Record<string, Sample>> = { ...SAMPLES, moment: ['moment', '2020-01-01', '2020-01-01 00:00:00+00', 'x'] }
    for (const name of [...names, 'moment'])
      await database.run(`create table of_${name.toLowerCase()} (key ${keys[name]![0]} primary key, n int)`)
    await using engine = await RestEngine.create({ database: database.database })
    const resources = Object.keys((await engine.handle('GET', '/v1')).body['resources'] as object)
    assert.equal(resources.length, names.length + 1)
    for (const [index, name] of [...names, 'moment'].entries()) {
      const [, , shown, wrong] = keys[name]!
      const id = shown as string | number
      const path = `/v1/${resources[index]!}`
      const send = async (method: string, id: string | number | undefined, body?: object): Promise<number> =>
        (await engine.handle(method, id === undefined ? path : `${path}/${encodeURIComponent(id)}`, undefined, body)).status
      const statuses = [
        await send('POST', undefined, { key: shown, n: 1 }),
        await send('POST', undefined, { key: shown, n: 2 }),
        await send('GET', id),
        await send('PATCH', id, { n: 3 }),
        await send('GET', wrong ?? 'x'),
        await send('DELETE', id),
      ]
      assert.deepEqual(statuses, [200, 409, 200, 200, 404, 200], name)
      if (wrong !== undefined) assert.equal(await send('POST', undefined, { key: name === 'oid' ? -1 : wrong }), 422, name)
    }
  })
})
