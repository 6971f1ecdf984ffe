/**
 * Sends each batch of a reading as a single message. Several statements see one state of the data, in a read-only transaction (REPEATABLE
 * READ). A reading inside a write joins the transaction.
 */
import type { PoolClient } from 'pg'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Trace, Traces } from '../../foundation/async/trace.ts'
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
  /** The last page was not full, and told the count. */
  readonly #showedCount = new WeakSet<Statement>()
  traces: Traces | undefined

  constructor(sessions: Sessions, transactions: Transactions) {
    this.#sessions = sessions
    this.#transactions = transactions
  }

  /** @param behind called in a transaction when the last statements are sent */
  read<T>(reading: () => Reading<T>, end?: RequestAbort, behind?: () => void): T | Promise<T> {
    const started = reading()
    const first = started.next()
    if (first.done === true) return first.value
    const { current } = this.#transactions
    return current?.session === undefined
      ? this.#readAlone(reading, { started, batch: first.value }, end)
      : this.#readInside(reading, { started, batch: first.value, behind }, current)
  }

  /** Joins the session's transaction. */
  readOn<T>(session: PoolClient, reading: Reading<T>): Promise<T> {
    const first = reading.next()
    return first.done === true
      ? Promise.resolve(first.value)
      : this.#runBatch(first.value, session, undefined).then(rows => this.#resumeWith(reading, rows, session))
  }

  /** Repeats a reading once, if the connection was lost before the first rows. */
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
      // The end of a read-only transaction does not matter.
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

  /** After a page that was not full, a costly count is mostly in vain. */
  #isUncounted([page, count]: Batch): boolean {
    return count?.isNeeded !== undefined && this.#showedCount.has(page!.statement)
  }

  /** A count that was needless last time runs after the page, if needed. */
  async #runPage(batch: Batch, session: PoolClient, end: RequestAbort | undefined, around: Around): Promise<readonly (readonly Row[])[]> {
    const [page, count] = batch
    if (count?.isNeeded === undefined) return this.#runBatch(batch, session, end, around)
    const isUncounted = this.#isUncounted(batch)
    const found = await this.#runBatch(isUncounted ? [page!] : batch, session, end, around)
    const isNeeded = count.isNeeded(found[0]!)
    if (isNeeded) this.#showedCount.delete(page!.statement)
    else this.#showedCount.add(page!.statement)
    if (!isUncounted) return found
    return isNeeded ? [...found, ...(await this.#runBatch([count], session, end))] : [...found, NO_ROWS]
  }

  /** After the transaction, a reading that nobody awaited begins anew, outside. */
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

function findRefusedValue(error: unknown, batch: Batch): RefusedValue | undefined {
  const refused = findRefusedParameter(error)
  if (refused === undefined) return undefined
  const sql = findFailed(error)
  const step = batch.find(({ statement }) => statement.sql === sql)
  return step && new RefusedValue(step.statement.bindings[refused.place], refused.reason, error, step.list)
}

interface BegunInside<T> {
  readonly started: Reading<T>
  readonly batch: Batch
  /** As of `read`. */
  readonly behind: (() => void) | undefined
}

interface Around {
  readonly before?: AskedStatement | undefined
  readonly after?: AskedStatement | undefined
}

const BEGIN: AskedStatement = { sql: 'begin isolation level repeatable read, read only', parameters: [] }
const COMMIT: AskedStatement = { sql: 'commit', parameters: [] }

class Unanswered extends Error {
  constructor(cause: unknown) {
    super('The first statements of a reading have got no answer.', { cause })
  }
}
