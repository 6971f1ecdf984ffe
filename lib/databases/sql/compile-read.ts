/** Compiles a ReadPlan to SQL statements, for the rows of a page, for the count, and for each shown relation of all rows. */
import { idParts } from '../../model/key.ts'
import type { CompiledNode, CompiledRead, Statement } from '../../records/database/dialect.ts'
import type { ReadPlan, SortTerm, StartPlan, Anchor, Condition } from '../../records/plan/read-plan.ts'
import { compileIds, compileNode } from './compile-node.ts'
import { condition } from './condition.ts'
import type { Flavour } from './flavour.ts'
import { FromClause, formatTable, type Tables, conjunction, discriminatorCondition } from './from-clause.ts'
import { Select, pageClause, existing, isKey } from './select.ts'
import { sortTerm, sortDirection, sortValue, termValue } from './sort-term.ts'
import { join, sql, text, tuple, type Sql, bind, name, tableName, withLiterals } from './sql.ts'

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

/** Adds a 1 instead of no columns. */
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

interface OrderKey {
  readonly value: Sql
  readonly order: Sql
  readonly descending: boolean
  readonly nullsFirst: boolean
}

interface CompiledStart {
  readonly order: readonly Sql[]
  /** Undefined: begins with the first row. */
  readonly where: Sql | undefined
  /** Sort values, for the next cursor. */
  readonly places: readonly number[]
}

/** The page behind a cursor. */
function compileStart(plan: ReadPlan, start: StartPlan, root: FromClause, select: Select): CompiledStart {
  const keys = [...plan.order.map(term => sortKey(term, root)), ...start.key.map(column => keyOf(column, plan, root))]
  const { flavour } = root.tables
  return {
    order: keys.map(({ order }) => order),
    where: start.nulls === undefined ? undefined : isBehind(keys, start.nulls, 0),
    places: keys.map(({ value }) => select.add(flavour.cursor(value))),
  }
}

function sortKey(term: SortTerm, root: FromClause): OrderKey {
  const value = termValue(term, root)
  const { descending, nulls = descending ? 'last' : 'first' } = term
  return { value, order: sortDirection(term, value, root), descending, nullsFirst: nulls === 'first' }
}

function keyOf(column: string, { resource }: ReadPlan, root: FromClause): OrderKey {
  const { key, shownKey } = resource
  const part = [...key, ...(shownKey === undefined ? [] : [shownKey.part])].find(each => each.column === column)
  const value = root.tables.flavour.keyOrder(root.column(column), part?.type)
  return { value, order: value, descending: false, nullsFirst: true }
}

/** `name > 'Ann' or (name = 'Ann' and id > 7)`: each key decides where the keys before are equal. */
function isBehind(keys: readonly OrderKey[], nulls: readonly boolean[], index: number): Sql {
  const key = keys[index]!
  const value = bind({ from: 'cursor', index })
  const isNull = nulls[index] === true
  const behind = isNull ? compileBehindNull(key) : compileBehind(key, value)
  if (index === keys.length - 1) return behind
  const equal = isNull ? sql`${key.value} is null` : sql`${key.value} = ${value}`
  return sql`(${behind} or (${equal} and ${isBehind(keys, nulls, index + 1)}))`
}

function compileBehindNull({ value, nullsFirst }: OrderKey): Sql {
  return nullsFirst ? sql`${value} is not null` : sql`1 = 0`
}

function compileBehind({ value, descending, nullsFirst }: OrderKey, parameter: Sql): Sql {
  const behind = sql`${value} ${descending ? '<' : '>'} ${parameter}`
  return nullsFirst ? behind : sql`(${behind} or ${value} is null)`
}

/**
 * Finds the keys of the page first (`where id in (select id ... limit 10 offset 5000)`): the database skips index entries and sorts keys,
 * not rows. Undefined where nothing is saved, in the order of the key, and for keys with NULL.
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

function compileCount(plan: ReadPlan, flavour: Flavour): Statement {
  const count = new Select(flavour, plan.scopeOf)
  const root = new FromClause(plan.resource, count.tables, count.tables.next(), count.joins)
  count.columns.push(text('count(*)'))
  count.from = sql`${formatTable(plan.resource)} as ${root.alias}`
  if (plan.where.length > 0) count.watch(root, plan.anchor.kind === 'collection')
  count.where = compileWhere(plan, root)
  return count.finish('count')
}

/** A table inside the statement: keys and sort values of the matching rows. */
const FOUND = '"mikro_found"'

/** SQLite joins at most 64 tables, also for filters. */
const JOINS = 50

/**
 * Reads and counts in one statement, so that filters and a costly sort run once; undefined where nothing is saved.
 *
 * @param rows still has no conditions
 */
