/** An open database in the memory of SQLite's WebAssembly. Refuses paths of files. */
import type { RawAggregate, RawFunction, RawFunctionOptions, RawError } from '../driver/raw-database.ts'
import type { SqlCallback } from './callbacks.ts'
import type { Sqlite } from './load-sqlite.ts'
import { WasmStatement, type StatementOwner } from './wasm-statement.ts'

/** SQLITE_OPEN_READWRITE, SQLITE_OPEN_CREATE and SQLITE_OPEN_MEMORY. */
const OPEN = 2 | 4 | 128

/** SQLITE_DESERIALIZE_FREEONCLOSE and SQLITE_DESERIALIZE_RESIZEABLE. */
const OWNED = 1 | 2

const UTF8 = 1
const DETERMINISTIC = 0x800
const DIRECT_ONLY = 0x80000
const PERSISTENT = 1

/** As better-sqlite3 builds SQLite. */
const SETTINGS = 'pragma page_size = 4096; pragma foreign_keys = on'

/** Ends abandoned statements. */
const abandoned = new FinalizationRegistry<() => void>(remove => remove())

export class WasmDatabase implements StatementOwner {
  readonly memory = true
  readonly readonly = false
  readonly name = ':memory:'
  readonly #sqlite: Sqlite
  readonly #life: { at: number }
  readonly #functions = new Map<string, number>()
  /** Thrown by a function in the running statement. */
  readonly #thrown: { error?: unknown } = {}

  /** @param bytes of a database; undefined: a new one */
  constructor(sqlite: Sqlite, bytes?: Uint8Array) {
    const { calls, heap } = sqlite
    this.#sqlite = sqlite
    const place = calls.malloc(4)
    const code = heap.withText(':memory:', name => calls.sqlite3_open_v2(name, place, OPEN, 0))
    this.#life = { at: heap.readNumber(place) }
    calls.free(place)
    try {
      if (code !== 0) this.fail()
      if (bytes !== undefined) this.#fill(bytes)
      this.exec(SETTINGS)
    } catch (error) {
      this.close()
      throw error
    }
  }

  get isOpen(): boolean {
    return this.#life.at !== 0
  }

  get address(): number {
    if (this.#life.at === 0) throw new TypeError('The database connection is not open')
    return this.#life.at
  }

  get inTransaction(): boolean {
    return this.#sqlite.calls.sqlite3_get_autocommit(this.address) === 0
  }

  #fill(bytes: Uint8Array): void {
    const { calls, heap } = this.#sqlite
    const at = calls.sqlite3_malloc(bytes.length)
    if (at === 0) throw new SqliteError('out of memory', 'SQLITE_NOMEM')
    heap.bytesAt(at, bytes.length).set(bytes)
    const size = BigInt(bytes.length)
    // SQLite frees the bytes, also after a failure.
    if (heap.withText('main', main => calls.sqlite3_deserialize(this.address, main, at, size, size, OWNED)) !== 0) this.fail()
  }

  /** An error of a function of JavaScript goes before SQLite's own. */
  fail(): never {
    const thrown = this.#thrown
    if ('error' in thrown) {
      const { error } = thrown
      delete thrown.error
      throw error
    }
    throw errorOf(this.#sqlite, this.address)
  }

  prepare(sql: string): WasmStatement {
    const { calls, heap } = this.#sqlite
    const db = this.address
    const places = calls.malloc(8)
    try {
      const { code, rest } = heap.withText(sql, (at, length) => {
        const prepared = calls.sqlite3_prepare_v3(db, at, length + 1, PERSISTENT, places, places + 4)
        const end = heap.readNumber(places + 4)
        return { code: prepared, rest: prepared === 0 ? heap.readText(end, at + length - end) : '' }
      })
      if (code !== 0) this.fail()
      const at = heap.readNumber(places)
      if (at === 0) throw new RangeError('The supplied SQL string contains no statements')
      if (!isEmpty(rest)) {
        calls.sqlite3_finalize(at)
        throw new RangeError('The supplied SQL string contains more than one statement')
      }
      const statement = new WasmStatement(this, this.#sqlite, sql, at)
      const life = this.#life
      // Closing the database removes all statements.
      abandoned.register(statement, () => life.at !== 0 && calls.sqlite3_finalize(at))
      return statement
    } finally {
      calls.free(places)
    }
  }

  exec(sql: string): this {
    const { calls, heap } = this.#sqlite
    const db = this.address
    if (heap.withKeptText(sql, at => calls.sqlite3_exec(db, at, 0, 0, 0)) !== 0) this.fail()
    return this
  }

  pragma(text: string, { simple = false }: { readonly simple?: boolean } = {}): unknown {
    const statement = this.prepare(`pragma ${text}`)
    if (!statement.reader) {
      statement.run()
      return simple ? undefined : []
    }
    return simple ? statement.pluck().get() : statement.all()
  }

  function(name: string, options: RawFunctionOptions | RawFunction, work?: RawFunction): this {
    const [given, run] = typeof options === 'function' ? [{}, options] : [options, work!]
    this.#add(name, given, run.length, { run: values => run(...(values as never[])) })
    return this
  }

  aggregate<Total>(name: string, options: RawAggregate<Total>): this {
    const { start, step, result } = options
    this.#add(name, options, Math.max(0, step.length - 1), {
      start,
      step: (total, values) => step(total as Total, ...(values as never[])),
      result: total => result(total as Total),
    })
    return this
  }

