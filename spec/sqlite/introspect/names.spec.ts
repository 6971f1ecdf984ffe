/** Names of SQLite files: what they become, and that any of them can be read and written. */
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileOf, serve } from './world.ts'

describe('names of a file', () => {
  it('are snake_case plurals for tables and camelCase for columns', async () => {
    await using file = await serve(`
      create table "OrderLine" ("OrderLineId" integer primary key, "Unit Price" real, "HTTPStatus" int, "is-paid" int);
      create table person (ID integer primary key);
      create table categories (id integer primary key);
      create table "Ночь" (id integer primary key, "Имя" text);
    `)
    assert.deepEqual(
      internalsOf(file.engine).model.resources.map(({ plural, singular }) => [plural, singular]),
      [
        ['order_lines', 'order_line'],
        ['people', 'person'],
        ['categories', 'category'],
        ['ночь', 'ночь'],
      ],
    )
    assert.deepEqual(file.attributes('order_lines'), ['orderLineId', 'unitPrice', 'httpStatus', 'isPaid'])
    await file.write('POST', 'orderLines', { unitPrice: 1.5, httpStatus: 200, isPaid: 1 })
    assert.deepEqual(file.rows('select * from "OrderLine"'), [{ OrderLineId: 1, 'Unit Price': 1.5, HTTPStatus: 200, 'is-paid': 1 }])
    const name = encodeURIComponent('ночь')
    await file.write('POST', name, { имя: 'x' })
    assert.deepEqual(await file.get(`${name}?${encodeURIComponent('имя')}=x`), [{ id: 1, имя: 'x' }])
  })

  it('may hold spaces, quotes, reserved words and leading digits', async () => {
    await using file = await serve(`
      create table "My ""odd"" table" ("select" integer primary key, "a b" text, "it's" text default 'x', "back\`tick" text, "2fa" int, "" text,
        "to_string" text, "[x]" text);
      create table "order" ("group" integer primary key, "from" integer references "My ""odd"" table", "where" text);
      insert into "My ""odd"" table" values (1, 'a', 'b', 'c', 2, 'd', 'e', 'g');
      insert into "order" values (1, 1, 'here');
    `)
    const odd = { select: 1, aB: 'a', itS: 'b', backTick: 'c', '2fa': 2, column: 'd', toString: 'e', x: 'g', orders: [1] }
    assert.deepEqual(await file.get('my_odd_tables'), [odd])
    assert.deepEqual(await file.get(`my_odd_tables?aB=a&itS~=B&2fa>=2&sort=toString,2fa.desc,column&orders.where=h*`), [odd])
    const created = await file.write('POST', 'my_odd_tables', { aB: 'n', '2fa': 3, toString: 't', column: 'u', x: 'w' })
    assert.deepEqual(created, {
      select: 2,
      aB: 'n',
      itS: 'x',
      backTick: null,
      '2fa': 3,
      column: 'u',
      toString: 't',
      x: 'w',
      orders: [],
    })
    await file.write('PUT', 'my_odd_tables/2', { '2fa': 4, backTick: '`', aB: 'what?', orders: [1] })
    await file.write('PUT', 'my_odd_tables/2', { itS: "o'k" })
    assert.deepEqual(file.rows('select * from "My ""odd"" table" where "select" = 2'), [
      JSON.parse('{"select":2,"a b":"what?","it\'s":"o\'k","back`tick":"`","2fa":4,"":"u","to_string":"t","[x]":"w"}'),
    ])
    assert.deepEqual(await file.get('orders?depth=2&attributes=from.aB,where'), [{ from: { aB: 'what?' }, where: 'here' }])
    await file.write('DELETE', 'orders/1')
    await file.write('DELETE', 'my_odd_tables/2')
  })

  it('may be those of classes of MikroORM, and of this library', async () => {
    await using file = await serve(`
      create table file_type (id integer primary key, name text, data json);
      create table json_type (id integer primary key, file_type_id integer references file_type);
      insert into file_type values (1, 'a', '[1]');
      insert into json_type values (1, 1);
    `)
    assert.deepEqual(await file.get('file_types'), [{ id: 1, name: 'a', data: [1], jsonTypes: [1] }])
    assert.deepEqual(await file.write('PUT', 'json_types/1/fileType', { name: 'b' }), { id: 1, fileType: 1 })
    assert.deepEqual(file.rows('select name from file_type'), [{ name: 'b' }])
  })

  it('that MikroORM cannot write make a table read-only', async () => {
    await using file = await serve(`
      create table "a.b" (id integer primary key, name text, "constructor" text);
      create table "c" (id integer primary key, "why?" text, "d.e" text, b_id integer references "a.b", __proto__ text);
      create table w (id integer primary key, b_id integer references "a.b");
      insert into "a.b" values (1, 'x', 'y');
      insert into c values (1, 'z', 'w', 1, 'p');
      insert into w values (1, 1);
    `)
    assert.deepEqual(file.engine.notes, [
      'a.b: it is read-only, since MikroORM cannot write the name "a.b".',
      'c: it is read-only, since MikroORM cannot write the name "why?".',
    ])
    assert.deepEqual(await file.get('a_bs'), [{ id: 1, name: 'x', constructor: 'y', cs: [1], ws: [1] }])
    assert.deepEqual(await file.get('cs/1?expand=b'), {
      id: 1,
      why: 'z',
      dE: 'w',
      b: { id: 1, name: 'x', constructor: 'y', cs: [1], ws: [1] },
      proto: 'p',
    })
    assert.deepEqual(await file.get('cs?why=z&dE~=W&b.constructor=y&sort=dE.desc&attributes=id'), [{ id: 1 }])
    for (const [method, path] of [
      ['POST', 'cs'],
      ['PUT', 'cs/1'],
      ['DELETE', 'cs/1'],
      ['PUT', 'cs/1/b'],
      ['POST', 'a_bs/1/cs'],
    ] as const) {
      const answer = await file.engine.handle(method, `/v1/${path}`, undefined, {})
      assert.equal(answer.status, 405, path)
      assert.equal(answer.headers['allow'], 'GET, HEAD, QUERY, OPTIONS')
    }
    // Others may link such records, and no more.
    await file.write('PUT', 'ws/1', { b: null })
    await file.write('PUT', 'ws/1/b', 1)
    assert.deepEqual(file.rows('select * from w'), [{ id: 1, b_id: 1 }])
    assert.equal((await file.ask('PUT', 'ws/1', { b: { name: 'new' } }, 422)).errors[0].code, 'value_invalid')
    assert.equal((await file.ask('PUT', 'ws/1/b', { name: 'new' }, 422)).errors[0].code, 'value_invalid')
    await file.ask('DELETE', 'ws/1/b', undefined, 405)
  })

  it('that two tables or columns share are told apart', async () => {
    await using file = await serve(`
      create table user (id integer primary key, user_id int, "userId" int, "User Id" int);
      create table users (id integer primary key);
      create table "Users " (id integer primary key);
      create table "!!!" (id integer primary key);
    `)
    assert.deepEqual(
      internalsOf(file.engine).model.resources.map(({ table, plural }) => [table, plural]),
      [
        ['user', 'user_records'],
        ['users', 'users'],
        ['Users ', 'users_2'],
        ['!!!', 'table_records'],
      ],
    )
    assert.deepEqual(file.attributes('user_records'), ['id', 'userId', 'userId2', 'userId3'])
    await file.write('POST', 'user_records', { userId: 1, userId2: 2, userId3: 3 })
    assert.deepEqual(file.rows('select * from user'), [{ id: 1, user_id: 1, userId: 2, 'User Id': 3 }])
  })

  it('never take a key of the answers', async () => {
    await using file = await serve(`
      create table status (id integer primary key, name text);
      create table resource (id integer primary key, status_id integer references status);
      create table "limit" (id integer primary key, "limit" int, "sort" text);
    `)
    assert.deepEqual(
      internalsOf(file.engine).model.resources.map(({ plural }) => plural),
      ['status_records', 'resource_records', 'limit_records'],
    )
    await file.write('POST', 'status_records', { name: 'new', resources: [{}] })
    assert.deepEqual(await file.get('resource_records?depth=2'), [{ id: 1, status: { id: 1, name: 'new', resources: [1] } }])
    await file.write('POST', 'limit_records', { limit: 5, sort: 'x' })
    assert.deepEqual(await file.get('limit_records?limit_=5&sort_=x&limit=1'), [{ id: 1, limit: 5, sort: 'x' }])
  })

  it('of links give way to those of columns', async () => {
    await using file = await serve(`
      create table album (id integer primary key);
      create table track (id integer primary key, album text, album_id integer references album, albumid integer references album);
      create table disc (id integer references album primary key, tracks int);
    `)
    assert.deepEqual(file.attributes('tracks'), ['id', 'album', 'albumId', 'album2'].with(3, file.attributes('tracks')[3]!))
    assert.deepEqual(file.attributes('discs'), ['album', 'tracks'])
    assert.equal(new Set(file.attributes('tracks')).size, 4)
  })

  it('are the same each time', async () => {
    const path = fileOf('create table user (id integer primary key); create table users (id integer primary key, user_id references user);')
    const names: unknown[] = []
    for (let time = 0; time < 2; time++) {
      await using file = await serve({ path })
      names.push(internalsOf(file.engine).model.resources.map(({ plural, attributes }) => [plural, attributes.map(({ name }) => name)]))
    }
    assert.deepEqual(names[0], names[1])
  })
})
