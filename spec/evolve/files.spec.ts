/**
 * `schema: 'evolve'` on SQLite files: rows keep their values while their table gets another form, all or nothing, after a copy of the file.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { defineEntity, p } from '@mikro-orm/core'
import { defineConfig } from '@mikro-orm/sqlite'
import { Plan } from '../../lib/databases/evolve/plan.ts'
import { guardRows } from '../../lib/databases/sqlite/evolve/guard-rows.ts'
import type { TableChange } from '../../lib/databases/sqlite/evolve/table-change.ts'
import { readCatalog, readExistingTable } from '../../lib/databases/sqlite/schema/existing-table.ts'
import { fileType, RestEngine, resource } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { fileOf, pathOf, rowsOf } from '../sqlite/introspect/world.ts'

type Entities = NonNullable<EngineOptions['entities']>
type Options = Partial<EngineOptions>

const id = p.integer().primary()

/** Evolves a file, and gives the notes of the engine. */
async function evolve(path: string, entities: Entities, options: Options = {}): Promise<readonly string[]> {
  await using engine = await RestEngine.create({ entities, database: path, schema: 'evolve', ...options })
  return engine.notes
}

/** The copies of a file. */
function copiesOf(path: string): string[] {
  const folder = `${path}.copies`
  return existsSync(folder) ? readdirSync(folder).map(name => join(folder, name)) : []
}

/** Nothing is changed, no copy is made, and the error is one line that has what it must. */
async function assertRefused(path: string, entities: Entities, options: Options, ...said: readonly string[]): Promise<void> {
  const before = readFileSync(path)
  await assert.rejects(evolve(path, entities, options), ({ message }: Error) => {
    assert.doesNotMatch(message, /\n/)
    for (const part of said) assert.ok(message.includes(part), message)
    return true
  })
  assert.ok(readFileSync(path).equals(before), 'not a byte has changed')
  assert.deepEqual(copiesOf(path), [])
}

/** Without a name nothing goes that holds a value. */
const assertDropRefused = (path: string, entities: Entities, ...said: readonly string[]): Promise<void> =>
  assert.rejects(evolve(path, entities, { drop: true }), ({ message }: Error) => said.every(part => message.includes(part)))

const NOTES = `
  create table note (id integer primary key autoincrement, title text not null, body text);
  insert into note values (1, 'One', 'a'), (2, 'Two', null), (7, 'Seven', 'c');
  delete from note where id = 7;`

const note = (more: Record<string, unknown>, name = 'Note') =>
  defineEntity({
    name,
    tableName: 'note',
    properties: { id: p.integer().primary().autoincrement(), ...more } as unknown as Record<string, never>,
  })

