/**
 * Readings: runs the statements of reading work. The statements of a batch are sent together. All statements of a reading see one state of the data: a reading that
 * is one statement runs alone, any other one in a transaction that only reads (REPEATABLE READ). A reading inside a write runs in the transaction of that.
 */
import type { PoolClient } from 'pg'
import type { RequestAbort } from '../base/abort.ts'
import type { Trace, Traces } from '../base/trace.ts'
import type { Reading, ReadingStep, Row } from '../database/dialect.ts'
import { isLost, isOutdated, unreachable } from './server/errors.ts'
import { command } from './server/sessions.ts'
import type { Sessions } from './server/sessions.ts'
import type { OpenTransaction, Transactions } from './server/transactions.ts'

type Batch = readonly ReadingStep[]

export class Readings {
  readonly #sessions: Sessions
  readonly #transactions: Transactions
  traces: Traces | undefined

  constructor(sessions: Sessions, transactions: Transactions) {
    this.#sessions = sessions
    this.#transactions = transactions
  }

  /** See `Connection.read`. */
  read<T>(reading: () => Reading<T>, end?: RequestAbort): T | Promise<T> {
    const started = reading()
    const first = started.next()
    if (first.done === true) return first.value
    const { current } = this.#transactions
    return current?.session === undefined
      ? this.#readAlone(reading, { started, batch: first.value }, end)
      : this.#readInside(reading, { started, batch: first.value }, current)
  }

  /** Runs reading work on a session, whatever runs on it. */
  readOn<T>(session: PoolClient, reading: Reading<T>): Promise<T> {
    const first = reading.next()
    return first.done === true
      ? Promise.resolve(first.value)
      : this.#runBatch(first.value, session, undefined).then(rows => this.#resumeWith(reading, rows, session, undefined))
  }

  /** A reading whose first statements a lost connection has taken along is repeated once: nothing of it has been used. */
  async #readAlone<T>(reading: () => Reading<T>, begun: { started: Reading<T>; batch: Batch }, end: RequestAbort | undefined): Promise<T> {
    try {
      return await this.#attempt(begun.started, begun.batch, end)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
    }
    const started = reading()
    const first = started.next()
    if (first.done === true) return first.value
    try {
      return await this.#attempt(started, first.value, end)
    } catch (error) {
      throw error instanceof Unanswered ? unreachable(error.cause) : error
    }
  }

  async #attempt<T>(started: Reading<T>, batch: Batch, end: RequestAbort | undefined): Promise<T> {
    const session = await this.#sessions.acquire()
    let failed: unknown
    try {
      return await this.#sessions.guard(session, end, () => this.#run(started, batch, session, end))
    } catch (error) {
      failed = error
      throw error
    } finally {
      this.#sessions.release(session, failed)
    }
  }

  async #run<T>(reading: Reading<T>, batch: Batch, session: PoolClient, end: RequestAbort | undefined): Promise<T> {
    const isAlone = batch.length === 1 && batch[0]!.isLast === true
    if (isAlone) return this.#resumeWith(reading, await this.#runFirst(batch, session, end), session, end)
    const begun = command(session, 'begin isolation level repeatable read, read only')
    try {
      return await this.#resumeWith(reading, await this.#runFirst(batch, session, end, begun), session, end)
    } finally {
      // Nothing depends on how a transaction ends that only reads. The next statement on the session comes after it.
      command(session, 'commit').catch(() => {})
    }
  }

  /** @param begun is settled when the transaction has begun, or could not */
  async #runFirst(
    batch: Batch,
    session: PoolClient,
    end: RequestAbort | undefined,
    begun?: Promise<unknown>,
  ): Promise<readonly (readonly Row[])[]> {
    try {
      const [results] = await Promise.all([this.#runBatch(batch, session, end), begun])
      return results
    } catch (error) {
      throw isLost(error) || isOutdated(error) ? new Unanswered(error) : error
    }
  }

  /** Reads in an open transaction. A reading that somebody has left behind in it goes on alone, from its beginning, when the transaction has ended. */
  async #readInside<T>(
    reading: () => Reading<T>,
    { started, batch }: { started: Reading<T>; batch: Batch },
    transaction: OpenTransaction,
  ): Promise<T> {
    this.#transactions.checkTime()
    let rows = await this.#runBatch(batch, transaction.session!, undefined)
    for (;;) {
      const step = started.next(rows)
      if (step.done === true) return step.value
      if (!transaction.open) return this.read(reading)
      rows = await this.#runBatch(step.value, transaction.session!, undefined)
    }
  }

  async #resumeWith<T>(
    reading: Reading<T>,
    first: readonly (readonly Row[])[],
    session: PoolClient,
    end: RequestAbort | undefined,
  ): Promise<T> {
    let step = reading.next(first)
    while (step.done !== true) {
      end?.checkTime()
      step = reading.next(await this.#runBatch(step.value, session, end))
    }
    return step.value
  }

  async #runBatch(batch: Batch, session: PoolClient, end: RequestAbort | undefined): Promise<readonly (readonly Row[])[]> {
    const trace = this.traces?.current
    if (end !== undefined) end.about = batch[0]?.statement.costs?.about
    const running = batch.map(step => this.#runStep(step, session, trace))
    const settled = running.length === 1 ? [await running[0]!] : await allOrFirst(running)
    for (const [index, { take }] of batch.entries()) take?.(settled[index]!)
    return settled
  }

  async #runStep({ statement, parameters, bound }: ReadingStep, session: PoolClient, trace: Trace | undefined): Promise<readonly Row[]> {
    const before = trace?.enter('sql')
    const begun = performance.now()
    let rows: readonly Row[] | undefined
    try {
      rows = await this.#sessions.read(session, statement.sql, parameters)
    } finally {
      trace?.streamed({ sql: statement.sql, parameters, duration: performance.now() - begun, rows: rows?.length })
      if (before !== undefined) trace!.enter(before)
    }
    bound?.room.check(rows.length, 0, bound.areIds, bound.at)
    return rows
  }
}

/** Waits for all, so that nothing runs on when one has failed; throws what failed first. */
async function allOrFirst<T>(running: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(running)
  return settled.map(each => {
    if (each.status === 'rejected') throw each.reason
    return each.value
  })
}

/** The first statements of a reading have got no answer. */
class Unanswered extends Error {
  constructor(cause: unknown) {
    super('The first statements of a reading have got no answer.', { cause })
  }
}