  #add(name: string, options: RawFunctionOptions, length: number, work: Partial<SqlCallback>): void {
    const { calls, heap, callbacks } = this.#sqlite
    const { varargs = false, deterministic = false, directOnly = false, safeIntegers = false } = options
    const count = varargs ? -1 : length
    const flags = UTF8 | (deterministic ? DETERMINISTIC : 0) | (directOnly ? DIRECT_ONLY : 0)
    const thrown = this.#thrown
    const number = callbacks.add({ ...work, name, safeIntegers, failed: error => (thrown.error = error) })
    const [run, step, result] = work.run === undefined ? [0, callbacks.step, callbacks.result] : [callbacks.run, 0, 0]
    const code = heap.withText(name, at => calls.sqlite3_create_function_v2(this.address, at, count, flags, number, run, step, result, 0))
    if (code !== 0) this.fail()
    const key = `${name.toLowerCase()}/${count}`
    callbacks.remove(this.#functions.get(key) ?? 0)
    this.#functions.set(key, number)
  }

  transaction<Result>(work: () => Result): (() => Result) & { readonly immediate: () => Result } {
    const within =
      (begin: string): (() => Result) =>
      () => {
        const [first, last, undo] = this.inTransaction
          ? ['savepoint mikro_raw', 'release mikro_raw', 'rollback to mikro_raw; release mikro_raw']
          : [begin, 'commit', 'rollback']
        this.exec(first)
        try {
          const result = work()
          this.exec(last)
          return result
        } catch (error) {
          // SQLite itself ends a transaction after some failures.
          if (this.inTransaction) this.exec(undo)
          throw error
        }
      }
    return Object.assign(within('begin'), { immediate: within('begin immediate') })
  }

  serialize(): Uint8Array<ArrayBuffer> {
    const { calls, heap } = this.#sqlite
    const size = calls.malloc(8)
    try {
      const at = heap.withText('main', main => calls.sqlite3_serialize(this.address, main, size, 0))
      if (at === 0) throw new SqliteError('out of memory', 'SQLITE_NOMEM')
      const bytes = heap.readBytes(at, heap.readNumber(size))
      calls.sqlite3_free(at)
      return bytes
    } finally {
      calls.free(size)
    }
  }

  async backup(path: string): Promise<never> {
    throw new TypeError(`SQLite in WebAssembly has no files: ${path} cannot be written.`)
  }

  close(): this {
    const { calls, callbacks } = this.#sqlite
    const db = this.#life.at
    if (db === 0) return this
    this.#life.at = 0
    for (let at = calls.sqlite3_next_stmt(db, 0); at !== 0; at = calls.sqlite3_next_stmt(db, 0)) calls.sqlite3_finalize(at)
    calls.sqlite3_close_v2(db)
    for (const number of this.#functions.values()) callbacks.remove(number)
    return this
  }
}

function isEmpty(sql: string): boolean {
  return /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*[^]*?(?:\*\/|$))*$/.test(sql)
}

export class SqliteError extends Error implements RawError {
  readonly code: string

  constructor(message: string, code: string) {
    super(message)
    this.name = 'SqliteError'
    this.code = code
  }
}

/** @param db the address of the database with the error */
function errorOf({ calls, heap, nameCode }: Sqlite, db: number): SqliteError {
  const message = heap.readCText(calls.sqlite3_errmsg(db)) ?? ''
  return new SqliteError(message, nameCode(calls.sqlite3_extended_errcode(db)))
}
