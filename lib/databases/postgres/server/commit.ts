/** Ends a transaction, and tells the observer of changed rows. */
import type { PoolClient, QueryResult } from 'pg'
import { isLost, uncertain } from './errors.ts'
import { command } from './sessions.ts'

/** What the recorder of changed rows hears of transactions. */
export interface WriteObserver {
  readonly isAsked: boolean
  begin(session: PoolClient): void
  /**
   * Called once a statement is sent, unless the statement only reads.
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

/** @throws RestError (database_busy) for a session lost meanwhile, Error where the server rolls back instead */
export async function commit(session: PoolClient, observer: WriteObserver | undefined): Promise<void> {
  await observer?.beforeCommit(session).catch((error: unknown) => {
    // After a failed statement nothing can be read.
    if ((error as { readonly code?: unknown }).code !== '25P02') throw error
  })
  let result: QueryResult
  try {
    result = await command(session, 'commit')
  } catch (error) {
    throw isLost(error) ? uncertain(error) : error
  }
  // The server's answer after a failed statement.
  if (result.command === 'ROLLBACK') {
    observer?.rollback(session)
    throw new Error('The transaction was rolled back, since one of its statements had failed.')
  }
  await observer?.afterCommit(session)
}
