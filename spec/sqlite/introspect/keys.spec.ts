/** Keys of SQLite files: what IDs are made of, how they are counted, and tables and views without any. */
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serve } from './world.ts'

describe('keys of a file', () => {
  it('that are the rowid are counted, and never given out again', async () => {
    await using file = await serve(`
      create table plain (id integer primary key, name text);
      create table counted (id integer primary key autoincrement, name text);
      insert into plain values (1, 'a'), (2, 'b');
      insert into counted values (1, 'a'), (2, 'b');
    `)
    for (const name of ['plains', 'counteds']) {
      await file.write('DELETE', `${name}/2`)
      assert.equal((await file.write('POST', name, {})).id, 3, 'after the delete of a row that was there before')
      await file.write('DELETE', `${name}/3`)
      assert.equal((await file.write('POST', name, {})).id, 4, 'after the delete of a row of its own')
      assert.equal((await file.write('POST', name, { id: 10 })).id, 10)
      await file.write('DELETE', `${name}/10`)
      assert.equal((await file.write('POST', name, {})).id, 11, 'after the delete of a row that brought its key')
    }
    await file.engine.seed({ plains: [{ name: 'x' }, { id: 40, name: 'y' }, { name: 'z' }] })
    assert.deepEqual(file.rows('select id from plain where id > 11'), [{ id: 40 }, { id: 41 }, { id: 42 }])
    const snapshot = await file.engine.snapshot()
    await file.write('POST', 'plains', {})
    await file.engine.restore(snapshot)
    assert.equal((await file.write('POST', 'plains', {})).id, 43, 'IDs go on where the snapshot was')
  })

  it('may be text, composite, without a type, or beyond 2^53', async () => {
    await using file = await serve(`
      create table texts (code text primary key, v int);
      create table pairs (a int, b text, v int, primary key (b, a)) without rowid;
      create table bare (id primary key, v int);
      create table words (id primary key, v int);
      create table ints (id int primary key, v int);
      create table days (day date primary key, v int);
      create table moments (at datetime primary key, v int);
      create table snowflakes (id integer primary key, v int);
      create table flags (flag boolean primary key, v int);
      create table sums (sum numeric primary key, v int);
      create table uuids (id uuid primary key, v int);
      insert into texts values ('x/y', 1);
      insert into pairs values (1, 'z', 1);
      insert into bare values (7, 1);
      insert into words values ('w', 1);
      insert into ints values (7, 1);
      insert into days values ('2020-02-29', 1);
      insert into moments values ('2020-02-29 12:00:00', 1);
      insert into snowflakes values (9007199254740993, 1);
      insert into flags values (1, 1);
      insert into sums values (5, 1);
      create table uppers (id uuid primary key, v int);
      insert into uuids values ('6fa459ea-ee8a-3ca4-894e-db77e160355e', 1);
      insert into uppers values ('6FA459EA-EE8A-3CA4-894E-DB77E160355E', 1);
    `)
    const ids: [string, unknown, unknown, string][] = [
      ['texts/x%2Fy', 'x/y', 'k', 'code'],
      ['pairs/1~z', undefined, undefined, ''],
      ['bares/7', 7, 8, 'id'],
      ['words/w', 'w', '5', 'id'],
      ['ints/7', 7, 8, 'id'],
      ['days/2020-02-29', '2020-02-29', '2021-01-01', 'day'],
      ['moments/2020-02-29%2012:00:00', '2020-02-29 12:00:00', '2021-01-01 00:00:00', 'at'],
      ['snowflakes/9007199254740993', '9007199254740993', '9007199254740999', 'id'],
      ['flags/1', 1, 0, 'flag'],
      ['sums/5', 5, 6, 'sum'],
      ['uuids/6fa459ea-ee8a-3ca4-894e-db77e160355e', '6fa459ea-ee8a-3ca4-894e-db77e160355e', 'aaaaaaaa-ee8a-3ca4-894e-db77e160355e', 'id'],
    ]
    for (const [path, id, fresh, name] of ids) {
      const record = await file.get(path)
      assert.equal(record.v, 1, path)
      if (name !== '') assert.equal(record[name], id, path)
      assert.equal((await file.write('PUT', path, { v: 2 })).v, 2)
      if (name === '') continue
      const plural = path.slice(0, path.indexOf('/'))
      const created = await file.write('POST', plural, { [name]: fresh, v: 3 })
      assert.equal(created[name], fresh, path)
      const own = `${plural}/${encodeURIComponent(String(fresh))}`
      assert.deepEqual(await file.get(own), created)
      await file.write('DELETE', own)
      await file.ask('GET', own, undefined, 404)
    }
    assert.equal((await file.write('PUT', 'uppers/6FA459EA-EE8A-3CA4-894E-DB77E160355E', { v: 2 })).v, 2)
    assert.equal((await file.write('POST', 'snowflakes', {})).id, '9007199254741000')
    await file.write('POST', 'pairs', { a: 2, b: 'z' })
    assert.deepEqual(
      (await file.get('pairs')).map((pair: { a: number }) => pair.a),
      [1, 2],
    )
    for (const path of ['ints/x', 'ints/01', 'snowflakes/9223372036854775808', 'pairs/1', 'days/2020-02-30', 'sums/a']) {
      await file.ask('GET', path, undefined, 404)
    }
  })

  it('that are declared as a UUID or a text and hold blobs are no IDs', async () => {
    await using file = await serve(`
      create table activity (id guid primary key, name text);
      create table word (id text primary key, name text);
      create table mixed (id text primary key, name text);
      insert into activity values (x'a1b2c3d4e5f60718293a4b5c6d7e8f90', 'a');
      insert into word values (x'00ff', 'a'), (x'01ff', 'b');
      insert into mixed values ('x', 'a'), (x'01ff', 'b');
    `)
    assert.deepEqual(await file.get('activities'), [{ id: 'obLD1OX2BxgpOktcbX6PkA==', name: 'a' }])
    assert.deepEqual((await file.get('words?name=b&sort=name')) as unknown, [{ id: 'Af8=', name: 'b' }])
    assert.match((await file.ask('GET', 'activities/obLD1OX2BxgpOktcbX6PkA==', undefined, 404)).detail, /no ID/)
    assert.equal((await file.ask('POST', 'words', { id: 'x', name: 'c' }, 405)).code, 'method_not_allowed')
    // One odd record does not take the IDs of the others.
    assert.deepEqual(await file.write('PUT', 'mixed/x', { name: 'c' }), { id: 'x', name: 'c' })
  })

  for (const [type, own, strays] of [
    ['int', '1', { "'id'": 'id', '1.5': 1.5, "x'00ff'": "x'00ff'", "'a~b/c'": 'a~b/c', "'{bad'": '{bad', "''": '', '9e999': null }],
    ['bigint', '1', { "'id'": 'id', '1.5': '1.5', "'[1]'": '[1]', "''": '' }],
    ['uuid', "'6fa459ea-ee8a-3ca4-894e-db77e160355e'", { "'none'": 'none', "x'00ff'": "x'00ff'" }],
    ['date', "'2020-02-29'", { "'0000-00-00'": '0000-00-00', '7': 7, "x'00ff'": "x'00ff'" }],
    ['text', "'a'", { "x'00ff'": "x'00ff'" }],
  ] as const) {
    it(`that are ${type} and hold a value of another type are shown, found and followed`, async () => {
      const values = [own, ...Object.keys(strays)].map(value => `(${value})`).join()
      await using file = await serve(`
        create table patient (id ${type} primary key, name text);
        create table visit (id integer primary key, patient_id ${type} references patient(id));
        create table tag (id integer primary key);
        create table tagging (patient_id ${type} references patient(id), tag_id int references tag(id), primary key (patient_id, tag_id));
        insert into patient (id) values ${values};
        insert into visit (patient_id) select id from patient;
        insert into tag values (1);
        insert into tagging select id, 1 from patient;
      `)
      const patients = await file.get('patients?expand=visits,tags')
      const [lists] = [await file.get('patients?sort=id.desc'), await file.get('visits?depth=2'), await file.get('tags?depth=2')]
      assert.equal(lists.length, patients.length)
      const ids = patients.map(({ id }: { id: unknown }) => id)
      for (const shown of Object.values(strays)) assert.ok(ids.includes(shown), `${String(shown)} among ${JSON.stringify(ids)}`)
      for (const id of ids.filter((each: unknown) => each !== null && each !== '')) {
        const path = `patients/${encodeURIComponent(String(id))}`
        const { visits, ...record } = await file.get(path)
        assert.equal(record.id, id)
        assert.equal(visits.length, 1)
        assert.equal((await file.write('PUT', path, { name: 'Ann' })).name, 'Ann')
        assert.equal((await file.write('PUT', `visits/${visits[0]}`, { patient: id })).patient, id)
        await file.write('PUT', `${path}/tags`, [])
        assert.deepEqual((await file.get(path)).tags, [])
      }
      // Nobody can write a key of another type.
      await file.ask('POST', 'patients', { id: true }, 422)
      await file.ask('GET', 'patients/nobody', undefined, 404)
      if (type === 'int') for (const other of ['01', '1e0', '1.0', '%201']) await file.ask('GET', `patients/${other}`, undefined, 404)
    })
  }

  it('that are beyond 2^53 in the midst of many are exact', async () => {
    const many = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)'
    await using file = await serve(`
      create table ints (id int primary key, v int);
      insert into ints ${many} select iif(i = 150, 9007199254740993, i), i from n;
    `)
    assert.deepEqual(await file.get('ints?v=150'), [{ id: '9007199254740993', v: 150 }])
    assert.equal((await file.get('ints/9007199254740993')).v, 150)
  })

  it('that are NULL, which SQLite allows, are shown', async () => {
    await using file = await serve(
      `create table loose (id text primary key, v int); insert into loose values (null, 1), (null, 2), ('k', 3);`,
    )
    assert.deepEqual(await file.get('looses?sort=v.desc'), [
      { id: 'k', v: 3 },
      { id: null, v: 2 },
      { id: null, v: 1 },
    ])
    await file.ask('POST', 'looses', { v: 1 }, 422)
  })

  it('compare by code point, whatever the collation', async () => {
    await using file = await serve(`create table nick (name text primary key collate nocase, v int); insert into nick values ('Ann', 1);`)
    assert.equal((await file.get('nicks/Ann')).v, 1)
    await file.ask('POST', 'nicks', { name: 'ANN' }, 409)
  })
})

