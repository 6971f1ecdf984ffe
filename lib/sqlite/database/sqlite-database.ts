/** Handle: one open SQLite database with its prepared statements. */
import Database from 'better-sqlite3'
import type { RowBound } from '../../database/dialect.ts'
import { parameterError } from '../../base/errors.ts'
import { LruCache } from '../../base/lru-cache.ts'
import { TimeChecks } from '../sql/time-checks.ts'
import { addForeignFunctions } from './foreign-functions.ts'
import { jsonFunction, matchFunction, momentFunction, roundedFunction, timeFunction } from '../sql/match.ts'
import { FileIdentity } from './file-identity.ts'
import { PreparedQuery } from './prepared.ts'
import { ReachableCounter } from './count-reachable.ts'
import { name } from '../sql/sql.ts'
import { followTime } from './time-functions.ts'

/** How many prepared statements are kept, of ours and of MikroORM's. */
const READERS = 2000
const PREPARED = 500
/** How many bytes they hold, which are SQLite's own: no heap shows them. */
const STATEMENT_BYTES = 32 << 20

/** About how many bytes a prepared statement holds. */
function weigh(_: unknown, sql: string): number {
  return 6000 + 22 * sql.length
}

/** A statement that changes the schema. */
export const SCHEMA_CHANGE = /^\s*(?:create|drop|alter)\b/i

/** Longest text of a statement that reads. SQLite holds some twenty times as many bytes for it while it is prepared. */
const MAX_SQL = 200_000

/** Longest text of a statement that is kept. */
const MAX_TEXT = 20_000

/** How SQLite says that a statement goes beyond what it was built for (limits.html): it has no code of its own for that. */
const TOO_LARGE =
  /^(?:too many SQL variables|Expression tree is too large|at most \d+ tables in a join|too many (?:columns|terms|arguments)|parser stack overflow|statement too long|string or blob too big)/i

function tooLargeError(why: string, bound: RowBound | undefined) {
  return parameterError({
    code: 'limit_exceeded',
    detail: `The request is more than one statement of the database can hold (${why}): use fewer filters, sort keys, paths or values.`,
    ...(bound === undefined ? {} : { parameter: bound.room.longest }),
  })
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Database.SqliteError && TOO_LARGE.test(error.message)
}

/** Milliseconds for which the size of the database is taken to stay. */
const SIZE_LIFE = 1000

/** The rows of a statement, which stops as soon as the answer has no room for more. */
function readCounted(statement: Database.Statement, parameters: readonly unknown[], { room, areIds, at }: RowBound): unknown[][] {
  const rows: unknown[][] = []
  let bytes = 0
  for (const row of statement.iterate(...parameters) as IterableIterator<unknown[]>) {
    for (const value of row) if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
    rows.push(row)
    room.check(rows.length, bytes, areIds, at)
  }
  return rows
}

export class SqliteDatabase {
  readonly db: Database.Database
  readonly lookOut: TimeChecks
  readonly #readers = new LruCache<Database.Statement>(READERS, { bytes: STATEMENT_BYTES, weigh })
  readonly #prepared = new LruCache<PreparedQuery>(PREPARED, { bytes: STATEMENT_BYTES >> 1, weigh })
  readonly #reach: ReachableCounter
  #followsTime = false
  #sizing: Database.Statement | undefined
  #bytes = 0
  #sizedAt = Number.NEGATIVE_INFINITY
  /** Undefined where nothing is written to a file. */
  readonly #place: FileIdentity | undefined
  /** The last number given to a column that is not the key, by table and column. */
  readonly #numbers = new Map<string, bigint>()

  /** Whether nothing can be written. */
  readonly readOnly: boolean

  /**
   * @param source `:memory:`, a path (created when missing), or the bytes of a snapshot
   * @param options `queryOnly`: SQLite may write beside the file, as it must for a write-ahead log, but no statement may write
   */
  constructor(source: string | Buffer, { queryOnly = false, ...options }: Database.Options & { readonly queryOnly?: boolean } = {}) {
    this.db = new Database(source, options)
    this.readOnly = this.db.readonly || queryOnly
    if (queryOnly) this.db.pragma('query_only = on')
    this.db.pragma('foreign_keys = on')
    if (typeof source === 'string' && !this.db.memory && !this.readOnly) this.#place = new FileIdentity(this.db, source)
    this.lookOut = new TimeChecks(this.db)
    this.db.function('mikro_match', { deterministic: true, directOnly: true }, matchFunction(this.lookOut.look))
    this.db.function('mikro_json', { deterministic: true, directOnly: true }, jsonFunction)
    this.#reach = new ReachableCounter(this.db, this.lookOut.look)
    this.db.function('mikro_moment', { deterministic: true, directOnly: true }, momentFunction)
    this.db.function('mikro_rounded', { deterministic: true, directOnly: true }, roundedFunction)
    this.db.function('mikro_time', { deterministic: true, directOnly: true }, timeFunction)
  }

