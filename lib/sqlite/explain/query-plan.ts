/** Query plan: what SQLite says it does for a statement (https://www.sqlite.org/eqp.html), as a tree. */
import type Database from 'better-sqlite3'
import type { PlanStep } from '../../database/explained-statements.ts'
import type { UsedTable } from './sql-text.ts'

/** Statements that have a plan. */
const PLANNED = /^\s*(?:select|insert|update|delete|replace|with|values)\b/i

interface PlanRow {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

/** A line of a query plan, and what it is about. */
export interface PlanLine extends PlanRow {
  /** The name of the table whose rows are all gone through, or are indexed for this one statement. */
  readonly scans: string | undefined
  /** Rows are sorted. */
  readonly sorts: boolean
}

/** The lines of a plan; none for a statement that has none, and for one that the database no longer takes. */
export function readPlan(db: Database.Database, sql: string, parameters: readonly unknown[]): PlanLine[] {
  if (!PLANNED.test(sql)) return []
  let rows: PlanRow[]
  try {
    rows = db.prepare(`explain query plan ${sql}`).all(...parameters) as PlanRow[]
  } catch (error) {
    // The request may have dropped a table that it made, or the statement was refused when it ran.
    if ((error as { code?: string }).code !== 'SQLITE_ERROR') throw error
    return []
  }
  return rows.map(({ id, parent, detail }) => ({
    id,
    parent,
    detail,
    scans: /^SCAN (\S+)/.exec(detail)?.[1] ?? /^SEARCH (\S+) USING AUTOMATIC /.exec(detail)?.[1],
    sorts: detail.startsWith('USE TEMP B-TREE FOR ORDER BY'),
  }))
}

/** @param rowsOf the number of rows of a table */
export function buildPlanTree(
  lines: readonly PlanLine[],
  tables: ReadonlyMap<string, UsedTable>,
  rowsOf: (table: string) => number | undefined,
  many: number,
  parent = 0,
): PlanStep[] {
  const level = lines.filter(line => line.parent === parent)
  const rowsScanned = (line: PlanLine): number | undefined => {
    const table = line.scans === undefined ? undefined : (tables.get(line.scans)?.table ?? line.scans)
    return table === undefined ? undefined : rowsOf(table)
  }
  const most = Math.max(0, ...level.map(line => rowsScanned(line) ?? 0))
  const isSorted = level.some(line => line.sorts)
  return level.map(line => {
    const rows = line.sorts ? most : rowsScanned(line)
    const used = line.scans === undefined ? undefined : tables.get(line.scans)
    // Rows that are neither looked for nor sorted are taken as they come, and only as many as are wanted; all of them are counted at little cost.
    const isInVain = line.sorts || isSorted || used?.isFiltered === true
    return {
      detail: line.detail,
      ...(used === undefined ? {} : { table: used.table }),
      ...(rows === undefined || rows === 0 ? {} : { rows }),
      isCostly: isInVain && (rows ?? 0) >= many,
      children: buildPlanTree(lines, tables, rowsOf, many, line.id),
    }
  })
}
