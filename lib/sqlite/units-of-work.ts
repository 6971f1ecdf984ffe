/**
 * Units of work: runs writes in transactions, one at a time. A write that has nobody to wait for is done at once, by an entity manager and a transaction that
 * are used again and again; any other one is done as MikroORM's own `transactional` does it.
 */
import { TransactionContext } from '@mikro-orm/core'
import type { EntityManager, MikroORM, Transaction } from '@mikro-orm/core'
import { SqlEntityManager } from '@mikro-orm/sqlite'
import type { RequestAbort } from '../base/abort.ts'
import type { Awaitable } from '../base/awaitable.ts'
import type { Content } from './content.ts'
import { isBusy } from './database/busy.ts'
import { Lock } from '../base/lock.ts'
import type { BoundSqliteDriver } from './orm/driver.ts'
import type { ReusableTransaction } from './orm/shared-dialect.ts'
import { rememberManager } from '../orm/target-keys.ts'
import { hasSubscribers, runsForeignCode } from '../orm/user-hooks.ts'
import type { OpenTransaction, Transactions } from './transactions.ts'

type Work<T> = (em: EntityManager) => Awaitable<T>

/** The unit of work of writes at once, which use it one after the other. */
interface ReusableUnitOfWork {
  readonly em: EntityManager
  readonly transaction: ReusableTransaction
  readonly handle: Transaction
}

/** A write at once that has begun and not ended. */
interface StartedWrite {
  readonly own: ReusableTransaction
  readonly transaction: OpenTransaction
  readonly release: () => void
  /** Makes ready for the next write, after this one has succeeded. */
  readonly reuse: () => void
}

/** How a write at once is done. */
interface AtOnce<T> extends Pick<StartedWrite, 'own' | 'reuse'> {
  /** Does it when the file is no longer locked. */
  readonly later: () => Promise<T>
}

export class UnitsOfWork {
  readonly #content: Content
  readonly #transactions: Transactions
  readonly #orm: () => MikroORM
  /** While it is not in use. */
  #reusable: ReusableUnitOfWork | undefined
  /** The transaction of writes at once without an entity manager. */
  readonly #alone: ReusableTransaction

  constructor(content: Content, transactions: Transactions, alone: ReusableTransaction, orm: () => MikroORM) {
    this.#content = content
    this.#transactions = transactions
    this.#alone = alone
    this.#orm = orm
  }

  /** See `Connection.write`. */
  write<T>(work: Work<T>, end?: RequestAbort, flushed = false): Awaitable<T> {
    this.#content.assertWritable()
    const unit = flushed ? this.#takeReusable() : undefined
    return unit === undefined ? this.#writeLater(work, end, flushed) : this.#writeAtOnce(work, unit, end)
  }

  /** See `Connection.transact`. */
  transact<T>(work: () => Awaitable<T>, end?: RequestAbort): Awaitable<T> {
    this.#content.assertWritable()
    if (!this.#isFree()) return this.#writeLater(work, end, true)
    return this.#runAtOnce(work, { own: this.#alone, reuse: () => {}, later: () => this.#writeLater(work, end, true) }, end)
  }

  /** Whether nothing has to be waited for. */
  #isFree(): boolean {
    const { lock, current } = this.#transactions
    return !lock.held && !this.#content.handle.db.inTransaction && current === undefined
  }

  /** Returns what a write at once works with; undefined when there is something to wait for, or when somebody listens. */
  #takeReusable(): ReusableUnitOfWork | undefined {
    if (!this.#isFree()) return undefined
    const { em } = this.#orm()
    if (runsForeignCode(em) || em.schema !== undefined) return undefined
    const known = this.#reusable
    this.#reusable = undefined
    return known ?? this.#makeReusable(em)
  }

