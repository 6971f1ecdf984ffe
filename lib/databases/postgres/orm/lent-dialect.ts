/**
 * Lends the engine's sessions to MikroORM, as a dialect of Kysely. In an open transaction, MikroORM gets the same session, with savepoints.
 */
import { createPostgreSqlTypeParsers } from '@mikro-orm/postgresql'
import { CompiledQuery, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type {
  DatabaseConnection,
  DatabaseIntrospector,
  Dialect,
  DialectAdapter,
  Driver,
  Kysely,
  QueryCompiler,
  QueryResult,
  TransactionSettings,
} from 'kysely'
import { TypeOverrides, type PoolClient, type QueryResult as ServerResult } from 'pg'
import type { Clock } from '../../../foundation/async/clock.ts'
import type { Trace } from '../../../foundation/async/trace.ts'
import type { AddedFilters } from '../../../model/added-filters.ts'
import { name } from '../../sql/sql.ts'
import { commit, type WriteObserver } from '../server/commit.ts'
import { nulError } from '../server/errors.ts'
import type { WriteGate } from '../server/gate.ts'
import { isLent } from '../server/lent-settings.ts'
import { command, parseArray, type Sessions } from '../server/sessions.ts'
import type { Transactions } from '../server/transactions.ts'

export interface OrmHost {
  readonly sessions: Sessions
  readonly transactions: Transactions
  /** MikroORM waits while all data are replaced. */
  readonly gate: WriteGate
  /** `undefined` where nothing notes changed rows. */
  readonly observer: () => WriteObserver | undefined
  readonly clock: () => Clock | undefined
  readonly trace: () => Trace | undefined
}

const TYPES = new TypeOverrides()
for (const [oid, parse] of Object.entries(createPostgreSqlTypeParsers(parseArray))) TYPES.setTypeParser(Number(oid), parse)

// Points, circles and elements of numeric[] stay texts.
for (const oid of [600, 718]) TYPES.setTypeParser(oid, text => text)
TYPES.setTypeParser(1231, parseArray)

/** Outside of a known transaction. */
const WRITES = /^\s*(?:insert|update|delete|merge|with|truncate)\b/i

const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

let cursorCount = 0

class LentConnection implements DatabaseConnection {
  readonly session: PoolClient
  readonly #host: OrmHost
  /** In an open transaction. */
  readonly isNested: boolean
  savepoint: string | undefined
  inTransaction = false
  isStreaming = false
  isReleased = false
  failed: unknown

  constructor(session: PoolClient, host: OrmHost, isNested: boolean) {
    this.session = session
    this.#host = host
    this.isNested = isNested
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#host.transactions.checkTime()
    // In the protocol, U+0000 ends a text.
    if ([query.sql, ...query.parameters].some(text => typeof text === 'string' && text.includes('\0'))) throw nulError()
    const observer = this.isNested || this.inTransaction ? undefined : this.#host.observer()
    if (observer?.isAsked === true && WRITES.test(query.sql)) return this.#executeAlone(query, observer)
    return isLent(this.session) && !this.isNested && !this.inTransaction && !this.isStreaming
      ? this.#executeAlone(query, undefined)
      : this.#execute(query)
  }

  /** In a transaction: keeps changes apart, and gives a pooler's session the settings. */
  async #executeAlone<R>(query: CompiledQuery, observer: WriteObserver | undefined): Promise<QueryResult<R>> {
    await this.run('begin')
    observer?.begin(this.session)
    try {
      const result = await this.#execute<R>(query)
      await observer?.beforeCommit(this.session)
      await this.run('commit')
      await observer?.afterCommit(this.session)
      return result
    } catch (error) {
      observer?.rollback(this.session)
      await this.run('rollback').catch(() => this.#host.sessions.discard(this.session))
      throw error
    }
  }

  async #execute<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    this.#host.observer()?.writes(this.session, false)
    const trace = this.#host.trace()
    const before = trace?.enter('sql')
    const begun = performance.now()
    let result: ServerResult | undefined
    try {
      result = await this.session.query({ text: sql, values: parameters as unknown[], types: TYPES })
    } catch (error) {
      this.failed = error
      throw error
    } finally {
      trace?.streamed({ sql, parameters, duration: performance.now() - begun, rows: result?.rowCount ?? undefined })
      if (before !== undefined) trace!.enter(before)
    }
    const rows = (result.rows ?? []) as R[]
    return CHANGES.has(result.command) ? { rows, numAffectedRows: BigInt(result.rowCount ?? 0) } : { rows }
  }

  async *streamQuery<R>({ sql, parameters }: CompiledQuery, chunkSize = 100): AsyncIterableIterator<QueryResult<R>> {
    const cursor = `mikro_${++cursorCount}`
    const isAlone = !this.isNested && this.savepoint === undefined && !this.inTransaction
    if (isAlone) await this.run('begin')
    this.isStreaming = true
    try {
      await this.executeQuery(CompiledQuery.raw(`declare ${cursor} no scroll cursor for ${sql}`, [...parameters]))
      for (;;) {
        const result = await this.executeQuery<R>(CompiledQuery.raw(`fetch ${chunkSize} from ${cursor}`))
        if (result.rows.length === 0) break
        yield result
      }
      await this.run(`close ${cursor}`)
    } finally {
      this.isStreaming = false
      if (isAlone) await this.run('commit')
    }
  }

  async run(text: string): Promise<ServerResult> {
    try {
      return await command(this.session, text)
    } catch (error) {
      this.failed = error
      throw error
    }
  }
}

