/**
 * Ends long statements. SQLite's driver has no progress handler, so in a costly statement a function in front of the conditions of every
 * table (see time-marks.ts) throws after the deadline.
 */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { Costs } from '../../../records/database/dialect.ts'
import type { RequestAbort } from '../../../foundation/async/abort.ts'
import { Estimate } from './estimate.ts'

/** Rows times the work for each: ten millions take about a second. */
const COSTLY = 10_000_000

/** Costly for each remaining millisecond: a fifth of what a millisecond does. */
const PER_MILLISECOND = 2000

export class TimeChecks {
  end: RequestAbort | undefined
  readonly estimate: Estimate

  constructor(db: RawDatabase) {
    this.estimate = new Estimate(db)
    db.function('mikro_tick', { directOnly: true }, (_row: unknown) => {
      this.checkClock()
      return 1
    })
  }

  /** Nothing else can end a request while a statement runs. */
  readonly checkClock = (): void => {
    if (this.end?.deadline !== undefined && performance.now() >= this.end.deadline) this.end.checkTime()
  }

  isCostly(costs: Costs, deadline: number, now: number): boolean {
    return this.estimate.workOf(costs, now) >= Math.min(COSTLY, (deadline - now) * PER_MILLISECOND)
  }
}