  #makeReusable(global: EntityManager): ReusableUnitOfWork | undefined {
    const isOrdinary = (global as object).constructor === SqlEntityManager && global.config.get('disableTransactions') !== true
    if (!isOrdinary) return undefined
    const transaction = (global.getDriver() as unknown as BoundSqliteDriver).getConnection('write').standing()
    return transaction && { em: global.fork({ cloneEventManager: true }), transaction, handle: transaction.handle }
  }

  /** Work that waits for nothing is done when this returns. It begins and ends as any other one does, should it wait after all. */
  #writeAtOnce<T>(work: Work<T>, unit: ReusableUnitOfWork, end: RequestAbort | undefined): Awaitable<T> {
    const { em, transaction: own, handle } = unit
    const reuse = (): void => {
      em.clear()
      this.#reusable = unit
    }
    const begun = (): Awaitable<T> => {
      rememberManager(em, handle)
      em.setTransactionContext(handle)
      return work(em)
    }
    const later = (): Promise<T> => {
      this.#reusable = unit
      return this.#writeLater(work, end, true)
    }
    return this.#runAtOnce(begun, { own, reuse, later }, end)
  }

  #runAtOnce<T>(work: () => Awaitable<T>, { own, reuse, later }: AtOnce<T>, end: RequestAbort | undefined): Awaitable<T> {
    // It is free.
    const release = this.#transactions.lock.acquire() as () => void
    const transaction: OpenTransaction = { outer: undefined, open: true, nested: new Lock(), end }
    if (own.handle !== undefined) transaction.trx = own.handle
    const started: StartedWrite = { own, reuse, transaction, release }
    try {
      own.begin()
    } catch (error) {
      leave(started)
      // Another process has locked the file, which is waited for.
      if (isBusy(error)) return later()
      throw error
    }
    this.#transactions.claim()
    let result: Awaitable<T>
    try {
      result = this.#transactions.run(transaction, work)
    } catch (error) {
      return this.#fail(started, error)
    }
    if (!(result instanceof Promise)) return this.#commit(started, result)
    return result.then(
      value => this.#commit(started, value),
      (error: unknown) => this.#fail(started, error),
    )
  }

  #commit<T>(started: StartedWrite, result: T): Awaitable<T> {
    let committed: Awaitable<void>
    try {
      started.transaction.end?.checkTime()
      committed = started.own.commit()
    } catch (error) {
      return this.#fail(started, error)
    }
    if (!(committed instanceof Promise)) return this.#finish(started, result)
    return committed.then(
      () => this.#finish(started, result),
      (error: unknown) => this.#fail(started, error),
    )
  }

  #finish<T>(started: StartedWrite, result: T): T {
    leave(started)
    started.reuse()
    return result
  }

  #fail(started: StartedWrite, error: unknown): never {
    try {
      started.own.rollback()
    } catch (failure) {
      this.#warnOfRollback(failure as Error)
    }
    leave(started)
    throw error
  }

  #warnOfRollback({ message }: Error): void {
    // It must not hide why it was needed.
    this.#orm().config.getLogger().warn('query', `Failed to roll back transaction: ${message}`)
  }

  async #writeLater<T>(work: Work<T>, end: RequestAbort | undefined, flushed: boolean): Promise<T> {
    const outer = this.#transactions.current
    const release = outer === undefined ? undefined : await this.#transactions.wait(outer.nested.acquire(end?.signal))
    const transaction: OpenTransaction = { outer, open: false, nested: new Lock(), end: end ?? outer?.end }
    try {
      // Subscribers that a hook adds are gone with the request, as in MikroORM's own `transactional`.
      const em = this.#orm().em.fork({ cloneEventManager: true })
      // The context shows MikroORM, as `transactional` would, which entity manager the code inside means.
      return await this.#transactions.run(transaction, () =>
        TransactionContext.create(em as never, () => this.#transact(em, transaction, work, flushed)),
      )
    } finally {
      transaction.open = false
      release?.()
    }
  }

  /** Does what `em.transactional` does, but for the second entity manager that it makes, and the merging of that into the first one. */
  async #transact<T>(em: EntityManager, transaction: OpenTransaction, work: Work<T>, flushed: boolean): Promise<T> {
    const ctx = transaction.outer?.trx
    // Where nobody listens there is nobody to hear of the transaction.
    const isSilent = !hasSubscribers(em) && em.config.get('disableTransactions') !== true
    const connection = em.getDriver().getConnection('write')
    if (isSilent) em.setTransactionContext(await connection.begin(ctx === undefined ? {} : { ctx }))
    else await em.begin(ctx === undefined ? {} : { ctx })
    const trx = em.getTransactionContext()
    if (trx !== undefined) transaction.trx = trx
    rememberManager(em, trx)
    transaction.open = true
    try {
      const result = await work(em)
      transaction.end?.checkTime()
      if (isSilent && flushed && !runsForeignCode(em)) {
        await connection.commit(trx)
        em.resetTransactionContext()
      } else await em.commit()
      return result
    } catch (error) {
      try {
        await em.rollback()
      } catch (failure) {
        this.#warnOfRollback(failure as Error)
      }
      throw error
    }
  }
}

function leave({ transaction, release }: StartedWrite): void {
  transaction.open = false
  release()
}
