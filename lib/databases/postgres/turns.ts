/** After a conflict, writes of a record take turns, by a lock of the process and an advisory lock of the server. */
import type { PoolClient } from 'pg'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { Lock } from '../../foundation/async/lock.ts'
import type { WrittenPlace } from '../../records/database/connection.ts'
import { conflicting } from './server/errors.ts'
import { isLent } from './server/lent-settings.ts'
import { ask } from './server/sessions.ts'

/** As long as a statement waits for a row. */
const WAIT_MS = 30_000

interface Queue {
  readonly lock: Lock
  count: number
}

export class WriteTurns {
  readonly #queues = new Map<string, Queue>()

  areTaken(place: WrittenPlace): boolean {
    return this.#queues.size > 0 && this.#queues.has(nameOf(place))
  }

  /**
   * Waits for a turn. The result ends the turn.
   *
   * @throws RestError (database_busy) when no turn comes; the reason of `end` when the request ends before
   */
  async take(place: WrittenPlace, end: RequestAbort | undefined): Promise<() => void> {
    const name = nameOf(place)
    let queue = this.#queues.get(name)
    if (queue === undefined) this.#queues.set(name, (queue = { lock: new Lock(), count: 0 }))
    queue.count++
    const leave = (): void => {
      if (--queue.count === 0) this.#queues.delete(name)
    }
    try {
      const release = await this.#wait(queue.lock, end)
      return () => {
        release()
        leave()
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  async #wait(lock: Lock, end: RequestAbort | undefined): Promise<() => void> {
    if (!lock.held) return lock.acquire()
    const left = end?.deadline === undefined ? WAIT_MS : Math.min(WAIT_MS, end.deadline - performance.now())
    const late = AbortSignal.timeout(Math.max(0, Math.ceil(left)))
    try {
      return await lock.acquire(end === undefined ? late : AbortSignal.any([end.signal, late]))
    } catch (error) {
      end?.throwIfReached()
      end?.checkTime()
      throw conflicting(error)
    }
  }
}

function nameOf({ resource = '', id = '' }: WrittenPlace): string {
  return JSON.stringify([resource, id])
}

/**
 * Waits while another process writes the record. After too long a wait, the writes may meet. A session behind a pooler would keep no lock.
 */
export function holdPlace(session: PoolClient, place: WrittenPlace): void {
  askFor('pg_advisory_lock', session, place)
}

export function leavePlace(session: PoolClient, place: WrittenPlace): void {
  askFor('pg_advisory_unlock', session, place)
}

function askFor(what: string, session: PoolClient, place: WrittenPlace): void {
  if (isLent(session)) return
  ask(session, `select ${what}(hashtextextended(concat('mikro-rest ', current_schema(), ' ', $1::text), 0))`, [nameOf(place)]).catch(
    () => {},
  )
}
