/**
 * Compile counted: one statement gives the rows of a page with the number of all rows that meet its conditions behind each, where these are
 * few. The rows are gone through once, where a page and its count go through them twice; and they are found before they are sorted: a
 * database that has them in order by an index goes through all of that to find few.
 */
import type { Statement } from '../../records/database/dialect.ts'
import type { ReadPlan } from '../../records/plan/read-plan.ts'
import { compileWhere, asksAll } from './compile-where.ts'
import { FromClause, formatTable, type Tables } from './from-clause.ts'
import { Select, pageClause } from './select.ts'
import { bind, join, sql, text, type Sql } from './sql.ts'
import { sortDirection, sortValue } from './sort-term.ts'

/** The rows that meet the conditions: their keys, and what they are sorted by. No table has that name. */
const FOUND = '"mikro_found"'

/** Databases join no more than 64 tables. */
const JOINS = 50

/**
 * Returns what compiles the statement when it is first asked for; undefined where it has nothing to win.
 *
 * @param rows the statement of the page, with its columns and what they join, and no more
 */
export function compileCounted(plan: ReadPlan, root: FromClause, rows: Select): (() => Statement) | undefined {
  const { resource, anchor, order } = plan
  const isNarrowed = plan.where.length > 0 || rows.tables.isScoped(resource)
  // By the key there is nothing to sort. What a list says of each record costs too much to be found out for records that are not shown.
  const isSorted = order.length > 0 && order.every(({ hops, or }) => or === undefined && hops.every(({ kind }) => kind === 'toOne'))
  const isByKey = order[0]?.hops.length === 0 && order[0].attribute?.primary === true
  const isPlain = resource.generatedKey && resource.source.kind === 'table' && rows.joins.length < JOINS
  if (anchor.kind !== 'collection' || !isNarrowed || !isSorted || isByKey || !isPlain) return undefined
  const [columns, joins] = [[...rows.columns], [...rows.joins]]
  let statement: Statement | undefined
  return () => (statement ??= finishCounted(plan, root, rows.tables, { columns, joins }))
}

/** What the rows of a page show. */
interface ShownRows {
  readonly columns: readonly Sql[]
  readonly joins: readonly Sql[]
}

function finishCounted(plan: ReadPlan, root: FromClause, tables: Tables, { columns, joins }: ShownRows): Statement {
  const { resource } = plan
  const { flavour } = tables
  const found = new Select(flavour, plan.scopeOf, tables.beside())
  const inner = new FromClause(resource, found.tables, found.tables.next(), found.joins)
  found.watch(inner, true)
  found.where = compileWhere(plan, inner)
  found.from = sql`${formatTable(resource)} as ${inner.alias}`
  const wide = asksAll(plan, inner)
  const [key] = inner.key as [string]
  found.columns.push(sql`${key} as k`)
  plan.order.forEach((term, index) => found.columns.push(sql`${sortValue(term, inner, wide)} as s${String(index)}`))
  // The columns of the table may have these names, too.
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
