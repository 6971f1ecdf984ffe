/**
 * Kysely dialect: lends our handle to MikroORM, whose SQL runs through Kysely. Unlike Kysely's own SQLite dialect it caches prepared statements,
 * keeps 64-bit integers exact, shares one lock with the engine's own reads, lets code inside a transaction in again instead of waiting for itself
 * for ever, and gives the lock back when `begin` fails.
 */
import type { Transaction } from '@mikro-orm/core'
import { ControlledTransaction, SingleConnectionProvider, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type {
  CompiledQuery,
  DatabaseConnection,
  DatabaseIntrospector,
  Dialect,
  DialectAdapter,
  Driver,
  Kysely,
  QueryCompiler,
  QueryResult,
} from 'kysely'
import { chain } from '../../base/awaitable.ts'
import type { Awaitable } from '../../base/awaitable.ts'
import type { Clock } from '../../base/clock.ts'
import type { Trace } from '../../base/trace.ts'
import { whenFree } from '../database/busy.ts'
import { SCHEMA_CHANGE } from '../database/sqlite-database.ts'
import type { PreparedQuery } from '../database/prepared.ts'

/** What is told of transactions and of statements that write; see recorder.ts. */
export interface WriteObserver {
  readonly position: number
  prepare(): void
  begin(): void
  savepoint(savepoint: string): void
  rollbackTo(to: string | number): void
  beforeCommit(): void
  afterCommit(): void
  rollback(): void
  afterStatement(): void
  beforeSchemaChange(): void
}

/** The right to use the connection; `nested` when the caller is inside a transaction already. */
export interface Entered {
  readonly release: () => void
  readonly nested: boolean
}

/** What the dialect needs of the open database. */
export interface ConnectionHost {
  /** Whether nothing can be written. */
  readonly readOnly: boolean
  /** Whether a transaction is open. SQLite ends one by itself when the disk is full, or fails. */
  readonly inTransaction: boolean
  /** Set where somebody wants to know of the rows that change. */
  readonly observer: WriteObserver | undefined
  /** The trace of the request that the caller runs in, if it has one. */
  readonly trace: Trace | undefined
  /** The right to use the connection: at once when it is free. */
  enter(signal?: AbortSignal): Awaitable<Entered>
  prepare(sql: string): PreparedQuery
  /** Refuses another statement when the time of the request is over that the caller runs in. */
  checkTime(): void
  /** A transaction has begun. */
  begun(): void
  /** Is told before anything is written. */
  writing(): void
  /** Is told before a transaction is committed, and throws where that would be in vain. */
  committing(): void
  /** Whether the engine counts keys of some tables. */
  readonly counts: boolean
  /** The key of a new row, where the engine counts. See autoincrement.ts. */
  nextKey(table: string): number | bigint | undefined
  /** A new row brings its key. */
  giveKey(table: string, key: number | bigint): void
  /** The next number of a column that is not the key, for what PostgreSQL takes from a sequence. */
  nextNumber(table: string, column: string): bigint
  /** The clock of the engine, once there is one. */
  clock(): Clock | undefined
  /** Runs a transaction such that all that is called inside it knows of it; `begin` tells when it has begun. */
  transactional<T>(begin: (entered: (trx: Transaction) => void) => Promise<T>): Promise<T>
}

export class SharedSqliteDialect implements Dialect {
  readonly lender: ConnectionHost
  readonly #driver: LentDriver

  constructor(lender: ConnectionHost) {
    this.lender = lender
    this.#driver = new LentDriver(lender)
  }

  createDriver(): Driver {
    return this.#driver
  }

  /** Begins a transaction: what Kysely's own `startTransaction` does in a dozen turns of the queue of promises. */
  async begin(client: Kysely<unknown>): Promise<ControlledTransaction<unknown>> {
    const since = performance.now()
    const entered = this.lender.enter()
    const connection = new SharedConnection(this.lender, entered instanceof Promise ? await entered : entered, since)
    const begun = this.#driver.begin(connection)
    if (begun instanceof Promise) await begun
    return this.#controlled(connection, client)
  }

  /** A transaction to be begun again and again, by whoever has the right to use the connection. */
  standing(client: Kysely<unknown>): ReusableTransaction {
    const connection = new SharedConnection(this.lender, STANDING, 0)
    return new ReusableTransaction(this.#driver, connection, this.#controlled(connection, client))
  }

  #controlled(connection: SharedConnection, client: Kysely<unknown>): ControlledTransaction<unknown> {
    const transaction = new ControlledTransaction<unknown>({
      config: { dialect: this },
      dialect: this,
      driver: this.#driver,
      executor: client.getExecutor().withConnectionProvider(new SingleConnectionProvider(connection)),
      connection: { connection, release: () => connection.release() },
    })
    connections.set(transaction, connection)
    return transaction
  }

  createQueryCompiler(): QueryCompiler {
    return new SqliteQueryCompiler()
  }

  createAdapter(): DialectAdapter {
    return new ManyConnectionsAdapter()
  }

  // eslint-disable-next-line typescript/no-explicit-any -- the signature of Kysely's interface
  createIntrospector(db: Kysely<any>): DatabaseIntrospector {
    return new SqliteIntrospector(db)
  }
}

const STANDING: Entered = Object.freeze({ release: () => {}, nested: false })

/** A transaction that begins and ends without anybody waiting: what Kysely would make anew for each of them stays. */
export class ReusableTransaction {
  readonly #driver: LentDriver
  readonly #connection: SharedConnection
  /** What MikroORM runs statements in. */
  readonly handle: Transaction

  constructor(driver: LentDriver, connection: SharedConnection, handle: Transaction) {
    this.#driver = driver
    this.#connection = connection
    this.handle = handle
  }

  /** @throws at once when another process has locked the file. */
  begin(): void {
    this.#driver.beginAtOnce(this.#connection)
  }

  commit(): Awaitable<void> {
    return this.#driver.commit(this.#connection)
  }

  rollback(): void {
    this.#driver.rollback(this.#connection)
  }
}

/** The connections of the transactions that are begun here, and of their savepoints. */
const connections = new WeakMap<object, SharedConnection>()

/** Tells that a savepoint runs on the connection of another transaction. */
export function sameConnection(savepoint: Transaction, outer: Transaction): void {
  const connection = connections.get(outer as object)
  if (connection !== undefined) connections.set(savepoint as object, connection)
}

/** The connection of a transaction that is open, where a statement can run at once. */
export function connectionOf(transaction: Transaction): SharedConnection | undefined {
  const connection = connections.get(transaction as object)
  const { isCommitted, isRolledBack } = transaction as ControlledTransaction<unknown>
  // Kysely has the error for what has ended, and lets others wait until a stream of rows ends.
  return connection === undefined || isCommitted || isRolledBack || connection.streams > 0 ? undefined : connection
}

/** Tells Kysely not to put a mutex of its own in front of the driver: the lock is in `acquireConnection`, where it can be entered again. */
class ManyConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class LentDriver implements Driver {
  readonly #lender: ConnectionHost
  #savepoints = 0

  constructor(lender: ConnectionHost) {
    this.#lender = lender
  }

  async init(): Promise<void> {}

  async acquireConnection(options?: { signal?: AbortSignal }): Promise<SharedConnection> {
    const since = performance.now()
    return new SharedConnection(this.#lender, await this.#lender.enter(options?.signal), since)
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    ;(connection as SharedConnection).release()
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await this.begin(connection as SharedConnection)
  }

  /** Inside another transaction a new one is a savepoint of it. */
  begin(lent: SharedConnection): Awaitable<void> {
    // Kysely would never give back a connection whose `begin` failed, and everybody after it would wait for ever.
    const failed = (error: unknown): never => {
      lent.release()
      throw error
    }
    try {
      const begun = lent.nested ? this.#mark(lent) : whenFree(() => this.beginAtOnce(lent), lent.since)
      return begun instanceof Promise ? begun.catch(failed) : begun
    } catch (error) {
      return failed(error)
    }
  }

  beginAtOnce(lent: SharedConnection): void {
    this.#lender.observer?.begin()
    // At once, so that another process that writes to the file makes this one wait here instead of failing later.
    lent.run(this.#lender.readOnly ? 'begin' : 'begin immediate')
    lent.inside = true
    this.#lender.begun()
  }

  #mark(lent: SharedConnection): void {
    const { observer } = this.#lender
    observer?.prepare()
    lent.savepoint = `mikro_${++this.#savepoints}`
    lent.run(`savepoint ${lent.savepoint}`)
    observer?.savepoint(lent.savepoint)
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await this.commit(connection as SharedConnection)
  }

  commit(lent: SharedConnection): Awaitable<void> {
    if (lent.savepoint !== undefined) {
      lent.run(`release ${lent.savepoint}`)
      return undefined
    }
    const { observer } = this.#lender
    this.#lender.committing()
    observer?.beforeCommit()
    // Others who read the file let nobody change it.
    return chain(
      whenFree(() => lent.run('commit'), performance.now()),
      () => {
        lent.inside = false
        observer?.afterCommit()
      },
    )
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    this.rollback(connection as SharedConnection)
  }

  rollback(lent: SharedConnection): void {
    const { observer } = this.#lender
    if (lent.savepoint === undefined) {
      lent.inside = false
      if (this.#lender.inTransaction) lent.run('rollback')
      observer?.rollback()
    } else if (this.#lender.inTransaction) {
      lent.run(`rollback to ${lent.savepoint}`)
      lent.run(`release ${lent.savepoint}`)
      observer?.rollbackTo(lent.savepoint)
    }
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    ;(connection as SharedConnection).run(`savepoint "${name}"`)
    this.#lender.observer?.savepoint(name)
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    ;(connection as SharedConnection).run(`rollback to "${name}"`)
    this.#lender.observer?.rollbackTo(name)
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    ;(connection as SharedConnection).run(`release "${name}"`)
  }

  /** The handle is the engine's; it is closed there. */
  async destroy(): Promise<void> {}
}

export class SharedConnection implements DatabaseConnection {
  readonly #lender: ConnectionHost
  readonly release: () => void
  readonly nested: boolean
  /** When it was asked for, by performance.now(). */
  readonly since: number
  /** Whether a transaction of its own is open. */
  inside = false
  savepoint: string | undefined
  /** How many streams of rows are open. */
  streams = 0

  constructor(lender: ConnectionHost, { release, nested }: Entered, since: number) {
    this.since = since
    this.#lender = lender
    this.release = release
    this.nested = nested
  }

  run(sql: string): void {
    const { trace } = this.#lender
    if (trace === undefined) this.#prepare(sql).run([])
    else
      trace.statement(
        sql,
        [],
        ({ changes }) => changes,
        () => this.#prepare(sql).run([]),
      )
  }

  #prepare(sql: string): PreparedQuery {
    // What follows would be committed by itself.
    if ((this.inside || this.nested) && !this.#lender.inTransaction)
      throw new Error('The database has ended the transaction, after a failure.')
    const statement = this.#lender.prepare(sql)
    if (!statement.readonly) this.#lender.writing()
    return statement
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return this.inside || this.nested ? this.execute(sql, parameters) : whenFree(() => this.execute<R>(sql, parameters), this.since)
  }

  execute<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const { trace } = this.#lender
    if (trace === undefined) return this.#execute(sql, parameters)
    return trace.statement<QueryResult<R>>(
      sql,
      parameters,
      ({ rows, numAffectedRows }) => Number(numAffectedRows ?? rows.length),
      () => this.#execute(sql, parameters),
    )
  }

  #execute<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    this.#lender.checkTime()
    const statement = this.#prepare(sql)
    const { observer } = this.#lender
    if (observer === undefined || statement.readonly) return resultOf(statement, parameters)
    if (SCHEMA_CHANGE.test(sql)) observer.beforeSchemaChange()
    else observer.prepare()
    const { position } = observer
    let result: QueryResult<R>
    try {
      result = resultOf(statement, parameters)
    } catch (error) {
      // SQLite undoes a statement that fails; the transaction may go on.
      observer.rollbackTo(position)
      throw error
    }
    observer.afterStatement()
    return result
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const statement = this.#prepare(query.sql)
    const { trace } = this.#lender
    const begun = performance.now()
    let rows = 0
    this.streams++
    try {
      for (const row of statement.iterate(query.parameters)) {
        rows++
        yield { rows: [row as R] }
      }
    } finally {
      this.streams--
      // Its time is that of whoever takes the rows as well.
      trace?.streamed({ sql: query.sql, parameters: query.parameters, duration: performance.now() - begun, rows })
    }
  }
}

function resultOf<R>(statement: PreparedQuery, parameters: readonly unknown[]): QueryResult<R> {
  if (statement.reader) return { rows: statement.all(parameters) as R[] }
  const { changes, lastInsertRowid } = statement.run(parameters)
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
}