  /** Whether SQL has its time from elsewhere. */
  get followsTime(): boolean {
    return this.#followsTime
  }

  /** @throws Error with a code of SQLite when the file is not at its place any more, so that what is written would be lost. */
  checkPlace(): void {
    this.#place?.check()
  }

  /** From now on SQL has its time from this function. */
  followTime(now: () => Date): void {
    followTime(this.db, now)
    this.#followsTime = true
  }

  /** From now on SQL has the functions of other databases. */
  speakForeign(now: () => Date): void {
    addForeignFunctions(this.db, now)
  }

  /** The next number of a column: behind the highest that is there, or has been given. */
  nextNumber(table: string, column: string): bigint {
    const highest = this.db
      .prepare(`select coalesce(max(${name(column)}), 0) from ${name(table)}`)
      .safeIntegers(true)
      .pluck()
      .get() as bigint
    const key = `${table}.${column}`
    const given = this.#numbers.get(key) ?? 0n
    const next = (highest > given ? highest : given) + 1n
    this.#numbers.set(key, next)
    return next
  }

  /** Rows as arrays. Where they may be more than an answer has room for, they are counted one by one as they come. */
  all(sql: string, parameters: readonly unknown[], bound?: RowBound): readonly unknown[][] {
    try {
      return this.#all(sql, parameters, bound)
    } finally {
      this.#reach.clear()
    }
  }

  #all(sql: string, parameters: readonly unknown[], bound: RowBound | undefined): readonly unknown[][] {
    let statement = this.#readers.get(sql)
    if (statement === undefined) {
      statement = this.#prepareRead(sql, bound)
      // A text that long is one with a list of values, which hardly comes again.
      if (sql.length <= MAX_TEXT) this.#readers.set(sql, statement)
    }
    if (bound !== undefined && this.#size() * bound.times > bound.room.most) return readCounted(statement, parameters, bound)
    // A call with few arguments costs less than one that spreads them.
    switch (parameters.length) {
      case 0:
        return statement.all() as unknown[][]
      case 1:
        return statement.all(parameters[0]) as unknown[][]
      case 2:
        return statement.all(parameters[0], parameters[1]) as unknown[][]
      default:
        return statement.all(...parameters) as unknown[][]
    }
  }

  /** About how many bytes the whole database holds, as of a second ago. */
  #size(): number {
    const now = performance.now()
    if (now - this.#sizedAt > SIZE_LIFE) {
      this.#sizedAt = now
      this.#sizing ??= this.db.prepare('select page_count * page_size from pragma_page_count, pragma_page_size').pluck()
      this.#bytes = this.#sizing.get() as number
    }
    return this.#bytes
  }

  #prepareRead(sql: string, bound: RowBound | undefined): Database.Statement {
    if (sql.length > MAX_SQL) throw tooLargeError(`${sql.length} characters`, bound)
    try {
      return this.db.prepare(sql).raw()
    } catch (error) {
      if (!isTooLarge(error)) throw error
      throw tooLargeError((error as Error).message, bound)
    }
  }

  /** A statement for MikroORM. */
  prepare(sql: string): PreparedQuery {
    let statement = this.#prepared.get(sql)
    if (statement === undefined) {
      statement = new PreparedQuery(this.db.prepare(sql))
      // What `*` means is another thing then.
      if (SCHEMA_CHANGE.test(sql)) this.#forgetSchema()
      // A text that long is an insert of many rows, which hardly comes again.
      else if (sql.length <= MAX_TEXT) this.#prepared.set(sql, statement)
    }
    return statement
  }

  #forgetSchema(): void {
    this.#prepared.clear()
    this.lookOut.estimate.forget()
  }

  /** The whole database as bytes, to open another one with. */
  image(): Buffer {
    const image = this.db.serialize()
    // A database in memory has no write-ahead log: the header must not ask for one (SQLite file format, section 1.3.3).
    if (image[18] === 2) image.fill(1, 18, 20)
    return image
  }

  close(): void {
    this.#readers.clear()
    this.#prepared.clear()
    this.db.close()
  }
}
