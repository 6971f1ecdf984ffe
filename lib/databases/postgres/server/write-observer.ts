/** Write observer: what hears of the transactions of each session, so that the rows that change in them can be reported. */
import type { PoolClient } from 'pg'

export interface WriteObserver {
  /** Whether anybody wants to know of rows that change now. */
  readonly isAsked: boolean
  /** A transaction has begun. */
  begin(session: PoolClient): void
  /**
   * A statement has been sent that may write.
   *
   * @param isLast whether no other one follows in this transaction
   */
  writes(session: PoolClient, isLast: boolean): void
  /** Is called before a savepoint is made. */
  savepoint(session: PoolClient, name: string): Promise<void>
  /** Is called before a savepoint is released. */
  release(session: PoolClient, name: string): Promise<void>
  rollbackTo(session: PoolClient, name: string): void
  beforeCommit(session: PoolClient): Promise<void>
  afterCommit(session: PoolClient): Promise<void>
  rollback(session: PoolClient): void
}
