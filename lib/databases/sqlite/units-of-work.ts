/**
 * Runs writes in transactions, one at a time: at once where work needs neither entity manager nor wait, else as MikroORM's `transactional`.
 * Also runs the engine's own statements.
 */
import { bindSurroundings } from '../../foundation/async/surroundings.ts'
import { TransactionContext, type EntityManager, type MikroORM } from '@mikro-orm/core'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { isDateReplaced } from '../../foundation/async/clock.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import type { StoredTable } from '../../model/stored-table.ts'
import type { BehindWrite, RowsWritten } from '../../records/database/connection.ts'
import type { Statement } from '../../records/database/dialect.ts'
import { UnboundValue } from '../../records/database/unbound-value.ts'
import type { Content } from './content.ts'
import { isBusy, whenFree } from './database/busy.ts'
import type { RawResult } from './driver/raw-database.ts'
import { Lock } from '../../foundation/async/lock.ts'
import { rememberManager } from '../orm/target-keys.ts'
import type { Observers } from './observers.ts'
import type { BoundSqliteDriver } from './orm/driver.ts'
import { countChanges, endedError } from './orm/shared-connection.ts'
import { writeUnbound } from '../sql/write-unbound.ts'
import type { OrmTransaction, Transactions, WorkAtOnce } from './transactions.ts'

type EntityWork<T> = (em: EntityManager) => Awaitable<T>

const NONE: readonly unknown[] = []

export class UnitsOfWork {
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

  /** See `Connection.write`. */
  async write<T>(work: EntityWork<T>, end?: RequestAbort): Promise<T> {
    this.#content.assertWritable()
    const outer = this.#transactions.current
    const release = outer === undefined ? undefined : await this.#transactions.wait((outer.nested ??= new Lock()).acquire(end?.signal))
    const transaction: OrmTransaction = { outer, open: false, nested: undefined, end: end ?? outer?.end }
    try {
      // A hook's subscribers go with the request, as in MikroORM's own `transactional`.
      const em = this.#host.orm.em.fork({ cloneEventManager: true })
      // MikroORM's current entity manager, for code inside.
      return await this.#transactions.surroundings.run(transaction, () =>
        TransactionContext.create(em, () => this.#transact(em, transaction, work)),
      )
    } finally {
      transaction.open = false
      release?.()
    }
  }

