/** `schema: 'evolve'` on a PostgreSQL server: its own DDL in one transaction, with names, values and checks of rows before. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { Client, type PoolClient } from 'pg'
import { findLoss } from '../../lib/databases/postgres/evolve/guard-statement.ts'
import { lockSchema } from '../../lib/databases/postgres/schema/add-schema.ts'
import { beginAnew, rehearse } from '../../lib/engine/assembly/rehearse.ts'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { SERVER_URL, findNoServer, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

type Entities = NonNullable<EngineOptions['entities']>
type Options = Partial<EngineOptions>

const id = p.integer().primary()
const note = (more: Record<string, unknown>) =>
  defineEntity({ name: 'Note', properties: { id: p.integer().primary(), ...more } as unknown as Record<string, never> })

async function evolve({ database }: OwnSchema, entities: Entities, options: Options = {}): Promise<readonly string[]> {
  await using engine = await RestEngine.create({ entities, database, schema: 'evolve', ...options })
  return engine.notes
}

const columnsOf = (own: OwnSchema) =>
  own.run(
    'select column_name, data_type, is_nullable, column_default from information_schema.columns ' +
      "where table_schema = current_schema() and table_name = 'note' order by column_name",
  )

async function assertRefused(own: OwnSchema, entities: Entities, options: Options, ...said: readonly string[]): Promise<void> {
  const before = [await columnsOf(own), await own.run('select * from note order by id')]
  await assert.rejects(evolve(own, entities, options), ({ message }: Error) => {
    assert.doesNotMatch(message, /\n/)
    for (const part of said) assert.ok(message.includes(part), message)
    return true
  })
  assert.deepEqual([await columnsOf(own), await own.run('select * from note order by id')], before)
}

/** A database that others have made. */
async function make(own: OwnSchema, sql: string): Promise<void> {
  await own.run(`create schema ${own.database.schema}`)
  await own.run(sql)
}

const NOTES = `create table note (id serial primary key, title varchar(255) not null, body text);
  insert into note (title, body) values ('One', 'a'), ('Two', null);`

