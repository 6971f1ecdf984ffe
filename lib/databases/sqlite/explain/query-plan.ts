/** Reads SQLite's plan of a statement (https://www.sqlite.org/eqp.html), and makes a tree. */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { PlanStep } from '../../../records/database/explained-statements.ts'
import type { UsedTable } from '../../sql/sql-text.ts'

const PLANNED = /^\s*(?:select|insert|update|delete|replace|with|values)\b/i

interface PlanRow {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

export interface PlanLine extends PlanRow {
  /** The table read whole, or indexed for the statement alone. */
  readonly scans: string | undefined
  readonly sorts: boolean
}

/** @returns nothing for a statement without a plan, or no longer accepted */
export function readPlan(db: RawDatabase, sql: string, parameters: readonly unknown[]): PlanLine[] {
  if (!PLANNED.test(sql)) return []
  let rows: PlanRow[]
  try {
    rows = db.prepare(`explain query plan ${sql}`).all(...parameters) as PlanRow[]
  } catch (error) {
    // The request may have dropped the table, or the statement was refused.
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
    // A scan without condition or sort stops at the limit, and counting is cheap.
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
