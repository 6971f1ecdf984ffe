/**
 * Decides whether a single statement reads and counts a page (`CompiledRead.counted`), by the table's size, SQLite's plan, and the last
 * counts: faster for few matches, slower for many. Measures: docs/benchmarks.md.
 */
import { thresholds } from '../../../foundation/base/thresholds.ts'
import type { ReadingStep, Row, Statement } from '../../../records/database/dialect.ts'
import type { Estimate } from './estimate.ts'

/** Pages with few matches before another try. */
const TRUST = 3

export type RunStep = (step: ReadingStep) => readonly Row[]

type Results = readonly (readonly Row[])[]

export class CountedPages {
  readonly #estimate: Estimate
  readonly #pagesWithFew = new WeakMap<Statement, number>()

  constructor(estimate: Estimate) {
    this.#estimate = estimate
  }

  /** @param runBatch runs statement by statement */
  run(batch: readonly ReadingStep[], run: RunStep, runBatch: (batch: readonly ReadingStep[], run: RunStep) => Results): Results {
    const [page] = batch as [ReadingStep]
    const most = this.#findMost(page)
    if (most === undefined) return runBatch(batch, run)
    const pagesWithFew = this.#pagesWithFew.get(page.statement) ?? TRUST
    const found = pagesWithFew < TRUST ? undefined : readCounted(batch, most, run)
    const both = found ?? runBatch(batch, run)
    this.#pagesWithFew.set(page.statement, countOf(page, both) <= most ? pagesWithFew + 1 : 0)
    return both
  }

  /** A single statement is faster up to so many matches; undefined: never. */
  #findMost({ statement, parameters, counted }: ReadingStep): number | undefined {
    const table = statement.costs?.visits[0]?.table
    const { limit, offset } = counted!
    const { countedTable, countedMatches, countedShare } = thresholds
    if (table === undefined || offset >= countedMatches) return undefined
    const rows = this.#estimate.rowsOf(table, performance.now())
    if (rows < countedTable || !Number.isFinite(rows)) return undefined
    const access = this.#estimate.accessOf(statement, parameters)
    if (access === 'look-up') return undefined
    // In index order, many matches fill a page soon.
    const most = access === 'walk' ? Math.sqrt(rows * Math.min(countedMatches, limit + offset)) / 2 : rows / countedShare
    return most <= offset ? undefined : Math.min(countedMatches, Math.floor(most))
  }
}

/** @returns undefined where more rows match */
function readCounted(batch: readonly ReadingStep[], most: number, run: RunStep): Results | undefined {
  const [page, count] = batch as [ReadingStep, ReadingStep]
  const { statement, bind, offset } = page.counted!
  const rows = run({ ...page, statement: statement(), parameters: bind(most) })
  const [first] = rows
  if (first !== undefined && Number(first.at(-1)) > most) return undefined
  page.take?.(rows)
  if (first !== undefined) return [rows, [[first.at(-1)]]]
  // Past the end no row carries the count.
  return [rows, offset === 0 ? [] : run(count)]
}

/** A page with room left shows the count itself. */
function countOf({ counted }: ReadingStep, [rows, count]: Results): number {
  const [only] = count ?? []
  return only === undefined ? counted!.offset + (rows?.length ?? 0) : Number(only[0])
}
