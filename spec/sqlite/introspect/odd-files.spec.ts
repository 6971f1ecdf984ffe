/**
 * Files that other programs have made: what SQLite cannot do without them, names of all sorts, and values that their columns do not
 * declare.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../../lib/index.ts'
import { fileOf, rowsOf, serve } from './world.ts'

/** A file whose columns and indexes that say NOCASE have a collation instead that only the program of the file knows. */
function foreignFile(sql: string): { path: string } {
  const path = fileOf(sql)
  writeFileSync(path, readFileSync(path, 'latin1').replaceAll('NOCASE', 'LOCALE'), 'latin1')
  return { path }
}

describe('A file of another program', () => {
  it('is served without the tables that SQLite cannot read, with a note for each', async () => {
    await using file = await serve(
      foreignFile(`
      create table plain (id integer primary key, name text);
      create table city (id integer primary key, name text collate NOCASE);
      create table keyed (name text collate NOCASE primary key) without rowid;
      create table counted (id integer primary key, name text collate NOCASE unique, plain_id integer references plain);
      create view cities as select * from city;
      insert into plain values (1, 'a');
      insert into city values (1, 'Aix'), (2, 'b');
    `),
    )
    assert.deepEqual(
      internalsOf(file.engine).model.resources.map(({ table }) => table),
      ['plain', 'city'],
    )
    assert.deepEqual(file.engine.notes, [
      'keyed: it is left out, since SQLite cannot read it: no query solution.',
      'counted: it is left out, since SQLite cannot read it: no such collation sequence: LOCALE.',
      'cities: it is left out, since SQLite cannot read it: no such collation sequence: LOCALE.',
    ])
    assert.deepEqual(await file.get('plains'), [{ id: 1, name: 'a' }])
    assert.deepEqual(await file.get('cities?name=Aix&sort=name.desc'), [{ id: 1, name: 'Aix' }])
  })

  it('that has nothing else is refused in one line', async () => {
    const { path } = foreignFile(`create table keyed (name text collate NOCASE primary key) without rowid`)
    await assert.rejects(RestEngine.create({ database: path }), /has no tables that SQLite can read/)
  })

  it('calls the functions that the application gives, from triggers, in forks and after a reset, and notes those that it lacks', async () => {
    const sql = `
      create table book (id integer primary key, title text, sorted text);
      create trigger sort_title after insert on book begin update book set sorted = title_sort(new.title, 'of (a) text()') where id = new.id; end;
      create trigger mark_title after delete on book when lower(old.title) = 'x' begin select raise(abort, 'no'), count(*), uuid4() from book; end;
    `
    await using without = await RestEngine.create({ database: fileOf(sql) })
    assert.deepEqual(
      without.notes
        .filter(note => note.includes('trigger'))
        .map(note => /its trigger "(.+)" calls the function (\w+), /.exec(note)?.slice(1)),
      [
        ['mark_title', 'uuid4'],
        ['sort_title', 'title_sort'],
      ],
    )
    const refused = await without.handle('POST', '/v1/books', undefined, { title: 'The Sea' })
    assert.equal(refused.status, 422)
    assert.match(refused.body.detail, /no such function: title_sort\. A trigger or an index of the file calls it, .* option "functions"/)

    const title_sort = (title: string): string => title.replace(/^(The) (.*)$/, '$2, $1')
    await using engine = await RestEngine.create({ database: fileOf(sql), functions: { title_sort } })
    const sortedIn = async (world: RestEngine): Promise<unknown> => {
      const { body } = await world.handle('POST', '/v1/books', undefined, { title: 'The Sea' })
      return (await world.handle('GET', `/v1/books/${body.book.id}`)).body.book.sorted
    }
    assert.ok(engine.notes.every(note => !note.includes('title_sort')))
    assert.equal(await sortedIn(engine), 'Sea, The')
    const fork = await engine.fork()
    assert.equal(await sortedIn(fork), 'Sea, The')
    await fork.reset()
    assert.equal(await sortedIn(fork), 'Sea, The')
    await fork.close()
    await engine.reset()
    assert.equal(await sortedIn(engine), 'Sea, The')
  })

  it('is written where SQLite cannot apply its foreign keys, and nothing else of it goes unchecked', async () => {
    await using file = await serve(`
      create table dept (id integer primary key, code text);
      create view seen as select id from dept;
      create table emp (id integer primary key, name text, gone text references gone(id), code text references dept(code),
        seen text references seen(id), dept_id integer references dept(id));
      create table badge (id integer primary key, emp_id integer not null references emp(id) on delete cascade);
      create table desk (id integer primary key, dept_id integer not null references dept(id));
      insert into dept values (1, 'a'), (2, 'b'); insert into emp (id, name) values (1, 'Ann'); insert into desk values (1, 2);
    `)
    const notes = file.engine.notes.filter(note => note.includes('cannot apply'))
    assert.deepEqual(notes, [
      'Table "emp": SQLite cannot apply a foreign key of it (foreign key mismatch - "emp" referencing "seen"). ' +
        'Requests that write such a table are not checked for foreign keys, as in programs that leave the checks off.',
    ])
    const { id } = await file.write('POST', 'emps', { name: 'Bob', gone: 'x', dept: 1 })
    assert.deepEqual(
      file.engine.requests.at(-1)!.changes!.map(({ type, resource }) => [type, resource]),
      [['insert', 'emps']],
    )
    assert.equal((await file.write('PUT', `emps/${id}`, { code: 'zz' })).code, 'zz')
    assert.equal((await file.ask('POST', 'emps', { dept: 99 }, 422)).errors[0].code, 'reference_not_found')
    assert.equal((await file.write('POST', 'emps', [{ name: 'Cy' }, { name: 'Di', seen: '7' }])).length, 2)
    await file.write('DELETE', `emps/${id}`)
    // Others are checked as ever, before and after.
    await file.write('DELETE', 'depts/1')
    await file.ask('DELETE', 'depts/2', undefined, 409)
    assert.equal(file.rows('select * from dept').length, 1)
    await using other = await file.engine.fork()
    assert.equal((await other.handle('POST', '/v1/emps', undefined, { name: 'x' })).status, 200)
  })

  it('takes no functions that SQL could not call', async () => {
    const database = fileOf('create table book (id integer primary key)')
    for (const [functions, message] of [
      [[], /"functions" must be an object of functions/],
      [{ title_sort: 1 }, /"functions\.title_sort" must be a function/],
      [{ title_sort: async () => 'x' }, /"functions\.title_sort" is asynchronous/],
    ] as const)
      await assert.rejects(RestEngine.create({ database, functions: functions as never }), message)
  })

  it('refuses the writes that need a function or collation of that program', async () => {
    await using file = await serve(
      foreignFile(`
      create table place (id integer primary key, name text);
      create table city (id integer primary key, name text);
      create index city_name on city (name collate NOCASE);
      insert into place values (1, 'a');
      create trigger place_inserted after insert on place begin select ST_IsEmpty(new.name); end;
      insert into city values (1, 'a');
    `),
    )
    assert.match((await file.ask('POST', 'places', { name: 'b' }, 422)).detail, /no such function: ST_IsEmpty/)
    assert.match((await file.ask('PUT', 'cities/1', { name: 'b' }, 422)).detail, /no such collation sequence: LOCALE/)
    await file.ask('PUT', 'places/1', { name: 'b' })
    assert.deepEqual(file.rows('select * from place'), [{ id: 1, name: 'b' }])
  })

  for (const name of ['a"b', "a'b", 'a`b', '[a]', '1990 census', '1', '$1', 'a\nb', 'a\u2028b', '😀', 'Größe', '日本', 'a;--b', '%s', ':x'])
    it(`may call a table, a column and a relation ${JSON.stringify(name)}`, async () => {
      const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
      const [table, column, key] = [name, `c${name}`, `${name}_id`].map(quoted)
      await using file = await serve(`
        create table ${table} (id integer primary key, ${column} text unique, ${key} integer references ${table});
        create table ${quoted(`p${name}`)} (x int references ${table}, y int references ${table}, primary key (x, y));
        create view ${quoted(`v${name}`)} as select * from ${table};
        insert into ${table} values (1, 'a', null), (2, 'b', 1);
      `)
      const [resource, ...others] = internalsOf(file.engine).model.resources
      const [, own, parent, children] = resource!.attributes
      const path = encodeURIComponent(resource!.plural)
      await file.ask('PUT', `${path}/1`, { [own!.name]: 'A' })
      await file.ask('POST', path, { [own!.name]: 'c', [parent!.name]: 2, [children!.name]: [{ [own!.name]: 'd' }] })
      await file.ask('GET', `${path}?depth=2&sort=${encodeURIComponent(children!.name)}.desc&${encodeURIComponent(own!.name)}=A`)
      for (const other of others) await file.ask('GET', encodeURIComponent(other.plural))
      assert.deepEqual(
        file.rows(`select * from ${table}`).map(row => Object.values(row as object)),
        [
          [1, 'A', null],
          [2, 'b', 1],
          [3, 'c', 2],
          [4, 'd', 3],
        ],
      )
    })

  it('keeps names that have no English plural', async () => {
    await using file = await serve(`
      create table product_sales_for_1997 (id integer primary key);
      create table "T1" (id integer primary key, sales_id integer references product_sales_for_1997);
      create table Maße (id integer primary key);
    `)
    assert.deepEqual(
      internalsOf(file.engine).model.resources.map(({ plural, singular }) => [plural, singular]),
      [
        ['product_sales_for_1997', 'product_sales_for_1997'],
        ['t1', 't1'],
        ['maße', 'maße'],
      ],
    )
    assert.deepEqual(file.attributes('product_sales_for_1997'), ['id', 't1'])
    await file.ask('GET', 'product_sales_for_1997')
  })

  it('makes up no records of what is read-only', async () => {
    await using file = await serve('create table line (msg text); create view lines as select * from line')
    await assert.rejects(file.engine.given('line'), /given: the lines are read-only/)
  })
})