  /** As `em.transactional`, without a second entity manager. */
  async #transact<T>(em: EntityManager, transaction: OrmTransaction, work: EntityWork<T>): Promise<T> {
    const ctx = transaction.outer?.trx
    await em.begin(ctx === undefined ? {} : { ctx })
    const trx = em.getTransactionContext()
    if (trx !== undefined) transaction.trx = trx
    rememberManager(em, trx)
    transaction.open = true
    const end = this.#transactions.keep()
    try {
      const result = await work(em)
      transaction.end?.throwIfReached()
      transaction.end?.checkTime()
      await em.commit()
      return result
    } catch (error) {
      try {
        await em.rollback()
      } catch (failure) {
        this.#warnOfRollback(failure as Error)
      }
      throw error
    } finally {
      end()
    }
  }

  /** See `Connection.transact`. */
  transact<T>(steps: () => Awaitable<T>, end?: RequestAbort, repeatable = false): Awaitable<T> {
    this.#content.assertWritable()
    const { lock, current, surroundings } = this.#transactions
    const { db, place } = this.#content.handle
    if (lock.held || current !== undefined || db.inTransaction) return this.write(steps, end)
    lock.take()
    const sharesCheck = repeatable && place !== undefined && end?.isFromSocket === true
    const work: WorkAtOnce = { outer: undefined, open: true, nested: undefined, end, begun: false, sharesCheck, writer: this }
    // Repeatable work waits for nothing of the application. In memory nobody else writes before.
    const isAlone = repeatable && place === undefined && this.#observers.traces?.current === undefined
    try {
      if (!isAlone) this.begin(work, false)
    } catch (error) {
      this.#leave(work)
      if (isBusy(error)) return this.write(steps, end)
      throw this.#explain(error)
    }
    let result: Awaitable<T>
    try {
      result = repeatable ? surroundings.runAtOnce(work, steps) : surroundings.run(work, steps)
    } catch (error) {
      return this.#fail(work, error)
    }
    if (!(result instanceof Promise)) return this.#commit(work, result)
    return result.then(
      bindSurroundings((value: T) => this.#commit(work, value)),
      bindSurroundings((error: unknown) => this.#fail(work, error)),
    )
  }

  /**
   * The last statement is a transaction by itself, unless a deadline may roll it back.
   *
   * @throws at once when another process has locked the file.
   */
  begin(work: WorkAtOnce, isLast: boolean): void {
    if (work.begun) return
    if (isLast && work.end?.deadline === undefined) return this.#content.writing()
    this.#observers.recorder?.begin()
    this.#content.writing(work.sharesCheck)
    // `immediate` waits for other writers here, not in a later statement.
    this.#send('begin immediate', NONE)
    work.begun = true
  }

  #commit<T>(work: WorkAtOnce, result: T): Awaitable<T> {
    try {
      work.end?.throwIfReached()
      work.end?.checkTime()
      if (work.begun) {
        const { recorder } = this.#observers
        const { place } = this.#content.handle
        place?.checkWrite(work.sharesCheck)
        recorder?.beforeCommit()
        // While others read a file, nobody may change the file.
        const committed = place === undefined ? this.#end() : whenFree(this.#end)
        if (committed instanceof Promise) return this.#finish(work, committed, result)
        recorder?.afterCommit()
      }
    } catch (error) {
      return this.#fail(work, error)
    }
    this.#leave(work)
    return result
  }

  /** After a failure, SQLite may have ended the transaction. */
  readonly #end = (): void => {
    try {
      this.#send('commit', NONE)
    } catch (error) {
      throw this.#content.handle.db.inTransaction ? error : endedError(error)
    }
  }

  async #finish<T>(work: WorkAtOnce, committed: Promise<void>, result: T): Promise<T> {
    try {
      await committed
      this.#observers.recorder?.afterCommit()
    } catch (error) {
      return this.#fail(work, error)
    }
    this.#leave(work)
    return result
  }

  #fail(work: WorkAtOnce, error: unknown): never {
    try {
      if (work.begun) {
        if (this.#content.handle.db.inTransaction) this.#send('rollback', NONE)
        this.#observers.recorder?.rollback()
      }
    } catch (failure) {
      this.#warnOfRollback(failure as Error)
    }
    this.#leave(work)
    throw this.#explain(error)
  }

  #leave(work: WorkAtOnce): void {
    work.open = false
    this.#transactions.lock.release()
  }

  #explain(error: unknown): unknown {
    const { place } = this.#content.handle
    return place === undefined || error instanceof RestError ? error : place.explain(error)
  }

  #warnOfRollback({ message }: Error): void {
    // A failed rollback must not hide the reason.
    this.#host.orm.config.getLogger().warn('query', `Failed to roll back transaction: ${message}`)
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

  /** See `Connection.run`. */
  run({ sql }: Statement, parameters: readonly unknown[], behind: BehindWrite): RowsWritten {
    const { handle } = this.#content
    // A last statement needs no transaction, unless a trigger may drop the row: such a write is refused, and rolled back.
    this.#transactions.begin(behind === 'nothing' && handle.isInMemory && !handle.hasTriggers())
    const { em } = this.#host.orm
    const { recorder } = this.#observers
    let position: number | undefined
    try {
      const bound = UnboundValue.areMade ? writeUnbound(sql, parameters, em.getPlatform()) : { sql, parameters }
      const text = em.config.get('onQuery')(bound.sql, bound.parameters)
      position = recorder?.prepare()
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
    if (this.#content.isBehind || isDateReplaced()) this.#content.followClock()
    const trace = this.#observers.traces?.current
    const statement = this.#content.handle.prepare(sql)
    return trace === undefined ? statement.run(parameters) : trace.statement(sql, parameters, countChanges, () => statement.run(parameters))
  }
}

/** Keys are in sequence where no trigger inserts rows. */
function countBack(last: bigint, rows: number): readonly bigint[] {
  return Array.from({ length: rows }, (_, index) => last - BigInt(rows - 1 - index))
}
