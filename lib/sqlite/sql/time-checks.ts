/**
 * Look out: statements that may take long end while they run. SQLite's driver has no handler of progress, so a function of ours stands in front of the conditions
 * of every table that such a statement goes through: it looks at the clock, and throws when the time is over. Where it would stand is marked in the text, by a
 * comment; a statement is run without it unless an estimate calls it costly.
 */
import type Database from 'better-sqlite3'
import type { Costs, Statement, Visit } from '../../database/dialect.ts'
import type { RequestAbort } from '../../base/abort.ts'
import { Estimate } from './estimate.ts'
import type { Sql } from './sql.ts'

const MARK = /\/\*(where)?~(i?)(.*?)\*\//g
// A mark that stands for a whole clause goes with the space in front of it.
const CLAUSE = / \/\*where~.*?\*\/(?= |$)/g

/** A mark in front of the conditions of a table. `isInteger` says that the column holds integers, of which every 16th is looked at. */
export function mark(column: string, isInteger: boolean, isWhole = false): string {
  return column.includes('*/') ? '' : `/*${isWhole ? 'where' : ''}~${isInteger ? 'i' : ''}${column}*/`
}

/** Work from which on a statement is called costly: rows that it may go through, times what it does with each. Ten millions take about a second. */
const COSTLY = 10_000_000

/** Where less time is left, this much work for each millisecond of it: a fifth of what is done in one. */
const PER_MILLISECOND = 2000

/** From this much work with each row on, each row is looked at. */
const HEAVY = 200

/** A statement as it is run as a rule, and what may be needed of it otherwise. */
export function buildStatement(whole: Sql, visits: readonly Visit[], about: string): Statement {
  const sql = whole.text.replaceAll(CLAUSE, '').replaceAll(MARK, '')
  if (sql === whole.text) return { sql, bindings: whole.bindings }
  // What is done with JSON, by functions of ours, and by the application's expressions costs more than a comparison.
  const calls = sql.match(/json_(?!each)|mikro_|\(select /g)?.length ?? 0
  const weight = 1 + whole.bindings.length + 20 * calls
  const look = weight >= HEAVY ? '0' : '15'
  let watched: string | undefined
  const costs: Costs = {
    visits,
    weight,
    about,
    get watched() {
      return (watched ??= whole.text.replaceAll(MARK, (_, where: string | undefined, isInteger: string, column: string) => {
        const ticks = `((${isInteger === '' ? 'random()' : column} & ${look}) or mikro_tick(${column}))`
        return where === undefined ? `${ticks} and ` : `where ${ticks} `
      }))
    },
  }
  return { sql, bindings: whole.bindings, costs }
}

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
