/**
 * Units of work: runs writes in transactions, one at a time. Work that needs no entity manager, and has nobody to wait for, is done at once; any other work is
 * done as MikroORM's own `transactional` does it.
 */
import { TransactionContext } from '@mikro-orm/core'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { RequestAbort } from '../base/abort.ts'
import type { Awaitable } from '../base/awaitable.ts'
import type { Content } from './content.ts'
import { isBusy } from './database/busy.ts'
import { Lock } from '../base/lock.ts'
import type { ReusableTransaction } from './orm/shared-dialect.ts'
import { rememberManager } from '../orm/target-keys.ts'
import type { OpenTransaction, Transactions } from './transactions.ts'

type Work<T> = (em: EntityManager) => Awaitable<T>

/** Work at once that has begun and not ended. */
interface Started {
  readonly transaction: OpenTransaction
  readonly release: () => void
}

export class UnitsOfWork {
  readonly #content: Content
  readonly #transactions: Transactions
  readonly #orm: () => MikroORM
  /** The transaction of work at once. */
  readonly #own: ReusableTransaction

  constructor(content: Content, transactions: Transactions, own: ReusableTransaction, orm: () => MikroORM) {
    this.#content = content
    this.#transactions = transactions
    this.#own = own
    this.#orm = orm
  }

  /** See `Connection.write`. */
  async write<T>(work: Work<T>, end?: RequestAbort): Promise<T> {
    this.#content.assertWritable()
    const outer = this.#transactions.current
    const release = outer === undefined ? undefined : await this.#transactions.wait(outer.nested.acquire(end?.signal))
    const transaction: OpenTransaction = { outer, open: false, nested: new Lock(), end: end ?? outer?.end }
    try {
      // Subscribers that a hook adds are gone with the request, as in MikroORM's own `transactional`.
      const em = this.#orm().em.fork({ cloneEventManager: true })
      // The context shows MikroORM, as `transactional` would, which entity manager the code inside means.
      return await this.#transactions.run(transaction, () =>
        TransactionContext.create(em as never, () => this.#transact(em, transaction, work)),
      )
    } finally {
      transaction.open = false
      release?.()
    }
  }

  /** Does what `em.transactional` does, but for the second entity manager that it makes, and the merging of that into the first one. */
  async #transact<T>(em: EntityManager, transaction: OpenTransaction, work: Work<T>): Promise<T> {
    const ctx = transaction.outer?.trx
    await em.begin(ctx === undefined ? {} : { ctx })
    const trx = em.getTransactionContext()
    if (trx !== undefined) transaction.trx = trx
    rememberManager(em, trx)
    transaction.open = true
    try {
      const result = await work(em)
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
    }
  }

  /** See `Connection.transact`. */
  transact<T>(work: () => Awaitable<T>, end?: RequestAbort): Awaitable<T> {
    this.#content.assertWritable()
    if (!this.#isFree()) return this.write(work, end)
    // It is free.
    const release = this.#transactions.lock.acquire() as () => void
    const transaction: OpenTransaction = { outer: undefined, open: true, nested: new Lock(), end }
    const started = { transaction, release }
    try {
      this.#own.begin()
    } catch (error) {
      leave(started)
      // Another process has locked the file, which is waited for.
      if (isBusy(error)) return this.write(work, end)
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

  /** Whether nothing has to be waited for. */
  #isFree(): boolean {
    const { lock, current } = this.#transactions
    return !lock.held && !this.#content.handle.db.inTransaction && current === undefined
  }

  #commit<T>(started: Started, result: T): Awaitable<T> {
    let committed: Awaitable<void>
    try {
      started.transaction.end?.checkTime()
      committed = this.#own.commit()
    } catch (error) {
      return this.#fail(started, error)
    }
    if (!(committed instanceof Promise)) {
      leave(started)
      return result
    }
    return committed.then(
      () => {
        leave(started)
        return result
      },
      (error: unknown) => this.#fail(started, error),
    )
  }

  #fail(started: Started, error: unknown): never {
    try {
      this.#own.rollback()
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
}

function leave({ transaction, release }: Started): void {
  transaction.open = false
  release()
}
