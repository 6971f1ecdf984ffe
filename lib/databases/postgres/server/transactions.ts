/**
 * Transactions: which transaction a piece of asynchronous work runs in. What the code of a hook asks of the engine or of MikroORM runs in
 * the transaction of its write, on the same session.
 */
import type { Transaction } from '@mikro-orm/core'
import type { PoolClient } from 'pg'
import type { RequestAbort } from '../../../foundation/base/abort.ts'
import { Lock } from '../../../foundation/base/lock.ts'
import { Surroundings } from '../../../foundation/base/surroundings.ts'

/** The transaction that a piece of work runs in. */
export interface OpenTransaction {
  /** The one around it, if any. */
  readonly outer: OpenTransaction | undefined
  /** Its session, once it has begun. */
  session?: PoolClient
  /** MikroORM's handle of it, once it has begun. */
  trx?: Transaction
  /** Whether it has begun and not ended. */
  open: boolean
  /** Keeps the writes that are nested in it apart. */
  readonly nested: Lock
  /** What a write that is nested in it has met of another transaction: nothing of it can be committed. */
  conflict?: unknown
  /** Ends it. */
  readonly end?: RequestAbort | undefined
}

export class Transactions {
  readonly #current = new Surroundings<OpenTransaction>()

  /** The innermost transaction that has begun and not ended. */
  get current(): OpenTransaction | undefined {
    let transaction = this.#current.current
    while (transaction?.open === false) transaction = transaction.outer
    return transaction
  }

  /** Creates a transaction that has not begun. */
  create(end?: RequestAbort): OpenTransaction {
    const outer = this.current
    return { outer, open: false, nested: new Lock(), end: end ?? outer?.end }
  }

  /** Runs work such that all that it calls knows the transaction. */
  run<T>(transaction: OpenTransaction, work: () => T): T {
    return this.#current.run(transaction, work)
  }

  /** A transaction has begun on a session: it is that of the work that waits for one. */
  begun(session: PoolClient): void {
    const transaction = this.#current.current
    if (transaction !== undefined && !transaction.open) transaction.session ??= session
  }

  /** Refuses another statement when the time of the request is over that the caller runs in. */
  checkTime(): void {
    this.#current.current?.end?.checkTime()
  }
}
