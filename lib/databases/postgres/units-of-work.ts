/** Runs writes in REPEATABLE READ transactions, and repeats a write after a conflict, unless code of the application runs inside. */
import { setTimeout as sleep } from 'node:timers/promises'
import { IsolationLevel, TransactionContext, type EntityManager, type MikroORM } from '@mikro-orm/core'
import type { PoolClient } from 'pg'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { RestError, restError } from '../../foundation/errors/errors.ts'
import type { Repeatable, WrittenPlace } from '../../records/database/connection.ts'
import { runsForeignCode } from '../orm/orm-connection.ts'
import { rememberManager } from '../orm/target-keys.ts'
import type { OrmHost } from './orm/lent-dialect.ts'
import { commit } from './server/commit.ts'
import { conflicting, isConflict, isLost, isOutdated, isUnprepared, pooled, unreachable } from './server/errors.ts'
import { type Sessions, command } from './server/sessions.ts'
import type { OpenTransaction, Transactions } from './server/transactions.ts'
import { WriteTurns, holdPlace, leavePlace } from './turns.ts'

/** @throws the error, unless the write met another and may run again */
function refuseFailed(error: unknown, isRepeatable: boolean): void {
  if (error instanceof RestError && !isConflict(error)) throw error
  if (isLost(error)) throw unreachable(error)
  const isOld = isOutdated(error)
  if (!isConflict(error) && !isOld) throw error
  if (!isRepeatable) throw isUnprepared(error) ? pooled(error) : isOld ? error : conflicting(error)
}

type EntityWork<T> = (em: EntityManager) => Awaitable<T>

/** Only the first runs without a turn. */
const ATTEMPTS = 10

const ELSEWHERE: WrittenPlace = { resource: undefined, id: undefined }

export class UnitsOfWork {
  readonly #sessions: Sessions
  readonly #transactions: Transactions
  readonly #orm: () => MikroORM
  readonly #readOnly: boolean
  readonly #plain: PlainTransactions
  readonly #turns = new WriteTurns()

  constructor(host: OrmHost, orm: () => MikroORM, readOnly: boolean) {
    this.#sessions = host.sessions
    this.#transactions = host.transactions
    this.#plain = new PlainTransactions(host)
    this.#orm = orm
    this.#readOnly = readOnly
  }

  /** See `Connection.write`. */
  async write<T>(work: EntityWork<T>, end?: RequestAbort, repeatable: Repeatable = false, place?: WrittenPlace): Promise<T> {
    if (this.#readOnly) throw restError('method_not_allowed', 'The database is open for reading only: nothing can be written to it.')
    const { current } = this.#transactions
    if (current !== undefined) return this.#writeNested(current, work, end)
    const isRepeatable = repeatable === 'declared' || (repeatable && !runsForeignCode(this.#orm().em))
    return this.#repeat(() => this.#attempt(work, end), end, isRepeatable, place)
  }

  /** See `Connection.transact`. */
  async transact<T>(work: () => Awaitable<T>, end?: RequestAbort, repeatable = false, place?: WrittenPlace): Promise<T> {
    if (this.#readOnly || this.#transactions.current !== undefined) return this.write(work, end, repeatable)
    const isCrowded = (): boolean => place !== undefined && this.#turns.areTaken(place)
    return this.#repeat(turn => this.#plain.run(work, end, turn ?? isCrowded), end, repeatable, place)
  }

  /**
   * Runs a transaction, again after a conflict: from then on all writes of the record take turns. A write that cannot be repeated takes a
   * turn at once, if the record is known.
   */
  async #repeat<T>(
    run: (turn: WrittenPlace | undefined) => Promise<T>,
    end: RequestAbort | undefined,
    isRepeatable: boolean,
    place: WrittenPlace = ELSEWHERE,
  ): Promise<T> {
    const isAlone = (!isRepeatable && place.id !== undefined) || this.#turns.areTaken(place)
    let leave = isAlone ? await this.#turns.take(place, end) : undefined
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return await run(leave === undefined ? undefined : place)
        } catch (error) {
          if (!(error instanceof Crowded)) refuseFailed(error, isRepeatable && attempt < ATTEMPTS)
        }
        leave ??= await this.#turns.take(place, end)
        // After random pauses, writes of two processes hardly meet again.
        if (attempt > 1) await sleep(Math.random() * 10 * attempt)
        end?.throwIfReached()
      }
    } finally {
      leave?.()
    }
  }

