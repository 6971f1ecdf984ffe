/** Keeps the highest key of tables without AUTOINCREMENT, where SQLite would give the ID of a deleted last row again. */
import type { MikroORM } from '@mikro-orm/core'
import type { RawDatabase, RawStatement } from '../driver/raw-database.ts'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { hasAutoincrement } from '../database/ddl.ts'
import { name } from '../../sql/sql.ts'

export const LARGEST_KEY = 2n ** 63n - 1n

/** The highest key of each table. */
export type KeyState = ReadonlyMap<string, bigint>

/** Finds tables without AUTOINCREMENT where SQLite assigns keys, with the key's column. */
export function findCounters(orm: MikroORM, db: RawDatabase): ReadonlyMap<string, string> {
  const rows = db.prepare("select lower(name), sql from main.sqlite_schema where type = 'table'").raw().all() as [string, string][]
  const tables = new Map(rows)
  const counters = new Map<string, string>()
  for (const { props, tableName } of orm.getMetadata()) {
    const column = props.find(({ autoincrement }) => autoincrement === true)?.fieldNames?.[0]
    const sql = tables.get(tableName?.toLowerCase())
    if (column === undefined || sql === undefined || hasAutoincrement(sql)) continue
    if (findRowidColumn(db, tableName)?.toLowerCase() === column.toLowerCase()) counters.set(tableName, column)
  }
  return counters
}

/** Makes keys required where MikroORM expects keys from SQLite, but the file's table assigns none. */
export function requireKeys(orm: MikroORM, db: RawDatabase, notes: Notes): void {
  // SQLite itself keeps the keys of tables with AUTOINCREMENT.
  const find = db
    .prepare("select name from main.sqlite_schema where type = 'table' and name = ? collate nocase and sql not like '%autoincrement%'")
    .pluck()
  for (const { props, tableName, view } of orm.getMetadata()) {
    const prop = props.find(({ autoincrement }) => autoincrement === true)
    const column = prop?.fieldNames?.[0]
    if (prop === undefined || column === undefined || view === true) continue
    const table = find.get(tableName) as string | undefined
    if (table === undefined || findRowidColumn(db, table)?.toLowerCase() === column.toLowerCase()) continue
    prop.autoincrement = false
    notes.add(`${table}.${column}: SQLite does not number new rows of this table, so a new record must bring its own value.`)
  }
}

/** The only key column, without an index of its own. */
function findRowidColumn(db: RawDatabase, table: string): string | undefined {
  const [row] = db.pragma(`main.table_list(${name(table)})`) as { wr: number }[]
  const key = (db.pragma(`main.table_info(${name(table)})`) as { name: string; pk: number }[]).filter(({ pk }) => pk > 0)
  const indexes = db.pragma(`main.index_list(${name(table)})`) as { origin: string }[]
  return row?.wr === 0 && key.length === 1 && !indexes.some(({ origin }) => origin === 'pk') ? key[0]!.name : undefined
}

export class Autoincrement {
  readonly counters: ReadonlyMap<string, string>
  #highest: Map<string, bigint> | undefined
  /** Prepared for `#preparedFor`. */
  readonly #statements = new Map<string, RawStatement>()
  #preparedFor: RawDatabase | undefined

  constructor(counters: ReadonlyMap<string, string>) {
    this.counters = counters
  }

  prepare(db: RawDatabase): void {
    this.#highest ??= new Map([...this.counters.keys()].map(table => [table, this.#read(db, table)]))
  }

  counts(table: string): boolean {
    return this.counters.has(table)
  }

  /** Undefined until a write. */
  get state(): KeyState | undefined {
    return this.#highest === undefined ? undefined : new Map(this.#highest)
  }

  restore(state: KeyState | undefined): void {
    this.#highest = state === undefined ? undefined : new Map(state)
  }

  /** @returns undefined where SQLite assigns the key */
  next(db: RawDatabase, table: string): bigint | undefined {
    const known = this.#highest?.get(table)
    if (known === undefined) return undefined
    const stored = this.#read(db, table)
    const highest = stored > known ? stored : known
    // Above the largest integer SQLite searches for a free key.
    if (highest >= LARGEST_KEY) return undefined
    this.#highest!.set(table, highest + 1n)
    return highest + 1n
  }

  give(table: string, key: bigint): void {
    const known = this.#highest?.get(table)
    if (known !== undefined && key > known) this.#highest!.set(table, key)
  }

  #read(db: RawDatabase, table: string): bigint {
    if (this.#preparedFor !== db) this.#statements.clear()
    this.#preparedFor = db
    let statement = this.#statements.get(table)
    if (statement === undefined) {
      statement = db
        .prepare(`select max(${name(this.counters.get(table)!)}) from main.${name(table)}`)
        .safeIntegers(true)
        .pluck()
      this.#statements.set(table, statement)
    }
    const highest = statement.get() as bigint | null
    return highest === null || highest < 0n ? 0n : highest
  }
}
