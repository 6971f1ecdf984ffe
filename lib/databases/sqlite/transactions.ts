/**
 * Transactions: who may use the one connection of the database, and which transaction a piece of asynchronous work runs in. One lock is
 * shared by MikroORM's transactions and the engine's reads; `foundation/work/surroundings.ts` knows the open transaction, so that a hook
 * may call the engine in its own write without waiting for itself.
 */
import type { Transaction } from '@mikro-orm/core'
import type { RequestAbort } from '../../foundation/work/abort.ts'
import { chain, type Awaitable } from '../../foundation/work/awaitable.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { BUSY_TIMEOUT_MS, whenFree } from './database/busy.ts'
import { Lock } from '../../foundation/work/lock.ts'
import { Surroundings } from '../../foundation/work/surroundings.ts'
import type { Observers } from './observers.ts'
import type { Entered } from './orm/connection-host.ts'

/** The transaction that a piece of asynchronous work runs in. */
export interface OpenTransaction {
  /** The one around it, if any. */
  readonly outer: OpenTransaction | undefined
  /** MikroORM's handle of it, set once it has begun. */
  trx?: Transaction
  /** Whether it has begun and not ended. */
  open: boolean
  /**
   * Is called before a row is written in it. In the database it may begin not before that.
   *
   * @param isLast whether nothing follows that could fail
   */
  begin?(isLast?: boolean): void
  /** Keeps the writes that are nested in it apart; undefined as long as there was none. */
  nested: Lock | undefined
  /** Aborts it. */
  readonly end?: RequestAbort | undefined
}

const NESTED: Entered = Object.freeze({ release: () => {}, nested: true })

export class Transactions {
  readonly lock = new Lock(() => this.#selfDeadlock())
  readonly observers: Observers
  /** When a transaction was begun by `em.begin()`, by performance.now(), while it is open: nothing says which work belongs to it. */
  #begunByHand: number | undefined
  readonly #current = new Surroundings<OpenTransaction>()

  constructor(observers: Observers) {
    this.observers = observers
  }

  /** The innermost transaction that has begun and not ended. */
  get current(): OpenTransaction | undefined {
    let transaction = this.#current.current
    while (transaction?.open === false) transaction = transaction.outer
    return transaction
  }

  /** Runs work such that all that it calls knows the transaction. */
  run<T, A extends unknown[]>(transaction: OpenTransaction, work: (...args: A) => T, ...args: A): T {
    return this.#current.run(transaction, work, ...args)
  }

  /** The same for work that waits for nothing: see `Surroundings.runAtOnce`. */
  runAtOnce<T>(transaction: OpenTransaction, work: () => T): T {
    return this.#current.runAtOnce(transaction, work)
  }

  /**
   * Begins the transaction that the caller runs in, before a statement: see `OpenTransaction.begin`. Refuses where the time of the request
   * is over.
   */
  begin(isLast = false): void {
    const { current } = this
    current?.begin?.(isLast)
    current?.end?.checkTime()
  }

  /** Refuses another statement when the time of the request is over that the caller runs in. */
  checkTime(): void {
    this.#current.current?.end?.checkTime()
  }

  /** Waits for a lock, which is a stage of its own in a trace. */
  wait<T>(acquired: Awaitable<T>): Awaitable<T> {
    const trace = acquired instanceof Promise ? this.observers.traces?.current : undefined
    return trace === undefined ? acquired : trace.goBack(trace.enter('lock'), acquired)
  }

  /** Returns the right to use the connection: at once when it is free, or when the caller is inside of a transaction. */
  enter(signal?: AbortSignal): Awaitable<Entered> {
    if (this.current !== undefined) {
      this.begin()
      return NESTED
    }
    const transaction = this.#current.current
    const entered = (release: () => void): Entered => ({
      nested: false,
      release: () => {
        // The transaction ends here: a subscriber that hears of the commit stands outside of it.
        if (transaction !== undefined) transaction.open = false
        this.#begunByHand = undefined
        release()
      },
    })
    return chain(this.wait(this.lock.acquire(signal)), entered)
  }

  /** A transaction has begun. */
  begun(): void {
    const transaction = this.#current.current
    // One that has begun already is over: what was left running in it has begun this one.
    if (transaction === undefined || transaction.trx !== undefined) this.#begunByHand = performance.now()
  }

  /** Runs a transaction of MikroORM's; `begin` says when it has begun. */
  async transactional<T>(begin: (entered: (trx: Transaction) => void) => Promise<T>): Promise<T> {
    const transaction: OpenTransaction = { outer: this.current, open: false, nested: undefined }
    const entered = (trx: Transaction): void => {
      transaction.trx = trx
      transaction.open = true
    }
    try {
      return await this.run(transaction, () => begin(entered))
    } finally {
      transaction.open = false
    }
  }

  /**
   * Runs work while no transaction is open.
   *
   * @param what the method of the engine that wants it
   * @throws Error inside of a transaction, which would wait for itself.
   */
  async exclusively<T>(what: string, work: () => T | Promise<T>): Promise<T> {
    if (this.current !== undefined) throw new Error(`engine.${what}: not possible inside a write, whose outcome is not known yet.`)
    const release = await this.lock.acquire()
    try {
      return await whenFree(work)
    } finally {
      release()
    }
  }

  /** Detects a self-deadlock: the waiter may itself own the open transaction of `em.begin()`. */
  #selfDeadlock(): Error | undefined {
    if (this.#begunByHand === undefined || performance.now() - this.#begunByHand < BUSY_TIMEOUT_MS) return undefined
    const detail =
      `A transaction of em.begin() has been open for ${BUSY_TIMEOUT_MS / 1000} seconds. ` +
      'Commit it or roll it back before the engine is asked, ' +
      'or use em.transactional(), which the engine takes part in.'
    return restError('database_busy', detail, { headers: { 'retry-after': '1' } })
  }
}
