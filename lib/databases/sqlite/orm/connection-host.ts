/** Connection host: what MikroORM's connection needs of the engine's database. */
import type { Transaction } from '@mikro-orm/core'
import type { Awaitable } from '../../../foundation/async/awaitable.ts'
import type { Clock } from '../../../foundation/async/clock.ts'
import type { Trace } from '../../../foundation/async/trace.ts'
import type { PreparedQuery } from '../database/sqlite-database.ts'

/** The recorder of changed rows. */
export interface WriteObserver {
  /** @returns the position to roll back to */
  prepare(): number
  begin(): void
  savepoint(savepoint: string): void
  rollbackTo(to: string | number): void
  beforeCommit(): void
  afterCommit(): void
  rollback(): void
  afterStatement(): void
  /** @returns the position to roll back to */
  beforeSchemaChange(): number
}

/** `nested`: inside a transaction. */
export interface Entered {
  readonly release: () => void
  readonly nested: boolean
}

export interface ConnectionHost {
  readonly readOnly: boolean
  /** SQLite itself ends a transaction on a full disk, or after a failure. */
  readonly inTransaction: boolean
  /** Set where somebody listens to changed rows. */
  readonly observer: WriteObserver | undefined
  readonly trace: Trace | undefined
  /** In a page: runs a statement in the open transaction, where a wait of MikroORM has lost the request. */
  readonly within: (<T>(work: () => T) => T) | undefined
  enter(signal?: AbortSignal): Awaitable<Entered>
  prepare(sql: string): PreparedQuery
  checkTime(): void
  begun(): void
  writing(): void
  /** Throws where a commit would be in vain. */
  committing(): void
  /** The engine counts keys of some tables. */
  readonly counts: boolean
  /** Undefined where SQLite assigns the key. */
  nextKey(table: string): number | bigint | undefined
  giveKey(table: string, key: bigint): void
  /** Numbers a column other than the key, as a sequence of PostgreSQL does. */
  nextNumber(table: string, column: string): bigint
  findUsedUp(): string | undefined
  /** @returns undefined before the engine has a clock */
  clock(): Clock | undefined
  /**
   * Code that `begin` runs belongs to the transaction.
   *
   * @param begin calls `entered` at the beginning
   */
  transactional<T>(begin: (entered: (trx: Transaction) => void) => Promise<T>): Promise<T>
}
