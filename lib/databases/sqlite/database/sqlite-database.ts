/**
 * An open handle with cached prepared statements and the engine's SQL functions. Runs the statements of readings; MikroORM prepares
 * statements here, too.
 */
import { isRawError, openRaw, toRawBytes } from '../driver/open-raw.ts'
import type { RawDatabase, RawOptions, RawResult, RawStatement } from '../driver/raw-database.ts'
import type { ReadingStep, Row, RowBound } from '../../../records/database/dialect.ts'
import { parameterError } from '../../../foundation/errors/errors.ts'
import { LruCache } from '../../../foundation/base/lru-cache.ts'
import { CountedPages } from '../sql/counted-pages.ts'
import { TimeChecks } from '../sql/time-checks.ts'
import type { SqlFunctions } from '../../../records/database/world-store.ts'
import { addForeignFunctions } from './foreign-functions.ts'
import { containsFunction } from '../sql/contains.ts'
import { expressionFunction } from '../sql/match.ts'
import { likeFunction } from '../sql/match-like.ts'
import { jsonFunction, matchFunction, momentFunction, roundedFunction, timeFunction } from '../sql/match.ts'
import { nameBroken } from './broken-columns.ts'
import { isBrokenKey } from './file-links.ts'
import { FileIdentity } from './file-identity.ts'
import { ReachableCounter } from './count-reachable.ts'
import { name } from '../../sql/sql.ts'
import { followTime } from './time-functions.ts'

const READERS = 2000
const PREPARED = 500
/** Outside of the heap. */
const STATEMENT_BYTES = 32 << 20

function weigh(_: unknown, sql: string): number {
  return 6000 + 22 * sql.length
}

export const SCHEMA_CHANGE = /^\s*(?:create|drop|alter)\b/i

/** In characters: to prepare a statement, SQLite needs about twenty times the bytes. */
const MAX_READ_SQL = 200_000

/** In characters. */
const MAX_CACHED_SQL = 20_000

/** SQLite's limits (limits.html) have no error codes. */
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
  return isRawError(error) && TOO_LARGE.test(error.message)
}

/** In milliseconds. */
const SIZE_LIFE = 1000

function readCounted(statement: RawStatement, parameters: readonly unknown[], { room, areIds, at }: RowBound): Row[] {
  const rows: Row[] = []
  let bytes = 0
  for (const row of statement.iterate(...parameters) as IterableIterator<Row>) {
    if (Array.isArray(row)) for (const value of row) bytes += lengthOf(value)
    else bytes += lengthOf(row)
    rows.push(row)
    room.check(rows.length, bytes, areIds, at)
  }
  return rows
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0
}

/**
 * A statement of MikroORM, or a write: exact integers, and rows as objects, made of arrays. better-sqlite3 would compile a function for
 * objects on every run.
 */
export class PreparedQuery {
  readonly #statement: RawStatement
  readonly readonly: boolean
  readonly reader: boolean
  readonly #afterRun: (() => void) | undefined
  #names: readonly string[] = []

  constructor(statement: RawStatement, afterRun?: () => void) {
    this.#statement = statement
    this.#afterRun = afterRun
    this.readonly = statement.readonly
    this.reader = statement.reader
    // For the counted key of an insert, too.
    statement.safeIntegers(true)
    if (this.reader) statement.raw(true)
  }