describe('what has no key', () => {
  const SQL = `
    create table line (at text, msg text);
    create table takes_rowid (rowid text, v int);
    create table reals (id real primary key, v int);
    create table blobs (id blob primary key, v int);
    insert into line values ('z', 'one'), ('y', 'two'), ('x', 'three');
    insert into takes_rowid values ('b', 1), ('a', 2);
    insert into reals values (1.5, 1);
    insert into blobs values (x'01', 1);
    create view newest as select at, msg, length(msg) as long from line order by at;
    create view broken as select * from nowhere;
    create virtual table texts using fts5 (body);
    insert into texts values ('hello world'), ('other');
  `

  it('is listed, filtered, sorted and paged', async () => {
    await using file = await serve(SQL)
    assert.deepEqual(
      (await file.get('lines')).map((line: { msg: string }) => line.msg),
      ['one', 'two', 'three'],
      'in the order of the rows',
    )
    const page = await file.ask('GET', 'lines?limit=2&offset=1&sort=at')
    assert.deepEqual(page.lines, [
      { at: 'y', msg: 'two' },
      { at: 'z', msg: 'one' },
    ])
    assert.equal(page.count, 3)
    assert.equal((await file.ask('GET', 'lines')).sort, null)
    assert.deepEqual(await file.get('takes_rowids'), [
      { rowid: 'b', v: 1 },
      { rowid: 'a', v: 2 },
    ])
    assert.deepEqual(await file.get('newests?long>=4&attributes=msg'), [{ msg: 'three' }])
    assert.deepEqual(await file.get('newests?sort=long.desc,msg&limit=1&offset=1'), [{ at: 'z', msg: 'one', long: 3 }])
    assert.deepEqual(await file.get('texts?body~=*WORLD'), [{ body: 'hello world' }])
    assert.deepEqual(await file.get('reals'), [{ id: 1.5, v: 1 }])
    assert.deepEqual(await file.get('blobs'), [{ id: 'AQ==', v: 1 }])
  })

  it('has no records of its own to read or write', async () => {
    await using file = await serve(SQL)
    for (const plural of ['lines', 'newests', 'texts', 'reals', 'blobs']) {
      const answer = await file.ask('GET', `${plural}/1`, undefined, 404)
      assert.match(answer.detail, /no ID/)
      await file.ask('POST', plural, {}, 405)
      const options = await file.engine.handle('OPTIONS', `/v1/${plural}`)
      assert.equal(options.headers['allow'], 'GET, HEAD, QUERY, OPTIONS')
    }
    await assert.rejects(file.engine.seed({ lines: [{ at: 'a', msg: 'b' }] }), /read-only/)
  })

  it('is left out where SQLite itself cannot read it', async () => {
    await using file = await serve(SQL)
    assert.equal(internalsOf(file.engine).model.byName.has('brokens'), false)
    assert.deepEqual(
      internalsOf(file.engine).model.resources.map(({ plural }) => plural),
      ['lines', 'takes_rowids', 'reals', 'blobs', 'newests', 'texts'],
      'the shadow tables of a virtual one are left out, too',
    )
  })
})
