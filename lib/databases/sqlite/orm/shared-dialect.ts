/** Shares the engine's open database with MikroORM's Kysely. */
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { DatabaseIntrospector, Dialect, DialectAdapter, Driver, Kysely, QueryCompiler } from 'kysely'
import type { AddedFilters } from '../../../model/added-filters.ts'
import type { ConnectionHost } from './connection-host.ts'
import { SharedDriver } from './shared-driver.ts'

export class SharedSqliteDialect implements Dialect {
  readonly host: ConnectionHost
  readonly filters: AddedFilters | undefined
  readonly #driver: SharedDriver

  /** @param filters of the entity manager, where MikroORM has the dialect */
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

/** Keeps Kysely from adding a mutex: `acquireConnection` has the lock, and lets nested work in. */
class ManyConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}
