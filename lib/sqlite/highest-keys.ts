/**
 * Highest keys: SQLite gives the ID of the last row out again once that row is deleted, unless the table was made with AUTOINCREMENT. The schema of a file
 * is not ours to change, so the highest ID of each such table is kept here, for as long as the engine runs.
 */
import type Database from 'better-sqlite3'
import { name } from './sql.ts'

/** The largest integer that SQLite stores. */
const LARGEST = 2n ** 63n - 1n

export class HighestKeys {
  /** The column of the key, by table. */
  readonly counters: ReadonlyMap<string, string>
  /** By table; undefined until something is written. */
  #highest: Map<string, bigint> | undefined

  constructor(counters: ReadonlyMap<string, string>) {
    this.counters = counters
  }

  /** Before anything is written. */
  prepare(db: Database.Database): void {
    this.#highest ??= new Map([...this.counters.keys()].map(table => [table, this.#read(db, table)]))
  }

  /** The content is another one. */
  forget(): void {
    this.#highest = undefined
  }

  /** The key of a new row, or undefined where SQLite counts by itself. */
  next(db: Database.Database, table: string): bigint | undefined {
    const known = this.#highest?.get(table)
    if (known === undefined) return undefined
    const stored = this.#read(db, table)
    const highest = stored > known ? stored : known
    // Behind the last one SQLite looks for a free one.
    if (highest >= LARGEST) return undefined
    this.#highest!.set(table, highest + 1n)
    return highest + 1n
  }

  /** A row has been given its key by whoever makes it. */
  give(table: string, key: bigint): void {
    const known = this.#highest?.get(table)
    if (known !== undefined && key > known) this.#highest!.set(table, key)
  }

  #read(db: Database.Database, table: string): bigint {
    const sql = `select max(${name(this.counters.get(table)!)}) from main.${name(table)}`
    const highest = db.prepare(sql).safeIntegers(true).pluck().get() as bigint | null
    return highest === null || highest < 0n ? 0n : highest
  }
}
