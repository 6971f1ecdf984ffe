/**
 * Runs readings. Nothing is awaited between statements, so all see one state of the data. Costly statements check the clock, and costly
 * readings may wait in line.
 */
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { isDateReplaced } from '../../foundation/async/clock.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { Trace } from '../../foundation/async/trace.ts'
import type { Reading, ReadingStep, Row } from '../../records/database/dialect.ts'
import { checkFollowed } from '../../records/database/last-batch.ts'
import type { Content } from './content.ts'
import { BUSY_TIMEOUT_MS, isBusy, whenFree } from './database/busy.ts'
import type { CountedPages, RunStep } from './sql/counted-pages.ts'
import type { Lock } from '../../foundation/async/lock.ts'
import type { Observers } from './observers.ts'
import type { Transactions } from './transactions.ts'

/** A long reading. */
const LONG_MS = 50

/** Turns of the event loop until departed clients are known. */
const TURNS = 3

const NO_ROWS: readonly Row[] = Object.freeze([])

function countRows({ length }: readonly Row[]): number {
  return length
}

function runSteps<T>(reading: Reading<T>, pages: CountedPages, run: RunStep): T {
  let next = reading.next()
  while (next.done !== true) {
    const batch = next.value
    const [first] = batch
    next = reading.next(first?.counted === undefined ? runBatch(batch, run) : pages.run(batch, run, runBatch))
    if (next.done !== true) checkFollowed(batch)
  }
  return next.value
}

function runBatch(batch: readonly ReadingStep[], run: RunStep): readonly (readonly Row[])[] {
  const results: (readonly Row[])[] = []
  let rows = NO_ROWS
  for (const step of batch) {
    rows = step.isNeeded?.(rows) === false ? NO_ROWS : run(step)
    step.take?.(rows)
    results.push(rows)
  }
  return results
}

export class Readings {
  readonly #content: Content
  readonly #transactions: Transactions
  readonly #observers: Observers
  #isCrowded = false
  #turn: Promise<void> = Promise.resolve()

  constructor(content: Content, transactions: Transactions, observers: Observers) {
    this.#content = content
    this.#transactions = transactions
    this.#observers = observers
  }

  /** See `Connection.read`. */
  readonly read = <T>(reading: () => Reading<T>, givenEnd?: RequestAbort): T | Promise<T> => {
    const { lock: shared } = this.#transactions
    // An open transaction holds the lock.
    const transaction = shared.held ? this.#transactions.current : undefined
    const lock = transaction === undefined ? shared : transaction.nested
    // A reading within a write has the write's time budget.
    const end = givenEnd ?? transaction?.end
    if (this.#isCrowded && end?.deadline !== undefined && transaction === undefined && this.#beginsCostly(reading, end.deadline))
      return this.#readInTurn(reading, end)
    // An idle connection needs no lock.
    if (lock?.held !== true || (lock === shared && !this.#content.handle.db.inTransaction)) {
      try {
        return this.run(reading(), end)
      } catch (error) {
        if (!isBusy(error)) throw error
      }
      return this.#readWhenFree(reading, end)
    }
    return this.#readLater(lock, reading, end)
  }

  /** See `Connection.readNow`. */
  readNow<T>(reading: () => Reading<T>): T {
    try {
      return this.run(reading())
    } catch (error) {
      if (!isBusy(error)) throw error
    }
    // The caller cannot wait, so SQLite does.
    const { db } = this.#content.handle
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    try {
      return this.run(reading())
    } finally {
      db.pragma('busy_timeout = 0')
    }
  }

  #beginsCostly<T>(reading: () => Reading<T>, deadline: number): boolean {
    const { done, value } = reading().next()
    const costs = done === true ? undefined : value[0]?.statement.costs
    return costs !== undefined && this.#content.handle.timeChecks.isCostly(costs, deadline, performance.now())
  }

  /**
   * After a long reading, costly readings wait some turns: quick requests are answered between, and clients that left cost nothing.
   */
  async #readInTurn<T>(reading: () => Reading<T>, end: RequestAbort): Promise<T> {
    const before = this.#turn
    let leave = (): void => {}
    this.#turn = new Promise(resolve => (leave = resolve))
    try {
      await before
      for (let turn = 0; turn < TURNS; turn++) await runtime.nextTurn()
      end.checkTime()
      this.#isCrowded = false
      return await this.read(reading, end)
    } finally {
      leave()
    }
  }

  async #readWhenFree<T>(reading: () => Reading<T>, end: RequestAbort | undefined): Promise<T> {
    return whenFree(() => {
      end?.throwIfReached()
      if (this.#content.handle.db.inTransaction) return this.#readLater(this.#transactions.lock, reading, end)
      return this.run(reading(), end)
    })
  }

  async #readLater<T>(lock: Lock, reading: () => Reading<T>, end: RequestAbort | undefined): Promise<T> {
    const release = await this.#transactions.wait(lock.acquire(end?.signal))
    try {
      return this.run(reading(), end)
    } finally {
      release()
    }
  }

  /** The caller holds the lock, or the connection is idle. */
  run<T>(reading: Reading<T>, end?: RequestAbort): T {
    const { handle, isBehind } = this.#content
    if (isBehind || isDateReplaced()) this.#content.followClock()
    const trace = this.#observers.traces?.current
    if (end?.deadline !== undefined) return this.#runInTime(reading, end, end.deadline, trace)
    if (trace === undefined) return runSteps(reading, handle.pages, handle.read)
    return runSteps(reading, handle.pages, step => trace.statement(step.statement.sql, step.parameters, countRows, () => handle.read(step)))
  }

  #runInTime<T>(reading: Reading<T>, end: RequestAbort, deadline: number, trace: Trace | undefined): T {
    const { handle } = this.#content
    const { timeChecks } = handle
    end.throwIfReached()
    const outerEnd = timeChecks.end
    timeChecks.end = end
    // One look at the clock for each statement: several cost nearly as much as reading a record.
    const begun = performance.now()
    let now = begun
    try {
      return runSteps(reading, handle.pages, step => {
        const { statement, parameters } = step
        const { costs } = statement
        end.about = costs?.about
        if (now >= deadline) end.checkTime()
        const sql = costs !== undefined && timeChecks.isCostly(costs, deadline, now) ? costs.watched : statement.sql
        const rows =
          trace === undefined ? handle.read(step, sql) : trace.statement(statement.sql, parameters, countRows, () => handle.read(step, sql))
        now = performance.now()
        return rows
      })
    } catch (error) {
      now = performance.now()
      throw error
    } finally {
      timeChecks.end = outerEnd
      if (now - begun >= LONG_MS) this.#makeCrowded()
    }
  }

  #makeCrowded(): void {
    this.#isCrowded = true
    void runtime
      .nextTurn()
      .then(() => runtime.nextTurn())
      .then(() => this.#turn)
      .then(() => (this.#isCrowded = false))
  }
}
