/**
 * Lends the engine's open database and lock to MikroORM, as a dialect of Kysely. Nested transactions are savepoints. MikroORM has the
 * dialect as `driverOptions`, where `corrected-manager.ts` finds `filters`.
 */
import {
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { AddedFilters } from '../../../model/added-filters.ts'
import type { ConnectionHost } from './connection-host.ts'
import type { Awaitable } from '../../../foundation/async/awaitable.ts'
import { whenFree } from '../database/busy.ts'
import { SharedConnection } from './shared-connection.ts'

export class SharedSqliteDialect implements Dialect {
  readonly host: ConnectionHost
  readonly filters: AddedFilters | undefined
  readonly #driver: SharedDriver

  /** @param filters that the application adds to the entity manager */
  constructor(host: ConnectionHost, filters?: AddedFilters) {
    this.host = host
    this.filters = filters
    this.#driver = new SharedDriver(host)
  }

  createDriver(): Driver {
    return this.#driver
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

/** Kysely would add a mutex, but `acquireConnection` takes the lock, and lets nested work in. */
class ManyConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class SharedDriver implements Driver {
  readonly #host: ConnectionHost
  #savepoints = 0

  constructor(host: ConnectionHost) {
    this.#host = host
  }

  async init(): Promise<void> {}

  async acquireConnection(options?: { signal?: AbortSignal }): Promise<SharedConnection> {
    const since = performance.now()
    return new SharedConnection(this.#host, await this.#host.enter(options?.signal), since)
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    ;(connection as SharedConnection).release()
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await this.begin(connection as SharedConnection)
  }

  begin(connection: SharedConnection): Awaitable<void> {
    // If `begin` fails, Kysely does not release the connection.
    const failed = (error: unknown): never => {
      connection.release()
      throw error
    }
    try {
      const begun = connection.nested ? this.#mark(connection) : whenFree(() => this.beginAtOnce(connection), connection.since)
      return begun instanceof Promise ? begun.catch(failed) : begun
    } catch (error) {
      return failed(error)
    }
  }

  beginAtOnce(connection: SharedConnection): void {
    this.#host.observer?.begin()
    // Waits for other writers at the begin, not at the first write.
    connection.run(this.#host.readOnly ? 'begin' : 'begin immediate')
    connection.inside = true
    this.#host.begun()
  }

  #mark(connection: SharedConnection): void {
    const { observer } = this.#host
    observer?.prepare()
    connection.savepoint = `mikro_${++this.#savepoints}`
    connection.run(`savepoint ${connection.savepoint}`)
    observer?.savepoint(connection.savepoint)
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await this.commit(connection as SharedConnection)
  }

  commit(connection: SharedConnection): Awaitable<void> {
    if (connection.savepoint !== undefined) {
      connection.run(`release ${connection.savepoint}`)
      return undefined
    }
    const { observer } = this.#host
    this.#host.committing()
    observer?.beforeCommit()
    // A commit waits while other processes read the file.
    const committed = whenFree(() => connection.commit())
    return committed instanceof Promise ? committed.then(() => this.#committed(connection)) : this.#committed(connection)
  }

  #committed(connection: SharedConnection): void {
    connection.inside = false
    this.#host.observer?.afterCommit()
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    this.rollback(connection as SharedConnection)
  }

  rollback(connection: SharedConnection): void {
    const { observer } = this.#host
    if (connection.savepoint === undefined) {
      connection.inside = false
      if (this.#host.inTransaction) connection.run('rollback')
      observer?.rollback()
    } else if (this.#host.inTransaction) {
      connection.run(`rollback to ${connection.savepoint}`)
      connection.run(`release ${connection.savepoint}`)
      observer?.rollbackTo(connection.savepoint)
    }
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    ;(connection as SharedConnection).run(`savepoint "${name}"`)
    this.#host.observer?.savepoint(name)
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    ;(connection as SharedConnection).run(`rollback to "${name}"`)
    this.#host.observer?.rollbackTo(name)
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    ;(connection as SharedConnection).run(`release "${name}"`)
  }

  /** The engine closes the handle. */
  async destroy(): Promise<void> {}
}
