/** What the schema of a large model costs: the catalog of the database is read once, however many tables and indexes there are. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MikroORM, defineEntity, p } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { Notes } from '../../../lib/foundation/errors/notes.ts'
import { hasAutoincrement } from '../../../lib/databases/sqlite/database/ddl.ts'
import { addSchema } from '../../../lib/databases/sqlite/schema/add-schema.ts'

/** Prepared statements while the tables of some entities are added, each with an index. */
async function countStatements(entities: number): Promise<{ readonly added: number; readonly again: number; readonly tables: number }> {
  const properties = { id: p.integer().primary(), name: p.string().index() }
  const all = Array.from({ length: entities }, (_each, index) => defineEntity({ name: `Thing${index}`, properties }))
  const orm = new MikroORM({ entities: all, dbName: ':memory:' })
  const db = new Database(':memory:')
  let prepared = 0
  const prepare = db.prepare.bind(db)
  db.prepare = (sql: string) => {
    prepared++
    return prepare(sql)
  }
  const target = { orm, db, path: ':memory:', notes: new Notes() }
  addSchema(target, () => undefined)
  const added = prepared
  addSchema(target, () => undefined)
  const tables = prepare("select count(*) from sqlite_schema where type = 'table' and name like 'thing%'").pluck().get() as number
  db.close()
  await orm.close(true)
  return { added, again: prepared - added, tables }
}

describe('the schema of a model', () => {
  it('is added with as many questions for a large model as for a small one', async () => {
    const [few, many] = [await countStatements(2), await countStatements(40)]
    assert.equal(many.tables, 40)
    assert.equal(many.added, few.added)
    // Of tables that are there, the columns and indexes of each are read.
    assert.ok(many.again > many.added)
  })
})

describe('AUTOINCREMENT', () => {
  const MADE: readonly string[] = [
    'create table t (id integer primary key autoincrement, a text)',
    'create table t (id integer PRIMARY KEY ASC AutoIncrement not null)',
    'create table t ("id" integer primary key/* the key */autoincrement)',
    'create table t (id integer primary key -- it\'s "counted\n autoincrement)',
    'create table t (id integer primary key, "autoincrement" text)',
    "create table t (id integer primary key, a text default 'autoincrement')",
    "create table t (id integer primary key, a text default 'it''s autoincrement')",
    'create table t (id integer primary key, [autoincrement] text, `autoincrement too` text)',
    'create table t (id integer primary key /* autoincrement */)',
    'create table t (id integer primary key -- autoincrement\n)',
    'create table t (id integer primary key, my_autoincrement text, autoincrement2 text, éautoincrement text, a$autoincrement text)',
  ]
  for (const sql of MADE) {
    it(`is found as SQLite means it: ${JSON.stringify(sql)}`, () => {
      const db = new Database(':memory:')
      db.exec(sql)
      db.exec('insert into t (id) values (null)')
      const [{ text }] = db.prepare("select sql as text from sqlite_schema where name = 't'").all() as [{ text: string }]
      const counted = db.prepare("select 1 from sqlite_schema where name = 'sqlite_sequence'").get() !== undefined
      db.close()
      assert.equal(hasAutoincrement(text), counted)
    })
  }
})
