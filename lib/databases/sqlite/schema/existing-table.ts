/** Reads the catalog of a file, and a table or view with indexes. */
import type { RawDatabase } from '../driver/raw-database.ts'
import { readTable, type FileTable, type TableRow } from '../introspect/introspect.ts'
import { name as quoted } from '../../sql/sql.ts'

interface ExistingIndex {
  readonly name: string
  readonly unique: boolean
  readonly partial: boolean
  /** Undefined: an expression. */
  readonly columns: readonly (string | undefined)[]
}

export interface ExistingTable extends FileTable {
  readonly sql: string
  readonly indexes: readonly ExistingIndex[]
}

/** As in SQLite: only ASCII letters ignore case. */
export function foldCase(name: string): string {
  return name.replaceAll(/[A-Z]+/g, letters => letters.toLowerCase())
}

interface NamedObject {
  readonly type: string
  readonly name: string
  readonly table: string
  /** Empty for constraints. */
  readonly sql: string
}

/** By folded name. */
export interface Catalog {
  readonly objects: ReadonlyMap<string, NamedObject>
  readonly triggers: ReadonlyMap<string, NamedObject>
}

/** By one statement: each reads the whole catalog. */
export function readCatalog(db: RawDatabase): Catalog {
  const rows = db.prepare('select type, name, tbl_name as "table", coalesce(sql, \'\') as sql from main.sqlite_schema').all()
  const objects = new Map<string, NamedObject>()
  const triggers = new Map<string, NamedObject>()
  for (const row of rows as NamedObject[]) (row.type === 'trigger' ? triggers : objects).set(foldCase(row.name), row)
  return { objects, triggers }
}

/** @throws Error of SQLite for a view or virtual table that SQLite cannot read. */
export function readExistingTable(db: RawDatabase, { objects }: Catalog, name: string): ExistingTable | undefined {
  const found = objects.get(foldCase(name))
  if (found === undefined || found.type === 'index') return undefined
  const [row] = db.pragma(`main.table_list(${quoted(found.name)})`) as TableRow[]
  return { ...readTable(db, row!, found.sql), sql: found.sql, indexes: readIndexes(db, found.name) }
}

/** @returns undefined for views and virtual tables, too */
export function readPlainTable(db: RawDatabase, name: string): ExistingTable | undefined {
  const found = readExistingTable(db, readCatalog(db), name)
  return found?.kind === 'table' ? found : undefined
}

function readIndexes(db: RawDatabase, table: string): ExistingIndex[] {
  const rows = db.pragma(`main.index_list(${quoted(table)})`) as { name: string; unique: 0 | 1; partial: 0 | 1 }[]
  return rows.map(({ name, unique, partial }) => ({
    name,
    unique: unique === 1,
    partial: partial === 1,
    columns: (db.pragma(`main.index_info(${quoted(name)})`) as { name: string | null }[]).map(column => column.name ?? undefined),
  }))
}
