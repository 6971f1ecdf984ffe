/** Runs the engine's own statements in REPEATABLE READ, without an entity manager. `begin` travels with the first statement. */
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { PoolClient } from 'pg'
import type { WrittenPlace } from '../../records/database/connection.ts'
import type { OrmHost } from './orm/lent-dialect.ts'
import { commit } from './server/commit.ts'
import { isLost } from './server/errors.ts'
import { command } from './server/sessions.ts'
import { holdPlace, leavePlace } from './turns.ts'

class NotBegun extends Error {}

/** The write must take a turn, and begin anew. */
export class Crowded extends Error {}

export class PlainTransactions {
  readonly #host: OrmHost

  constructor(host: OrmHost) {
    this.#host = host
  }

  /**
   * Tries again where the session was lost before the transaction began.
   *
   * @param turn a record: writes of other processes wait; or a function that says, in a session, whether the write needs a turn
   * @throws Crowded where the function returns true
   */
  async run<T>(work: () => Awaitable<T>, end: RequestAbort | undefined, turn: WrittenPlace | (() => boolean)): Promise<T> {
    const { gate } = this.#host
    await gate.enter()
    try {
      return await this.#attempt(work, end, turn).catch((error: unknown) => {
        if (!(error instanceof NotBegun)) throw error
        return this.#attempt(work, end, turn)
      })
    } catch (error) {
      throw error instanceof NotBegun ? error.cause : error
    } finally {
      gate.leave()
    }
  }

  #attempt<T>(work: () => Awaitable<T>, end: RequestAbort | undefined, turn: WrittenPlace | (() => boolean)): Promise<T> {
    return this.#host.sessions.use(async session => {
      if (typeof turn === 'function') {
        if (turn()) throw new Crowded()
        return this.#transact(session, work, end)
      }
      // The lock first: a transaction sees all writes before its first statement.
      holdPlace(session, turn)
      try {
        return await this.#transact(session, work, end)
      } finally {
        leavePlace(session, turn)
      }
    })
  }

  async #transact<T>(session: PoolClient, work: () => Awaitable<T>, end: RequestAbort | undefined): Promise<T> {
    const { sessions, transactions, observer: findObserver } = this.#host
    const transaction = transactions.create(end)
    const observer = findObserver()
    try {
      let refusal: unknown
      const begun = command(session, 'begin isolation level repeatable read').catch((error: unknown) => {
        refusal = error
      })
      transaction.session = session
      transaction.open = true
      observer?.begin(session)
      try {
        const result = await sessions.guard(session, end, async () => transactions.run(transaction, work))
        await begun
        end?.throwIfReached()
        end?.checkTime()
        // Waits for inner writes that nobody awaited.
        const release = await transaction.nested.acquire()
        transaction.open = false
        release()
        await commit(session, observer)
        return result
      } catch (error) {
        await begun
        if (isLost(refusal)) throw new NotBegun('', { cause: refusal })
        observer?.rollback(session)
        // The server rolls back a discarded session.
        await command(session, 'rollback').catch(() => sessions.discard(session))
        throw error
      }
    } finally {
      transaction.open = false
    }
  }
}