  run(parameters: readonly unknown[]): RawResult {
    try {
      // Without a spread, `begin` and `commit` cost a quarter less.
      return parameters.length === 0 ? this.#statement.run() : this.#statement.run(...parameters)
    } catch (error) {
      throw nameBroken(error, this.#statement, parameters)
    } finally {
      this.#afterRun?.()
    }
  }

  all(parameters: readonly unknown[]): Record<string, unknown>[] {
    try {
      const rows = this.#statement.all(...parameters) as unknown[][]
      return rows.map(row => this.#object(row))
    } catch (error) {
      throw nameBroken(error, this.#statement, parameters)
    }
  }

  *iterate(parameters: readonly unknown[]): Generator<Record<string, unknown>> {
    for (const row of this.#statement.iterate(...parameters)) yield this.#object(row as unknown[])
  }

  #object(values: readonly unknown[]): Record<string, unknown> {
    if (values.length !== this.#names.length) this.#names = this.#statement.columns().map(({ name }) => name)
    const row: Record<string, unknown> = {}
    for (let index = 0; index < values.length; index++) row[this.#names[index]!] = this.#exact(values[index], index)
    return row
  }

  /** MikroORM expects numbers for BigInts up to 2^53, and in JSON columns. */
  #exact(value: unknown, column: number): unknown {
    if (typeof value !== 'bigint') return value
    const number = Number(value)
    return Number.isSafeInteger(number) || this.#statement.columns()[column]?.type?.toLowerCase() === 'json' ? number : value
  }
}

export class SqliteDatabase {
  readonly db: RawDatabase
  readonly timeChecks: TimeChecks
  readonly pages: CountedPages
  readonly #readers = new LruCache<RawStatement>(READERS, { bytes: STATEMENT_BYTES, weigh })
  readonly #bareReaders = new LruCache<RawStatement>(READERS, { bytes: STATEMENT_BYTES >> 2, weigh })
  readonly #prepared = new LruCache<PreparedQuery>(PREPARED, { bytes: STATEMENT_BYTES >> 1, weigh })
  readonly #reach: ReachableCounter
  #functions: SqlFunctions = {}
  followsTime = false
  /** The statements that began the transaction, until a change. */
  #begun: string[] | undefined
  /** Until the transaction ends. */
  #isUnchecked = false
  #sizing: RawStatement | undefined
  #bytes = 0
  #sizedAt = Number.NEGATIVE_INFINITY
  readonly place: FileIdentity | undefined
  /** Last numbers, of counted columns other than keys. */
  readonly #numbers = new Map<string, bigint>()

  /** Whether there are triggers. Undefined: ask by `hasTriggers`. */
  knownTriggers: boolean | undefined

  readonly readOnly: boolean
  /** Asking SQLite costs a native call. */
  readonly isInMemory: boolean

  /**
   * @param source `:memory:`, a path (created when missing), or the bytes of a snapshot
   * @param options `queryOnly`: statements may not write, but SQLite may beside the file, for a write-ahead log
   */
  constructor(source: string | Uint8Array, { queryOnly = false, ...options }: RawOptions & { readonly queryOnly?: boolean } = {}) {
    this.db = openRaw(source, options)
    this.readOnly = this.db.readonly || queryOnly
    this.isInMemory = this.db.memory
    if (queryOnly) this.db.pragma('query_only = on')
    this.db.pragma('foreign_keys = on')
    if (typeof source === 'string' && !this.isInMemory && !this.readOnly) this.place = new FileIdentity(this.db, source)
    this.timeChecks = new TimeChecks(this.db)
    this.pages = new CountedPages(this.timeChecks.estimate)
    this.db.function('mikro_match', { deterministic: true, directOnly: true }, matchFunction(this.timeChecks.checkClock))
    this.db.function('mikro_like', { deterministic: true, directOnly: true }, likeFunction(this.timeChecks.checkClock))
    this.db.function('mikro_expression', { deterministic: true, directOnly: true }, expressionFunction(this.timeChecks.checkClock))
    this.db.function('mikro_contains', { deterministic: true, directOnly: true }, containsFunction(this.timeChecks.checkClock))
    this.db.function('mikro_json', { deterministic: true, directOnly: true }, jsonFunction)
    this.#reach = new ReachableCounter(this.db, this.timeChecks.checkClock)
    this.db.function('mikro_moment', { deterministic: true, directOnly: true }, momentFunction)
    this.db.function('mikro_rounded', { deterministic: true, directOnly: true }, roundedFunction)
    this.db.function('mikro_time', { deterministic: true, directOnly: true }, timeFunction)
  }

  followTime(now: () => Date): void {
    if (!this.followsTime) followTime(this.db, now)
    this.followsTime = true
  }

  addForeignFunctions(now: () => Date): void {
    addForeignFunctions(this.db, now)
  }

  get functions(): SqlFunctions {
    return this.#functions
  }

  /** Triggers may call the functions. */
  addFunctions(functions: SqlFunctions): void {
    this.#functions = functions
    for (const [functionName, run] of Object.entries(functions)) {
      this.db.function(functionName, { varargs: true }, (...values: never[]) => {
        const value = run(...values)
        if (typeof value === 'boolean') return Number(value)
        return value instanceof Uint8Array ? toRawBytes(value) : (value ?? null)
      })
    }
  }

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

  /** Finds a table that has given its highest key. SQLite's error says that the disk is full. */
  findUsedUp(): string | undefined {
    if (this.db.prepare("select 1 from sqlite_schema where name = 'sqlite_sequence'").get() === undefined) return undefined
    return this.db.prepare('select name from sqlite_sequence where seq = 9223372036854775807').pluck().get() as string | undefined
  }

  all(sql: string, parameters: readonly unknown[]): readonly Row[] {
    return this.read({ statement: { sql, bindings: [] }, parameters })
  }

  /**
   * Reads row by row, and measures, where all rows might be too large for the answer.
   *
   * @param sql the text to run, if not the statement's own
   */
  readonly read = (step: ReadingStep, sql = step.statement.sql): readonly Row[] => {
    const {
      statement: { isBare },
      parameters,
      bound,
      isOne,
    } = step
    const readers = isBare === true ? this.#bareReaders : this.#readers
    let statement = readers.get(sql)
    if (statement === undefined) {
      statement = this.#prepareRead(sql, bound)
      if (isBare === true) statement.pluck()
      // A very long statement rarely occurs again.
      if (sql.length <= MAX_CACHED_SQL) readers.set(sql, statement)
    }
    try {
      if (isOne === true) {
        const row = (parameters.length === 1 ? statement.get(parameters[0]) : statement.get(...parameters)) as Row | undefined
        return row === undefined ? [] : [row]
      }
      if (bound !== undefined && this.#size() * bound.times > bound.room.most) return readCounted(statement, parameters, bound)
      // A call with few arguments costs less than a spread.
      switch (parameters.length) {
        case 0:
          return statement.all() as Row[]
        case 1:
          return statement.all(parameters[0]) as Row[]
        case 2:
          return statement.all(parameters[0], parameters[1]) as Row[]
        default:
          return statement.all(...parameters) as Row[]
      }
    } finally {
      if (this.#reach.isUsed) this.#reach.clear()
    }
  }

  #size(): number {
    const now = performance.now()
    if (now - this.#sizedAt > SIZE_LIFE) {
      this.#sizedAt = now
      this.#sizing ??= this.db.prepare('select page_count * page_size from pragma_page_count, pragma_page_size').pluck()
      this.#bytes = this.#sizing.get() as number
    }
    return this.#bytes
  }

  #prepareRead(sql: string, bound: RowBound | undefined): RawStatement {
    if (sql.length > MAX_READ_SQL) throw tooLargeError(`${sql.length} characters`, bound)
    try {
      return this.db.prepare(sql).raw()
    } catch (error) {
      if (!isTooLarge(error)) throw error
      throw tooLargeError((error as Error).message, bound)
    }
  }

  prepare(sql: string): PreparedQuery {
    if (this.#isUnchecked && !this.db.inTransaction) this.#checkKeys(true)
    let statement = this.#prepared.get(sql)
    if (statement === undefined) {
      const changesSchema = SCHEMA_CHANGE.test(sql)
      // A schema change gives `*` another meaning.
      statement = new PreparedQuery(this.#prepareWrite(sql), changesSchema ? () => this.#forgetSchema() : undefined)
      if (!changesSchema && sql.length <= MAX_CACHED_SQL && !this.#isUnchecked) this.#prepared.set(sql, statement)
    }
    if (sql.startsWith('begin')) this.#begun = [sql]
    else if (sql.startsWith('savepoint')) this.#begun?.push(sql)
    else if (!statement.readonly || !statement.reader) this.#begun = undefined
    return statement
  }

  /**
   * SQLite refuses statements that would check a broken foreign key, even for rows without the link. A transaction with such a statement as
   * first change begins anew without checks, as other programs write the table.
   */
  #prepareWrite(sql: string): RawStatement {
    try {
      return this.db.prepare(sql)
    } catch (error) {
      const begun = this.db.inTransaction ? this.#begun : []
      if (this.#isUnchecked || !isBrokenKey(error) || begun === undefined) throw error
      if (begun.length > 0) this.db.exec('rollback')
      this.#checkKeys(false)
      for (const statement of begun) this.db.exec(statement)
      return this.db.prepare(sql)
    }
  }

  #checkKeys(on: boolean): void {
    this.db.pragma(`foreign_keys = ${on ? 'on' : 'off'}`)
    this.#isUnchecked = !on
  }

  /**
   * In memory the answer is kept until the schema changes, but not in a transaction: a rollback may take a trigger back. A file may get a
   * trigger at any time.
   */
  hasTriggers(): boolean {
    if (this.knownTriggers !== undefined) return this.knownTriggers
    const has = this.all("select 1 from sqlite_schema where type = 'trigger' limit 1", []).length > 0
    if (this.isInMemory && !this.db.inTransaction) this.knownTriggers = has
    return has
  }

  #forgetSchema(): void {
    this.knownTriggers = undefined
    this.#prepared.clear()
    this.timeChecks.estimate.forget()
  }

  image(): Uint8Array {
    const image = this.db.serialize()
    // In memory there is no write-ahead log, which the header must not require (SQLite file format, section 1.3.3).
    if (image[18] === 2) image.fill(1, 18, 20)
    return image
  }

  close(): void {
    this.#readers.clear()
    this.#bareReaders.clear()
    this.#prepared.clear()
    this.db.close()
  }
}
