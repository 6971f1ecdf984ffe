/**
 * Time checks: statements that may take long end while they run. SQLite's driver has no handler of progress, so a function of ours stands
 * in front of the conditions of every table that such a statement goes through (see time-marks.ts): it looks at the clock, and throws when
 * the time is over. A statement is run without it unless an estimate calls it costly.
 */
import type Database from 'better-sqlite3'
import type { Costs } from '../../../records/database/dialect.ts'
import type { RequestAbort } from '../../../foundation/work/abort.ts'
import { Estimate } from './estimate.ts'

/**
 * Work from which on a statement is called costly: rows that it may go through, times what it does with each. Ten millions take about a
 * second.
 */
const COSTLY = 10_000_000

/** Where less time is left, this much work for each millisecond of it: a fifth of what is done in one. */
const PER_MILLISECOND = 2000

/** Who may take until when, and what is costly, in one database. */
export class TimeChecks {
  /** What may end the work that runs. */
  end: RequestAbort | undefined
  readonly estimate: Estimate

  constructor(db: Database.Database) {
    this.estimate = new Estimate(db)
    db.function('mikro_tick', { directOnly: true }, (_row: unknown) => {
      this.look()
      return 1
    })
  }

  /** Nothing else can end a request while a statement runs. */
  readonly look = (): void => {
    if (this.end?.deadline !== undefined && performance.now() >= this.end.deadline) this.end.checkTime()
  }

  /** Whether a statement may take until the deadline, or longer. */
  isCostly(costs: Costs, deadline: number, now: number): boolean {
    return this.estimate.workOf(costs, now) >= Math.min(COSTLY, (deadline - now) * PER_MILLISECOND)
  }
}
