/** Lends the open database to MikroORM, with lock, counted keys and clock. */
import type { Transaction } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { isDateReplaced, type Clock } from '../../foundation/async/clock.ts'
import type { Trace } from '../../foundation/async/trace.ts'
import type { Content } from './content.ts'
import type { PreparedQuery } from './database/sqlite-database.ts'
import type { Observers } from './observers.ts'
import type { ConnectionHost, Entered, WriteObserver } from './orm/connection-host.ts'
import type { Transactions } from './transactions.ts'

export class OrmHost implements ConnectionHost {
  readonly #content: Content
  readonly #transactions: Transactions
  readonly #observers: Observers

  constructor(content: Content, transactions: Transactions, observers: Observers) {
    this.#content = content
    this.#transactions = transactions
    this.#observers = observers
  }

  get counts(): boolean {
    return this.#content.keys.counters.size > 0
  }

  get readOnly(): boolean {
    return this.#content.handle.readOnly
  }

  get inTransaction(): boolean {
    return this.#content.handle.db.inTransaction
  }

  get observer(): WriteObserver | undefined {
    return this.#observers.recorder
  }

  get trace(): Trace | undefined {
    return this.#observers.traces?.current
  }

  get within(): ConnectionHost['within'] {
    return this.#transactions.within
  }

  checkTime(): void {
    this.#transactions.checkTime()
  }

  prepare(sql: string): PreparedQuery {
    if (this.#content.isBehind || isDateReplaced()) this.#content.followClock()
    return this.#content.handle.prepare(sql)
  }

  begun(): void {
    this.#transactions.begun()
  }

  writing(): void {
    this.#content.writing()
  }

  committing(): void {
    this.#content.handle.place?.check()
  }

  nextKey(table: string): number | bigint | undefined {
    const key = this.#content.keys.next(this.#content.handle.db, table)
    return key !== undefined && Number.isSafeInteger(Number(key)) ? Number(key) : key
  }

  giveKey(table: string, key: bigint): void {
    this.#content.keys.give(table, key)
  }

  nextNumber(table: string, column: string): bigint {
    return this.#content.handle.nextNumber(table, column)
  }

  findUsedUp(): string | undefined {
    return this.#content.handle.findUsedUp()
  }

  clock(): Clock | undefined {
    return this.#content.clock
  }

  enter(signal?: AbortSignal): Awaitable<Entered> {
    return this.#transactions.enter(signal)
  }

  transactional<T>(begin: (entered: (trx: Transaction) => void) => Promise<T>): Promise<T> {
    return this.#transactions.transactional(begin)
  }
}
