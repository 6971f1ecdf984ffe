/** A PostgreSQL database that is served as it is: its tables are the model. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import { RestEngine } from '../../lib/index.ts'
import { SERVER_URL, findNoServer, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

/** Makes the schema, runs statements in it, and serves it as it is. */
async function serve(schema: OwnSchema, sql: string): Promise<RestEngine> {
  await schema.run(`create schema ${schema.database.schema}`)
  await schema.run(sql)
  return RestEngine.create({ database: schema.database })
}

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of answers
type Json = any

async function read(engine: RestEngine, path: string): Promise<Json> {
  const { status, body } = await engine.handle('GET', path)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** Writes a record as it was read. */
async function putBack(engine: RestEngine, path: string, name: string, without: readonly string[] = []): Promise<void> {
  const record = (await read(engine, path))[name]
  const body = Object.fromEntries(Object.entries(record as object).filter(([key]) => !without.includes(key)))
  const answer = await engine.handle('PUT', path, undefined, body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.deepEqual(answer.body[name], record)
}

describe('a PostgreSQL database as it is', { skip: await findNoServer() }, () => {
  it('has its tables for resources, and its foreign keys for relations', async () => {
    await using schema = ownSchema()
    await using engine = await serve(
      schema,
      `create table author (id serial primary key, name varchar(20) not null, mentor_id int references author on delete set null);
       create table profile (author_id int primary key references author on delete cascade, bio text);
       create table book (id int generated always as identity primary key, title text not null, "Author Id" int not null references author);
       create table tag (id bigserial primary key, label text unique);
       create table book_tag (book_id int references book, tag_id bigint references tag, primary key (book_id, tag_id));
       create view headings as select id, title from book;
       create materialized view counted as select count(*)::int as books from book;
       create materialized view unfilled as select 1 as one with no data;
       create table log (at timestamp, what text);
       insert into author (name) values ('Ann'), ('Bob'); update author set mentor_id = 1 where id = 2;
       insert into log values ('2020-01-02 03:04:05.6', 'b'), (null, 'a');`,
    )
    assert.deepEqual(Object.keys((await read(engine, '/v1')).resources as object), [
      'authors',
      'profiles',
      'books',
      'tags',
      'headings',
      'counteds',
      'logs',
    ])
    assert.deepEqual(engine.notes, ['unfilled: it is left out, since it has not been filled (refresh materialized view).'])
    const created = await engine.handle('POST', '/v1/books', undefined, { title: 'x', author: 1, tags: [{ label: 'a' }] })
    assert.deepEqual([created.status, created.body.book], [200, { id: 1, title: 'x', author: 1, tags: ['1'] }])
    assert.equal((await engine.handle('PUT', '/v1/authors/1', undefined, { name: 'Ann', profile: { bio: 'b' } })).status, 200)
    const { authors } = await read(engine, '/v1/authors?expand=profile,books&sort=name')
    assert.deepEqual(authors, [
      {
        id: 1,
        name: 'Ann',
        mentor: null,
        authors: [2],
        profile: { author: 1, bio: 'b' },
        books: [{ id: 1, title: 'x', author: 1, tags: ['1'] }],
      },
      { id: 2, name: 'Bob', mentor: 1, authors: [], profile: null, books: [] },
    ])
    assert.deepEqual((await read(engine, '/v1/headings')).headings, [{ id: 1, title: 'x' }])
    assert.deepEqual((await read(engine, '/v1/logs?what=b')).logs, [{ at: '2020-01-02T03:04:05.600Z', what: 'b' }])
    assert.deepEqual((await read(engine, '/v1/logs')).logs.length, 2)
    for (const path of ['/v1/headings', '/v1/logs', '/v1/counteds'])
      assert.equal((await engine.handle('POST', path, undefined, {})).status, 405)
    assert.equal((await engine.handle('POST', '/v1/authors', undefined, { name: 'x'.repeat(21) })).status, 422)
    assert.equal((await engine.handle('DELETE', '/v1/authors/1')).body.code, 'owner_required')
  })

  it('reads the links of rows without IDs, from their own list', async () => {
    await using schema = ownSchema()
    await using engine = await serve(
      schema,
      `create table person (id int primary key, name text not null);
       create table team (id int primary key);
       create table membership (person_id int not null references person, team_id int references team on delete cascade);
       create table scan (id bytea primary key, person_id int references person);
       create table print (id int primary key, scan_id bytea references scan);
       insert into person values (1, 'Ann'), (2, 'Bob'); insert into team values (1), (2);
       insert into membership values (2, 1), (1, 2), (1, 2), (2, null);`,
    )
    const ann = { id: 1, name: 'Ann' }
    assert.deepEqual((await read(engine, '/v1/memberships')).memberships, [
      { person: 1, team: 2 },
      { person: 1, team: 2 },
      { person: 2, team: null },
      { person: 2, team: 1 },
    ])
    assert.deepEqual((await read(engine, '/v1/memberships?person.name=Ann&depth=2&limit=1')).memberships, [
      { person: ann, team: { id: 2 } },
    ])
    const sorted = (await read(engine, '/v1/memberships?sort=person.name.desc,team.id.desc&expand=person&limit=3')).memberships
    assert.deepEqual(sorted, [
      { person: { id: 2, name: 'Bob' }, team: 1 },
      { person: { id: 2, name: 'Bob' }, team: null },
      { person: ann, team: 2 },
    ])
    assert.deepEqual((await read(engine, '/v1/people/1')).person, ann)
    assert.deepEqual(engine.notes, [
      'membership: its rows have no IDs, since it has no key. Its own list shows "person", "team" and is filtered by them; ' +
        'records of person, team have no list of its rows.',
      'scan: its rows have no IDs, since its key (id) cannot be an ID. Its own list shows "person" and is filtered by it; ' +
        'records of person have no list of its rows.',
      'print.scan_id: the values are shown, and no relation, since the rows of scan have no IDs.',
    ])
    assert.equal((await engine.handle('DELETE', '/v1/people/1')).body.code, 'owner_required')
    assert.equal((await engine.handle('DELETE', '/v1/teams/2')).status, 200)
    assert.equal((await read(engine, '/v1/memberships')).count, 2, 'the server has deleted those of the team')
  })

  it('shows, finds, sorts and keeps values of all types', async () => {
    await using schema = ownSchema()
    await using engine = await serve(
      schema,
      `create type mood as enum ('sad', 'ok', 'happy'); create type place as (street text, zip int);
       create domain posint as int not null default 3 check (value > 0); create domain short as varchar(3);
       create table thing (id int primary key, m mood not null default 'ok', moods mood[], home place, tags text[] default '{}', n posint, s short,
         amount numeric(12,2), exact numeric(30,10), rate numeric, price money, at timestamptz default now(), at3 timestamp(3), day date, clock time, t timetz,
         iv interval, ip inet, doc xml, bits bit(4), v tsvector, r int4range, j jsonb default '{}', j2 json, raw bytea, c char(5),
         twice text generated always as ((id * 2)::text) stored, sm smallint, big bigint, f4 real, f8 float8, b boolean default true,
         u uuid default gen_random_uuid(), ox oid, matrix int[][], flags boolean[], bigs bigint[], pt point,
         state text check (state in ('new', 'it''s done')), level int check (level in (1, 2)));
       insert into thing (id, moods, home, tags, s, amount, exact, rate, price, at, at3, day, clock, t, iv, ip, doc, bits, v, r, j, j2, raw, c, sm, big, f4, f8, u, ox,
         matrix, flags, bigs, pt, state, level)
       values (1, '{ok,sad}', row('x', 1), '{a,null,"b, c","null",""}', 'abc', 12.5, 0.1, 1.50, 3.5, '2020-01-02 03:04:05.678901+02', '2020-01-02 03:04:05.6',
         '2020-01-02', '03:04:05', '03:04:05+02', '1 day 2 hours', '10.0.0.1', '<a/>', '1010', 'b a', '[1,3)', '{"b":1}', '{"b":1, "a":2}', '\\x00ff', 'ab', 5,
         9007199254740993, 0.1, 0.1, '7f3c9a52-0000-4000-8000-000000000001', 7, '{{1,2},{null,4}}', '{t,f}', '{1}', '(1,2)', 'new', 2);
       insert into thing (id) values (2);`,
    )
    assert.deepEqual(engine.notes, [])
    const [first, second] = (await read(engine, '/v1/things')).things
    assert.deepEqual(first, {
      id: 1,
      m: 'ok',
      moods: ['ok', 'sad'],
      home: '(x,1)',
      tags: ['a', null, 'b, c', 'null', ''],
      n: 3,
      s: 'abc',
      amount: 12.5,
      exact: '0.1000000000',
      rate: '1.50',
      price: '$3.50',
      at: '2020-01-02T01:04:05.678Z',
      at3: '2020-01-02T03:04:05.600Z',
      day: '2020-01-02',
      clock: '03:04:05',
      t: '03:04:05+02',
      iv: '1 day 02:00:00',
      ip: '10.0.0.1',
      doc: '<a/>',
      bits: '1010',
      v: "'a' 'b'",
      r: '[1,3)',
      j: { b: 1 },
      j2: { b: 1, a: 2 },
      raw: 'AP8=',
      c: 'ab',
      twice: '2',
      sm: 5,
      big: '9007199254740993',
      f4: 0.1,
      f8: 0.1,
      b: true,
      u: '7f3c9a52-0000-4000-8000-000000000001',
      ox: 7,
      matrix: [
        [1, 2],
        [null, 4],
      ],
      flags: [true, false],
      bigs: ['1'],
      pt: '(1,2)',
      state: 'new',
      level: 2,
    })
    assert.deepEqual([second.m, second.n, second.tags, second.j, second.b], ['ok', 3, [], {}, true])
    for (const filter of [
      'm=ok&s=abc',
      'ip=10.0.0.1',
      'c=ab',
      'f4=0.1',
      'at3=2020-01-02T03:04:05.600Z',
      'iv=1 day*',
      'big=9007199254740993',
      'level=2',
      'ox=7',
    ])
      assert.deepEqual((await read(engine, `/v1/things?${filter}&attributes=id`)).things, [{ id: 1 }], filter)
    for (const name of Object.keys(first as object).filter(
      key => !['moods', 'tags', 'j', 'j2', 'raw', 'matrix', 'flags', 'bigs'].includes(key),
    ))
      assert.equal((await read(engine, `/v1/things?sort=${name}`)).things.length, 2, name)
    for (const id of [1, 2]) await putBack(engine, `/v1/things/${id}`, 'thing', ['twice'])
    const changed = {
      m: 'happy',
      moods: ['sad', null],
      tags: ['a"b', 'c\\d', 'line\nbreak', 'NULL'],
      ip: '::1',
      iv: '2 days',
      c: 'x',
      matrix: [[3], [4]],
      price: '$4.00',
    }
    const { body } = await engine.handle('PATCH', '/v1/things/1', undefined, changed)
    assert.deepEqual({ ...body.thing, ...changed }, body.thing, JSON.stringify(body))
    for (const wrong of [
      { m: 'none' },
      { ip: 'x' },
      { n: 0 },
      { state: 'old' },
      { level: 3 },
      { s: 'abcd' },
      { sm: 70000 },
      { matrix: 'x' },
      { twice: 'x' },
    ])
      assert.equal((await engine.handle('PATCH', '/v1/things/1', undefined, wrong)).status, 422, JSON.stringify(wrong))
    const given = await engine.given('things', { id: 3 })
    assert.equal(given['id'], 3)
    await schema.run(
      'create table spans (id serial primary key, iv interval not null, ' +
        'ip inet not null, price money not null, t timetz not null, r int4range not null)',
    )
    await using other = await RestEngine.create({ database: schema.database })
    assert.match(String((await other.given('spans'))['ip']), /^10\./)
    assert.deepEqual(((await engine.openapi()) as Json).components.schemas.Thing.properties.m.enum, ['sad', 'ok', 'happy'])
  })

  it('finds records by keys of all kinds', async () => {
    await using schema = ownSchema()
    await using engine = await serve(
      schema,
      `create type kind as enum ('a', 'b');
       create table by_uuid (id uuid primary key default gen_random_uuid(), name text);
       create table by_code (code char(5) primary key, name text); create table of_code (id serial primary key, code char(5) references by_code);
       create table by_kind (kind kind, no serial, name text, primary key (kind, no)); create table of_kind (id serial primary key, k kind, n int, foreign key (k, n) references by_kind);
       create table by_amount (amount numeric(10,2) primary key, name text); create table by_flag (flag boolean primary key);
       create table by_all (a int not null, b int not null, unique (a, b)); create table by_name ("The Name" text primary key, "select" int, "naïve?" int);
       create table measured (id int, at timestamptz, value float8, primary key (id, at)) partition by range (at);
       create table measured_2020 partition of measured for values from ('2020-01-01') to ('2021-01-01');
       insert into by_code values ('ab', 'x'); insert into of_code (code) values ('ab'); insert into by_kind values ('b', 1, 'x'); insert into of_kind (k, n) values ('b', 1);
       insert into by_amount values (1.5, 'x'); insert into by_flag values (true); insert into by_all values (1, 2); insert into by_name values ('ä b', 1, 2);
       insert into measured values (1, '2020-05-06 07:08:09.123456Z', 1.5);`,
    )
    const made = await engine.handle('POST', '/v1/by_uuids', undefined, { name: 'x' })
    assert.match(String(made.body['by_uuid']?.id), /^[\da-f-]{36}$/)
    await putBack(engine, `/v1/by_uuids/${String(made.body['by_uuid']?.id)}`, 'by_uuid')
    assert.deepEqual((await read(engine, '/v1/by_codes/ab?expand=ofCodes')).by_code, {
      code: 'ab',
      name: 'x',
      ofCodes: [{ id: 1, code: 'ab' }],
    })
    assert.deepEqual((await read(engine, '/v1/of_codes?code.name=x&expand=code')).of_codes, [
      { id: 1, code: { code: 'ab', name: 'x', ofCodes: [1] } },
    ])
    assert.deepEqual((await read(engine, '/v1/of_codes?code=ab')).count, 1)
    assert.equal((await engine.handle('PATCH', '/v1/by_codes/ab', undefined, { name: 'y' })).body.by_code.name, 'y')
    assert.equal((await engine.handle('POST', '/v1/of_codes', undefined, { code: 'ab' })).status, 200)
    assert.deepEqual((await read(engine, '/v1/by_kinds/b~1?expand=ofKinds')).by_kind.ofKinds.length, 1)
    assert.deepEqual((await read(engine, '/v1/of_kinds?expand=byKind')).of_kinds.length, 1)
    assert.equal((await engine.handle('GET', '/v1/by_kinds/none~1')).status, 404)
    const lacking = await engine.handle('POST', '/v1/by_kinds', undefined, { kind: 'a' })
    assert.deepEqual([lacking.status, lacking.body.errors[0].attribute], [422, 'no'])
    assert.equal((await engine.handle('POST', '/v1/by_kinds', undefined, { kind: 'a', no: 5 })).status, 200)
    await putBack(engine, '/v1/by_amounts/1.50', 'by_amount')
    assert.equal((await engine.handle('GET', '/v1/by_amounts/x')).status, 404)
    assert.deepEqual((await read(engine, '/v1/by_flags')).by_flags, [{ flag: true }])
    await putBack(engine, '/v1/by_alls/1~2', 'by_all')
    assert.deepEqual((await read(engine, `/v1/by_names/${encodeURIComponent('ä b')}`)).by_name, { theName: 'ä b', select: 1, naïve: 2 })
    const { measureds } = await read(engine, '/v1/measureds')
    assert.deepEqual(measureds, [{ id: 1, at: '2020-05-06 07:08:09.123456+00', value: 1.5 }])
    const path = `/v1/measureds/1~${encodeURIComponent(String(measureds[0]?.at))}`
    await putBack(engine, path, 'measured')
    assert.equal((await engine.handle('PATCH', path, undefined, { value: 2 })).body.measured.value, 2)
    assert.equal((await engine.handle('DELETE', path)).status, 200)
    assert.deepEqual(
      Object.keys((await read(engine, '/v1')).resources as object).filter((name: string) => name.startsWith('measured')),
      ['measureds'],
    )
  })

  it('finds labels of an enum by an index', async () => {
    await using schema = ownSchema()
    await using engine = await serve(
      schema,
      `create type "A State" as enum ('new', 'it''s done'); create table job (id int primary key, state "A State" not null);
       insert into job select n, case when n % 1000 = 0 then 'it''s done' else 'new' end::"A State" from generate_series(1, 20000) as n; create index on job (state); analyze job`,
    )
    const found = await read(engine, `/v1/jobs?state=${encodeURIComponent("it's done")}&limit=2`)
    assert.deepEqual([found.count, found.jobs[0]], [20, { id: 1000, state: "it's done" }])
    assert.equal((await read(engine, `/v1/jobs?state=new,${encodeURIComponent("it's done")}`)).count, 20000)
    assert.equal((await engine.handle('GET', '/v1/jobs?state=old')).status, 400)
    const { statements } = await engine.explain('GET', `/v1/jobs?state=${encodeURIComponent("it's done")}`)
    assert.match(JSON.stringify(statements), /using job_state_idx/)
  })

  it('may be several schemas, with tables of one name', async () => {
    await using one = ownSchema()
    await using two = ownSchema()
    const [a, b] = [one.database.schema, two.database.schema]
    await one.run(`create schema ${a}; create schema ${b}`)
    await one.run(`create table ${a}.person (id serial primary key, name text); create table ${b}.person (id serial primary key, boss_id int references ${a}.person);
      create table ${a}.link (l int references ${a}.person, r int references ${b}.person, primary key (l, r)); insert into ${a}.person (name) values ('Ann')`)
    const { url } = one.database
    await using engine = await RestEngine.create({ database: `${url}&schema=${a},${b}` })
    assert.deepEqual(Object.keys((await read(engine, '/v1')).resources as object), ['people', 'person_records'])
    const made = await engine.handle('POST', '/v1/person_records', undefined, { boss: 1, people: [1] })
    assert.deepEqual([made.status, made.body.person_record], [200, { id: 1, boss: 1, people: [1] }])
    assert.deepEqual((await read(engine, '/v1/people?boss=1&expand=people2').catch(() => read(engine, '/v1/people'))).people.length, 1)
    await using only = await RestEngine.create({ database: two.database })
    assert.deepEqual((await read(only, '/v1/people')).people, [{ id: 1, bossId: 1 }])
    await assert.rejects(
      RestEngine.create({ database: { url, schema: 'that_is_not' } }),
      /has no tables in the schema "that_is_not" that can be served/,
    )
  })

  it('shows what its role may read, and writes what that may write', async () => {
    await using schema = ownSchema()
    const { schema: name, url } = schema.database
    await schema.run(`create schema ${name}`)
    await schema.run(`create table seen (id serial primary key, a text, secret text); create table hidden (id serial primary key);
      create table changed (id serial primary key, a text); create table ruled (id int primary key, a text); insert into ruled values (1, 'a'), (2, 'b');
      insert into seen (a) values ('x'); insert into changed (a) values ('x'); create view broken as select * from hidden;`)
    const role = `${name}_reader`
    const client = new Client({ connectionString: SERVER_URL })
    await client.connect()
    try {
      await client.query(`create role ${role} login password 'p'; grant usage on schema ${name} to ${role}; grant select (id, a) on ${name}.seen to ${role};
        grant select, update on ${name}.changed to ${role}; grant select, insert, update on ${name}.ruled to ${role}; alter table ${name}.ruled enable row level security;
        create policy p on ${name}.ruled using (id < 2); grant select on ${name}.broken to ${role}; alter view ${name}.broken owner to ${role}`)
      const own = new URL(url)
      own.username = role
      own.password = 'p'
      await using engine = await RestEngine.create({ database: { url: own.href, schema: name } })
      assert.deepEqual(engine.notes.toSorted(), [
        'hidden: it is left out, since the role may not read it.',
        'seen: the column "secret" is left out, since the role may not read it.',
      ])
      assert.deepEqual((await read(engine, '/v1/seens')).seens, [{ id: 1, a: 'x' }])
      assert.equal((await engine.handle('PATCH', '/v1/seens/1', undefined, { a: 'y' })).status, 405)
      assert.equal((await engine.handle('PATCH', '/v1/changeds/1', undefined, { a: 'y' })).status, 200)
      const denied = await engine.handle('POST', '/v1/changeds', undefined, { a: 'y' })
      assert.deepEqual(
        [denied.status, denied.body.code, denied.body.detail],
        [403, 'forbidden', 'The database does not allow it: permission denied for table changed.'],
      )
      assert.deepEqual((await read(engine, '/v1/ruleds')).ruleds, [{ id: 1, a: 'a' }])
      assert.equal((await engine.handle('POST', '/v1/ruleds', undefined, { id: 3, a: 'c' })).status, 403)
      assert.equal((await engine.handle('GET', '/v1/brokens')).status, 403)
    } finally {
      await client.query(`drop owned by ${role}; drop role ${role}`)
      await client.end()
    }
  })

  it('is left as it is', async () => {
    await using schema = ownSchema()
    await using engine = await serve(schema, 'create table note (id serial primary key, text text)')
    assert.deepEqual((await engine.handle('POST', '/v1/notes', undefined, { text: 'x' })).body.note, { id: 1, text: 'x' })
    const found = await schema.run(
      `select relname from pg_class where relnamespace = '${schema.database.schema}'::regnamespace and relkind = 'r'`,
    )
    assert.deepEqual(found, [{ relname: 'note' }])
    assert.deepEqual(await schema.run("select tgname from pg_trigger where not tgisinternal and tgrelid = 'note'::regclass"), [])
    await using reading = await RestEngine.create({ database: schema.database, readOnly: true })
    assert.equal((await reading.handle('POST', '/v1/notes', undefined, {})).status, 405)
    await assert.rejects(
      RestEngine.create({ database: schema.database, schema: 'update' }),
      /"schema" must be "keep" where the model is read from the database, which is never changed/,
    )
  })
})