describe('schema: evolve on a PostgreSQL server', { skip: await findNoServer() }, () => {
  it('adds properties with fill and defaults, without setting off triggers, and makes no value up', async () => {
    await using own = ownSchema()
    await make(
      own,
      `${NOTES}
      create function shout() returns trigger language plpgsql as $$ begin new.body = upper(new.body); return new; end $$;
      create trigger shouts before update on note for each row execute function shout();
      create trigger off before update on note for each row execute function shout();
      alter table note disable trigger off;`,
    )
    const Note = note({
      title: p.string(),
      body: p.text().nullable(),
      stars: p.integer(),
      kind: p.enum(['x', 'y']).default('x'),
      at: p.datetime(),
      data: p.json(),
    })
    const options = { fill: { Note: { stars: 3, at: '2026-01-31T12:00:00Z' } } }
    const line = 'note.data is required, and rows have no value for it: say what they get, fill: { note: { data: {} } }'
    await assertRefused(own, [Note], options, `${line}, or give the property a default`)
    await evolve(own, [Note], { fill: { Note: { stars: 3, at: '2026-01-31T12:00:00Z', data: { a: 1 } } } })
    const rows = await own.run('select title, body, stars, kind, at, data from note order by id')
    assert.deepEqual(
      rows,
      ['One', 'Two'].map((title, at) => ({
        title,
        body: at === 0 ? 'a' : null,
        stars: 3,
        kind: 'x',
        at: new Date('2026-01-31T12:00:00Z'),
        data: { a: 1 },
      })),
    )
    const triggers = await own.run(
      "select tgname, tgenabled from pg_trigger where tgrelid = 'note'::regclass and not tgisinternal order by tgname",
    )
    assert.deepEqual(triggers, [
      { tgname: 'off', tgenabled: 'D' },
      { tgname: 'shouts', tgenabled: 'O' },
    ])
    assert.deepEqual(await evolve(own, [Note]), [])
  })

  it('is named where update cannot add a column, and where a table is missing that keep does not make', async () => {
    await using own = ownSchema()
    await make(own, NOTES)
    const entities = [note({ title: p.string(), body: p.text().nullable(), stars: p.integer() })]
    await assert.rejects(
      RestEngine.create({ entities, database: own.database }),
      /schema: 'evolve' \(--evolve\) with fill: \{ note: \{ stars: \.\.\. \} \} \(--fill note\.stars=\.\.\.\)\.$/,
    )
    await own.run('drop table note')
    await using engine = await RestEngine.create({ entities, database: own.database, schema: 'keep' })
    assert.match(
      engine.notes.join('\n'),
      /lacks what the entities need, .*'update' makes what is missing; 'evolve' \(--evolve\) makes tables fit/,
    )
  })

  it('renames what is named, and refuses to guess', async () => {
    await using own = ownSchema()
    await make(own, `${NOTES} create view titles as select title from note`)
    const Note = note({ headline: p.string(), body: p.text().nullable() })
    await assertRefused(
      own,
      [Note],
      {},
      'note.headline is new and required, and may be "title" by a new name',
      '--rename note.title=headline',
    )
    const options = { renamed: { notes: { title: 'headline' } } }
    await evolve(own, [Note], options)
    assert.deepEqual(await own.run('select headline from note order by id'), [{ headline: 'One' }, { headline: 'Two' }])
    assert.deepEqual(await own.run('select * from titles'), [{ title: 'One' }, { title: 'Two' }])
    assert.deepEqual(await evolve(own, [Note], options), [])
  })

  it('converts types, and lists each row that cannot be converted', async () => {
    await using own = ownSchema()
    await make(
      own,
      `create table note (id serial primary key, a text, b int, c text, d real);
      insert into note (a, b, c, d) values ('5', 7, '2026-01-31', 2), ('-3', null, null, 4);`,
    )
    const Note = note({ a: p.integer().nullable(), b: p.string().nullable(), c: p.date().nullable(), d: p.integer().nullable() })
    await evolve(own, [Note])
    assert.deepEqual(await own.run('select a, b, c::text, d from note order by id'), [
      { a: 5, b: '7', c: '2026-01-31', d: 2 },
      { a: -3, b: null, c: null, d: 4 },
    ])
    assert.deepEqual(await evolve(own, [Note]), [])
    await using odd = ownSchema()
    await make(
      odd,
      "create table note (id serial primary key, a text, d real); insert into note (a, d) values ('5', 1), ('five', 1.5), ('007', null)",
    )
    await assertRefused(
      odd,
      [note({ a: p.integer().nullable(), d: p.integer().nullable() })],
      {},
      'note.a cannot become "int" in 2 rows: id 2 ("five"), 3 ("007")',
      'note.d cannot become "int" in 1 row: id 2 ("1.5")',
    )
  })

  it('names the rows that stand against what is required, checks, unique constraints and foreign keys', async () => {
    await using own = ownSchema()
    await make(
      own,
      `create table author (id serial primary key); insert into author default values;
      create table note (id serial primary key, title text, stars int not null, author_id int);
      insert into note (title, stars, author_id) values ('One', 5, 1), ('One', 0, 9), (null, 2, null);`,
    )
    const Author = defineEntity({ name: 'Author', properties: { id } })
    const of = (title: unknown) =>
      defineEntity({
        name: 'Note',
        properties: {
          id: p.integer().primary(),
          title: title as ReturnType<typeof p.string>,
          stars: p.integer(),
          author: () => p.manyToOne(Author).nullable(),
        },
        checks: [{ name: 'stars_above', expression: 'stars > 0' }],
      })
    await assertRefused(
      own,
      [Author, of(p.string().unique())],
      {},
      "note.title may be empty no more, and is in 1 row (id 3): say what they get, fill: { note: { title: '' } }",
      'rows of "note" have the same title, which must be unique: "One" in id 1, 2',
      '1 row of "note" (id 2) does not meet the check "stars_above", stars > 0',
      '1 row of "note" (id 2) refers by author_id to no row of "author"',
    )
    await own.run('update note set stars = 1, author_id = 1 where id = 2')
    await evolve(own, [Author, of(p.string())], { fill: { notes: { title: '-' } } })
    assert.deepEqual(await own.run('select title from note order by id'), [{ title: 'One' }, { title: 'One' }, { title: '-' }])
    await assert.rejects(own.run("insert into note (title, stars) values ('x', 0)"), /stars_above/)
    await assert.rejects(own.run("insert into note (title, stars, author_id) values ('x', 1, 9)"), /foreign key/)
  })

  it('leaves what the model lacks, and what is by hand, and drops the first when asked', async () => {
    await using others = ownSchema()
    await make(others, 'create table elsewhere (x int); insert into elsewhere values (1)')
    await using own = ownSchema()
    await make(
      own,
      `${NOTES} create table gone (id int); create table used (id int primary key); create table user_of (used int references used);
      create view of_user as select * from user_of;
      create index by_hand on note (body) where id > 5; alter table note add constraint by_hand_check check (length(title) > 0);`,
    )
    const Note = note({ body: p.text().nullable() })
    await evolve(own, [Note])
    assert.deepEqual(await own.run('select title from note order by id'), [{ title: 'One' }, { title: 'Two' }])
    await own.run('insert into note (body) values (null)')
    const objects = async () =>
      (
        await own.run(
          'select relname from pg_class where relnamespace = current_schema()::regnamespace ' +
            "and relkind in ('r', 'i') and relname !~ 'pkey|mikro' order by 1",
        )
      ).map(({ relname }) => relname)
    assert.deepEqual(await objects(), ['by_hand', 'gone', 'note', 'used', 'user_of'])
    assert.equal((await own.run("select 1 from pg_constraint where conname = 'by_hand_check'")).length, 1)
    await assert.rejects(evolve(own, [Note], { drop: true }), /"note\.title" has a value in 2 rows.* drop: \['note\.title'\]/)
    await assert.rejects(
      evolve(own, [Note], { drop: ['note.titel'] }),
      /there is no "note\.titel" to drop, and the nearest is "note\.title"/,
    )
    await evolve(own, [Note], { drop: ['notes.title'] })
    await evolve(own, [Note], { drop: true })
    assert.deepEqual(await objects(), ['by_hand', 'note', 'used', 'user_of'])
    assert.deepEqual(Object.keys((await own.run('select * from note limit 1'))[0]!), ['id', 'body'])
    assert.deepEqual(await others.run('select * from elsewhere'), [{ x: 1 }])
  })

  it('drops what the model lacks alone: no partition, no table that the model reads without a key', async () => {
    await using own = ownSchema()
    await make(
      own,
      `${NOTES} create table setting (name text, value text); insert into setting values ('theme', 'dark'); create table gone (x int);
      create table hit (id int not null, at date not null, primary key (id, at)) partition by range (at);
      create table hit_2026 partition of hit for values from ('2026-01-01') to ('2027-01-01'); insert into hit values (1, '2026-01-31');
      create table mikro_orm_migrations (id serial primary key, name text); insert into mikro_orm_migrations (name) values ('one');`,
    )
    const Setting = defineEntity({
      name: 'Setting',
      expression: 'select * from setting',
      properties: { name: p.string(), value: p.string() },
    })
    const Hit = defineEntity({ name: 'Hit', properties: { id: p.integer().primary(), at: p.date().primary() } })
    await evolve(own, [note({ title: p.string(), body: p.text().nullable() }), Setting, Hit], { drop: 'all' })
    assert.deepEqual(await own.run('select * from setting'), [{ name: 'theme', value: 'dark' }])
    assert.deepEqual(await own.run('select id from hit_2026'), [{ id: 1 }])
    assert.deepEqual(await own.run('select name from mikro_orm_migrations'), [{ name: 'one' }])
    assert.deepEqual(await own.run("select to_regclass('gone')::text as gone"), [{ gone: null }])
  })

  it('runs no statement that drops or rewrites what nobody asked for, whatever the comparison gives', () => {
    const column = (name: string, more = {}) => ({ name, type: 'int', ...more })
    const table = (...columns: { readonly name: string }[]) => ({
      getQuotedName: () => '"note"',
      getColumn: (name: string) => columns.find(each => each.name === name),
    })
    const changed = {
      fromTable: table(column('id', { generated: 'identity' }), column('old'), column('sum', { generated: 'a + b stored' }), column('n')),
      toTable: table(column('id'), column('sum', { generated: 'a - b stored' }), column('n')),
      changedColumns: { n: { changedProperties: new Set(['type']) } },
    }
    const difference = { changedTables: { note: changed } } as unknown as Parameters<typeof findLoss>[1]
    const lost = (sql: string) => findLoss(sql, difference)?.split(' would lose')[0]
    for (const [sql, place] of [
      ['alter table "note" drop column "id"', 'note.id'],
      ['alter table "note" add "x" int default \'a, drop column "id"\', drop column "old"', 'note.old'],
      [`alter table "note" add "x" text default $$'$$, drop column "old", add "y" text default $$'$$`, 'note.old'],
      ['alter table "note" alter column "old" type text using ("old"::text)', 'note.old'],
      ['alter table "note" rename column "old" to "new"', 'note'],
      ['alter table "other" drop column "id"', 'other.id'],
      ['drop table if exists "note" cascade', 'The database'],
      ['drop view if exists "seen" cascade', 'The database'],
      ['truncate "note"', 'The database'],
      ['delete from "note"', 'The database'],
      ['update "note" set "n" = 1', 'The database'],
    ] as const)
      assert.equal(lost(sql), place, sql)
    for (const sql of [
      'alter table "note" drop column "sum"',
      'alter table "note" alter column "n" type bigint using ("n"::bigint)',
      'alter table "note" add "x" int null, add constraint "c" check ("x" in (1, 2))',
      'alter table "note" alter column "old" drop not null',
      'alter type "mood" add value if not exists \'x\'',
    ])
      assert.equal(lost(sql), undefined, sql)
  })

  it('evolves a database that an engine has made, whose changes it logs', async () => {
    await using own = ownSchema()
    {
      await using engine = await RestEngine.create({
        entities: [note({ title: p.string() })],
        database: own.database,
        seed: { notes: [{ title: 'One' }] },
      })
      assert.deepEqual(engine.notes, [])
    }
    const Note = note({ title: p.string(), stars: p.integer(), code: p.string() })
    const fill = { notes: { stars: 1, code: 'a' } }
    await using engine = await RestEngine.create({
      entities: [Note],
      database: own.database,
      schema: 'evolve',
      fill,
    })
    const made = await engine.snapshot()
    assert.equal((await engine.handle('POST', '/v1/notes', undefined, { title: 'Two', stars: 2, code: 'c' })).status, 200)
    await engine.restore(made)
    const { body } = await engine.handle('GET', '/v1/notes?attributes=title,stars')
    assert.deepEqual(body.notes, [{ title: 'One', stars: 1 }])
  })

  it('tells the plan without changing anything, and makes tables anew', async () => {
    await using own = ownSchema()
    await make(own, `${NOTES} create table other (x int); insert into other values (1)`)
    const options = { entities: [note({ headline: p.string(), body: p.text().nullable() })], database: own.database }
    const before = await columnsOf(own)
    const unsure = await rehearse(options)
    assert.match(unsure.error?.message ?? '', /may be "title" by a new name/)
    assert.deepEqual(unsure.plan.renames, [{ resource: 'note', from: 'title', to: 'headline' }])
    const { plan, error } = await rehearse({ ...options, renamed: { notes: { title: 'headline' } } })
    assert.equal(error, undefined)
    assert.deepEqual(plan.steps[0]!.sentence, 'note.title: the column becomes "headline", with its values.')
    assert.match(plan.steps[0]!.sql[0]!, /rename column "title" to "headline"/)
    assert.deepEqual(await columnsOf(own), before)
    assert.deepEqual(await beginAnew(options), ['note: the table is made anew; 2 rows went with the old one.'])
    assert.deepEqual(await own.run('select * from note'), [])
    assert.deepEqual(await own.run('select * from other'), [{ x: 1 }])
  })

  it('makes tables anew without holding them while another engine changes a schema', async () => {
    await using own = ownSchema()
    await make(own, NOTES)
    const other = new Client({ connectionString: SERVER_URL })
    await other.connect()
    try {
      await other.query("begin; set local lock_timeout = '500ms'")
      await lockSchema(other as unknown as PoolClient)
      const [{ pid }] = (await other.query('select pg_backend_pid() as pid')).rows as [{ pid: number }]
      const begun = beginAnew({ entities: [note({ headline: p.string() })], database: own.database })
      while ((await own.run('select from pg_locks where not granted and $1 = any(pg_blocking_pids(pid))', [pid])).length === 0)
        await sleep(20)
      const { rows } = await other.query(`select title from ${own.database.schema}.note order by id`)
      assert.deepEqual(rows, [{ title: 'One' }, { title: 'Two' }])
      await other.query('commit')
      assert.deepEqual(await begun, ['note: the table is made anew; 2 rows went with the old one.'])
    } finally {
      await other.end()
    }
  })

  it('begins again when the server ends it, since it and another session wait for each other', { timeout: 60_000 }, async () => {
    await using own = ownSchema()
    await make(own, `${NOTES} create table tag (id serial primary key, name text)`)
    const other = new Client({ connectionString: SERVER_URL })
    await other.connect()
    try {
      // The server ends the session that has waited for this long: the engine waits for the usual second.
      await other.query("set deadlock_timeout = '20s'")
      await other.query(`begin; lock table ${own.database.schema}.tag`)
      const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.text().nullable(), stars: p.integer() } })
      const evolved = evolve(own, [note({ headline: p.string(), body: p.text().nullable() }), Tag], {
        renamed: { notes: { title: 'headline' } },
        fill: { tags: { stars: 1 } },
      })
      const waits = 'select from pg_locks where not granted and relation = $1::regclass'
      while ((await own.run(waits, [`${own.database.schema}.tag`])).length === 0) await sleep(20)
      await other.query(`lock table ${own.database.schema}.note; commit`)
      await evolved
      assert.deepEqual(await own.run('select headline from note order by id'), [{ headline: 'One' }, { headline: 'Two' }])
    } finally {
      await other.end()
    }
  })
})
