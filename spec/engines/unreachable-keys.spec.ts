/** Keys that no path leads to, which other programs have written: the notes of the engine name them when it starts. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, fromJson, resource } from '../../lib/index.ts'
import { runAll } from '../helpers/command.ts'
import { findNoServer, ownSchema } from '../postgres/server-database.ts'
import { fileOf } from '../sqlite/introspect/world.ts'

const WHY = 'an ID in a path is not empty, "." or "..", and has no NUL. Give the record another key in the database.'
const noted = (plural: string, name: string, key: string): string =>
  `${plural}: no path leads to the record whose ${name} is ${JSON.stringify(key)}: ${WHY}`

/** The notes that are about keys. */
const about = ({ notes }: { readonly notes: readonly string[] }): readonly string[] => notes.filter(note => note.includes('no path leads'))

const TABLES = `
  create table doc (id text primary key, title text, slug text not null unique);
  create table pair (a text, b text, primary key (a, b));
  create table plain (id integer primary key, name text);
  insert into doc values ('', 'x', 'one'), ('..', 'y', '.'), ('ok', 'z', 'two'), ('...', 'w', 'three');
  insert into pair values ('', '.');
  insert into plain values (1, '');
`
const Doc = defineEntity({ name: 'Doc', properties: { id: p.string().primary(), title: p.string().nullable(), slug: p.string().unique() } })

describe('keys of a SQLite file that no path leads to', () => {
  it('are noted, with NUL in parts of a key, too', async () => {
    const path = fileOf(`
      ${TABLES}
      insert into doc values (cast(x'610062' as text), 'n', 'four');
      insert into pair values ('a', cast(x'0062' as text));
      create table bare (id primary key, v int); insert into bare values ('.', 1), (7, 2);
      create table ints (id int primary key, v int); insert into ints values ('', 1), (7, 2);
      create table empty (id text primary key, v int);
      create view seen as select id, title from doc;
    `)
    await using engine = await RestEngine.create({ database: path })
    assert.deepEqual(about(engine).toSorted(), [
      noted('bares', '"id"', '.'),
      noted('docs', '"id"', ''),
      noted('docs', '"id"', '..'),
      noted('docs', '"id"', 'a\0b'),
      noted('ints', '"id"', ''),
      noted('pairs', '"a", "b"', '\0b'),
    ])
  })

  it('are noted of entities, by the key that clients know', async () => {
    const path = fileOf(TABLES)
    await using engine = await RestEngine.create({ database: path, entities: [Doc] })
    assert.deepEqual(about(engine), [noted('docs', '"id"', ''), noted('docs', '"id"', '..')])
    await using keyed = await RestEngine.create({ database: path, entities: [Doc], resources: [resource(Doc, { key: 'slug' })] })
    assert.deepEqual(about(keyed), [noted('docs', '"slug"', '.')])
    await using closed = await RestEngine.create({ database: path, entities: [Doc], resources: [resource(Doc, { access: false })] })
    assert.deepEqual(about(closed), [])
  })

  it('are noted beside a table that is missing', async () => {
    const Gone = defineEntity({ name: 'Gone', properties: { id: p.string().primary() } })
    await using engine = await RestEngine.create({ database: fileOf(TABLES), entities: [Gone, Doc], schema: 'keep' })
    assert.deepEqual(about(engine), [noted('docs', '"id"', ''), noted('docs', '"id"', '..')])
  })

  it('are looked for in all rows by the index of the key, those with NUL in the first rows', async () => {
    const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)'
    const path = fileOf(`
      ${TABLES}
      insert into doc ${numbers} select 'k' || i, 'x', 's' || i from n;
      insert into doc values ('.', 'last', 'z1'), (cast(x'7a0062' as text), 'last', 'z2');
    `)
    await using engine = await RestEngine.create({ database: path, entities: [Doc] })
    assert.deepEqual(
      about(engine),
      ['', '.', '..'].map(key => noted('docs', '"id"', key)),
    )
  })
})

describe('keys of a JSON file that no path leads to', () => {
  const data = {
    docs: [
      { id: '.', n: 1 },
      { id: 'b', n: 2 },
      { id: 'c\0', n: 3 },
    ],
  }

  it('are noted', async () => {
    await using engine = await RestEngine.create(fromJson(data))
    assert.deepEqual(about(engine), [noted('docs', '"id"', '.'), noted('docs', '"id"', 'c\0')])
  })

  it('are printed by the command', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-keys-'))
    try {
      await writeFile(join(folder, 'db.json'), JSON.stringify(data))
      const [ended] = runAll(folder, [['db.json', '--get', '/v1/docs']])
      assert.match(ended!.stderr, /docs: no path leads to the record whose "id" is "\."/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('keys of a PostgreSQL database that no path leads to', { skip: await findNoServer() }, () => {
  it('are noted', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run(`
      ${TABLES}
      create table wide (id char(4) primary key); insert into wide values ('.');
      create type mood as enum ('a', '.'); create table moods (id mood primary key); insert into moods values ('.');
    `)
    await using engine = await RestEngine.create({ database: schema.database })
    assert.deepEqual(about(engine), [noted('docs', '"id"', ''), noted('docs', '"id"', '..')])
    const Gone = defineEntity({ name: 'Gone', properties: { id: p.string().primary() } })
    await using kept = await RestEngine.create({ database: schema.database, entities: [Gone, Doc], schema: 'keep' })
    assert.deepEqual(about(kept), [noted('docs', '"id"', ''), noted('docs', '"id"', '..')])
    await using typed = await RestEngine.create({ database: schema.database, entities: [Doc] })
    assert.deepEqual(about(typed), [noted('docs', '"id"', ''), noted('docs', '"id"', '..')])
  })
})
