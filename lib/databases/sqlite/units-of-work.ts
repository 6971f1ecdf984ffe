/**
 * Runs writes in transactions, one at a time: at once where work needs neither entity manager nor wait, else as MikroORM's `transactional`.
 */
import { bindSurroundings } from '../../foundation/async/surroundings.ts'
import { TransactionContext, type EntityManager, type MikroORM } from '@mikro-orm/core'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import type { Content } from './content.ts'
import { isBusy } from './database/busy.ts'
import { Lock } from '../../foundation/async/lock.ts'
import { rememberManager } from '../orm/target-keys.ts'
import type { RowWriter } from './row-writer.ts'
import type { OpenTransaction, Transactions } from './transactions.ts'

type EntityWork<T> = (em: EntityManager) => Awaitable<T>

class WorkAtOnce implements OpenTransaction {
  readonly outer = undefined
  open = true
  nested: Lock | undefined
  readonly end: RequestAbort | undefined
  readonly #content: Content
  readonly #rows: RowWriter
  readonly #release: () => void
  begun = false
  /** Requests of one turn may share a look at the file. Rules of the application must not run between the look and the commit. */
  readonly sharesCheck: boolean

  constructor(content: Content, rows: RowWriter, release: () => void, end: RequestAbort | undefined, repeatable: boolean) {
    this.sharesCheck = repeatable && end?.isFromSocket === true
    this.#content = content
    this.#rows = rows
    this.#release = release
    this.end = end
  }

  /** A last statement is a transaction by itself, unless a deadline may roll it back. */
  begin(isLast = false): void {
    if (this.begun) return
    if (isLast && this.end?.deadline === undefined) return this.#content.writing()
    this.#rows.begin(this.sharesCheck)
    this.begun = true
  }

  leave(): void {
    this.open = false
    this.#release()
  }
}

export class UnitsOfWork {
  readonly #content: Content
  readonly #transactions: Transactions
  readonly #host: { readonly orm: MikroORM }
  readonly #rows: RowWriter

  constructor(content: Content, transactions: Transactions, rows: RowWriter, host: { readonly orm: MikroORM }) {
    this.#content = content
    this.#transactions = transactions
    this.#rows = rows
    this.#host = host
  }

  /** See `Connection.write`. */
  async write<T>(work: EntityWork<T>, end?: RequestAbort): Promise<T> {
    this.#content.assertWritable()
    const outer = this.#transactions.current
    const release = outer === undefined ? undefined : await this.#transactions.wait((outer.nested ??= new Lock()).acquire(end?.signal))
    const transaction: OpenTransaction = { outer, open: false, nested: undefined, end: end ?? outer?.end }
    try {
      // A hook's subscribers go with the request, as in MikroORM's own `transactional`.
      const em = this.#host.orm.em.fork({ cloneEventManager: true })
      // Code inside then has this entity manager as MikroORM's current one.
      return await this.#transactions.surroundings.run(transaction, () =>
        TransactionContext.create(em, () => this.#transact(em, transaction, work)),
      )
    } finally {
      transaction.open = false
      release?.()
    }
  }

  /** As `em.transactional`, without a second entity manager to merge into the first. */
  async #transact<T>(em: EntityManager, transaction: OpenTransaction, work: EntityWork<T>): Promise<T> {
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
    if (lock.held || current !== undefined || this.#content.handle.db.inTransaction) return this.write(steps, end)
    const work = new WorkAtOnce(this.#content, this.#rows, lock.acquire() as () => void, end, repeatable)
    // Repeatable work waits for nothing of the application. In memory nobody else writes before the first write.
    const isAlone = repeatable && this.#content.handle.place === undefined && this.#transactions.observers.traces?.current === undefined
    try {
      if (!isAlone) work.begin()
    } catch (error) {
      work.leave()
      // Waits until the other process unlocks the file.
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

  #commit<T>(work: WorkAtOnce, result: T): Awaitable<T> {
    let committed: Awaitable<void>
    try {
      work.end?.throwIfReached()
      work.end?.checkTime()
      committed = work.begun ? this.#rows.commit(work.sharesCheck) : undefined
    } catch (error) {
      return this.#fail(work, error)
    }
    if (!(committed instanceof Promise)) {
      work.leave()
      return result
    }
    return committed.then(
      () => {
        work.leave()
        return result
      },
      (error: unknown) => this.#fail(work, error),
    )
  }

  #fail(work: WorkAtOnce, error: unknown): never {
    try {
      if (work.begun) this.#rows.rollback()
    } catch (failure) {
      this.#warnOfRollback(failure as Error)
    }
    work.leave()
    throw this.#explain(error)
  }

  #explain(error: unknown): unknown {
    const { place } = this.#content.handle
    return place === undefined || error instanceof RestError ? error : place.explain(error)
  }

  #warnOfRollback({ message }: Error): void {
    // A failed rollback must not hide the reason.
    this.#host.orm.config.getLogger().warn('query', `Failed to roll back transaction: ${message}`)
  }
}
