/** Connection host: what MikroORM's connection needs of the open database of the engine. */
import type { Transaction } from '@mikro-orm/core'
import type { Awaitable } from '../../../foundation/work/awaitable.ts'
import type { Clock } from '../../../foundation/work/clock.ts'
import type { Trace } from '../../../foundation/work/trace.ts'
import type { PreparedQuery } from '../database/sqlite-database.ts'

/** Observes transactions and statements that write; see recorder.ts. */
export interface WriteObserver {
  readonly position: number
  prepare(): void
  begin(): void
  savepoint(savepoint: string): void
  rollbackTo(to: string | number): void
  beforeCommit(): void
  afterCommit(): void
  rollback(): void
  afterStatement(): void
  beforeSchemaChange(): void
}

/** The right to use the connection; `nested` when the caller is inside a transaction already. */
export interface Entered {
  readonly release: () => void
  readonly nested: boolean
}

/** The parts of the open database that the dialect uses. */
export interface ConnectionHost {
  /** Whether nothing can be written. */
  readonly readOnly: boolean
  /** Whether a transaction is open. SQLite ends one by itself when the disk is full, or fails. */
  readonly inTransaction: boolean
  /** Set where somebody wants to know of the rows that change. */
  readonly observer: WriteObserver | undefined
  /** The trace of the request that the caller runs in, if it has one. */
  readonly trace: Trace | undefined
  /** The right to use the connection: at once when it is free. */
  enter(signal?: AbortSignal): Awaitable<Entered>
  prepare(sql: string): PreparedQuery
  /** Refuses another statement when the time of the request is over that the caller runs in. */
  checkTime(): void
  /** A transaction has begun. */
  begun(): void
  /** Is called before anything is written. */
  writing(): void
  /** Is called before a transaction is committed, and throws where that would be in vain. */
  committing(): void
  /** Whether the engine counts keys of some tables. */
  readonly counts: boolean
  /** The key of a new row, where the engine counts. See autoincrement.ts. */
  nextKey(table: string): number | bigint | undefined
  /** A new row brings its key. */
  giveKey(table: string, key: bigint): void
  /** The next number of a column that is not the key, for what PostgreSQL takes from a sequence. */
  nextNumber(table: string, column: string): bigint
  /** A table whose key has reached the last number that SQLite gives. */
  findUsedUp(): string | undefined
  /** The clock of the engine, once there is one. */
  clock(): Clock | undefined
  /** Runs a transaction such that all that is called inside it knows of it; `begin` says when it has begun. */
  transactional<T>(begin: (entered: (trx: Transaction) => void) => Promise<T>): Promise<T>
}
