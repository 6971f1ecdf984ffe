/**
 * Plain links: whether statements may set and compare links of rows in a file that another program has made. They may where the declared
 * types of the columns let a key be stored in one form alone, so that a link is found wherever it is shown, and where no trigger of the
 * table takes part. In a database that the engine has made it is asked which links SQLite itself checks.
 */
import type Database from 'better-sqlite3'
import type { LinkColumn } from '../../../model/stored-table.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { findAffinity, type Affinity } from './affinity.ts'
import { findBrokenKey } from './broken-keys.ts'

/** What is known of a table. */
interface LinkTable {
  /** By the names of its columns, in lower case. */
  readonly affinities: ReadonlyMap<string, Affinity>
  /** Whether it compares texts as they are. */
  readonly isExact: boolean
  readonly hasTriggers: boolean
  /** The columns that are a foreign key by themselves which is looked at with each statement, in lower case. */
  readonly checked: ReadonlySet<string>
}

const tables = new WeakMap<Database.Database, Map<string, LinkTable>>()

/** Whether all of these columns hold plain links. A table is looked at once for each open file. */
export function havePlainLinks(db: Database.Database, columns: readonly LinkColumn[]): boolean {
  return columns.every(({ table, column, type }) => {
    const { affinities, isExact, hasTriggers } = find(db, table)
    return !hasTriggers && isPlain(affinities.get(column.toLowerCase()), type, isExact)
  })
}

/** Whether a statement is refused at once that sets the column to the key of a row which is not there. */
export function isChecked(db: Database.Database, table: string, column: string): boolean {
  return find(db, table).checked.has(column.toLowerCase())
}

function isPlain(affinity: Affinity | undefined, type: ScalarType | undefined, isExact: boolean): boolean {
  // Whatever equals an integer is converted to it when it is stored.
  if (type?.kind === 'integer' || type?.kind === 'bigint') return affinity === 'number'
  return type?.kind === 'text' && affinity === 'text' && isExact
}

function find(db: Database.Database, table: string): LinkTable {
  let known = tables.get(db)
  if (known === undefined) tables.set(db, (known = new Map()))
  let found = known.get(table)
  if (found === undefined) known.set(table, (found = look(db, table)))
  return found
}

function look(db: Database.Database, table: string): LinkTable {
  const columns = db.prepare('select name, type from pragma_table_xinfo(?)').raw().all(table) as [string, string][]
  const made = db.prepare(`select sql from sqlite_schema where type = 'table' and name = ? collate nocase`).pluck().get(table)
  const trigger = db.prepare(`select 1 from sqlite_schema where type = 'trigger' and tbl_name = ? collate nocase`).get(table)
  const keys = db.prepare('select "from" from pragma_foreign_key_list(?) group by id having count(*) = 1').pluck().all(table) as string[]
  const isDeferred = typeof made !== 'string' || /\bdeferr/i.test(made)
  return {
    checked: new Set(isDeferred || findBrokenKey(db, table) !== undefined ? [] : keys.map(column => column.toLowerCase())),
    affinities: new Map(columns.map(([column, type]) => [column.toLowerCase(), findAffinity(type)])),
    isExact: typeof made === 'string' && !/\bcollate\b/i.test(made),
    hasTriggers: trigger !== undefined,
  }
}
