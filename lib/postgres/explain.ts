/** Explains statements that have run: their query plans, as EXPLAIN gives them. The statements are planned with their values, and not run again. */
import type { PoolClient } from 'pg'
import type { RunStatement } from '../base/trace.ts'
import type { PlanStep, StatementsExplained } from '../database/explained-statements.ts'
import { ask } from './server/sessions.ts'

/** Rows from which the scan of a table is marked. */
const MANY = 1000

/** A node of a plan. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly 'Sort Key'?: readonly string[]
  readonly 'Plan Rows': number
  readonly Plans?: readonly PlanNode[]
}

/** What EXPLAIN takes. */
const EXPLAINABLE = /^\s*(?:select|with|insert|update|delete)\b/i

export async function explainStatements(session: PoolClient, statements: readonly RunStatement[]): Promise<StatementsExplained> {
  const explained: StatementsExplained['statements'][number][] = []
  for (const { sql, parameters } of statements) {
    const plan = EXPLAINABLE.test(sql) ? [buildStep(await readPlan(session, sql, parameters))] : []
    explained.push({ plan, columns: parameters.map(() => undefined), names: listNames(sql) })
  }
  return { statements: explained, advice: [] }
}

async function readPlan(session: PoolClient, sql: string, parameters: readonly unknown[]): Promise<PlanNode> {
  const [row] = await ask(session, `explain (format json) ${sql}`, parameters)
  return (JSON.parse(row![0] as string) as [{ Plan: PlanNode }])[0].Plan
}

function buildStep(node: PlanNode): PlanStep {
  const table = node['Node Type'] === 'Seq Scan' ? node['Relation Name'] : undefined
  const rows = node['Plan Rows']
  const isCostly = (table !== undefined || node['Node Type'].includes('Sort')) && rows >= MANY
  const about = [
    node['Relation Name'] === undefined ? '' : ` on ${node['Relation Name']}`,
    node['Index Name'] === undefined ? '' : ` using ${node['Index Name']}`,
    node['Index Cond'] === undefined ? '' : ` (${node['Index Cond']})`,
    node.Filter === undefined ? '' : ` where ${node.Filter}`,
    node['Sort Key'] === undefined ? '' : ` by ${node['Sort Key'].join(', ')}`,
  ]
  return {
    detail: `${node['Node Type']}${about.join('')}`,
    ...(table === undefined ? {} : { table, rows: Math.min(rows, 1_000_000) }),
    isCostly,
    children: (node.Plans ?? []).map(buildStep),
  }
}

/** Returns the names that a statement holds. */
function listNames(sql: string): ReadonlySet<string> {
  return new Set([...sql.matchAll(/"((?:[^"]|"")+)"/g)].map(([, quoted]) => quoted!.replaceAll('""', '"')))
}
