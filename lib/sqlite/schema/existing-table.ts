/** Reads a table or view of a database by its name. Names compare as in SQLite. */
import type Database from 'better-sqlite3'
import { readTable } from '../introspect/introspect.ts'
import type { Table, TableRow } from '../introspect/introspect.ts'
import { name as quoted } from '../../sql/sql.ts'

/** An index with its columns. The index of a constraint has no statement of its own. */
export interface ExistingIndex {
  readonly name: string
  readonly unique: boolean
  /** Whether it contains only some rows. */
  readonly partial: boolean
  /** The columns in order; undefined for an expression. */
  readonly columns: readonly (string | undefined)[]
}

export interface ExistingTable extends Table {
  /** The CREATE statement, and what was added since. */
  readonly sql: string
  readonly indexes: readonly ExistingIndex[]
}

/** Folds a name as SQLite compares it: only ASCII letters ignore case. */
export function foldCase(name: string): string {
  return name.replaceAll(/[A-Z]+/g, letters => letters.toLowerCase())
}

/** Finds the object with a name. Tables, views and indexes share their names. */
export function findObject(db: Database.Database, name: string): { type: string; name: string; table: string } | undefined {
  const statement = db.prepare(
    'select type, name, tbl_name as "table" from main.sqlite_schema where name = ? collate nocase and type <> \'trigger\'',
  )
  return statement.get(name) as { type: string; name: string; table: string } | undefined
}

export function hasTrigger(db: Database.Database, name: string): boolean {
  return db.prepare("select 1 from main.sqlite_schema where type = 'trigger' and name = ? collate nocase").get(name) !== undefined
}

/** @throws Error of SQLite for a view or virtual table that it cannot read. */
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
