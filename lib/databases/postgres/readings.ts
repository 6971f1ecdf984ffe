/**
 * Readings: runs the statements of reading work. The statements of a batch are sent together. All statements of a reading see one state of
 * the data: a reading that is one statement runs alone, any other one in a transaction that only reads (REPEATABLE READ). A reading inside
 * a write runs in the transaction of that.
 */
import type { PoolClient } from 'pg'
import type { RequestAbort } from '../../foundation/base/abort.ts'
import type { Trace, Traces } from '../../foundation/base/trace.ts'
import type { Reading, ReadingStep, Row, Statement } from '../../records/database/dialect.ts'
import { checkFollowed, isLastBatch } from '../../records/database/last-batch.ts'
import { RefusedValue } from '../../records/database/refused-value.ts'
import { findRefusedParameter, isLost, isOutdated, isUnprepared, pooled, unreachable } from './server/errors.ts'
import { command, type Sessions } from './server/sessions.ts'
import { findFailed, type Answered, type AskedStatement } from './server/statement-batch.ts'
import type { OpenTransaction, Transactions } from './server/transactions.ts'

type Batch = readonly ReadingStep[]

const NO_ROWS: readonly Row[] = Object.freeze([])

export class Readings {
  readonly #sessions: Sessions
  readonly #transactions: Transactions
  /** The statements whose last page was not full, and so showed its count. */
  readonly #few = new WeakSet<Statement>()
  traces: Traces | undefined

  constructor(sessions: Sessions, transactions: Transactions) {
    this.#sessions = sessions
    this.#transactions = transactions
  }

  /** See `Connection.read`. */
  read<T>(reading: () => Reading<T>, end?: RequestAbort, behind?: () => void): T | Promise<T> {
    const started = reading()
    const first = started.next()
    if (first.done === true) return first.value
    const { current } = this.#transactions
    return current?.session === undefined
      ? this.#readAlone(reading, { started, batch: first.value }, end)
      : this.#readInside(reading, { started, batch: first.value, behind }, current)
  }

