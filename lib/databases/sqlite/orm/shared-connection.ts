/** Runs MikroORM's statements on the engine's database, with cached prepared statements and exact 64-bit integers. */
import type { RawResult } from '../driver/raw-database.ts'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { whenFree } from '../database/busy.ts'
import { SCHEMA_CHANGE, type PreparedQuery } from '../database/sqlite-database.ts'
import type { ConnectionHost, Entered } from './connection-host.ts'

export class SharedConnection implements DatabaseConnection {
  readonly #host: ConnectionHost
  readonly release: () => void
  readonly nested: boolean
  /** Start of the wait, by performance.now(). */
  readonly since: number
  /** The connection has begun the open transaction. */
  inside = false
  savepoint: string | undefined

  constructor(host: ConnectionHost, { release, nested }: Entered, since: number) {
    this.since = since
    this.#host = host
    this.release = release
    this.nested = nested
  }

  run(sql: string): void {
    const { trace } = this.#host
    if (trace === undefined) this.#prepare(sql).run([])
    else trace.statement(sql, [], countChanges, () => this.#prepare(sql).run([]))
  }

  /** Does not ask first for an open transaction: asking would cost a tenth of a short write. */
  commit(): void {
    const { trace } = this.#host
    try {
      if (trace === undefined) this.#host.prepare('commit').run([])
      else trace.statement('commit', [], countChanges, () => this.#host.prepare('commit').run([]))
    } catch (error) {
      throw this.#host.inTransaction ? error : endedError(error)
    }
  }

  #prepare(sql: string): PreparedQuery {
    // Each later statement would be committed by itself.
    if ((this.inside || this.nested) && !this.#host.inTransaction) throw endedError()
    const statement = this.#host.prepare(sql)
    if (!statement.readonly) this.#host.writing()
    return statement
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return this.inside || this.nested ? this.execute(sql, parameters) : whenFree(() => this.execute<R>(sql, parameters), this.since)
  }

  execute<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const { within } = this.#host
    return within === undefined ? this.#trace(sql, parameters) : within(() => this.#trace(sql, parameters))
  }

  #trace<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const { trace } = this.#host
    if (trace === undefined) return this.#execute(sql, parameters)
    return trace.statement<QueryResult<R>>(
      sql,
      parameters,
      ({ rows, numAffectedRows }) => Number(numAffectedRows ?? rows.length),
      () => this.#execute(sql, parameters),
    )
  }

  #execute<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    this.#host.checkTime()
    const statement = this.#prepare(sql)
    const { observer } = this.#host
    if (observer === undefined || statement.readonly) return runStatement(statement, parameters)
    const position = SCHEMA_CHANGE.test(sql) ? observer.beforeSchemaChange() : observer.prepare()
    let result: QueryResult<R>
    try {
      result = runStatement(statement, parameters)
    } catch (error) {
      // SQLite undoes a failed statement; the transaction may go on.
      observer.rollbackTo(position)
      throw error
    }
    observer.afterStatement()
    return result
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const statement = this.#prepare(query.sql)
    const { trace } = this.#host
    const begun = performance.now()
    let rows = 0
    try {
      for (const row of statement.iterate(query.parameters)) {
        rows++
        yield { rows: [row as R] }
      }
    } finally {
      // Includes the time of the caller between rows.
      trace?.streamed({ sql: query.sql, parameters: query.parameters, duration: performance.now() - begun, rows })
    }
  }
}

export function endedError(cause?: unknown): Error {
  return new Error('The database has ended the transaction, after a failure.', { cause })
}

export function countChanges({ changes }: RawResult): number {
  return changes
}

function runStatement<R>(statement: PreparedQuery, parameters: readonly unknown[]): QueryResult<R> {
  if (statement.reader) return { rows: statement.all(parameters) as R[] }
  const { changes, lastInsertRowid } = statement.run(parameters)
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
}
