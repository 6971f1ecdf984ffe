/** Ends a transaction, and tells the observer of changed rows. */
import type { PoolClient, QueryResult } from 'pg'
import { isLost, uncertain } from './errors.ts'
import { command } from './sessions.ts'
import type { WriteObserver } from './write-observer.ts'

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
