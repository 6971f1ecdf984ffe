/** The engine's interface to SQLite, better-sqlite3 or WebAssembly. All calls but `backup` are synchronous. */

/** `changes` counts rows. */
export interface RawResult {
  readonly changes: number
  readonly lastInsertRowid: number | bigint
}

export interface RawColumn {
  readonly name: string
  readonly column: string | null
  readonly table: string | null
  /** As declared. */
  readonly type: string | null
}

/** Binds texts, numbers, bigints, bytes and null. */
export interface RawStatement {
  readonly database: RawDatabase
  readonly source: string
  /** Gives rows. */
  readonly reader: boolean
  /** Writes nothing. */
  readonly readonly: boolean
  run(...parameters: readonly unknown[]): RawResult
  get(...parameters: readonly unknown[]): unknown
  all(...parameters: readonly unknown[]): unknown[]
  iterate(...parameters: readonly unknown[]): IterableIterator<unknown>
  columns(): readonly RawColumn[]
  /** Rows are values. */
  pluck(on?: boolean): this
  /** Rows are arrays. */
  raw(on?: boolean): this
  safeIntegers(on?: boolean): this
}

export interface RawFunctionOptions {
  readonly varargs?: boolean
  readonly deterministic?: boolean
  /** Integers are bigints. */
  readonly safeIntegers?: boolean
  /** Not in triggers, views and the schema. */
  readonly directOnly?: boolean
}

export interface RawAggregate<Total> extends RawFunctionOptions {
  readonly start: () => Total
  // oxlint-disable-next-line typescript/no-explicit-any -- values of a row, of any number and type
  readonly step: (total: Total, ...values: any[]) => Total | void
  readonly result: (total: Total) => unknown
}

// oxlint-disable-next-line typescript/no-explicit-any -- a function of SQL takes values of any number and type
export type RawFunction = (...values: any[]) => unknown

export interface RawDatabase {
  readonly memory: boolean
  readonly readonly: boolean
  readonly name: string
  readonly inTransaction: boolean
  prepare(sql: string): RawStatement
  exec(sql: string): unknown
  /** `simple`: the first value alone. */
  pragma(text: string, options?: { readonly simple?: boolean }): unknown
  function(name: string, work: RawFunction): unknown
  function(name: string, options: RawFunctionOptions, work: RawFunction): unknown
  aggregate<Total>(name: string, options: RawAggregate<Total>): unknown
  transaction<Result>(work: () => Result): (() => Result) & { readonly immediate: () => Result }
  serialize(): Uint8Array
  /** `progress`: pages at once. */
  backup(path: string, options?: { readonly progress: () => number }): Promise<unknown>
  close(): unknown
}

export interface RawOptions {
  readonly readonly?: boolean
  readonly fileMustExist?: boolean
  /** In milliseconds. */
  readonly timeout?: number
}

/** SQLite's own error. `code` is the extended code, such as `SQLITE_CONSTRAINT_UNIQUE`. */
export interface RawError extends Error {
  readonly code: string
}
