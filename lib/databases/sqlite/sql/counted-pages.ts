/**
 * Counted pages: decides whether a page is read and counted by one statement (`CompiledRead.counted`), which is faster where few rows match
 * and slower where many do. It takes the size of the table, the way in which SQLite runs the page, and how many have matched the last
 * times; and it stops at a bound, from which on two statements run as ever. See docs/benchmarks.md for the measures.
 */
import { thresholds } from '../../../foundation/base/thresholds.ts'
import type { ReadingStep, Row, Statement } from '../../../records/database/dialect.ts'
import type { Estimate } from './estimate.ts'

/** How often in a row few must have matched after many did. */
const TRUST = 3

/** Runs a statement. */
export type RunStep = (step: ReadingStep) => readonly Row[]

/** The rows of each statement of a batch. */
type Results = readonly (readonly Row[])[]

export class CountedPages {
  readonly #estimate: Estimate
  /** Of each statement how often few rows have matched since many did. */
  readonly #few = new WeakMap<Statement, number>()

  constructor(estimate: Estimate) {
    this.#estimate = estimate
  }

  /**
   * Returns the rows of a page and those of its count.
   *
   * @param runBoth runs them one after another
   */
  run(batch: readonly ReadingStep[], run: RunStep, runBoth: () => Results): Results {
    const [page] = batch as [ReadingStep]
    const most = this.#findMost(page)
    if (most === undefined) return runBoth()
    const few = this.#few.get(page.statement) ?? TRUST
    const found = few < TRUST ? undefined : readCounted(batch, most, run)
    const both = found ?? runBoth()
    this.#few.set(page.statement, countOf(page, both) <= most ? few + 1 : 0)
    return both
  }

  /** How many matches are worth while to be found before they are sorted; undefined: none. */
  #findMost({ statement, parameters, counted }: ReadingStep): number | undefined {
    const table = statement.costs?.visits[0]?.table
    const { limit, offset } = counted!
    const { countedTable, countedMatches, countedShare } = thresholds
    if (table === undefined || offset >= countedMatches) return undefined
    const rows = this.#estimate.rowsOf(table, performance.now())
    if (rows < countedTable || !Number.isFinite(rows)) return undefined
    const access = this.#estimate.accessOf(statement, parameters)
    if (access === 'look-up') return undefined
    // In the order of an index, a page is full the sooner the more match.
    const most = access === 'walk' ? Math.sqrt(rows * Math.min(countedMatches, limit + offset)) / 2 : rows / countedShare
    return most <= offset ? undefined : Math.min(countedMatches, Math.floor(most))
  }
}

/** The rows of a page and those of its count, by one statement; undefined where more match. */
function readCounted(batch: readonly ReadingStep[], most: number, run: RunStep): Results | undefined {
  const [page, count] = batch as [ReadingStep, ReadingStep]
  const { statement, bind, offset } = page.counted!
  const rows = run({ ...page, statement: statement(), parameters: bind(most) })
  const [first] = rows
  if (first !== undefined && Number(first.at(-1)) > most) return undefined
  page.take?.(rows)
  if (first !== undefined) return [rows, [[first.at(-1)]]]
  // Past the end no row says how many there are.
  return [rows, offset === 0 ? [] : run(count)]
}

/** How many rows match. A page that is not full shows it, and is not counted. */
function countOf({ counted }: ReadingStep, [rows, count]: Results): number {
  const [only] = count ?? []
  return only === undefined ? counted!.offset + (rows?.length ?? 0) : Number(only[0])
}