  /** Runs reading work on a session, whatever runs on it. */
  readOn<T>(session: PoolClient, reading: Reading<T>): Promise<T> {
    const first = reading.next()
    return first.done === true
      ? Promise.resolve(first.value)
      : this.#runBatch(first.value, session, undefined).then(rows => this.#resumeWith(reading, rows, session))
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
      if (!(error instanceof Unanswered)) throw error
      throw isUnprepared(error) ? pooled(error.cause) : unreachable(error.cause)
    }
  }

  #attempt<T>(started: Reading<T>, batch: Batch, end: RequestAbort | undefined): Promise<T> {
    return this.#sessions.use(session => this.#sessions.guard(session, end, () => this.#run(started, batch, session, end)))
  }

  /** Runs a reading outside of any transaction. A reading of one statement needs no transaction of its own. */
  async #run<T>(reading: Reading<T>, batch: Batch, session: PoolClient, end: RequestAbort | undefined): Promise<T> {
    const isWhole = isLastBatch(batch) && !this.#isUncounted(batch)
    const around: Around = batch.length === 1 && isWhole ? {} : { before: BEGIN, after: isWhole ? COMMIT : undefined }
    let isOpen = around.before !== undefined
    let sent = batch
    try {
      let step = reading.next(await this.#runFirst(batch, session, end, around))
      isOpen &&= around.after === undefined
      while (step.done !== true) {
        checkFollowed(sent)
        sent = step.value
        end?.checkTime()
        const after = isLastBatch(step.value) && !this.#isUncounted(step.value) ? COMMIT : undefined
        const rows = await this.#runPage(step.value, session, end, { after })
        isOpen = after === undefined
        step = reading.next(rows)
      }
      return step.value
    } finally {
      // Nothing depends on how a transaction ends that only reads. The next statement on the session comes after it.
      if (isOpen) command(session, 'commit').catch(() => {})
    }
  }

  async #runFirst(batch: Batch, session: PoolClient, end: RequestAbort | undefined, around: Around): Promise<readonly (readonly Row[])[]> {
    try {
      return await this.#runPage(batch, session, end, around)
    } catch (error) {
      throw isLost(error) || isOutdated(error) ? new Unanswered(error) : error
    }
  }

  /**
   * Whether a batch is a page that showed its count itself the last time: to count beside it may take as long as to find it, and is mostly
   * in vain.
   */
  #isUncounted([page, count]: Batch): boolean {
    return count?.isNeeded !== undefined && this.#few.has(page!.statement)
  }

  /** Runs a batch. A count that is mostly not needed is run when it is. */
  async #runPage(batch: Batch, session: PoolClient, end: RequestAbort | undefined, around: Around): Promise<readonly (readonly Row[])[]> {
    const [page, count] = batch
    if (count?.isNeeded === undefined) return this.#runBatch(batch, session, end, around)
    const isUncounted = this.#isUncounted(batch)
    const found = await this.#runBatch(isUncounted ? [page!] : batch, session, end, around)
    const isNeeded = count.isNeeded(found[0]!)
    if (isNeeded) this.#few.delete(page!.statement)
    else this.#few.add(page!.statement)
    if (!isUncounted) return found
    return isNeeded ? [...found, ...(await this.#runBatch([count], session, end))] : [...found, NO_ROWS]
  }

  /**
   * Reads in an open transaction. A reading that somebody has left behind in it goes on alone, from its beginning, when the transaction has
   * ended.
   */
  async #readInside<T>(reading: () => Reading<T>, { started, batch, behind }: BegunInside<T>, transaction: OpenTransaction): Promise<T> {
    this.#transactions.checkTime()
    let sent = batch
    for (;;) {
      const running = this.#runBatch(sent, transaction.session!, undefined)
      if (isLastBatch(sent)) behind?.()
      const step = started.next(await running)
      if (step.done === true) return step.value
      checkFollowed(sent)
      if (!transaction.open) return this.read(reading)
      sent = step.value
    }
  }

  async #resumeWith<T>(reading: Reading<T>, first: readonly (readonly Row[])[], session: PoolClient): Promise<T> {
    let step = reading.next(first)
    while (step.done !== true) step = reading.next(await this.#runBatch(step.value, session, undefined))
    return step.value
  }

  async #runBatch(
    batch: Batch,
    session: PoolClient,
    end: RequestAbort | undefined,
    { before, after }: Around = {},
  ): Promise<readonly (readonly Row[])[]> {
    const trace = this.traces?.current
    if (end !== undefined) end.about = batch[0]?.statement.costs?.about
    const statements: AskedStatement[] = before === undefined ? [] : [before]
    for (const { statement, parameters } of batch) statements.push({ sql: statement.sql, parameters })
    if (after !== undefined) statements.push(after)
    const asked =
      trace === undefined
        ? this.#sessions.readAll(session, statements).then(({ rows }) => rows)
        : this.#runTraced(batch, session, statements, trace)
    const settled = await asked.catch((error: unknown) => {
      throw findRefusedValue(error, batch) ?? error
    })
    const first = before === undefined ? 0 : 1
    const rows = settled.slice(first, first + batch.length)
    for (const [index, { bound }] of batch.entries()) bound?.room.check(rows[index]!.length, 0, bound.areIds, bound.at)
    for (const [index, { take }] of batch.entries()) take?.(rows[index]!)
    return rows
  }

  /** Reports the statements of a batch, each with the time up to its answer. */
  async #runTraced(batch: Batch, session: PoolClient, statements: readonly AskedStatement[], trace: Trace): Promise<Answered['rows']> {
    const stage = trace.enter('sql')
    const begun = performance.now()
    let answered: Answered | undefined
    try {
      answered = await this.#sessions.readAll(session, statements)
      return answered.rows
    } finally {
      const first = statements[0] === BEGIN ? 1 : 0
      for (const [index, { statement, parameters }] of batch.entries()) {
        const duration = (answered?.times[first + index] ?? performance.now()) - begun
        trace.streamed({ sql: statement.sql, parameters, duration, rows: answered?.rows[first + index]!.length })
      }
      trace.enter(stage)
    }
  }
}

/** Finds the value of the request that the server cannot read as one of its type. */
function findRefusedValue(error: unknown, batch: Batch): RefusedValue | undefined {
  const refused = findRefusedParameter(error)
  if (refused === undefined) return undefined
  const sql = findFailed(error)
  const bindings = batch.find(({ statement }) => statement.sql === sql)?.statement.bindings
  return bindings && new RefusedValue(bindings[refused.place], refused.reason, error)
}

/** A reading in a transaction that has begun, with its first statements. */
interface BegunInside<T> {
  readonly started: Reading<T>
  readonly batch: Batch
  /** See `Connection.read`. */
  readonly behind: (() => void) | undefined
}

/** What is sent around the statements of a batch. */
interface Around {
  readonly before?: AskedStatement | undefined
  readonly after?: AskedStatement | undefined
}

const BEGIN: AskedStatement = { sql: 'begin isolation level repeatable read, read only', parameters: [] }
const COMMIT: AskedStatement = { sql: 'commit', parameters: [] }

/** The first statements of a reading have got no answer. */
class Unanswered extends Error {
  constructor(cause: unknown) {
    super('The first statements of a reading have got no answer.', { cause })
  }
}
