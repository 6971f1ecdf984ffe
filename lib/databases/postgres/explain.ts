/** Shows query plans, by EXPLAIN, and missing indexes. No statement runs again. */
import type { PoolClient } from 'pg'
import type { RunStatement } from '../../foundation/async/trace.ts'
import type { IndexAdvice, PlanStep, StatementsExplained, IndexColumn } from '../../records/database/explained-statements.ts'
import { findTables, listParameters, type UsedTable, type OrderPart } from '../sql/sql-text.ts'
import { tableName, name } from '../sql/sql.ts'
import { ask, command } from './server/sessions.ts'

const MOST_COUNTED = 1_000_000

const MANY_ROWS = 1000

const EXPLAINABLE = /^\s*(?:select|with|insert|update|delete)\b/i

export async function explainStatements(session: PoolClient, statements: readonly RunStatement[]): Promise<StatementsExplained> {
  const facts = new Map<string, TableFacts>()
  const explained: StatementsExplained['statements'][number][] = []
  const advice = new Map<string, IndexAdvice>()
  for (const { sql, parameters } of statements) {
    const tables = findTables(sql, 'postgres')
    for (const { table } of tables.values()) if (!facts.has(table)) facts.set(table, await readFacts(session, table))
    const plan = EXPLAINABLE.test(sql) ? await readPlan(session, sql, parameters) : undefined
    // The server's plans show values of parameters.
    explained.push({
      ...listParameters(sql, 'postgres'),
      plan: plan === undefined ? [] : [buildStep(plan, tables, facts)],
      holdsValues: true,
    })
    if (plan !== undefined) for (const index of adviseIndexes(plan, tables, facts, MANY_ROWS)) advice.set(index.sql, index)
  }
  return { statements: explained, advice: dropPrefixes([...advice.values()]) }
}

async function readPlan(session: PoolClient, sql: string, parameters: readonly unknown[]): Promise<PlanNode> {
  const [row] = await ask(session, `explain (format json) ${sql}`, parameters)
  return (JSON.parse(row![0] as string) as [{ Plan: PlanNode }])[0].Plan
}

/** A view or function has neither rows nor indexes. */
async function readFacts(session: PoolClient, table: string): Promise<TableFacts> {
  const found = await ask(
    session,
    `select pg_get_indexdef(i.indexrelid) from pg_class c left join pg_index i on i.indrelid = c.oid and i.indpred is null and i.indisvalid
      where c.oid = to_regclass($1) and c.relkind in ('r', 'p', 'm')`,
    [tableName(table)],
  )
  if (found.length === 0) return { rows: undefined, indexes: [] }
  const [[rows] = []] = await ask(session, `select count(*) from (select from ${tableName(table)} limit ${MOST_COUNTED}) as t`)
  if (Number(rows) >= MANY_ROWS) await measure(session, table, Number(rows))
  return { rows: Number(rows), indexes: found.flatMap(([definition]) => (definition === null ? [] : [definition as string])) }
}

/** Runs ANALYZE if the server does not know the table's new size. */
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
  // A scan without condition or sort stops at the limit, and counting is cheap.
  const isInVain = isSort || (isScan && (isSorted || node.Filter !== undefined))
  return {
    detail: formatDetail(node),
    ...(table === undefined ? {} : { table }),
    ...(rows === undefined || rows === 0 ? {} : { rows }),
    isCostly: isInVain && (rows ?? 0) >= MANY_ROWS,
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

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly 'Sort Key'?: readonly string[]
  readonly 'Plan Rows': number
  readonly Plans?: readonly PlanNode[]
}

interface TableFacts {
  /** Counted to 1,000,000; `undefined` for views and functions. */
  readonly rows: number | undefined
  readonly indexes: readonly string[]
}

const MOST_COLUMNS = 4

/** To read a greater share of a table, an index is slower. */
const MUCH = 0.2

