/** Explain: shows the query plans of statements that have run, by EXPLAIN, and missing indexes. No statement runs again. */
import type { PoolClient } from 'pg'
import type { RunStatement } from '../../foundation/work/trace.ts'
import type { IndexAdvice, PlanStep, StatementsExplained } from '../../records/database/explained-statements.ts'
import { findTables, listParameters, type UsedTable } from '../sql/sql-text.ts'
import { tableName } from '../sql/sql.ts'
import { adviseIndexes, dropPrefixes, type PlanNode, type TableFacts } from './index-advice.ts'
import { ask, command } from './server/sessions.ts'

const MOST_COUNTED = 1_000_000

/** A scan of so many rows is marked. */
const MANY = 1000

const EXPLAINABLE = /^\s*(?:select|with|insert|update|delete)\b/i

export async function explainStatements(session: PoolClient, statements: readonly RunStatement[]): Promise<StatementsExplained> {
  const facts = new Map<string, TableFacts>()
  const explained: StatementsExplained['statements'][number][] = []
  const advice = new Map<string, IndexAdvice>()
  for (const { sql, parameters } of statements) {
    const tables = findTables(sql, 'postgres')
    for (const { table } of tables.values()) if (!facts.has(table)) facts.set(table, await readFacts(session, table))
    const plan = EXPLAINABLE.test(sql) ? await readPlan(session, sql, parameters) : undefined
    // Plans of the server show parameters.
    explained.push({
      ...listParameters(sql, 'postgres'),
      plan: plan === undefined ? [] : [buildStep(plan, tables, facts)],
      holdsValues: true,
    })
    if (plan !== undefined) for (const index of adviseIndexes(plan, tables, facts, MANY)) advice.set(index.sql, index)
  }
  return { statements: explained, advice: dropPrefixes([...advice.values()]) }
}

async function readPlan(session: PoolClient, sql: string, parameters: readonly unknown[]): Promise<PlanNode> {
  const [row] = await ask(session, `explain (format json) ${sql}`, parameters)
  return (JSON.parse(row![0] as string) as [{ Plan: PlanNode }])[0].Plan
}

/** A view or a function has neither rows nor indexes. */
async function readFacts(session: PoolClient, table: string): Promise<TableFacts> {
  const found = await ask(
    session,
    `select pg_get_indexdef(i.indexrelid) from pg_class c left join pg_index i on i.indrelid = c.oid and i.indpred is null and i.indisvalid
      where c.oid = to_regclass($1) and c.relkind in ('r', 'p', 'm')`,
    [tableName(table)],
  )
  if (found.length === 0) return { rows: undefined, indexes: [] }
  const [[rows] = []] = await ask(session, `select count(*) from (select from ${tableName(table)} limit ${MOST_COUNTED}) as t`)
  if (Number(rows) >= MANY) await measure(session, table, Number(rows))
  return { rows: Number(rows), indexes: found.flatMap(([definition]) => (definition === null ? [] : [definition as string])) }
}

/** Runs ANALYZE on a table whose new size the server does not know yet. */
async function measure(session: PoolClient, table: string, rows: number): Promise<void> {
  const [[isOld] = []] = await ask(
    session,
    `select c.reltuples < $2 or c.reltuples > $3 from pg_class c
     where c.oid = to_regclass($1) and c.relkind = 'r' and current_setting('transaction_read_only') = 'off'
       and pg_has_role(c.relowner, 'usage')`,
    [tableName(table), rows * 0.8, rows < MOST_COUNTED ? rows * 1.2 : 'Infinity'],
  )
  if (isOld === 't') await command(session, `analyze ${tableName(table)}`)
}

function buildStep(
  node: PlanNode,
  tables: ReadonlyMap<string, UsedTable>,
  facts: ReadonlyMap<string, TableFacts>,
  isSorted = false,
): PlanStep {
  const used = tables.get(node.Alias ?? '')
  const isScan = node['Node Type'] === 'Seq Scan'
  const isSort = node['Node Type'] === 'Sort'
  const table = isScan ? (used?.table ?? node['Relation Name']) : undefined
  const rows = isScan ? facts.get(table!)?.rows : isSort ? Math.min(MOST_COUNTED, node.Plans?.[0]?.['Plan Rows'] ?? 0) : undefined
  // Without a condition or a sort, a scan stops at the limit, and counting is cheap.
  const isInVain = isSort || (isScan && (isSorted || node.Filter !== undefined))
  return {
    detail: formatDetail(node),
    ...(table === undefined ? {} : { table }),
    ...(rows === undefined || rows === 0 ? {} : { rows }),
    isCostly: isInVain && (rows ?? 0) >= MANY,
    children: (node.Plans ?? []).map(child => buildStep(child, tables, facts, isSort)),
  }
}

function formatDetail(node: PlanNode): string {
  const about = [
    node['Relation Name'] === undefined ? '' : ` on ${node['Relation Name']}`,
    node['Index Name'] === undefined ? '' : ` using ${node['Index Name']}`,
    node['Index Cond'] === undefined ? '' : ` (${node['Index Cond']})`,
    node.Filter === undefined ? '' : ` where ${node.Filter}`,
    node['Sort Key'] === undefined ? '' : ` by ${node['Sort Key'].join(', ')}`,
  ]
  return `${node['Node Type']}${about.join('')}`
}