  async #attempt<T>(work: EntityWork<T>, end: RequestAbort | undefined): Promise<T> {
    const transaction = this.#transactions.create(end)
    try {
      return await this.#run(transaction, {}, work)
    } catch (error) {
      // The conflict of an inner request lets the whole write begin anew, instead of a 503.
      if (transaction.conflict !== undefined && error instanceof RestError && error.code === 'database_busy') throw transaction.conflict
      // Lost before the transaction began: the next attempt takes a new connection.
      if (transaction.session !== undefined || error instanceof RestError || !isLost(error)) throw error
    }
    return this.#run(this.#transactions.create(end), {}, work)
  }

  /** Inner writes are savepoints, in turn. */
  async #writeNested<T>(outer: OpenTransaction, work: EntityWork<T>, end: RequestAbort | undefined): Promise<T> {
    const release = await outer.nested.acquire(end?.signal)
    try {
      // The outer write has ended, since nobody has awaited the inner write.
      if (!outer.open) return await this.write(work, end, false)
      const transaction = this.#transactions.create(end)
      if (outer.session !== undefined) transaction.session = outer.session
      return await this.#run(transaction, outer.trx === undefined ? {} : { ctx: outer.trx }, work)
    } catch (error) {
      if (isConflict(error))
        for (let each: OpenTransaction | undefined = outer; each !== undefined; each = each.outer) each.conflict ??= error
      throw error
    } finally {
      release()
    }
  }

  async #run<T>(
    transaction: OpenTransaction,
    { ctx }: { readonly ctx?: NonNullable<OpenTransaction['trx']> },
    work: EntityWork<T>,
  ): Promise<T> {
    // A hook's subscribers end with the request, as in `transactional`.
    const em = this.#orm().em.fork({ cloneEventManager: true })
    try {
      return await this.#transactions.run(transaction, () =>
        // MikroORM's current entity manager, for code inside.
        TransactionContext.create(em, async () => {
          await em.begin(ctx === undefined ? { isolationLevel: IsolationLevel.REPEATABLE_READ } : { ctx })
          const trx = em.getTransactionContext()!
          transaction.trx = trx
          transaction.open = true
          rememberManager(em, trx)
          return this.#finish(em, transaction, work)
        }),
      )
    } finally {
      transaction.open = false
    }
  }

  async #finish<T>(em: EntityManager, transaction: OpenTransaction, work: EntityWork<T>): Promise<T> {
    const { session, end, nested } = transaction
    try {
      const result = await this.#sessions.guard(session!, end, async () => {
        const worked = await work(em)
        await em.flush()
        return worked
      })
      end?.throwIfReached()
      end?.checkTime()
      // Waits for inner writes that nobody awaited.
      const release = await nested.acquire()
      transaction.open = false
      release()
      await em.commit()
      return result
    } catch (error) {
      try {
        await em.rollback()
      } catch (failure) {
        // A failed rollback must not hide the reason.
        this.#orm()
          .config.getLogger()
          .warn('query', `Failed to roll back transaction: ${(failure as Error).message}`)
      }
      throw error
    }
  }
}

class NotBegun extends Error {}

/** The write must take a turn, and begin anew. */
class Crowded extends Error {}

/** Runs the engine's own statements in REPEATABLE READ, without an entity manager. `begin` travels with the first statement. */
class PlainTransactions {
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