/** Perhaps cast to text. */
const COLUMN = /^(?:\((?<cast>"(?:[^"]|"")+")\)::text|(?<bare>"(?:[^"]|"")+"))(?<collation> collate "C")?$/

/**
 * Finds indexes that spare the scan or sort of a large table, with collation and order of NULL. No index is created as a trial: a scan of
 * much of a table gets no advice.
 *
 * @param many rows from which a table is large
 */
function adviseIndexes(
  plan: PlanNode,
  tables: ReadonlyMap<string, UsedTable>,
  facts: ReadonlyMap<string, TableFacts>,
  many: number,
): IndexAdvice[] {
  const advice: IndexAdvice[] = []
  const adviseNode = (node: PlanNode, isSorted: boolean): void => {
    for (const child of node.Plans ?? []) adviseNode(child, node['Node Type'] === 'Sort')
    const used = tables.get(node.Alias ?? '')
    const known = used === undefined ? undefined : facts.get(used.table)
    if (node['Node Type'] !== 'Seq Scan' || known?.rows === undefined || known.rows < many) return
    const index = findIndex(node, used!, isSorted, { rows: known.rows, many })
    if (index === undefined || hasIndex(index.columns, known.indexes)) return
    const { table } = used!
    const texts = index.columns.map(({ text, descending }) => (descending ? text.replace(/( nulls \w+)?$/, ' desc$1') : text))
    advice.push({
      table,
      columns: index.columns,
      reason: index.reason,
      scanned: table,
      rows: known.rows,
      sql: `create index on ${tableName(table)} (${texts.join(', ')})`,
    })
  }
  adviseNode(plan, false)
  return advice
}

/** Leaves out an index with the first columns of another index. */
function dropPrefixes(advice: readonly IndexAdvice[]): IndexAdvice[] {
  const texts = ({ table, sql }: IndexAdvice): string => `${table} ${sql.slice(sql.lastIndexOf('(') + 1, -1)},`
  return advice.filter(one => !advice.some(other => texts(other) !== texts(one) && texts(other).startsWith(texts(one))))
}

function findIndex(
  node: PlanNode,
  { isFiltered, equal, range, order }: UsedTable,
  isSorted: boolean,
  { rows, many }: { readonly rows: number; readonly many: number },
): Pick<IndexAdvice, 'columns' | 'reason'> | undefined {
  const found = node['Plan Rows']
  const isScan = node.Filter !== undefined && isFiltered && found < rows * MUCH
  const equals = isScan ? equal.map(({ text }) => makeColumn(text)) : []
  const scanColumns = isScan ? [...equals, ...range.slice(0, 1).map(({ text }) => makeColumn(text))] : []
  // A sort of few rows is cheap.
  const isSort = isSorted && found >= many && (equals.length > 0 || node.Filter === undefined)
  const sortColumns = isSort ? [...equals, ...order.map(makeOrdered)] : []
  const columns = sortColumns.length > equals.length && sortColumns.length <= MOST_COLUMNS ? sortColumns : scanColumns
  if (columns.length === 0 || columns.length > MOST_COLUMNS || columns.includes(undefined)) return undefined
  return { columns: columns as IndexColumn[], reason: isScan ? 'scan' : 'sort' }
}

/** @returns `undefined` for an expression */
function makeColumn(expression: string): IndexColumn | undefined {
  const groups = COLUMN.exec(expression)?.groups
  if (groups === undefined) return undefined
  const { cast, bare = cast!, collation = '' } = groups
  // The column's index would not serve comparisons of its text.
  if (cast !== undefined && collation === '') return undefined
  return { text: bare + collation, column: bare.slice(1, -1).replaceAll('""', '"'), descending: false }
}

function makeOrdered({ part, descending, nulls }: OrderPart): IndexColumn | undefined {
  const column = makeColumn(part.text)
  return column && { ...column, text: nulls === undefined ? column.text : `${column.text} nulls ${nulls}`, descending }
}

function hasIndex(columns: readonly IndexColumn[], definitions: readonly string[]): boolean {
  const normalize = (text: string): string => text.replaceAll('"', '').toLowerCase()
  const wanted = columns.map(({ column, text, descending }) => {
    const rest = text.slice(name(column!).length)
    return normalize(column! + rest.replace(/( nulls \w+)?$/, `${descending ? ' desc' : ''}$1`)).replace(' desc nulls first', ' desc')
  })
  return definitions.some(definition =>
    `${normalize(definition.slice(definition.indexOf('(') + 1, -1))},`.startsWith(`${wanted.join(', ')},`),
  )
}
