/**
 * Index advice: finds indexes that spare a statement the scan or the sort of a large table. An index must have the statement's collation
 * and order of NULL to serve. None is created as a trial: a scan of much of a table gets no advice.
 */
import type { IndexAdvice, IndexColumn } from '../../records/database/explained-statements.ts'
import type { OrderPart, UsedTable } from '../sql/sql-text.ts'
import { name, tableName } from '../sql/sql.ts'

export interface PlanNode {
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

export interface TableFacts {
  /** At most 1,000,000; `undefined` for a view or a function. */
  readonly rows: number | undefined
  /** As `create index` statements. */
  readonly indexes: readonly string[]
}

const MOST_COLUMNS = 4

/** A scan that finds a greater part beats an index. */
const MUCH = 0.2

/** A column with its collation. A cast to text is read, too. */
const COLUMN = /^(?:\((?<cast>"(?:[^"]|"")+")\)::text|(?<bare>"(?:[^"]|"")+"))(?<collation> collate "C")?$/

/** @param many number of rows from which a table counts as large */
export function adviseIndexes(
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

/** Leaves out an index whose columns begin another index. */
export function dropPrefixes(advice: readonly IndexAdvice[]): IndexAdvice[] {
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
  // Few rows are sorted cheaply: then an index rather narrows the rows.
  const isSort = isSorted && found >= many && (equals.length > 0 || node.Filter === undefined)
  const sortColumns = isSort ? [...equals, ...order.map(makeOrdered)] : []
  const columns = sortColumns.length > equals.length && sortColumns.length <= MOST_COLUMNS ? sortColumns : scanColumns
  if (columns.length === 0 || columns.length > MOST_COLUMNS || columns.includes(undefined)) return undefined
  return { columns: columns as IndexColumn[], reason: isScan ? 'scan' : 'sort' }
}

/** `undefined` for an expression. */
function makeColumn(expression: string): IndexColumn | undefined {
  const groups = COLUMN.exec(expression)?.groups
  if (groups === undefined) return undefined
  const { cast, bare = cast!, collation = '' } = groups
  // An index on the column would not serve a comparison of texts.
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
