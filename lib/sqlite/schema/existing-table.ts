/** Existing table: one table or view of a database, as it is, by its name. Names compare as SQLite compares them. */
import type Database from 'better-sqlite3'
import { readTable } from '../introspect/introspect.ts'
import type { Table, TableRow } from '../introspect/introspect.ts'
import { name as quoted } from '../sql/sql.ts'

/** An index, with its columns; one that is made with the table has no statement of its own. */
export interface ExistingIndex {
  readonly name: string
  readonly unique: boolean
  /** Only some rows are in it. */
  readonly partial: boolean
  /** An expression is undefined. */
  readonly columns: readonly (string | undefined)[]
}

export interface ExistingTable extends Table {
  /** The statement that it was made with, and what has been added since. */
  readonly sql: string
  readonly indexes: readonly ExistingIndex[]
}

/** A name as SQLite compares it: it takes only the letters of ASCII for the same in both cases. */
export function foldCase(name: string): string {
  return name.replaceAll(/[A-Z]+/g, letters => letters.toLowerCase())
}

/** What the schema has under a name: a table and an index may not have the same one. */
export function findObject(db: Database.Database, name: string): { type: string; name: string; table: string } | undefined {
  const statement = db.prepare(
    'select type, name, tbl_name as "table" from main.sqlite_schema where name = ? collate nocase and type <> \'trigger\'',
  )
  return statement.get(name) as { type: string; name: string; table: string } | undefined
}

export function hasTrigger(db: Database.Database, name: string): boolean {
  return db.prepare("select 1 from main.sqlite_schema where type = 'trigger' and name = ? collate nocase").get(name) !== undefined
}

/** @throws Error of SQLite where it cannot read a view or a virtual table itself. */
export function readExistingTable(db: Database.Database, name: string): ExistingTable | undefined {
  const statement = db.prepare(
    "select name, coalesce(sql, '') as sql from main.sqlite_schema where name = ? collate nocase and type in ('table', 'view')",
  )
  const found = statement.get(name) as { name: string; sql: string } | undefined
  if (found === undefined) return undefined
  const [row] = db.pragma(`main.table_list(${quoted(found.name)})`) as TableRow[]
  return { ...readTable(db, row!, found.sql), sql: found.sql, indexes: readIndexes(db, found.name) }
}

function readIndexes(db: Database.Database, table: string): ExistingIndex[] {
  const rows = db.pragma(`main.index_list(${quoted(table)})`) as { name: string; unique: 0 | 1; partial: 0 | 1 }[]
  return rows.map(({ name, unique, partial }) => ({
    name,
    unique: unique === 1,
    partial: partial === 1,
    columns: (db.pragma(`main.index_info(${quoted(name)})`) as { name: string | null }[]).map(column => column.name ?? undefined),
  }))
}