function compileCounted(plan: ReadPlan, root: FromClause, rows: Select): (() => Statement) | undefined {
  const { resource, anchor, order } = plan
  const isNarrowed = plan.where.length > 0 || rows.tables.isScoped(resource)
  // A sort by the key costs nothing. A sort through lists costs too much for rows outside of the page.
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
  // The outer table may have columns `k` and `s0`, too.
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

/** `?tags.name=red` asks every record for list members. Any other filter may leave few records to ask. */
function isAboutList(part: Condition): boolean {
  switch (part.kind) {
    case 'some':
      return true
    case 'not':
      return isAboutList(part.of)
    case 'any':
      return part.of.some(isAboutList)
    case 'all':
      return part.of.length > 0 && part.of.every(isAboutList)
    default:
      return false
  }
}

function asksAll({ anchor, where }: ReadPlan, { resource, tables }: FromClause): boolean {
  return anchor.kind === 'collection' && !tables.isScoped(resource) && where.every(isAboutList)
}

function compileWhere(plan: ReadPlan, root: FromClause): Sql[] {
  const { anchor } = plan
  const { flavour } = root.tables
  const scoped = existing(root)
  const isOfAll = asksAll(plan, root)
  const filters = [...scoped, ...plan.where.map(part => condition(part, root, isOfAll))]
  if (anchor.kind === 'collection') return filters
  if (anchor.kind === 'record') return [isRecord(root, anchor, flavour), ...filters]
  if (anchor.kind === 'keys') {
    const [columns, parts] = anchor.shown === undefined ? [root.key, plan.resource.key] : [root.id, idParts(plan.resource)]
    return [flavour.isInLinks(columns, parts), ...filters]
  }
  const { relation, owner } = anchor
  const listed = relation.kind === 'toMany' ? root.tables.meets(relation, root.alias) : undefined
  if (listed !== undefined) filters.push(listed)
  const links = new FromClause(owner, root.tables, root.tables.next())
  if (relation.kind === 'toMany' && relation.via.kind === 'pivot') {
    const { table, ownerColumns, targetColumns, discriminator } = relation.via
    const isOwner = conjunction(
      isOwnerKey(links.columns(ownerColumns), anchor, root),
      discriminatorCondition(discriminator, column => links.column(column)),
    )
    const related = sql`select ${links.columns(targetColumns).join(', ')} from ${tableName(table)} as ${links.alias} where ${isOwner}`
    return [sql`${tuple(root.key)} in (${related})`, ...filters]
  }
  if (relation.kind === 'toOne' && relation.owner) {
    const isOwner = conjunction(
      isRecord(links, anchor, flavour),
      discriminatorCondition(relation.discriminator, column => links.column(column)),
    )
    const held =
      relation.formula === undefined
        ? links.columns(relation.columns)
        : [`(${withLiterals(relation.formula(links.alias, name), flavour.formatBoolean)})`]
    const related = sql`select ${held.join(', ')} from ${formatTable(owner)} as ${links.alias} where ${isOwner}`
    return [sql`${tuple(root.referred(relation.targetKey))} in (${related})`, ...filters]
  }
  const { columns, targetKey, discriminator } =
    relation.kind === 'toMany' ? (relation.via as typeof relation.via & { kind: 'foreign' }) : relation
  const isMeant = discriminatorCondition(discriminator, column => root.column(column))
  if (isMeant !== undefined) filters.push(isMeant)
  if (targetKey === undefined) return [isOwnerKey(root.columns(columns), anchor, root), ...filters]
  const isNamed = isRecord(links, anchor, flavour)
  const referred = sql`select ${links.referred(targetKey)[0]!} from ${formatTable(owner)} as ${links.alias} where ${isNamed}`
  return [sql`${root.column(columns[0]!)} in (${referred})`, ...filters]
}

function isRecord(scope: FromClause, { shown }: { readonly shown?: true }, flavour: Flavour): Sql {
  return shown === undefined ? isKey(scope.key, scope.resource.key, flavour) : isKey(scope.id, idParts(scope.resource), flavour)
}

function isOwnerKey(columns: readonly string[], { owner, shown }: Anchor & { kind: 'related' }, { tables }: FromClause): Sql {
  if (shown === undefined) return isKey(columns, owner.key, tables.flavour)
  const there = new FromClause(owner, tables, tables.next())
  const isNamed = isRecord(there, { shown }, tables.flavour)
  const named = sql`select ${there.key.join(', ')} from ${formatTable(owner)} as ${there.alias} where ${isNamed}`
  return sql`${tuple(columns)} = (${named})`
}
