/**
 * Lent dialect: lends the sessions of the engine to MikroORM, as a dialect of Kysely. Inside an open transaction, MikroORM gets the session of that, where a new
 * transaction is a savepoint.
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
import { TypeOverrides } from 'pg'
import type { PoolClient, QueryResult as ServerResult } from 'pg'
import type { Clock } from '../../base/clock.ts'
import type { Trace } from '../../base/trace.ts'
import { isLost, nulError, uncertain } from '../server/errors.ts'
import { command, parseArray } from '../server/sessions.ts'
import type { Sessions } from '../server/sessions.ts'
import type { Transactions } from '../server/transactions.ts'

/** What the engine lends MikroORM. */
export interface OrmHost {
  readonly sessions: Sessions
  readonly transactions: Transactions
  readonly clock: () => Clock | undefined
  /** The trace of the request that the caller runs in, if it has one. */
  readonly trace: () => Trace | undefined
}

const TYPES = new TypeOverrides()
for (const [oid, parse] of Object.entries(createPostgreSqlTypeParsers(parseArray as never)))
  TYPES.setTypeParser(Number(oid), parse as never)

/** Statements whose results count the rows that they have changed. */
const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** The number of cursors so far, for their names. */
let cursors = 0

class LentConnection implements DatabaseConnection {
  readonly session: PoolClient
  readonly #host: OrmHost
  /** Whether the session is that of a transaction that was open before. */
  readonly isNested: boolean
  savepoint: string | undefined
  inTransaction = false
  failed: unknown

  constructor(session: PoolClient, host: OrmHost, isNested: boolean) {
    this.session = session
    this.#host = host
    this.isNested = isNested
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    this.#host.transactions.checkTime()
    // A text ends at U+0000 in the protocol of the server.
    if (sql.includes('\0')) throw nulError()
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

  /** Reads rows in pieces by a cursor, which lives in a transaction. */
  async *streamQuery<R>({ sql, parameters }: CompiledQuery, chunkSize = 100): AsyncIterableIterator<QueryResult<R>> {
    const name = `mikro_${++cursors}`
    const isAlone = !this.isNested && this.savepoint === undefined && !this.inTransaction
    if (isAlone) await this.run('begin')
    try {
      await this.executeQuery(CompiledQuery.raw(`declare ${name} no scroll cursor for ${sql}`, [...parameters]))
      for (;;) {
        const result = await this.executeQuery<R>(CompiledQuery.raw(`fetch ${chunkSize} from ${name}`))
        if (result.rows.length === 0) break
        yield result
      }
      await this.run(`close ${name}`)
    } finally {
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
    const session = this.#host.transactions.current?.session
    return session === undefined
      ? new LentConnection(await this.#host.sessions.acquire(), this.#host, false)
      : new LentConnection(session, this.#host, true)
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const { session, isNested, failed } = connection as LentConnection
    if (!isNested) this.#host.sessions.release(session, failed)
  }

  async beginTransaction(connection: DatabaseConnection, { isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    const lent = connection as LentConnection
    try {
      if (lent.isNested) {
        lent.savepoint = `mikro_${++this.#savepoints}`
        await lent.run(`savepoint ${lent.savepoint}`)
        return
      }
      const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`
      await lent.run(`begin${level}${accessMode === undefined ? '' : ` ${accessMode}`}`)
      lent.inTransaction = true
      this.#host.transactions.begun(lent.session)
    } catch (error) {
      // Kysely would never give back a connection whose `begin` failed.
      await this.releaseConnection(lent)
      throw error
    }
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const lent = connection as LentConnection
    if (lent.savepoint !== undefined) {
      await lent.run(`release savepoint ${lent.savepoint}`)
      return
    }
    let result: ServerResult
    try {
      result = await lent.run('commit')
    } catch (error) {
      throw isLost(error) ? uncertain(error) : error
    }
    lent.inTransaction = false
    // The server answers so where a statement had failed before.
    if (result.command === 'ROLLBACK') throw new Error('The transaction was rolled back, since one of its statements had failed.')
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const lent = connection as LentConnection
    if (lent.savepoint === undefined) {
      lent.inTransaction = false
      // Kysely would never give back a connection whose `rollback` failed. The server rolls back by itself what a connection leaves behind.
      await lent.run('rollback').catch(() => this.#host.sessions.discard(lent.session))
      return
    }
    await lent.run(`rollback to savepoint ${lent.savepoint}`)
    await lent.run(`release savepoint ${lent.savepoint}`)
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await (connection as LentConnection).run(`savepoint "${name}"`)
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await (connection as LentConnection).run(`rollback to savepoint "${name}"`)
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await (connection as LentConnection).run(`release savepoint "${name}"`)
  }

  /** The sessions are the engine's; they are closed there. */
  async destroy(): Promise<void> {}
}

export class LentDialect implements Dialect {
  readonly host: OrmHost

  constructor(host: OrmHost) {
    this.host = host
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
