/**
 * Finds indexes that spare the scan or sort of a large table. Like SQLite's `.expert`, creates candidates in an empty copy of the schema,
 * and asks SQLite's planner.
 */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { IndexAdvice, IndexColumn } from '../../../records/database/explained-statements.ts'
import type { RunStatement } from '../../../foundation/async/trace.ts'
import { SqliteDatabase } from '../database/sqlite-database.ts'
import { readPlan, type PlanLine } from './query-plan.ts'
import { name } from '../../sql/sql.ts'
import { findTables, type IndexPart, type UsedTable } from '../../sql/sql-text.ts'

const MOST_COLUMNS = 4

const MOST_PAIRS = 300

interface Problem {
  readonly alias: string
  readonly reason: 'scan' | 'sort'
}

interface Candidate {
  readonly table: string
  readonly columns: readonly IndexColumn[]
}

/**
 * @param many rows from which a table is large
 * @returns each index once, in the order of the statements
 */
export function advise(
  db: RawDatabase,
  statements: readonly RunStatement[],
  rowsOf: (table: string) => number | undefined,
  many: number,
): IndexAdvice[] {
  const advice: IndexAdvice[] = []
  let shadow: SqliteDatabase | undefined
  try {
    for (const { sql, parameters } of statements) {
      const tables = findTables(sql, 'sqlite')
      const isBig = (alias: string): boolean => (rowsOf(tables.get(alias)?.table ?? '') ?? 0) >= many
      const problemsIn = (lines: readonly PlanLine[]): Problem[] => findProblems(lines, tables).filter(({ alias }) => isBig(alias))
      if (problemsIn(readPlan(db, sql, parameters)).length === 0) continue
      shadow ??= copySchema(db)
      const { db: copy } = shadow
      // The copy has the indexes advised so far.
      let problems = problemsIn(readPlan(copy, sql, parameters))
      while (problems.length > 0) {
        const best = findBest(listCandidates(tables), copy, problems, () => problemsIn(readPlan(copy, sql, parameters)))
        if (best === undefined) break
        const { indexes, left } = best
        const solved = problems.filter(({ alias, reason }) => !left.some(other => other.alias === alias && other.reason === reason))
        // A scan first: the sort is of the scan's rows.
        const [{ alias, reason }] = solved.toSorted((one, two) => (one.reason < two.reason ? -1 : 1)) as [Problem]
        const scanned = tables.get(alias)!.table
        for (const index of indexes) {
          advice.push({ ...index, reason, scanned, rows: rowsOf(scanned) ?? 0, sql: formatCreateIndex(index) })
          copy.exec(formatCreateIndex(index))
        }
        problems = left
      }
    }
  } finally {
    shadow?.close()
  }
  return advice
}

function findProblems(lines: readonly PlanLine[], tables: ReadonlyMap<string, UsedTable>): Problem[] {
  return lines.flatMap(({ scans, sorts, parent }): Problem[] => {
    if (scans !== undefined) return tables.get(scans)?.isFiltered === true ? [{ alias: scans, reason: 'scan' }] : []
    if (!sorts) return []
    // The scan on the same level gives the rows of a sort.
    return lines
      .filter(line => line.parent === parent && line.scans !== undefined && (tables.get(line.scans)?.order.length ?? 0) > 0)
      .map(line => ({ alias: line.scans!, reason: 'sort' }))
  })
}

function findBest(
  candidates: readonly Candidate[],
  db: RawDatabase,
  problems: readonly Problem[],
  readProblems: () => Problem[],
): { indexes: readonly Candidate[]; left: Problem[] } | undefined {
  const pairs = candidates.flatMap((one, at) =>
    candidates.flatMap((two, index) => (index > at && two.table !== one.table ? [[one, two]] : [])),
  )
  // Sometimes only two indexes help together.
  for (const sets of [candidates.map(candidate => [candidate]), pairs.slice(0, MOST_PAIRS)]) {
    const tried = sets.flatMap(indexes => {
      const left = withIndexes(db, indexes, readProblems)
      return left === undefined || left.length >= problems.length ? [] : [{ indexes, left }]
    })
    const width = (indexes: readonly Candidate[]): number => indexes.reduce((all, { columns }) => all + columns.length, 0)
    const [best] = tried.toSorted((one, two) => one.left.length - two.left.length || width(one.indexes) - width(two.indexes))
    if (best !== undefined) return best
  }
  return undefined
}

