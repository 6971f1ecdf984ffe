/** A prepared statement of SQLite's WebAssembly. Refuses mistakes of callers in the words of better-sqlite3. */
import type { RawColumn, RawDatabase, RawResult, RawStatement } from '../driver/raw-database.ts'
import type { Sqlite } from './load-sqlite.ts'
import { BLOB, COPIED, FLOAT, INTEGER, isBytes, TEXT } from './sqlite-calls.ts'

const ROW = 100
const DONE = 101

export interface StatementOwner extends RawDatabase {
  readonly isOpen: boolean
  /** @throws TypeError when the database is closed */
  readonly address: number
  fail(): never
}

export class WasmStatement implements RawStatement {
  readonly database: StatementOwner
  readonly source: string
  readonly reader: boolean
  readonly readonly: boolean
  readonly #sqlite: Sqlite
  readonly #at: number
  readonly #parameters: number
  #isBusy = false
  #form: 'object' | 'array' | 'value' = 'object'
  #safeIntegers = false

  constructor(database: StatementOwner, sqlite: Sqlite, source: string, at: number) {
    const { calls } = sqlite
    this.database = database
    this.source = source
    this.#sqlite = sqlite
    this.#at = at
    this.reader = calls.sqlite3_column_count(at) > 0
    this.readonly = calls.sqlite3_stmt_readonly(at) === 1
    this.#parameters = calls.sqlite3_bind_parameter_count(at)
  }

  run(...parameters: readonly unknown[]): RawResult {
    const { calls } = this.#sqlite
    const db = this.#begin(parameters)
    try {
      const before = calls.sqlite3_total_changes(db)
      let code = ROW
      while (code === ROW) code = calls.sqlite3_step(this.#at)
      if (code !== DONE) this.database.fail()
      const changes = calls.sqlite3_total_changes(db) === before ? 0 : calls.sqlite3_changes(db)
      const key = calls.sqlite3_last_insert_rowid(db)
      return { changes, lastInsertRowid: this.#safeIntegers ? key : Number(key) }
    } finally {
      this.#end()
    }
  }

  get(...parameters: readonly unknown[]): unknown {
    this.#requireReader()
    this.#begin(parameters)
    try {
      return this.#step() ? this.#row(this.#sqlite.calls.sqlite3_column_count(this.#at)) : undefined
    } finally {
      this.#end()
    }
  }

  all(...parameters: readonly unknown[]): unknown[] {
    this.#requireReader()
    this.#begin(parameters)
    try {
      const rows: unknown[] = []
      let count = -1
      while (this.#step()) {
        // SQLite may have prepared the statement anew, with other columns.
        if (count < 0) count = this.#sqlite.calls.sqlite3_column_count(this.#at)
        rows.push(this.#row(count))
      }
      return rows
    } finally {
      this.#end()
    }
  }

  *iterate(...parameters: readonly unknown[]): IterableIterator<unknown> {
    this.#requireReader()
    this.#begin(parameters)
    try {
      while (this.#step()) yield this.#row(this.#sqlite.calls.sqlite3_column_count(this.#at))
    } finally {
      this.#end()
    }
  }

  columns(): readonly RawColumn[] {
    const { calls, heap } = this.#sqlite
    const columns: RawColumn[] = []
    for (let index = 0; index < calls.sqlite3_column_count(this.#at); index++)
      columns.push({
        name: heap.readCText(calls.sqlite3_column_name(this.#at, index))!,
        column: heap.readCText(calls.sqlite3_column_origin_name(this.#at, index)),
        table: heap.readCText(calls.sqlite3_column_table_name(this.#at, index)),
        type: heap.readCText(calls.sqlite3_column_decltype(this.#at, index)),
      })
    return columns
  }

  pluck(on = true): this {
    return this.#choose('value', on)
  }

  raw(on = true): this {
    return this.#choose('array', on)
  }

  safeIntegers(on = true): this {
    this.#safeIntegers = on
    return this
  }

  #choose(form: 'array' | 'value', on: boolean): this {
    this.#requireReader()
    if (on) this.#form = form
    else if (this.#form === form) this.#form = 'object'
    return this
  }

  #requireReader(): void {
    if (!this.reader) throw new TypeError('This statement does not return data. Use run() instead')
  }

  /** @returns the address of the database */
  #begin(parameters: readonly unknown[]): number {
    const db = this.database.address
    if (this.#isBusy) throw new TypeError('This statement is busy executing a query')
    if (parameters.length !== this.#parameters)
      throw new RangeError(`Too ${parameters.length < this.#parameters ? 'few' : 'many'} parameter values were provided`)
    for (let index = 0; index < parameters.length; index++)
      if (bindValue(this.#sqlite, this.#at, index + 1, parameters[index]) !== 0) this.database.fail()
    this.#isBusy = true
    return db
  }

  #step(): boolean {
    const code = this.#sqlite.calls.sqlite3_step(this.#at)
    if (code === ROW) return true
    if (code === DONE) return false
    return this.database.fail()
  }

  #end(): void {
    this.#isBusy = false
    // Closing the database has removed the statement.
    if (!this.database.isOpen) return
    const { calls } = this.#sqlite
    calls.sqlite3_reset(this.#at)
    // Large values would stay in memory.
    if (this.#parameters > 0) calls.sqlite3_clear_bindings(this.#at)
  }

  #row(count: number): unknown {
    if (this.#form === 'value') return readColumn(this.#sqlite, this.#at, 0, this.#safeIntegers)
    const values: unknown[] = []
    for (let column = 0; column < count; column++) values.push(readColumn(this.#sqlite, this.#at, column, this.#safeIntegers))
    if (this.#form === 'array') return values
    const { calls, heap } = this.#sqlite
    return Object.fromEntries(values.map((value, column) => [heap.readCText(calls.sqlite3_column_name(this.#at, column)), value]))
  }
}

/**
 * @param index from 1
 * @returns SQLite's code
 */
function bindValue({ calls, heap }: Sqlite, statement: number, index: number, value: unknown): number {
  switch (typeof value) {
    case 'string':
      return heap.withText(value, (at, length) => calls.sqlite3_bind_text(statement, index, at, length, COPIED))
    case 'number':
      return calls.sqlite3_bind_double(statement, index, value)
    case 'bigint':
      if (BigInt.asIntN(64, value) !== value) throw new RangeError('The bound string, buffer, or bigint is too big')
      return calls.sqlite3_bind_int64(statement, index, value)
    default:
      if (value === null || value === undefined) return calls.sqlite3_bind_null(statement, index)
      if (!isBytes(value)) throw new TypeError('SQLite3 can only bind numbers, strings, bigints, buffers, and null')
      if (value.length === 0) return calls.sqlite3_bind_zeroblob(statement, index, 0)
      return heap.withBytes(value, (at, length) => calls.sqlite3_bind_blob(statement, index, at, length, COPIED))
  }
}

function readColumn({ calls, heap }: Sqlite, statement: number, column: number, safeIntegers: boolean): unknown {
  switch (calls.sqlite3_column_type(statement, column)) {
    case INTEGER:
      return safeIntegers ? calls.sqlite3_column_int64(statement, column) : calls.sqlite3_column_double(statement, column)
    case FLOAT:
      return calls.sqlite3_column_double(statement, column)
    case TEXT: {
      const at = calls.sqlite3_column_text(statement, column)
      return heap.readText(at, calls.sqlite3_column_bytes(statement, column))
    }
    case BLOB: {
      const at = calls.sqlite3_column_blob(statement, column)
      return heap.readBlob(at, calls.sqlite3_column_bytes(statement, column))
    }
    default:
      return null
  }
}
