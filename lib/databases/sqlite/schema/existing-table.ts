/** Existing table: reads what a database has: its catalog in one statement, and a table or view by its name. Names compare as in SQLite. */
import type Database from 'better-sqlite3'
import { readTable, type FileTable, type TableRow } from '../introspect/introspect.ts'
import { name as quoted } from '../../sql/sql.ts'

/** An index with its columns. The index of a constraint has no statement of its own. */
interface ExistingIndex {
  readonly name: string
  readonly unique: boolean
  /** Whether it contains only some rows. */
  readonly partial: boolean
  /** The columns in order; undefined for an expression. */
  readonly columns: readonly (string | undefined)[]
}

export interface ExistingTable extends FileTable {
  /** The CREATE statement, and what was added since. */
  readonly sql: string
  readonly indexes: readonly ExistingIndex[]
}

/** Folds a name as SQLite compares it: only ASCII letters ignore case. */
export function foldCase(name: string): string {
  return name.replaceAll(/[A-Z]+/g, letters => letters.toLowerCase())
}

/** A table, view, index or trigger. */
interface NamedObject {
  readonly type: string
  readonly name: string
  readonly table: string
  /** Empty for the index of a constraint. */
  readonly sql: string
}

/** The names of a database at one moment, by their folded form. */
export interface Catalog {
  /** Tables, views and indexes, which share their names. */
  readonly objects: ReadonlyMap<string, NamedObject>
  readonly triggers: ReadonlyMap<string, NamedObject>
}

/** Reads all names in one statement: one for each name would read the whole catalog each time. */
export function readCatalog(db: Database.Database): Catalog {
  const rows = db.prepare('select type, name, tbl_name as "table", coalesce(sql, \'\') as sql from main.sqlite_schema').all()
  const objects = new Map<string, NamedObject>()
  const triggers = new Map<string, NamedObject>()
  for (const row of rows as NamedObject[]) (row.type === 'trigger' ? triggers : objects).set(foldCase(row.name), row)
  return { objects, triggers }
}

/** @throws Error of SQLite for a view or virtual table that it cannot read. */
export function readExistingTable(db: Database.Database, { objects }: Catalog, name: string): ExistingTable | undefined {
  const found = objects.get(foldCase(name))
  if (found === undefined || found.type === 'index') return undefined
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
