/** Kysely dialect: shares the open database of the engine with MikroORM, whose SQL runs through Kysely. */
import type { Transaction } from '@mikro-orm/core'
import { ControlledTransaction, SingleConnectionProvider, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { DatabaseIntrospector, Dialect, DialectAdapter, Driver, Kysely, QueryCompiler } from 'kysely'
import type { Awaitable } from '../../base/awaitable.ts'
import type { ConnectionHost, Entered } from './connection-host.ts'
import { SharedConnection, connections } from './shared-connection.ts'
import { SharedDriver } from './shared-driver.ts'

export class SharedSqliteDialect implements Dialect {
  readonly host: ConnectionHost
  readonly #driver: SharedDriver

  constructor(host: ConnectionHost) {
    this.host = host
    this.#driver = new SharedDriver(host)
  }

  createDriver(): Driver {
    return this.#driver
  }

  /** Begins a transaction: what Kysely's own `startTransaction` does in a dozen turns of the queue of promises. */
  async begin(client: Kysely<unknown>): Promise<ControlledTransaction<unknown>> {
    const since = performance.now()
    const entered = this.host.enter()
    const connection = new SharedConnection(this.host, entered instanceof Promise ? await entered : entered, since)
    const begun = this.#driver.begin(connection)
    if (begun instanceof Promise) await begun
    return this.#controlled(connection, client)
  }

  /** A transaction to be begun again and again, by whoever has the right to use the connection. */
  standing(client: Kysely<unknown>): ReusableTransaction {
    const connection = new SharedConnection(this.host, STANDING, 0)
    return new ReusableTransaction(this.#driver, connection, this.#controlled(connection, client))
  }

  /** A transaction to be begun again and again, on whose connection MikroORM runs nothing. */
  alone(): ReusableTransaction {
    return new ReusableTransaction(this.#driver, new SharedConnection(this.host, STANDING, 0))
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
  readonly #driver: SharedDriver
  readonly #connection: SharedConnection
  /** The connection that MikroORM runs statements on, where it runs any. */
  readonly handle?: Transaction

  constructor(driver: SharedDriver, connection: SharedConnection, handle?: Transaction) {
    this.#driver = driver
    this.#connection = connection
    if (handle !== undefined) this.handle = handle
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

/** Keeps Kysely from putting a mutex of its own in front of the driver: the lock is in `acquireConnection`, where it can be entered again. */
class ManyConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}
