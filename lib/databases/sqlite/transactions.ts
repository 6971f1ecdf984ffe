/**
 * Tells who holds the lock of the single connection, and to which transaction asynchronous work belongs. So a hook may call the engine in
 * the hook's own write without waiting for itself.
 */
import type { Transaction } from '@mikro-orm/core'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { BUSY_TIMEOUT_MS, whenFree } from './database/busy.ts'
import { Lock } from '../../foundation/async/lock.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import { Surroundings } from '../../foundation/async/surroundings.ts'
import type { Observers } from './observers.ts'
import type { Entered } from './orm/connection-host.ts'

interface AnyTransaction {
  readonly outer: OpenTransaction | undefined
  open: boolean
  /** Keeps nested writes apart; undefined before the first. */
  nested: Lock | undefined
  readonly end?: RequestAbort | undefined
}

export interface OrmTransaction extends AnyTransaction {
  trx?: Transaction
  readonly writer?: undefined
}

/** Of statements alone. */
export interface WorkAtOnce extends AnyTransaction {
  readonly trx?: undefined
  /** @param isLast nothing follows that could fail */
  readonly writer: { begin(work: WorkAtOnce, isLast: boolean): void }
  /** In the database. */
  begun: boolean
  /** Requests of one turn may share a check of the file, if no rule of the application runs between check and commit. */
  readonly sharesCheck: boolean
}

export type OpenTransaction = OrmTransaction | WorkAtOnce

const CALL = <T>(work: () => T): T => work()

const NESTED: Entered = Object.freeze({ release: () => {}, nested: true })

export class Transactions {
  readonly lock = new Lock(held => this.#selfDeadlock(held))
  readonly observers: Observers
  /** By performance.now(), while a transaction of `em.begin()` is open, which the surroundings do not show. */
  #begunByHand: number | undefined
  readonly surroundings = new Surroundings<OpenTransaction>()
  /** In a page: runs work inside. */
  #within: typeof CALL | undefined

  constructor(observers: Observers) {
    this.observers = observers
  }

  get current(): OpenTransaction | undefined {
    let transaction = this.surroundings.current
    while (transaction?.open === false) transaction = transaction.outer
    return transaction
  }

  /** Undefined where the surroundings show a transaction. */
  get within(): typeof CALL | undefined {
    return this.#within === undefined || this.surroundings.current !== undefined ? undefined : this.#within
  }

  /** Keeps the surroundings for statements of the transaction, until the returned function is called. */
  keep(): () => void {
    const before = this.#within
    this.#within = runtime.bindWork?.(CALL) as typeof CALL | undefined
    return () => (this.#within = before)
  }

  /** Refuses after the deadline of the request. */
  begin(isLast = false): void {
    const { current } = this
    if (current?.writer !== undefined) current.writer.begin(current, isLast)
    current?.end?.checkTime()
  }

  checkTime(): void {
    this.surroundings.current?.end?.checkTime()
  }

  /** A wait is a stage of the trace. */
  wait<T>(acquired: Awaitable<T>): Awaitable<T> {
    const trace = acquired instanceof Promise ? this.observers.traces?.current : undefined
    return trace === undefined ? acquired : trace.goBack(trace.enter('lock'), acquired)
  }

  /** @returns at once when the lock is free, or inside of a transaction */
  enter(signal?: AbortSignal): Awaitable<Entered> {
    if (this.current !== undefined) {
      this.begin()
      return NESTED
    }
    const transaction = this.surroundings.current
    const entered = (release: () => void): Entered => ({
      nested: false,
      release: () => {
        // A subscriber to the commit stands outside of the transaction.
        if (transaction !== undefined) transaction.open = false
        this.#begunByHand = undefined
        release()
      },
    })
    return chain(this.wait(this.lock.acquire(signal)), entered)
  }

  begun(): void {
    const transaction = this.surroundings.current
    // A transaction with a `trx` is over: work still running has begun a new one by hand.
    if (transaction === undefined || transaction.trx !== undefined) this.#begunByHand = performance.now()
  }

  /** @param begin calls `entered` once the transaction has begun */
  async transactional<T>(begin: (entered: (trx: Transaction) => void) => Promise<T>): Promise<T> {
    const transaction: OrmTransaction = { outer: this.current, open: false, nested: undefined }
    const entered = (trx: Transaction): void => {
      transaction.trx = trx
      transaction.open = true
    }
    try {
      return await this.surroundings.run(transaction, () => begin(entered))
    } finally {
      transaction.open = false
    }
  }

  /**
   * Waits until no transaction is open.
   *
   * @param what the calling method
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

  /** The waiter itself may own the transaction of `em.begin()`. */
  #selfDeadlock(held: number): Error | undefined {
    if (runtime.bindWork !== undefined && held >= BUSY_TIMEOUT_MS) return lostError()
    if (this.#begunByHand === undefined || performance.now() - this.#begunByHand < BUSY_TIMEOUT_MS) return undefined
    const detail =
      `A transaction of em.begin() has been open for ${BUSY_TIMEOUT_MS / 1000} seconds. ` +
      'Commit it or roll it back before the engine is asked, ' +
      'or use em.transactional(), which the engine takes part in.'
    return restError('database_busy', detail, { headers: { 'retry-after': '1' } })
  }
}

/** In a page, a wait of a hook hides the transaction of the hook. */
function lostError(): Error {
  const detail =
    `Another transaction has been open for ${BUSY_TIMEOUT_MS / 1000} seconds. ` +
    'In a page, code inside of a transaction asks by the context of its hook: ctx.ask, ctx.engine or ctx.em.'
  return restError('database_busy', detail, { headers: { 'retry-after': '1' } })
}
