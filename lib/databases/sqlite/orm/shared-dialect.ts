/** Shared dialect: shares the open database of the engine with MikroORM, whose SQL runs through Kysely. */
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { DatabaseIntrospector, Dialect, DialectAdapter, Driver, Kysely, QueryCompiler } from 'kysely'
import type { Awaitable } from '../../../foundation/base/awaitable.ts'
import type { AddedFilters } from '../../../model/added-filters.ts'
import type { ConnectionHost, Entered } from './connection-host.ts'
import { SharedConnection } from './shared-connection.ts'
import { SharedDriver } from './shared-driver.ts'

export class SharedSqliteDialect implements Dialect {
  readonly host: ConnectionHost
  readonly filters: AddedFilters | undefined
  readonly #driver: SharedDriver

  /** @param filters those of the entity manager; undefined where MikroORM is not given the dialect */
  constructor(host: ConnectionHost, filters?: AddedFilters) {
    this.host = host
    this.filters = filters
    this.#driver = new SharedDriver(host)
  }

  createDriver(): Driver {
    return this.#driver
  }

  /** A transaction to be begun again and again, by whoever has the right to use the connection. MikroORM runs nothing in it. */
  alone(): ReusableTransaction {
    return new ReusableTransaction(this.host, this.#driver)
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

/** A transaction that begins and ends without anybody waiting. */
export class ReusableTransaction {
  readonly #host: ConnectionHost
  readonly #driver: SharedDriver
  readonly #connection: SharedConnection

  constructor(host: ConnectionHost, driver: SharedDriver) {
    this.#host = host
    this.#driver = driver
    this.#connection = new SharedConnection(host, STANDING, 0)
  }

  /** @throws at once when another process has locked the file. */
  begin(): void {
    this.#host.observer?.begin()
    // At once, so that another process that writes to the file waits here.
    this.#connection.run('begin immediate')
    this.#connection.inside = true
  }

  commit(): Awaitable<void> {
    return this.#driver.commit(this.#connection)
  }

  rollback(): void {
    this.#driver.rollback(this.#connection)
  }
}

/** Keeps Kysely from putting a mutex of its own in front of the driver: the lock is in `acquireConnection`, where it can be entered again. */
class ManyConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}
