/**
 * Compile read: a ReadPlan becomes SQL, once for each plan: one statement for rows, one for the count, one for each shown relation; never
 * one for each row.
 */
import type { CompiledNode, CompiledRead, Statement } from '../../records/database/dialect.ts'
import type { ReadPlan } from '../../records/plan/read-plan.ts'
import { compileIds, compileNode } from './compile-node.ts'
import { compileStart } from './compile-start.ts'
import { asksAll, compileWhere } from './compile-where.ts'
import type { Flavour } from './flavour.ts'
import { FromClause, formatTable, type Tables } from './from-clause.ts'
import { Select, pageClause } from './select.ts'
import { join, sql, text, tuple, type Sql, bind } from './sql.ts'
import { sortTerm, sortDirection, sortValue } from './sort-term.ts'

export function compileRead(plan: ReadPlan, flavour: Flavour): CompiledRead {
  const rows = new Select(flavour, plan.scopeOf)
  rows.tables.watched = []
  const root = new FromClause(plan.resource, rows.tables, rows.tables.next(), rows.joins)
  const node = plan.node === undefined ? compileIds(root, rows) : compileNode(plan.node, root, rows)
  const barePlaces = plan.bareColumns === undefined ? [] : addColumns(plan.bareColumns, root, rows)
  rows.from = sql`${formatTable(plan.resource)} as ${root.alias}`
  const counted = plan.paged && plan.start === undefined ? compileCounted(plan, root, rows) : undefined
  if (plan.order.length > 0 || plan.where.length > 0) rows.watch(root, plan.anchor.kind === 'collection')
  rows.where = compileWhere(plan, root)
  if (plan.anchor.kind === 'keys') rows.order = compileKeyOrder(plan, root)
  const parts = { counted, node, barePlaces, rendered: isRendered(node), cursor: undefined }
  if (plan.start !== undefined) {
    const { order, where, places } = compileStart(plan, plan.start, root, rows)
    rows.order = order
    if (where !== undefined) rows.where = [...rows.where, where]
    rows.page = true
    return { rows: rows.finish('rows'), count: onFirstUse(() => compileCount(plan, flavour)), deep: undefined, ...parts, cursor: places }
  }
  if (!plan.paged) return { rows: rows.finish('rows'), count: undefined, deep: undefined, ...parts }
  rows.order = compileOrder(plan, root)
  rows.page = true
  return {
    rows: rows.finish('rows'),
    count: onFirstUse(() => compileCount(plan, flavour)),
    deep: compileLateLookUp(plan, root, rows),
    ...parts,
  }
}

/** A SELECT needs a column: without columns, adds a 1. */
function addColumns(columns: readonly string[], root: FromClause, rows: Select): readonly number[] {
  return columns.length === 0 ? [rows.add(text('1'))] : columns.map(column => rows.add(text(root.column(column))))
}

function compileOrder(plan: ReadPlan, root: FromClause): Sql[] {
  const isOfAll = asksAll(plan, root)
  return [...plan.order.map(term => sortTerm(term, root, isOfAll)), ...compileKeyOrder(plan, root)]
}

function compileKeyOrder({ resource: { key, order } }: ReadPlan, root: FromClause): Sql[] {
  const { flavour } = root.tables
  return order.map(column => flavour.keyOrder(root.column(column), key.find(part => part.column === column)?.type))
}

/**
 * Finds the page by keys first (`where id in (select id ... limit 10 offset 5000)`): skips index entries and sorts keys, not rows. Useless
 * in key order; keys that are not generated may be NULL in some databases, and get lost.
 */
function compileLateLookUp(plan: ReadPlan, root: FromClause, rows: Select): (() => Statement) | undefined {
  const { resource } = plan
  const [first] = plan.order
  const isByKey = first === undefined || (first.hops.length === 0 && first.attribute?.primary === true)
  if (isByKey || !resource.generatedKey || resource.source.kind !== 'table') return undefined
  let statement: Statement | undefined
  return () => {
    if (statement !== undefined) return statement
    const joins: Sql[] = []
    const inner = new FromClause(resource, rows.tables, rows.tables.next(), joins)
    inner.origin = root.origin
    const where = compileWhere(plan, inner)
    const order = compileOrder(plan, inner)
    const parts = [sql`select ${tuple(inner.key)} from ${formatTable(resource)} as ${inner.alias}`, ...joins]
    const [key] = inner.key
    const isWatched = rows.mark !== '' && key !== undefined
    if (where.length > 0) parts.push(sql`where ${isWatched ? root.tables.flavour.mark(key, true) : ''}${join(where, ' and ')}`)
    else if (isWatched) parts.push(text(root.tables.flavour.mark(key, true, true)))
    rows.mark = ''
    parts.push(sql`order by ${join(order, ', ')} ${pageClause(root.tables.flavour)}`)
    rows.where = [sql`${tuple(root.key)} in (${join(parts, ' ')})`]
    rows.page = false
    return (statement = rows.finish('rows'))
  }
}

function isRendered(node: CompiledNode): boolean {
  return node.source !== undefined || node.children.some(child => isRendered(child.node))
}

function onFirstUse(compile: () => Statement): () => Statement {
  let statement: Statement | undefined
  return () => (statement ??= compile())
}

/** Joins only tables of the filters, and sorts nothing. */
function compileCount(plan: ReadPlan, flavour: Flavour): Statement {
  const count = new Select(flavour, plan.scopeOf)
  const root = new FromClause(plan.resource, count.tables, count.tables.next(), count.joins)
  count.columns.push(text('count(*)'))
  count.from = sql`${formatTable(plan.resource)} as ${root.alias}`
  if (plan.where.length > 0) count.watch(root, plan.anchor.kind === 'collection')
  count.where = compileWhere(plan, root)
  return count.finish('count')
}

/** Keys and sort values of the matching rows. No table has this name. */
const FOUND = '"mikro_found"'

/** Databases join at most 64 tables. */
const JOINS = 50

/** @param rows of the page, with columns and their joins alone */
function compileCounted(plan: ReadPlan, root: FromClause, rows: Select): (() => Statement) | undefined {
  const { resource, anchor, order } = plan
  const isNarrowed = plan.where.length > 0 || rows.tables.isScoped(resource)
  // A sort by key is free; through lists too dear for rows outside of the page.
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
