/** What MikroORM's connection asks of the engine. */
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
  /** SQLite itself may end a transaction, as on a full disk. */
  readonly inTransaction: boolean
  /** Set where somebody listens to changed rows. */
  readonly observer: WriteObserver | undefined
  readonly trace: Trace | undefined
  /** In a page: runs a statement in the open transaction, after a wait of MikroORM. */
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
  /** For a column other than the key, like a sequence. */
  nextNumber(table: string, column: string): bigint
  findUsedUp(): string | undefined
  /** @returns undefined before the engine has a clock */
  clock(): Clock | undefined
  /**
   * @param begin calls `entered` at the beginning; code inside belongs to the transaction
   */
  transactional<T>(begin: (entered: (trx: Transaction) => void) => Promise<T>): Promise<T>
}