/** A look-up in one table may spare the scan of another. */
function listCandidates(tables: ReadonlyMap<string, UsedTable>): Candidate[] {
  const texts = new Set<string>()
  return [...tables.values()].flatMap(({ table, equal, range, order }) => {
    const up = (part: IndexPart): IndexColumn => ({ ...part, descending: false })
    const equals = equal.map(up)
    const prefixes = order.map((_, index) => order.slice(0, index + 1))
    // SQLite reads an index in both directions.
    const orders = prefixes.flatMap(terms => [
      terms.map(({ part }) => up(part)),
      terms.map(({ part, descending }) => ({ ...part, descending })),
    ])
    const lists = [
      ...equals.map(column => [column]),
      ...range.map(part => [up(part)]),
      ...(equals.length > 1 ? [equals] : []),
      ...range.map(part => [...equals, up(part)]),
      ...orders,
      ...orders.map(columns => [...equals, ...columns]),
    ]
    return lists.flatMap((columns): Candidate[] => {
      const distinct = columns.filter((column, index) => columns.findIndex(other => other.text === column.text) === index)
      const candidate = { table, columns: distinct }
      const text = formatCreateIndex(candidate)
      if (distinct.length > MOST_COLUMNS || texts.has(text)) return []
      texts.add(text)
      return [candidate]
    })
  })
}

/** @returns undefined where SQLite refuses an index */
function withIndexes<T>(db: RawDatabase, indexes: readonly Candidate[], readProblems: () => T): T | undefined {
  db.exec('savepoint candidate')
  try {
    for (const index of indexes) db.exec(formatCreateIndex(index))
    return readProblems()
  } catch (error) {
    // No index holds a non-deterministic function.
    if ((error as { code?: string }).code !== 'SQLITE_ERROR') throw error
    return undefined
  } finally {
    db.exec('rollback to candidate; release candidate')
  }
}

function formatCreateIndex(candidate: Candidate): string {
  const columns = candidate.columns.map(({ text, descending }) => (descending ? `${text} desc` : text)).join(', ')
  return `create index ${name(formatIndexName(candidate))} on ${name(candidate.table)} (${columns})`
}

function formatIndexName({ table, columns }: Candidate): string {
  const names = columns.map(
    ({ column, text, descending }) => (column ?? text.replaceAll(/\W+/g, '_').replaceAll(/^_|_$/g, '')) + (descending ? '_desc' : ''),
  )
  return `${table}_${names.join('_')}_index`
}

/** With statistics, but no rows. A part that cannot be created, such as a table of an unloaded module, gets no advice. */
function copySchema(db: RawDatabase): SqliteDatabase {
  const shadow = new SqliteDatabase(':memory:')
  const { db: copy } = shadow
  copy.pragma('foreign_keys = off')
  const entries = db.prepare(
    "select sql from main.sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\' order by rowid",
  )
  for (const sql of entries.pluck().all() as string[]) {
    try {
      copy.exec(sql)
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_ERROR') throw error
    }
  }
  const hasStatistics = db.prepare("select 1 from main.sqlite_schema where name = 'sqlite_stat1'").get() !== undefined
  if (hasStatistics) {
    copy.exec('analyze')
    const insert = copy.prepare('insert into sqlite_stat1 values (?, ?, ?)')
    for (const row of db.prepare('select tbl, idx, stat from main.sqlite_stat1').raw().all() as unknown[][]) insert.run(...row)
    copy.exec('analyze sqlite_schema')
  }
  return shadow
}
