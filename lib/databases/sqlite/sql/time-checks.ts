/**
 * Ends long statements at the deadline. SQLite's driver has no progress handler: in a costly statement, a function before the conditions of
 * every table throws.
 */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { Costs, Statement, Visit } from '../../../records/database/dialect.ts'
import type { RequestAbort } from '../../../foundation/async/abort.ts'
import { markPlain } from './encode.ts'
import { Estimate } from './estimate.ts'
import type { Sql } from '../../sql/sql.ts'

/** Rows times work: about a second. */
const COSTLY = 10_000_000

/** A fifth of the work in a millisecond. */
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

  readonly checkClock = (): void => {
    if (this.end?.deadline !== undefined && performance.now() >= this.end.deadline) this.end.checkTime()
  }

  isCostly(costs: Costs, deadline: number, now: number): boolean {
    return this.estimate.workOf(costs, now) >= Math.min(COSTLY, (deadline - now) * PER_MILLISECOND)
  }
}

const MARK = /\/\*(where)?~(i?)(.*?)\*\//g
// With the space in front.
const CLAUSE = / \/\*where~.*?\*\/(?= |$)/g

/** @param isInteger multiples of 16 in the column check the clock; else a random 16th of the rows */
export function mark(column: string, isInteger: boolean, isWhole = false): string {
  return column.includes('*/') ? '' : `/*${isWhole ? 'where' : ''}~${isInteger ? 'i' : ''}${column}*/`
}

/** With so much work for a row, each row checks the clock. */
const HEAVY = 200

export function buildStatement(whole: Sql, visits: readonly Visit[], about: string): Statement {
  const sql = whole.text.replaceAll(CLAUSE, '').replaceAll(MARK, '')
  const bindings = whole.bindings.map(markPlain)
  if (sql === whole.text) return { sql, bindings }
  // JSON, functions of the engine and subqueries cost more than a comparison.
  const calls = sql.match(/json_(?!each)|mikro_|\(select /g)?.length ?? 0
  const weight = 1 + bindings.length + 20 * calls
  const mask = weight >= HEAVY ? '0' : '15'
  let watched: string | undefined
  const costs: Costs = {
    visits,
    weight,
    about,
    get watched() {
      return (watched ??= whole.text.replaceAll(MARK, (_, where: string | undefined, isInteger: string, column: string) => {
        const ticks = `((${isInteger === '' ? 'random()' : column} & ${mask}) or mikro_tick(${column}))`
        return where === undefined ? `${ticks} and ` : `where ${ticks} `
      }))
    },
  }
  return { sql, bindings, costs }
}
