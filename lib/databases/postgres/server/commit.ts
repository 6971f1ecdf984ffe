/** Commit: ends a transaction of a session, and lets those hear of it who note the rows that have changed. */
import type { PoolClient, QueryResult } from 'pg'
import { isLost, uncertain } from './errors.ts'
import { command } from './sessions.ts'
import type { WriteObserver } from './write-observer.ts'

/** @throws RestError (database_busy) when the session is lost meanwhile, and Error when the server rolls back instead. */
export async function commit(session: PoolClient, observer: WriteObserver | undefined): Promise<void> {
  await observer?.beforeCommit(session).catch((error: unknown) => {
    // A transaction in which a statement has failed has nothing to read, and the server undoes it.
    if ((error as { readonly code?: unknown }).code !== '25P02') throw error
  })
  let result: QueryResult
  try {
    result = await command(session, 'commit')
  } catch (error) {
    throw isLost(error) ? uncertain(error) : error
  }
  // The server answers so where a statement had failed before.
  if (result.command === 'ROLLBACK') {
    observer?.rollback(session)
    throw new Error('The transaction was rolled back, since one of its statements had failed.')
  }
  await observer?.afterCommit(session)
}
