/**
 * Compile counted: one statement for a page and its count, if few rows match. Finds rows once instead of twice, and before it sorts: in
 * index order, a database would read the whole index to find few.
 */
import type { Statement } from '../../records/database/dialect.ts'
import type { ReadPlan } from '../../records/plan/read-plan.ts'
import { compileWhere, asksAll } from './compile-where.ts'
import { FromClause, formatTable, type Tables } from './from-clause.ts'
import { Select, pageClause } from './select.ts'
import { bind, join, sql, text, type Sql } from './sql.ts'
import { sortDirection, sortValue } from './sort-term.ts'

/** The matching rows: keys and sort values. No table has this name. */
const FOUND = '"mikro_found"'

/** Databases join at most 64 tables. */
const JOINS = 50

/** @param rows the statement of the page, with columns and their joins alone */
export function compileCounted(plan: ReadPlan, root: FromClause, rows: Select): (() => Statement) | undefined {
  const { resource, anchor, order } = plan
  const isNarrowed = plan.where.length > 0 || rows.tables.isScoped(resource)
  // A sort by key costs nothing; a sort through lists costs too much for rows outside of the page.
  const isSorted = order.length > 0 && order.every(({ hops, or }) => or === undefined && hops.every(({ kind }) => kind === 'toOne'))
  const isByKey = order[0]?.hops.length === 0 && order[0].attribute?.primary === true
  const isPlain = resource.generatedKey && resource.source.kind === 'table' && rows.joins.length < JOINS
  if (anchor.kind !== 'collection' || !isNarrowed || !isSorted || isByKey || !isPlain) return undefined
  const [columns, joins] = [[...rows.columns], [...rows.joins]]
  let statement: Statement | undefined
  return () => (statement ??= finishCounted(plan, root, rows.tables, { columns, joins }))
}

interface ShownRows {
  readonly columns: readonly Sql[]
  readonly joins: readonly Sql[]
}

function finishCounted(plan: ReadPlan, root: FromClause, tables: Tables, { columns, joins }: ShownRows): Statement {
  const { resource } = plan
  const { flavour } = tables
  const found = new Select(flavour, plan.scopeOf, tables.forSubquery())
  const inner = new FromClause(resource, found.tables, found.tables.next(), found.joins)
  found.watch(inner, true)
  found.where = compileWhere(plan, inner)
  found.from = sql`${formatTable(resource)} as ${inner.alias}`
  const isOfAll = asksAll(plan, inner)
  const [key] = inner.key as [string]
  found.columns.push(sql`${key} as k`)
  plan.order.forEach((term, index) => found.columns.push(sql`${sortValue(term, inner, isOfAll)} as s${String(index)}`))
  // The table may have columns of these names, too.
  const last = flavour.keyOrder('f.k', resource.key[0]!.type)
  const order = join([...plan.order.map((term, index) => sortDirection(term, text(`f.s${index}`), root)), last], ', ')
  const page = sql`select * from ${FOUND} as f order by ${order} ${pageClause(flavour)}`
  const parts = [
    sql`with ${FOUND} as materialized (${found.body()} limit ${bind({ from: 'most' })} + 1)`,
    sql`select ${join([...columns, sql`(select count(*) from ${FOUND})`], ', ')} from (${page}) as f`,
    sql`join ${formatTable(resource)} as ${root.alias} on ${root.key[0]!} = f.k`,
    ...joins,
    sql`order by ${order}`,
  ]
  return flavour.finish(join(parts, ' '), found.tables.watched ?? [], 'rows')
}
