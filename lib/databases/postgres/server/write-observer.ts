/** What the recorder of changed rows hears of transactions. */
import type { PoolClient } from 'pg'

export interface WriteObserver {
  readonly isAsked: boolean
  begin(session: PoolClient): void
  /**
   * Called when a statement was sent that may write.
   *
   * @param isLast no statement follows in the transaction
   */
  writes(session: PoolClient, isLast: boolean): void
  /** Called before the savepoint is made. */
  savepoint(session: PoolClient, name: string): Promise<void>
  /** Called before the savepoint is released. */
  release(session: PoolClient, name: string): Promise<void>
  rollbackTo(session: PoolClient, name: string): void
  beforeCommit(session: PoolClient): Promise<void>
  afterCommit(session: PoolClient): Promise<void>
  rollback(session: PoolClient): void
}
