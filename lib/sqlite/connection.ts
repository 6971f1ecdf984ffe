/**
 * Connection: the open SQLite database behind the dialect seam. One handle, lent to MikroORM; one lock, shared by its transactions and our reads.
 * Inside a transaction the AsyncLocalStorage knows it, so that a hook may call the engine in its own write without waiting for itself.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type Database from 'better-sqlite3'
import type { EntityManager, MikroORM, Transaction } from '@mikro-orm/core'
import type { Connection, Dialect, Reading, Statement } from '../dialect.ts'
import { compileRead } from './compile.ts'
import { compileExists, compileReferrers, compileTaken, violation } from './compile-checks.ts'
import { encode, encodePattern } from './encode.ts'
import type { Handle } from './handle.ts'
import { LentSqliteDialect } from './kysely-dialect.ts'
import { Lock } from './lock.ts'

/** The transaction that a piece of asynchronous work runs in. */
interface OpenTransaction {
  /** The one around it, if any. */
  readonly outer: OpenTransaction | undefined
  /** MikroORM's handle of it, set once it has begun. */
  trx?: Transaction
  /** Whether it has begun and not ended. */
  open: boolean
  /** Keeps the writes that are nested in it apart. */
  readonly nested: Lock
}

const SQLITE: Dialect = {
  compile: compileRead,
  exists: compileExists,
  taken: compileTaken,
  referrers: compileReferrers,
  violation,
  encode,
  encodePattern,
}

export class SqliteConnection implements Connection {
  readonly dialect = SQLITE
  readonly #handle: Handle
  readonly #lock = new Lock()
  readonly #current = new AsyncLocalStorage<OpenTransaction>()
  #orm: MikroORM | undefined

  constructor(handle: Handle) {
    this.#handle = handle
  }

  /** The dialect to give MikroORM as `driverOptions`. */
  lend(): LentSqliteDialect {
    return new LentSqliteDialect({
      prepare: (sql: string): Database.Statement => this.#handle.prepare(sql),
      enter: async signal => {
        if (this.#transaction() !== undefined) return { release: () => {}, nested: true }
        const transaction = this.#current.getStore()
        const release = await this.#lock.acquire(signal)
        return {
          nested: false,
          release: () => {
            // The transaction ends here: a subscriber that is told of the commit stands outside of it.
            if (transaction !== undefined) transaction.open = false
            release()
          },
        }
      },
      transactional: async begin => {
        const transaction: OpenTransaction = { outer: this.#transaction(), open: false, nested: new Lock() }
        const entered = (trx: Transaction): void => {
          transaction.trx = trx
          transaction.open = true
        }
        try {
          return await this.#current.run(transaction, () => begin(entered))
        } finally {
          transaction.open = false
        }
      },
    })
  }

  /** The MikroORM instance that was given the dialect. */
  attach(orm: MikroORM): void {
    this.#orm = orm
  }

  read<T>(reading: () => Reading<T>, signal?: AbortSignal): T | Promise<T> {
    const lock = this.#transaction()?.nested ?? this.#lock
    // Nothing is awaited between the statements of a reading, so an idle connection needs no lock.
    if (!lock.held || (lock === this.#lock && !this.#handle.db.inTransaction)) return this.#run(reading())
    return this.#readLater(lock, reading, signal)
  }

  async #readLater<T>(lock: Lock, reading: () => Reading<T>, signal: AbortSignal | undefined): Promise<T> {
    const release = await lock.acquire(signal)
    try {
      return this.#run(reading())
    } finally {
      release()
    }
  }

  #run<T>(reading: Reading<T>): T {
    const handle = this.#handle
    let step = reading.next()
    while (step.done !== true) step = reading.next(handle.all(step.value.statement.sql, step.value.parameters))
    return step.value
  }

  check(statement: Statement): void {
    this.#handle.db.prepare(statement.sql)
  }

  async write<T>(work: (em: EntityManager) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const outer = this.#transaction()
    const release = await outer?.nested.acquire(signal)
    try {
      return await this.#orm!.em.fork().transactional(work, outer?.trx === undefined ? {} : { ctx: outer.trx })
    } finally {
      release?.()
    }
  }

  /** The innermost transaction that has begun and not ended. */
  #transaction(): OpenTransaction | undefined {
    let transaction = this.#current.getStore()
    while (transaction?.open === false) transaction = transaction.outer
    return transaction
  }

  close(): void {
    this.#handle.close()
  }
}
