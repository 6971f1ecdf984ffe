/** Shows query plans, and missing indexes. */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { StatementsExplained } from '../../../records/database/explained-statements.ts'
import type { RunStatement } from '../../../foundation/async/trace.ts'
import { advise } from './index-advice.ts'
import { readPlan, buildPlanTree } from './query-plan.ts'
import { name } from '../../sql/sql.ts'
import { listParameters, findTables } from '../../sql/sql-text.ts'

const MANY = 1000

const COUNTED = 1_000_000

export function explainStatements(db: RawDatabase, statements: readonly RunStatement[]): StatementsExplained {
  const counts = new Map<string, number | undefined>()
  const countRows = (table: string): number | undefined => {
    if (!counts.has(table)) counts.set(table, countUpTo(db, table, COUNTED))
    return counts.get(table)
  }
  return {
    statements: statements.map(({ sql, parameters }) => ({
      ...listParameters(sql, 'sqlite'),
      plan: buildPlanTree(readPlan(db, sql, parameters), findTables(sql, 'sqlite'), countRows, MANY),
    })),
    advice: advise(db, statements, countRows, MANY),
  }
}

/** Counts up to the limit; undefined unless the name is a table's. */
export function countUpTo(db: RawDatabase, table: string, limit: number): number | undefined {
  const isTable = db.prepare("select 1 from main.sqlite_schema where type = 'table' and name = ?").get(table) !== undefined
  if (!isTable) return undefined
  return db
    .prepare(`select count(*) from (select 1 from main.${name(table)} limit ?)`)
    .pluck()
    .get(limit) as number
}
