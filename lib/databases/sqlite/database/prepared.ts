/**
 * A statement for MikroORM, with rows as objects and exact integers. It makes the objects from arrays, because better-sqlite3 compiles a
 * function for objects on every run, which costs more than reading one record.
 */
import type Database from 'better-sqlite3'

export class PreparedQuery {
  readonly #statement: Database.Statement
  readonly readonly: boolean
  /** Whether the statement returns rows. */
  readonly reader: boolean
  #names: readonly string[] = []

  constructor(statement: Database.Statement) {
    this.#statement = statement
    this.readonly = statement.readonly
    this.reader = statement.reader
    // Of an insert it is the key that SQLite has counted, too.
    statement.safeIntegers(true)
    if (this.reader) statement.raw(true)
  }

  run(parameters: readonly unknown[]): Database.RunResult {
    // Without a spread, `begin` and `commit` cost a quarter less.
    return parameters.length === 0 ? this.#statement.run() : this.#statement.run(...parameters)
  }

  all(parameters: readonly unknown[]): Record<string, unknown>[] {
    const rows = this.#statement.all(...parameters) as unknown[][]
    return rows.map(row => this.#object(row))
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

  /** Converts BigInt values up to 2^53 to numbers, as MikroORM expects, also in a JSON document that consists of one. */
  #exact(value: unknown, column: number): unknown {
    if (typeof value !== 'bigint') return value
    const number = Number(value)
    return Number.isSafeInteger(number) || this.#statement.columns()[column]?.type?.toLowerCase() === 'json' ? number : value
  }
}
