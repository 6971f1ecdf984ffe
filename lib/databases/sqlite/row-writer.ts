/** Writes rows without MikroORM's unit of work; checks the file's place, calls the recorder and traces. */
import type { RawResult } from './driver/raw-database.ts'
import type { MikroORM } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Statement } from '../../records/database/dialect.ts'
import type { BehindWrite, RowsWritten } from '../../records/database/connection.ts'
import type { StoredTable } from '../../model/stored-table.ts'
import type { Content } from './content.ts'
import { whenFree } from './database/busy.ts'
import type { Observers } from './observers.ts'
import type { BoundSqliteDriver } from './orm/driver.ts'
import { countChanges, endedError } from './orm/shared-connection.ts'
import { writeUnbound } from '../sql/write-unbound.ts'
import { UnboundValue } from '../../records/database/unbound-value.ts'
import type { Transactions } from './transactions.ts'

const NONE: readonly unknown[] = []

export class RowWriter {
  readonly #content: Content
  readonly #transactions: Transactions
  readonly #observers: Observers
  readonly #host: { readonly orm: MikroORM }

  constructor(content: Content, transactions: Transactions, observers: Observers, host: { readonly orm: MikroORM }) {
    this.#content = content
    this.#transactions = transactions
    this.#observers = observers
    this.#host = host
  }

  /** See `Connection.takeKey`. */
  takeKey({ table }: StoredTable, given: unknown): number | bigint | undefined {
    const { keys, handle } = this.#content
    if (!keys.counts(table)) return undefined
    this.#transactions.begin()
    if (given === undefined) return keys.next(handle.db, table)
    if (typeof given === 'bigint' || Number.isSafeInteger(given)) keys.give(table, BigInt(given as number))
    return undefined
  }

  /**
   * The caller holds the lock.
   *
   * @throws at once when another process has locked the file.
   */
  begin(sharesCheck: boolean): void {
    this.#observers.recorder?.begin()
    this.#content.writing({ sharesCheck })
    // `immediate` waits for other writers here, not in a later statement.
    this.#send('begin immediate', NONE)
  }

  commit(sharesCheck: boolean): Awaitable<void> {
    const { recorder } = this.#observers
    const { place } = this.#content.handle
    place?.checkWrite(sharesCheck)
    recorder?.beforeCommit()
    // While others read a file, nobody may change the file.
    const committed = place === undefined ? this.#end() : whenFree(this.#end)
    return committed instanceof Promise ? committed.then(() => recorder?.afterCommit()) : recorder?.afterCommit()
  }

  /** After a failure, SQLite may have ended the transaction. */
  readonly #end = (): void => {
    try {
      this.#send('commit', NONE)
    } catch (error) {
      throw this.#content.handle.db.inTransaction ? error : endedError(error)
    }
  }

  rollback(): void {
    if (this.#content.handle.db.inTransaction) this.#send('rollback', NONE)
    this.#observers.recorder?.rollback()
  }

  /** See `Connection.run`. */
  run({ sql }: Statement, parameters: readonly unknown[], behind: BehindWrite): RowsWritten {
    const { handle } = this.#content
    // A last statement needs no transaction, unless a trigger may drop the row: such a write is refused, and rolled back.
    this.#transactions.begin(behind === 'nothing' && handle.isInMemory && !handle.hasTriggers())
    const { em } = this.#host.orm
    const { recorder } = this.#observers
    const position = recorder?.position
    try {
      const bound = UnboundValue.areMade ? writeUnbound(sql, parameters, em.getPlatform()) : { sql, parameters }
      const text = em.config.get('onQuery')(bound.sql, bound.parameters)
      recorder?.prepare()
      const { changes, lastInsertRowid } = this.#send(text, bound.parameters)
      if (behind === 'nothing') recorder?.afterStatement()
      const counted = BigInt(lastInsertRowid)
      return changes < 2 ? { rows: changes, counted } : { rows: changes, counted, keys: () => countBack(counted, changes) }
    } catch (error) {
      // SQLite undoes a failed statement.
      if (position !== undefined) recorder?.rollbackTo(position)
      throw (em.getDriver() as BoundSqliteDriver).convertException(error as Error)
    }
  }

  #send(sql: string, parameters: readonly unknown[]): RawResult {
    if (this.#content.mayLag) this.#content.followClock()
    const trace = this.#observers.traces?.current
    const statement = this.#content.handle.prepare(sql)
    return trace === undefined ? statement.run(parameters) : trace.statement(sql, parameters, countChanges, () => statement.run(parameters))
  }
}

/** Keys are in sequence where no trigger inserts rows. */
function countBack(last: bigint, rows: number): readonly bigint[] {
  return Array.from({ length: rows }, (_, index) => last - BigInt(rows - 1 - index))
}
