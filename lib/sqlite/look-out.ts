/**
 * Look out: statements that may take long end while they run. SQLite's driver has no handler of progress, so a function of ours stands in front of the conditions
 * of every table that such a statement goes through: it looks at the clock, and throws when the time is over. Where it would stand is marked in the text, by a
 * comment; a statement is run without it unless an estimate calls it costly.
 */
import type Database from 'better-sqlite3'
import type { Costs, Statement } from '../dialect.ts'
import type { End } from '../end.ts'
import type { Sql } from './sql.ts'
import { name } from './sql.ts'

const MARK = /\/\*(where)?~(i?)(.*?)\*\//g

/** A mark in front of the conditions of a table. `isInteger` says that the column holds integers, of which every 16th is looked at. */
export function mark(column: string, isInteger: boolean, isWhole = false): string {
  return column.includes('*/') ? '' : `/*${isWhole ? 'where' : ''}~${isInteger ? 'i' : ''}${column}*/`
}

/** Work from which on a statement is called costly: rows that it may go through, times what it does with each. A million takes about a tenth of a second. */
const COSTLY = 1_000_000

/** From this much work with each row on, each row is looked at. */
const HEAVY = 200

/** A statement as it is run as a rule, and what may be needed of it otherwise. */
export function statementOf(whole: Sql, tables: readonly (string | undefined)[], about: string): Statement {
  const sql = whole.text.replaceAll(MARK, '')
  if (sql === whole.text) return { sql, bindings: whole.bindings }
  // What is done with JSON, by functions of ours, and by the deployer's expressions costs more than a comparison.
  const calls = sql.match(/json_(?!each)|mikro_|\(select /g)?.length ?? 0
  const weight = 1 + whole.bindings.length + 20 * calls
  const look = weight >= HEAVY ? '0' : '15'
  let watched: string | undefined
  const costs: Costs = {
    tables,
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

/** How long the number of rows of a table is taken for true, in milliseconds. */
const FRESH = 1000

/** Who may take until when, and what is costly, in one database. */
export class LookOut {
  /** What may end the work that runs. */
  end: End | undefined
  readonly #db: Database.Database
  readonly #rows = new Map<string, { readonly rows: number; readonly at: number }>()

  constructor(db: Database.Database) {
    this.#db = db
    db.function('mikro_tick', { directOnly: true }, (_row: unknown) => {
      this.look()
      return 1
    })
  }

  /** Nothing else can end a request while a statement runs. */
  readonly look = (): void => {
    if (this.end?.deadline !== undefined && performance.now() >= this.end.deadline) this.end.look()
  }

  isCostly({ tables, weight }: Costs): boolean {
    let work = weight
    for (const table of tables) work *= table === undefined ? COSTLY : this.#rowsOf(table)
    return work >= COSTLY
  }

  /** About how many rows a table has: as many as its highest number, at least 1. */
  #rowsOf(table: string): number {
    const now = performance.now()
    const known = this.#rows.get(table)
    if (known !== undefined && now - known.at < FRESH) return known.rows
    const rows = this.#countOf(table)
    this.#rows.set(table, { rows, at: now })
    return rows
  }

  #countOf(table: string): number {
    try {
      const highest = this.#db
        .prepare(`select max(rowid) from ${name(table)}`)
        .pluck()
        .get()
      return typeof highest === 'number' ? Math.max(1, highest) : highest === null ? 1 : COSTLY
    } catch (error) {
      // A view, or a table without such numbers.
      if ((error as { code?: string }).code === 'SQLITE_ERROR') return COSTLY
      throw error
    }
  }
}