class LentDriver implements Driver {
  readonly #host: OrmHost
  #savepoints = 0

  constructor(host: OrmHost) {
    this.#host = host
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<LentConnection> {
    const { transactions, sessions, gate } = this.#host
    const session = transactions.current?.session
    if (session !== undefined) return new LentConnection(session, this.#host, true)
    await gate.enter()
    try {
      return new LentConnection(await sessions.acquire(), this.#host, false)
    } catch (error) {
      gate.leave()
      throw error
    }
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const lent = connection as LentConnection
    if (lent.isNested || lent.isReleased) return
    lent.isReleased = true
    this.#host.sessions.release(lent.session, lent.failed)
    this.#host.gate.leave()
  }

  async beginTransaction(connection: DatabaseConnection, { isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    const lent = connection as LentConnection
    try {
      if (lent.isNested) {
        lent.savepoint = `mikro_${++this.#savepoints}`
        await this.#makeSavepoint(lent, lent.savepoint)
        return
      }
      const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`
      await lent.run(`begin${level}${accessMode === undefined ? '' : ` ${accessMode}`}`)
      lent.inTransaction = true
      this.#host.observer()?.begin(lent.session)
      this.#host.transactions.begun(lent.session)
    } catch (error) {
      // After a failed `begin`, Kysely never gives back the connection.
      await this.releaseConnection(lent)
      throw error
    }
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const lent = connection as LentConnection
    const observer = this.#host.observer()
    if (lent.savepoint !== undefined) {
      await observer?.release(lent.session, lent.savepoint)
      await lent.run(`release savepoint ${lent.savepoint}`)
      return
    }
    try {
      await commit(lent.session, observer)
    } catch (error) {
      lent.failed = error
      throw error
    }
    lent.inTransaction = false
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const lent = connection as LentConnection
    if (lent.savepoint === undefined) {
      lent.inTransaction = false
      this.#host.observer()?.rollback(lent.session)
      // After a failed `rollback`, Kysely never gives back the connection. The server rolls back a discarded session.
      await lent.run('rollback').catch(() => this.#host.sessions.discard(lent.session))
      return
    }
    await this.#goBackTo(lent, lent.savepoint)
    await lent.run(`release savepoint ${lent.savepoint}`)
  }

  async #makeSavepoint(lent: LentConnection, savepoint: string): Promise<void> {
    await this.#host.observer()?.savepoint(lent.session, savepoint)
    await lent.run(`savepoint ${name(savepoint)}`)
  }

  async #goBackTo(lent: LentConnection, savepoint: string): Promise<void> {
    await lent.run(`rollback to savepoint ${name(savepoint)}`)
    this.#host.observer()?.rollbackTo(lent.session, savepoint)
  }

  savepoint(connection: DatabaseConnection, savepoint: string): Promise<void> {
    return this.#makeSavepoint(connection as LentConnection, savepoint)
  }

  rollbackToSavepoint(connection: DatabaseConnection, savepoint: string): Promise<void> {
    return this.#goBackTo(connection as LentConnection, savepoint)
  }

  async releaseSavepoint(connection: DatabaseConnection, savepoint: string): Promise<void> {
    const lent = connection as LentConnection
    await this.#host.observer()?.release(lent.session, savepoint)
    await lent.run(`release savepoint ${name(savepoint)}`)
  }

  /** The engine closes the sessions. */
  async destroy(): Promise<void> {}
}

export class LentDialect implements Dialect {
  readonly host: OrmHost
  /** Filters by `addFilter`. */
  readonly filters: AddedFilters

  constructor(host: OrmHost, filters: AddedFilters) {
    this.host = host
    this.filters = filters
  }

  createDriver(): Driver {
    return new LentDriver(this.host)
  }

  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler()
  }

  createAdapter(): DialectAdapter {
    return new PostgresAdapter()
  }

  // eslint-disable-next-line typescript/no-explicit-any -- the signature of Kysely's interface
  createIntrospector(db: Kysely<any>): DatabaseIntrospector {
    return new PostgresIntrospector(db)
  }
}