describe('A stored value that its property cannot take', () => {
  const builders = {
    number: () => p.double(),
    float: () => p.float(),
    whole: () => p.integer(),
    big: () => p.bigint(),
    bigNumber: () => p.bigint('number'),
    price: () => p.decimal().precision(10).scale(2),
    priceNumber: () => p.decimal('number').precision(10).scale(2),
    at: () => p.datetime(),
    day: () => p.date(),
    time: () => p.time(),
    flag: () => p.boolean(),
    code: () => p.uuid(),
    kind: () => p.enum(['a', 'b']),
    kinds: () => p.enum(['a', 'b']).array(),
    tags: () => p.array(),
    data: () => p.json(),
    bytes: () => p.blob(),
    octets: () => p.uint8array(),
    text: () => p.text(),
  } as const
  const values = ["'n/a'", "x'00ff'", '1.5', '7', "''", "'2020-13-45'", '-1e300', '9007199254740993']
  const columns = Object.keys(builders)
  const sql = `
    create table item (id integer primary key, name text, ${columns.map(column => `"${column}" blob`).join(', ')});
    ${values.map(value => `insert into item (name, ${columns.map(column => `"${column}"`).join(', ')}) values ('old', ${columns.map(() => value).join(', ')});`).join('\n')}
  `
  const typed = `select ${columns.map(column => `typeof("${column}") || ':' || hex("${column}") as "${column}"`).join(', ')} from item`
  const listener = { subscribers: [{ async afterUpdate() {} }] }

  for (const [how, orm] of [
    ['', {}],
    [', where somebody listens', listener],
  ] as const)
    it(`stays as it is when another attribute is changed${how}`, async () => {
      const path = fileOf(sql)
      const before = rowsOf(path, typed)
      const properties = Object.fromEntries(
        Object.entries(builders).map(([name, build]) => [name, () => build().fieldName(name).nullable()]),
      )
      const Item = defineEntity({ name: 'Item', properties: { id: p.integer().primary(), name: p.text(), ...properties } } as never)
      const errors: unknown[] = []
      await using engine = await RestEngine.create({
        entities: [Item],
        database: path,
        schema: 'keep',
        orm,
        onError: error => errors.push(error),
      })
      for (const index of values.keys()) {
        assert.equal((await engine.handle('GET', `/v1/items/${index + 1}`)).status, 200)
        assert.equal((await engine.handle('PUT', `/v1/items/${index + 1}`, undefined, { name: 'new' })).status, 200, String(errors[0]))
      }
      assert.deepEqual(rowsOf(path, typed), before)
      assert.deepEqual(rowsOf(path, 'select distinct name from item'), [{ name: 'new' }])
      // It can be replaced, by null too.
      for (const body of [
        { number: 2.5, at: '2026-01-02T03:04:05.000Z', kind: 'a', bytes: 'AAEC' },
        { number: null, at: null, kind: null },
      ])
        assert.equal((await engine.handle('PUT', '/v1/items/1', undefined, body)).status, 200, String(errors[0]))
      assert.deepEqual(rowsOf(path, 'select number, at, kind from item where id = 1'), [{ number: null, at: null, kind: null }])
      assert.equal((await engine.handle('PUT', '/v1/items/2', undefined, { number: null, at: null, kind: null })).status, 200)
      assert.deepEqual(rowsOf(path, 'select number, at, kind from item where id = 2'), [{ number: null, at: null, kind: null }])
    })
})
