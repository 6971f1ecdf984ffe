/** Tells how many rows a statement goes through at most, by row numbers and indexes. Asks the database once a second. */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { Costs, Statement, Visit } from '../../../records/database/dialect.ts'
import { name } from '../../sql/sql.ts'

/** In milliseconds. */
const FRESH = 1000

/** At least. */
const ROW_BYTES = 5

interface IndexStatistics {
  readonly columns: readonly (string | null)[]
  readonly isUnique: boolean
}

/** Of the first table: by an index; all rows, then sorted; or all in the order of an index. */
type Access = 'look-up' | 'sort' | 'walk'

interface TableStatistics {
  readonly rows: number
  readonly at: number
}

export class Estimate {
  readonly #db: RawDatabase
  readonly #tables = new Map<string, TableStatistics>()
  /** By table, with keys, as of `#schema`. */
  readonly #indexes = new Map<string, readonly IndexStatistics[]>()
  /** As of `#schema`. */
  #served = new WeakMap<Visit, boolean>()
  #accesses = new WeakMap<Statement, Access>()
  #schema = -1

  constructor(db: RawDatabase) {
    this.#db = db
  }

  workOf({ visits, weight }: Costs, now: number): number {
    let rows = 1
    for (const visit of visits) rows += this.#visited(visit, now)
    return rows * weight
  }

  #visited(visit: Visit, now: number): number {
    const { table, from } = visit
    const rows = table === undefined ? Number.POSITIVE_INFINITY : this.rowsOf(table, now)
    // Each row is found at most once.
    if (from === undefined || (from.isOnce && this.#isServed(visit))) return rows
    return this.#visited(from.visit, now) * rows
  }

  #isServed(visit: Visit): boolean {
    let served = this.#served.get(visit)
    if (served === undefined) this.#served.set(visit, (served = this.#findsByIndex(visit)))
    return served
  }

  /** An index begins with the link, and no condition might lead SQLite to another index, with many rows. */
  #findsByIndex({ table, columns, tag, filtered }: Visit): boolean {
    if (table === undefined || columns === undefined) return false
    const serves = ({ columns: indexColumns }: IndexStatistics): boolean => {
      const end = indexColumns.findIndex(column => column === null || !(columns.includes(column) || column === tag))
      const leading = end < 0 ? indexColumns : indexColumns.slice(0, end)
      return columns.every(column => leading.includes(column))
    }
    if (!this.#indexesOf(table).some(serves)) return false
    return filtered === undefined || this.#indexesOf(filtered).every(index => index.isUnique || (filtered === table && serves(index)))
  }

  #indexesOf(table: string): readonly IndexStatistics[] {
    let indexes = this.#indexes.get(table)
    if (indexes === undefined) this.#indexes.set(table, (indexes = this.#readIndexes(table)))
    return indexes
  }

  #readIndexes(table: string): IndexStatistics[] {
    const columns = this.#db.pragma(`main.table_info(${name(table)})`) as { name: string; pk: number }[]
    const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk)
    const listed = this.#db.pragma(`main.index_list(${name(table)})`) as { name: string; unique: 0 | 1; partial: 0 | 1 }[]
    const indexes = listed.flatMap(({ name: indexName, unique, partial }): IndexStatistics[] => {
      if (partial === 1) return []
      const parts = this.#db.pragma(`main.index_info(${name(indexName)})`) as { name: string | null }[]
      return [{ columns: parts.map(part => part.name), isUnique: unique === 1 }]
    })
    return key.length === 0 ? indexes : [{ columns: key.map(part => part.name), isUnique: true }, ...indexes]
  }

  /** As of `#schema`. */
  accessOf(statement: Statement, parameters: readonly unknown[]): Access {
    let access = this.#accesses.get(statement)
    if (access === undefined) this.#accesses.set(statement, (access = this.#readAccess(statement, parameters)))
    return access
  }

  #readAccess({ sql }: Statement, parameters: readonly unknown[]): Access {
    const lines = this.#db.prepare(`explain query plan ${sql}`).all(...parameters) as { parent: number; detail: string }[]
    const [first, ...others] = lines.filter(({ parent }) => parent === 0)
    if (first?.detail.startsWith('SCAN ') !== true) return 'look-up'
    return others.some(({ detail }) => detail === 'USE TEMP B-TREE FOR ORDER BY') ? 'sort' : 'walk'
  }

  /** At least 1. */
  rowsOf(table: string, now: number): number {
    const known = this.#tables.get(table)
    if (known !== undefined && now - known.at < FRESH) return known.rows
    this.#followSchema()
    const rows = this.#countOf(table)
    this.#tables.set(table, { rows, at: now })
    return rows
  }

  forget(): void {
    this.#tables.clear()
    this.#schema = -1
  }

  #followSchema(): void {
    const schema = this.#db.pragma('schema_version', { simple: true }) as number
    if (schema === this.#schema) return
    this.#schema = schema
    this.#indexes.clear()
    this.#served = new WeakMap()
    this.#accesses = new WeakMap()
  }

  /** The highest row number, but no more than fit: row numbers may be random. */
  #countOf(table: string): number {
    const kind = this.#db.prepare("select type, wr from pragma_table_list(?) where schema = 'main'").get(table)
    const { type, wr } = (kind ?? { type: 'none', wr: 0 }) as { type: string; wr: 0 | 1 }
    if (type !== 'table') return Number.POSITIVE_INFINITY
    const bytes = this.#db.prepare('select page_count * page_size from pragma_page_count, pragma_page_size').pluck().get() as number
    const room = Math.max(1, bytes / ROW_BYTES)
    if (wr === 1) return room
    const highest = this.#db
      .prepare(`select max(rowid) from ${name(table)}`)
      .pluck()
      .get() as number | null
    return Math.min(room, Math.max(1, highest ?? 1))
  }
}
