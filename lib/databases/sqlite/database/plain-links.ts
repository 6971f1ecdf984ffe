/**
 * Plain links: whether statements may set and compare links of rows in a file that another program has made. They may where the declared
 * types of the columns let a key be stored in one form alone, so that a link is found wherever it is shown, and where no trigger of the
 * table takes part.
 */
import type Database from 'better-sqlite3'
import type { LinkColumn } from '../../../model/stored-table.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { findAffinity } from './affinity.ts'
import type { Affinity } from './affinity.ts'

/** What is known of a table. */
interface LinkTable {
  /** By the names of its columns, in lower case. */
  readonly affinities: ReadonlyMap<string, Affinity>
  /** Whether it compares texts as they are. */
  readonly isExact: boolean
  readonly hasTriggers: boolean
}

const tables = new WeakMap<Database.Database, Map<string, LinkTable>>()

/** Whether all of these columns hold plain links. A table is looked at once for each open file. */
export function havePlainLinks(db: Database.Database, columns: readonly LinkColumn[]): boolean {
  return columns.every(({ table, column, type }) => {
    const { affinities, isExact, hasTriggers } = find(db, table)
    return !hasTriggers && isPlain(affinities.get(column.toLowerCase()), type, isExact)
  })
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
  return {
    affinities: new Map(columns.map(([column, type]) => [column.toLowerCase(), findAffinity(type)])),
    isExact: typeof made === 'string' && !/\bcollate\b/i.test(made),
    hasTriggers: trigger !== undefined,
  }
}
