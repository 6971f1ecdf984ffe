/** Knows the open transaction of asynchronous work, so that calls of a hook join the transaction of the hook's write. */
import type { Transaction } from '@mikro-orm/core'
import type { PoolClient } from 'pg'
import type { RequestAbort } from '../../../foundation/async/abort.ts'
import { Lock } from '../../../foundation/async/lock.ts'
import { Surroundings } from '../../../foundation/async/surroundings.ts'

export interface OpenTransaction {
  readonly outer: OpenTransaction | undefined
  /** `undefined` before the transaction begins. */
  session?: PoolClient
  /** MikroORM's handle; `undefined` before the transaction begins. */
  trx?: Transaction
  open: boolean
  /** Keeps inner writes apart. */
  readonly nested: Lock
  /** Of an inner write: nothing can be committed. */
  conflict?: unknown
  readonly end?: RequestAbort | undefined
}

export class Transactions {
  readonly #current = new Surroundings<OpenTransaction>()

  /** The innermost transaction, from begin to end. */
  get current(): OpenTransaction | undefined {
    let transaction = this.#current.current
    while (transaction?.open === false) transaction = transaction.outer
    return transaction
  }

  create(end?: RequestAbort): OpenTransaction {
    const outer = this.current
    return { outer, open: false, nested: new Lock(), end: end ?? outer?.end }
  }

  run<T>(transaction: OpenTransaction, work: () => T): T {
    return this.#current.run(transaction, work)
  }

  begun(session: PoolClient): void {
    const transaction = this.#current.current
    if (transaction !== undefined && !transaction.open) transaction.session ??= session
  }

  /** Refuses after the deadline of the request. */
  checkTime(): void {
    this.#current.current?.end?.checkTime()
  }
}
