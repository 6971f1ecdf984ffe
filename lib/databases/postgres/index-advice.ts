/**
 * Index advice: finds indexes that would spare a statement the scan or the sort of a large table, by its query plan. They are on what the
 * statement compares and sorts by, exactly as it says that: an index on a text serves an order by code point only if it has that collation,
 * and an order with NULL first only if it has them first. No index is created to find out: where the planner expects to need much of a
 * table, none is advised.
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
  /** At most 1,000,000; undefined for what is no table. */
  readonly rows: number | undefined
  /** The statements that would make its indexes. */
  readonly indexes: readonly string[]
}

/** Limit of the columns in an index. */
const WIDEST = 4

/** The part of a table from which on going through it is cheaper than looking up. */
const MUCH = 0.2

/** A column, with the collation in which texts are compared, whatever the column is cast to for that. */
const COLUMN = /^(?:\((?<cast>"(?:[^"]|"")+")\)::text|(?<bare>"(?:[^"]|"")+"))(?<collation> collate "C")?$/

/** @param many number of rows from which a table counts as large */
export function adviseIndexes(
  plan: PlanNode,
  tables: ReadonlyMap<string, UsedTable>,
  facts: ReadonlyMap<string, TableFacts>,
  many: number,
): IndexAdvice[] {
  const advice: IndexAdvice[] = []
  const visit = (node: PlanNode, isSorted: boolean): void => {
    for (const child of node.Plans ?? []) visit(child, node['Node Type'] === 'Sort')
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
  visit(plan, false)
  return advice
}

/** Leaves out what another index does as well: one that begins with the same columns. */
export function dropPrefixes(advice: readonly IndexAdvice[]): IndexAdvice[] {
  const texts = ({ table, sql }: IndexAdvice): string => `${table} ${sql.slice(sql.lastIndexOf('(') + 1, -1)},`
  return advice.filter(one => !advice.some(other => texts(other) !== texts(one) && texts(other).startsWith(texts(one))))
}

/** Finds the columns of an index for a scan, and for the sort of its rows. */
function findIndex(
  node: PlanNode,
  { isFiltered, equal, range, order }: UsedTable,
  isSorted: boolean,
  { rows, many }: { readonly rows: number; readonly many: number },
): Pick<IndexAdvice, 'columns' | 'reason'> | undefined {
  const found = node['Plan Rows']
  const isScan = node.Filter !== undefined && isFiltered && found < rows * MUCH
  const equals = isScan ? equal.map(({ text }) => makeColumn(text)) : []
  const looked = isScan ? [...equals, ...range.slice(0, 1).map(({ text }) => makeColumn(text))] : []
  // To sort few rows costs little: then an index rather narrows them further.
  const isSort = isSorted && found >= many && (equals.length > 0 || node.Filter === undefined)
  const sorted = isSort ? [...equals, ...order.map(makeOrdered)] : []
  const columns = sorted.length > equals.length && sorted.length <= WIDEST ? sorted : looked
  if (columns.length === 0 || columns.length > WIDEST || columns.includes(undefined)) return undefined
  return { columns: columns as IndexColumn[], reason: isScan ? 'scan' : 'sort' }
}

/** Makes the column of an index; undefined for an expression. */
function makeColumn(expression: string): IndexColumn | undefined {
  const groups = COLUMN.exec(expression)?.groups
  if (groups === undefined) return undefined
  const { cast, bare = cast!, collation = '' } = groups
  // Cast and without a collation it is compared as it is not stored.
  if (cast !== undefined && collation === '') return undefined
  return { text: bare + collation, column: bare.slice(1, -1).replaceAll('""', '"'), descending: false }
}

function makeOrdered({ part, descending, nulls }: OrderPart): IndexColumn | undefined {
  const column = makeColumn(part.text)
  return column && { ...column, text: nulls === undefined ? column.text : `${column.text} nulls ${nulls}`, descending }
}

/** Whether an index begins with the columns. */
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