describe('schema: evolve on a file', () => {
  it('adds a required property, with the values of fill, by any form of the name', async () => {
    for (const name of ['note', 'notes', 'Note']) {
      const path = fileOf(NOTES)
      await evolve(path, [note({ title: p.string(), body: p.text().nullable(), stars: p.integer() })], { fill: { [name]: { stars: 3 } } })
      assert.deepEqual(rowsOf(path, 'select * from note'), [
        { id: 1, title: 'One', body: 'a', stars: 3 },
        { id: 2, title: 'Two', body: null, stars: 3 },
      ])
    }
  })

  it('takes the own name of a resource, and the JSON form of a value', async () => {
    const path = fileOf(NOTES)
    const Note = note({ title: p.string(), body: p.text().nullable(), at: p.datetime(), data: p.json(), done: p.boolean() })
    const fill = { memos: { at: '2026-01-31T12:00:00Z', data: { a: [1] }, done: true } }
    await evolve(path, [Note], { fill, resources: [resource(Note, { name: 'memos', singular: 'memo' })] })
    assert.deepEqual(rowsOf(path, 'select at, data, done from note limit 1'), [
      { at: Date.UTC(2026, 0, 31, 12), data: '{"a":[1]}', done: 1 },
    ])
  })

  it('uses the default of a property, and makes no value up where there is none: it says the line to write', async () => {
    const path = fileOf(NOTES)
    const more = { title: p.string(), body: p.text().nullable(), stars: p.integer().default(5) }
    const Author = defineEntity({ name: 'Author', properties: { id: p.integer().primary() } })
    const author = () => p.manyToOne(Author)
    await assertRefused(
      path,
      [Author, note({ ...more, days: p.integer(), kind: p.enum(['x', 'y']), author })],
      {},
      'note.days is required, and rows have no value for it: say what they get, fill: { note: { days: 0 } } (--fill note.days=0), or give the property a default',
      "fill: { note: { kind: 'x' } } (--fill note.kind=x)",
      'fill: { note: { author: ... } }',
    )
    await evolve(path, [note(more)])
    assert.deepEqual(rowsOf(path, 'select stars from note'), [{ stars: 5 }, { stars: 5 }])
    // What was dropped and comes again is not the same any more.
    await evolve(path, [note({ title: p.string(), stars: p.integer() })], { drop: ['note.body'] })
    await assert.rejects(
      evolve(path, [note({ ...more, body: p.text() })], { drop: 'all' }),
      /note\.body is required, and rows have no value/,
    )
  })

  it('refuses a table that was written anew without a column, a row or a value, whatever has computed it', () => {
    const db = new Database(':memory:')
    db.exec(`create table note (id integer primary key, title text, body text); insert into note values (1, 'One', 'a'), (2, 'Two', 'b')`)
    const existing = readExistingTable(db, readCatalog(db), 'note')!
    const guard = (select: string, dropped: readonly string[] = []): string => {
      const plan = new Plan()
      const change = { existing, converted: [], filled: [], dropped } as unknown as TableChange
      db.exec(
        `drop table if exists begun; create table begun (id integer primary key, title text${select.includes('body') ? ', body text' : ''})`,
      )
      db.exec(`insert into begun ${select}`)
      guardRows(change, '"begun"', db, plan)
      return plan.faults.join('; ')
    }
    assert.equal(guard('select id, title, body from note'), '')
    assert.equal(guard('select id, title from note', ['body']), '')
    assert.equal(guard('select id, title from note'), 'note.body would be lost, which nobody asked for')
    assert.equal(guard('select id, title, body from note where id = 1'), 'note would have 1 row in the place of 2')
    assert.equal(
      guard("select id, case id when 2 then 'Zwei' else title end, body from note"),
      'the row 2 of "note" would lose a value, which nobody asked for',
    )
    assert.equal(guard('select 3 - id + 1, title, body from note'), 'the row 1 of "note" would lose a value, which nobody asked for')
    // A name with a comma and a blank is one column of the key.
    db.exec('create table pair ("a, b" integer, c integer, d text, primary key ("a, b", c)); insert into pair values (1, 2, \'x\')')
    db.exec('create table next ("a, b" integer, c integer, d text, primary key ("a, b", c)); insert into next values (1, 2, \'y\')')
    const plan = new Plan()
    const pair = { existing: readExistingTable(db, readCatalog(db), 'pair')!, converted: [], filled: [], dropped: [] }
    guardRows(pair as unknown as TableChange, '"next"', db, plan)
    assert.deepEqual(plan.faults, ['the row 1~2 of "pair" would lose a value, which nobody asked for'])
    db.close()
  })

  it('drops no table that the model reads without a key, and no column that a view names beside a broken view', async () => {
    const path = fileOf(`${NOTES} create table setting (name text, value text); insert into setting values ('theme', 'dark');
      create table counted (x); create table gone (x); create view broken as select missing from nowhere; create view titles as select title from note;`)
    const Setting = defineEntity({
      name: 'Setting',
      expression: 'select * from "setting"',
      properties: { name: p.string(), value: p.string() },
    })
    const Note = note({
      title: p.string(),
      body: p.text().nullable(),
      count: p.integer().persist(false).formula('(select count(*) from counted)'),
    })
    await evolve(path, [Note, Setting], { drop: 'all' })
    assert.deepEqual(rowsOf(path, 'select * from setting'), [{ name: 'theme', value: 'dark' }])
    assert.deepEqual(rowsOf(path, "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by 1"), [
      { name: 'counted' },
      { name: 'note' },
      { name: 'setting' },
    ])
    await assert.rejects(evolve(path, [note({ body: p.text().nullable() }), Setting], { drop: 'all' }), /the view "titles": no such column/)
    assert.deepEqual(rowsOf(path, 'select * from titles'), [{ title: 'One' }, { title: 'Two' }])
  })

  it('makes a copy of the file as it was, and none where there is nothing to do', async () => {
    const path = fileOf(NOTES)
    const before = rowsOf(path, 'select sql from sqlite_schema')
    const Note = note({ title: p.string(), body: p.text().nullable(), stars: p.integer().default(1) })
    // What a process that was killed had begun to copy.
    mkdirSync(`${path}.copies`)
    writeFileSync(join(`${path}.copies`, basename(path).replace(/\.sqlite$/, '.before-20260131-120000.sqlite.part')), 'half')
    const notes = await evolve(path, [Note])
    const [copy, ...others] = copiesOf(path)
    assert.deepEqual(others, [])
    assert.ok(notes.includes(`The file as it was before it evolved: ${copy}`))
    assert.deepEqual(rowsOf(copy!, 'select sql from sqlite_schema'), before)
    const bytes = readFileSync(path)
    assert.deepEqual(await evolve(path, [Note]), [])
    assert.ok(readFileSync(path).equals(bytes))
    assert.equal(copiesOf(path).length, 1)
  })

  it('keeps the newest ten copies, or as many as are asked for, and other files of the folder', async () => {
    const path = fileOf(NOTES)
    const evolveTo = (count: number, options: Options = {}): Promise<readonly string[]> =>
      evolve(path, [note({ title: p.string(), body: p.text().nullable(), [`more${count}`]: p.string().nullable() })], options)
    for (let count = 1; count <= 12; count++) await evolveTo(count)
    assert.equal(copiesOf(path).length, 10)
    const columns = (copy: string): unknown[] => rowsOf(copy, "select name from pragma_table_info('note') where name like 'more%'")
    const sizes = copiesOf(path).map(copy => columns(copy).length)
    assert.deepEqual(
      sizes.toSorted((a, b) => a - b),
      [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    )
    writeFileSync(join(`${path}.copies`, 'mine.txt'), '')
    const notes = await evolveTo(13, { copies: 1 })
    const [kept, mine] = copiesOf(path)
    assert.deepEqual([columns(kept!).length, basename(mine!)], [12, 'mine.txt'])
    assert.ok(notes.includes(`The file as it was before it evolved: ${kept}`))
    await evolveTo(14, { copies: 0 })
    assert.deepEqual(copiesOf(path), [kept, mine])
    await assert.rejects(evolve(path, [note({})], { copies: -1 }), /"copies" must be/)
  })

  it('renames what is named, with all that names it; a second start does it no more', async () => {
    const path = fileOf(`${NOTES}
      create index by_title on note (title desc) where title <> '';
      create view titles as select title from note;
      create table log (was text);
      create trigger logs after update of title on note begin insert into log values (old.title); end;`)
    const options = { renamed: { notes: { title: 'headline' } } }
    const Note = note({ headline: p.string(), body: p.text().nullable() })
    await evolve(path, [Note], options)
    assert.deepEqual(rowsOf(path, 'select headline from note'), [{ headline: 'One' }, { headline: 'Two' }])
    assert.deepEqual(rowsOf(path, 'select * from titles'), [{ headline: 'One' }, { headline: 'Two' }])
    const db = new Database(path)
    db.exec("update note set headline = 'New' where id = 1")
    assert.deepEqual(db.prepare('select was from log').pluck().all(), ['One'])
    db.close()
    assert.deepEqual(await evolve(path, [Note], options), [])
  })

  it('takes no rename that nobody named: it says which may be meant', async () => {
    const path = fileOf(NOTES)
    await assertRefused(
      path,
      [note({ headline: p.string(), body: p.text().nullable() })],
      {},
      'note.headline is new and required, and may be "title" by a new name',
      "renamed: { note: { title: 'headline' } }",
      '--rename note.title=headline',
      'fill: { note: { headline: ... } }',
    )
    const notes = await evolve(path, [note({ headline: p.string().nullable(), body: p.text().nullable() })])
    assert.ok(notes.some(text => text.includes('if it is "headline" by a new name')))
    assert.deepEqual(rowsOf(path, 'select title, headline from note where id = 1'), [{ title: 'One', headline: null }])
  })

  it('leaves what the model lacks, lets new rows be without it, and drops it when asked', async () => {
    const path = fileOf(`${NOTES} create index by_title on note (title)`)
    const Note = note({ body: p.text().nullable() })
    {
      await using engine = await RestEngine.create({ entities: [Note], database: path, schema: 'evolve' })
      const { status } = await engine.handle('POST', '/v1/notes', undefined, { body: 'new' })
      assert.equal(status, 200)
      assert.ok(engine.notes.includes('note.title: no property of the model. It stays as it is.'))
    }
    assert.deepEqual(rowsOf(path, 'select title from note order by id'), [{ title: 'One' }, { title: 'Two' }, { title: null }])
    await assertDropRefused(path, [Note], '"note.title" has a value in 2 rows', "drop: ['note.title'] (--drop=note.title)")
    await evolve(path, [Note], { drop: ['note.title'] })
    assert.deepEqual(rowsOf(path, 'select * from note where id < 3'), [
      { id: 1, body: 'a' },
      { id: 2, body: null },
    ])
    assert.deepEqual(rowsOf(path, "select name from sqlite_schema where type = 'index'"), [])
  })

  it('names what stays with its rows, and refuses to drop what the model has or what is spelt otherwise', async () => {
    const path = fileOf(`${NOTES} create table other (x); insert into other values (7)`)
    const entities = [note({ title: p.string(), stars: p.integer().nullable() })]
    const notes = await evolve(path, entities)
    assert.ok(notes.includes('other: no entity of the model, 1 row. The table stays as it is.'), notes.join('\n'))
    const refuse = (drop: string[], said: RegExp): Promise<void> => assert.rejects(evolve(path, entities, { drop }), said)
    await refuse(['note.bodyy'], /there is no "note\.bodyy" to drop, and the nearest is "note\.body"/)
    await refuse(['notes.title'], /"notes\.title" is part of the model, so it cannot be dropped/)
    await refuse(['note'], /"note" is part of the model/)
    assert.deepEqual(await evolve(path, entities, { drop: ['long.gone'] }), [])
    await evolve(path, entities, { drop: ['notes.body', 'others'] })
    assert.deepEqual(rowsOf(path, 'select * from note where id = 1'), [{ id: 1, title: 'One', stars: null }])
    assert.deepEqual(rowsOf(path, "select name from sqlite_schema where name = 'other'"), [])
  })

  it('drops tables that no entity has when asked, and none that another one refers to', async () => {
    const path = fileOf(`${NOTES} create table gone (id); create table parent (id integer primary key);
      create table child (parent integer references parent (id)); create view v as select * from child; create table one (id integer primary key);
      create table two (one integer references one (id)); insert into two values (null), (null);`)
    const entities = [note({ title: p.string(), body: p.text().nullable() })]
    await assertDropRefused(path, entities, '"two" has 2 rows', "drop: ['two'] (--drop=two), or drop: 'all' (--drop=all)")
    await evolve(path, entities, { drop: ['Two'] })
    await evolve(path, entities, { drop: true })
    const left = rowsOf(path, "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name")
    assert.deepEqual(
      left.map(({ name }) => name),
      ['child', 'note', 'parent'],
    )
  })

  it('converts types, and lists each row that cannot be converted before anything is done', async () => {
    const path = fileOf(`create table thing (id integer primary key, a text, b integer, c text, d text, e real);
      insert into thing values (1, '5', 7, '{"x":1}', '2026-01-31T12:00:00.000Z', 2.0), (2, '-3', null, null, null, 4.0);`)
    const Thing = defineEntity({
      name: 'Thing',
      properties: {
        id,
        a: p.integer(),
        b: p.string().nullable(),
        c: p.json().nullable(),
        d: p.datetime().nullable(),
        e: p.integer().nullable(),
      },
    })
    await evolve(path, [Thing])
    assert.deepEqual(rowsOf(path, 'select a, typeof(a) as ta, b, c, d, e, typeof(e) as te from thing'), [
      { a: 5, ta: 'integer', b: '7', c: '{"x":1}', d: Date.UTC(2026, 0, 31, 12), e: 2, te: 'integer' },
      { a: -3, ta: 'integer', b: null, c: null, d: null, e: 4, te: 'integer' },
    ])
    const odd = fileOf(`create table thing (id integer primary key, a text);
      insert into thing values (1, '5'), (2, 'five'), (3, '1.5'), (4, '007'), (5, '9007199254740993');`)
    const Odd = defineEntity({ name: 'Thing', properties: { id, a: p.integer().nullable() } })
    await assertRefused(
      odd,
      [Odd],
      {},
      'thing.a cannot become "integer" in 4 rows: id 2 ("five"), 3 ("1.5"), 4 ("007"), 5 ("9007199254740993")',
    )
  })

  it('adds checks, unique indexes and foreign keys, and names the rows that stand against them', async () => {
    const sql = `create table author (id integer primary key, name text);
      create table note (id integer primary key, title text not null, stars integer not null, author_id integer);
      insert into author values (1, 'Ann');
      insert into note values (1, 'One', 5, 1), (2, 'One', 0, 9), (3, 'Three', 2, null);`
    const Author = defineEntity({ name: 'Author', properties: { id, name: p.string().nullable() } })
    const Note = defineEntity({
      name: 'Note',
      properties: { id, title: p.string().unique(), stars: p.integer(), author: () => p.manyToOne(Author).nullable() },
      checks: [{ name: 'stars_above', expression: 'stars > 0' }],
    })
    const path = fileOf(sql)
    await assertRefused(path, [Author, Note], {}, 'rows of "note" have the same title, which must be unique: "One" in id 1, 2')
    const db = new Database(path)
    db.exec("update note set title = 'Two' where id = 2")
    db.close()
    await assertRefused(
      path,
      [Author, Note],
      {},
      '1 row of "note" (id 2) does not meet the check "stars_above", stars > 0',
      '1 row of "note" (id 2) refers by author_id to no row of "author"',
    )
    const mended = new Database(path)
    mended.exec('update note set stars = 1, author_id = 1 where id = 2')
    mended.close()
    await evolve(path, [Author, Note])
    const evolved = new Database(path)
    assert.throws(() => evolved.exec("insert into note values (4, 'Four', 0, 1)"), /CHECK/)
    assert.throws(() => evolved.exec("insert into note values (4, 'One', 1, 1)"), /UNIQUE/)
    evolved.pragma('foreign_keys = on')
    assert.throws(() => evolved.exec("insert into note values (4, 'Four', 1, 9)"), /FOREIGN KEY/)
    evolved.close()
  })

  it('follows an enum that gets, loses and has no more values', async () => {
    const path = pathOf()
    const of = (kind: unknown) => [note({ kind })]
    await evolve(path, of(p.enum(['a', 'b'])), { seed: { notes: [{ kind: 'a' }, { kind: 'b' }] } })
    {
      await using engine = await RestEngine.create({ entities: of(p.enum(['a', 'b', 'c'])), database: path, schema: 'evolve' })
      assert.equal((await engine.handle('POST', '/v1/notes', undefined, { kind: 'c' })).status, 200)
    }
    const bytes = rowsOf(path, 'select sql from sqlite_schema')
    await assert.rejects(evolve(path, of(p.enum(['a', 'c']))), /1 row of "note" \(id 2\) does not meet the check/)
    assert.deepEqual(rowsOf(path, 'select sql from sqlite_schema'), bytes)
    await using engine = await RestEngine.create({ entities: of(p.string()), database: path, schema: 'evolve' })
    assert.equal((await engine.handle('POST', '/v1/notes', undefined, { kind: 'other' })).status, 200)
  })

  it('fills empty values where a property becomes required, else names their rows', async () => {
    const path = fileOf(NOTES)
    const Note = note({ title: p.string(), body: p.text() })
    await assertRefused(
      path,
      [Note],
      {},
      "note.body may be empty no more, and is in 1 row (id 2): say what they get, fill: { note: { body: '' } }",
    )
    await evolve(path, [Note], { fill: { note: { body: '-' } } })
    assert.deepEqual(rowsOf(path, 'select body from note'), [{ body: 'a' }, { body: '-' }])
  })

  it('leaves a column alone that the entity takes as the file has it, as an ejected model does', async () => {
    const path = fileOf("create table note (id integer primary key, at DATETIME); insert into note values (1, '2026-01-31 12:00:00')")
    const bytes = readFileSync(path)
    const time = { unit: 'text', separator: ' ', clock: 'seconds', digits: 0, zone: '', uniform: true } as const
    await evolve(path, [note({ at: p.type(fileType({ kind: 'datetime', loose: true, time })).nullable() })])
    assert.ok(readFileSync(path).equals(bytes))
  })

  it('evolves the file of a config of MikroORM', async () => {
    const path = fileOf(NOTES)
    const config = defineConfig({ dbName: path, entities: [note({ title: p.string(), body: p.text().nullable(), stars: p.integer() })] })
    await using engine = await RestEngine.create({ config, schema: 'evolve', fill: { notes: { stars: 2 } } })
    assert.deepEqual((await engine.handle('GET', '/v1/notes?attributes=stars')).body.notes, [{ stars: 2 }, { stars: 2 }])
  })

  it('fills no unique column with one value for several rows', async () => {
    const path = fileOf(`${NOTES} insert into note (title) values ('Three'); create unique index by_body on note (body)`)
    await assertRefused(
      path,
      [note({ title: p.string(), body: p.text().unique() })],
      { fill: { note: { body: '-' } } },
      'rows of "note" have the same body, which must be unique: "-" in id 2, 8',
    )
  })

  it('adds a required relation, whose value fill must say and the file must have', async () => {
    const Author = defineEntity({ name: 'Author', properties: { id, name: p.string() } })
    const Note = note({ title: p.string(), body: p.text().nullable(), author: () => p.manyToOne(Author) })
    const path = fileOf(`${NOTES} create table author (id integer primary key, name text not null); insert into author values (4, 'Ann')`)
    await assertRefused(
      path,
      [Author, Note],
      {},
      'note.author_id is required, and rows have no value for it: say what they get, fill: { note: { author: ... } }',
    )
    await assertRefused(
      path,
      [Author, Note],
      { fill: { note: { author: 5 } } },
      '2 rows of "note" (id 1, 2) refer by author_id to no row of "author"',
    )
    await evolve(path, [Author, Note], { fill: { note: { author: 4 } } })
    assert.deepEqual(rowsOf(path, 'select author_id from note'), [{ author_id: 4 }, { author_id: 4 }])
  })

  it('keeps what is by hand: rowids, counters, collations, checks, triggers, views, indexes, options, statistics, versions', async () => {
    const path = fileOf(`
      create table note (id integer primary key autoincrement, title text not null collate nocase check (length(title) > 0), body text, extra blob default x'00ff' unique);
      create table tag (name text primary key, weight integer) without rowid;
      create table plain (a text);
      create table strict_one (id integer primary key, n integer not null) strict;
      create table other (id integer primary key, note integer references note (id) on delete cascade);
      create index by_length on note (length(title));
      create index part on note (body) where body is not null;
      create trigger shout after insert on note begin update note set body = upper(new.body) where id = new.id; end;
      create view bodies as select n.body from note as n;
      insert into note (id, title, body, extra) values (1, 'One', 'a', x'01'), (9, 'Nine', 'b', x'02');
      insert into tag values ('x', 1);
      insert into plain (rowid, a) values (5, 'p'), (70, 'q');
      insert into strict_one values (1, 2);
      insert into other values (1, 9);
      delete from note where id = 9 and 0;
      update sqlite_sequence set seq = 40 where name = 'note';
      analyze; pragma user_version = 12; pragma application_id = 77;`)
    const Note = note({ title: p.string(), body: p.text().nullable(), stars: p.integer() })
    const Tag = defineEntity({ name: 'Tag', properties: { name: p.string().primary(), weight: p.float() } })
    const Strict = defineEntity({ name: 'StrictOne', properties: { id, n: p.string(), at: p.datetime() } })
    const stat = rowsOf(path, "select * from sqlite_stat1 where tbl = 'note' order by idx")
    const objects =
      "select type, name, sql from sqlite_schema where name in ('by_length', 'part', 'shout', 'bodies', 'other', 'plain') order by name"
    const before = rowsOf(path, objects)
    const rows = rowsOf(path, 'select id, title, body, hex(extra) as extra from note')
    await evolve(path, [Note, Tag, Strict], {
      fill: { notes: { stars: 1 }, tag: { weight: 0 }, strict_ones: { at: '2026-01-01T00:00:00Z' } },
    })
    assert.deepEqual(rowsOf(path, objects), before)
    assert.deepEqual(rowsOf(path, 'select id, title, body, hex(extra) as extra from note'), rows)
    assert.deepEqual(rowsOf(path, "select * from sqlite_stat1 where tbl = 'note' order by idx"), stat)
    assert.deepEqual(rowsOf(path, "select seq from sqlite_sequence where name = 'note'"), [{ seq: 40 }])
    assert.deepEqual(rowsOf(path, 'select rowid, a from plain'), [
      { rowid: 5, a: 'p' },
      { rowid: 70, a: 'q' },
    ])
    assert.deepEqual(rowsOf(path, 'select n, at from strict_one'), [{ n: '2', at: Date.UTC(2026, 0, 1) }])
    assert.deepEqual(rowsOf(path, 'select * from other'), [{ id: 1, note: 9 }])
    const db = new Database(path)
    assert.equal(db.pragma('user_version', { simple: true }), 12)
    assert.equal(db.pragma('application_id', { simple: true }), 77)
    const [{ sql: text }] = db.prepare("select sql from sqlite_schema where name = 'note'").all() as [{ sql: string }]
    assert.match(text, /title text not null collate nocase check \(length\(title\) > 0\)/)
    assert.match(text, /extra blob default x'00ff' unique/)
    assert.match((db.prepare("select sql from sqlite_schema where name = 'tag'").get() as { sql: string }).sql, /without rowid$/)
    assert.match((db.prepare("select sql from sqlite_schema where name = 'strict_one'").get() as { sql: string }).sql, /strict$/)
    db.exec("insert into note (title, body, stars) values ('New', 'new', 1)")
    assert.deepEqual(db.prepare('select id, body from note order by id desc limit 1').get(), { id: 41, body: 'NEW' })
    db.close()
  })

  it('keeps the rowids of a table whose key is no rowid, which other tables may go by', async () => {
    const path = fileOf(
      "create table tag (name text primary key, weight integer); insert into tag (rowid, name, weight) values (5, 'x', 1), (2, 'y', 2)",
    )
    const Tag = defineEntity({ name: 'Tag', properties: { name: p.string().primary(), weight: p.string() } })
    await evolve(path, [Tag])
    assert.deepEqual(rowsOf(path, 'select rowid, name, weight from tag order by rowid'), [
      { rowid: 2, name: 'y', weight: '2' },
      { rowid: 5, name: 'x', weight: '1' },
    ])
  })

  it('refuses to drop what a view or trigger names', async () => {
    const path = fileOf(`${NOTES} create view titles as select title from note;`)
    await assertRefused(
      path,
      [note({ body: p.text().nullable() })],
      { drop: 'all' },
      'a view or trigger of the file would not fit any more',
      'titles',
    )
    const other = fileOf(`${NOTES} create trigger t after insert on note begin select new.title; end;`)
    await assertRefused(
      other,
      [note({ body: p.text().nullable() })],
      { drop: ['Note.title'] },
      'note.title cannot be dropped, since the trigger "t" names it',
    )
  })

  it('changes no key, and says so', async () => {
    const path = fileOf(NOTES)
    const Note = defineEntity({ name: 'Note', properties: { id: p.string().primary(), title: p.string(), body: p.text().nullable() } })
    await assertRefused(path, [Note], {}, 'note.id is the key', 'evolving changes no keys')
  })

  it('refuses names and values that the model does not know, with the nearest', async () => {
    const path = fileOf(NOTES)
    const Note = note({ title: p.string(), body: p.text().nullable(), stars: p.integer() })
    await assertRefused(
      path,
      [Note],
      { fill: { nots: { stars: 1 } } },
      '"fill" names the resource "nots", which no entity is called. Did you mean "notes"?',
    )
    await assertRefused(
      path,
      [Note],
      { fill: { notes: { star: 1 } } },
      '"fill.notes" names "star", which is no property of Note. Did you mean "stars"?',
    )
    await assertRefused(path, [Note], { fill: { notes: { stars: 'many' } } }, '"fill.notes.stars" must be an integer, got "many".')
    await assertRefused(path, [Note], { renamed: { notes: { title: 'boddy' } } }, 'names "boddy"', 'Did you mean "body"?')
    await assertRefused(
      path,
      [Note],
      { fill: { notes: { stars: 1 } }, renamed: { notes: { rating: 'stars' } } },
      '"notes.rating" cannot be renamed',
    )
    const other = { database: path, entities: [Note] }
    await assert.rejects(RestEngine.create({ ...other, fill: { notes: { stars: 1 } } }), /"fill" goes with schema: 'evolve'/)
    await assert.rejects(
      RestEngine.create({ ...other, schema: 'evolve', drop: 1 as never }),
      /"drop" must be true, false, 'all' or an array of names/,
    )
    await assert.rejects(
      RestEngine.create({ ...other, schema: 'evolve', renamed: { notes: { title: 1 } } as never }),
      /"renamed.notes.title" must be the new name/,
    )
  })

  it('leaves the file alone when the model cannot be served', async () => {
    const path = fileOf(NOTES)
    const Note = note({ title: p.string(), body: p.text().nullable(), stars: p.integer() })
    const before = rowsOf(path, 'select sql from sqlite_schema')
    const resources = [resource(Note, { name: 'success' })]
    await assert.rejects(evolve(path, [Note], { fill: { notes: { stars: 1 } }, resources }), /success/)
    assert.deepEqual(rowsOf(path, 'select sql from sqlite_schema'), before)
  })

  it('creates a new file, and serves one in memory, as update does', async () => {
    const Note = note({ title: p.string() })
    const path = pathOf()
    await evolve(path, [Note], { seed: { notes: [{ title: 'One' }] } })
    assert.deepEqual(rowsOf(path, 'select title from note'), [{ title: 'One' }])
    assert.deepEqual(copiesOf(path), [])
    await using engine = await RestEngine.create({ entities: [Note], schema: 'evolve' })
    assert.equal((await engine.handle('GET', '/v1/notes')).status, 200)
  })
})
