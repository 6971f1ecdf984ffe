/**
 * Tells whether statements may set and compare links in another program's file: keys have a single stored form, and the table has no
 * triggers. Tells which links SQLite checks, and finds broken foreign keys: to a missing table, a view, or columns that are missing or not
 * unique. By default SQLite checks none (https://sqlite.org/foreignkeys.html).
 */
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import type { LinkColumn } from '../../../model/stored-table.ts'
import { name } from '../../sql/sql.ts'
import type { RawDatabase } from '../driver/raw-database.ts'
import { findAffinity, type Affinity } from './affinity.ts'

const BROKEN = /^(?:no such table: main\.|foreign key mismatch - )/

export function isBrokenKey(error: unknown): boolean {
  return BROKEN.test((error as Error).message)
}

/** @returns SQLite's message about the first broken key */
export function findBrokenKey(db: RawDatabase, table: string): string | undefined {
  if (db.pragma('foreign_keys', { simple: true }) !== 1) return undefined
  try {
    db.prepare(`delete from main.${name(table)}`)
    return undefined
  } catch (error) {
    return isBrokenKey(error) ? (error as Error).message : undefined
  }
}

interface LinkTable {
  /** By name in lower case. */
  readonly affinities: ReadonlyMap<string, Affinity>
  /** Texts without collation. */
  readonly isExact: boolean
  readonly hasTriggers: boolean
  /** In lower case: SQLite checks these foreign keys in each statement. */
  readonly checked: ReadonlySet<string>
}

const tables = new WeakMap<RawDatabase, Map<string, LinkTable>>()

export function havePlainLinks(db: RawDatabase, columns: readonly LinkColumn[]): boolean {
  return columns.every(({ table, column, type }) => {
    const { affinities, isExact, hasTriggers } = findTable(db, table)
    return !hasTriggers && isPlain(affinities.get(column.toLowerCase()), type, isExact)
  })
}

export function isChecked(db: RawDatabase, table: string, column: string): boolean {
  return findTable(db, table).checked.has(column.toLowerCase())
}

function isPlain(affinity: Affinity | undefined, type: ScalarType | undefined, isExact: boolean): boolean {
  // A value that equals an integer becomes the integer.
  if (type?.kind === 'integer' || type?.kind === 'bigint') return affinity === 'number'
  return type?.kind === 'text' && affinity === 'text' && isExact
}

function findTable(db: RawDatabase, table: string): LinkTable {
  let known = tables.get(db)
  if (known === undefined) tables.set(db, (known = new Map()))
  let found = known.get(table)
  if (found === undefined) known.set(table, (found = readTable(db, table)))
  return found
}

function readTable(db: RawDatabase, table: string): LinkTable {
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
