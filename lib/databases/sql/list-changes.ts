/**
 * Finds the members of a many-to-many list before and after a transaction (`[3]`, then `[3, 9]`) by inserted and deleted rows of the pivot
 * table.
 */
import type { ChangeSink, ChangedList, RowChange, WatchedList } from '../../records/database/changes.ts'
import type { Builder, CompiledRead, Dialect, Reading, Row, Statement } from '../../records/database/dialect.ts'
import { keyFromJson, type KeyValues } from '../../model/key.ts'
import type { Resource, ScalarAttribute, KeyPart } from '../../model/model.ts'
import type { Field } from '../../records/plan/read-plan.ts'
import { planListOrder } from '../../records/plan/order.ts'
import { readBefore, readRecords, readRows } from '../../records/read/run-read.ts'
import { compileRead } from './compile-read.ts'
import type { Flavour } from './flavour.ts'
import { type Recall, FromClause, discriminatorCondition, formatTable } from './from-clause.ts'
import { compileLink, compileShownLink } from './row-image.ts'
import { name, sql, tableName, text } from './sql.ts'
import { compareOrdered } from '../../foundation/values/scalar-type.ts'
import { compileIds } from './compile-node.ts'
import { Select, isKey, keyOrder } from './select.ts'
import { sortTerm } from './sort-term.ts'

/** Estimated bytes of a change, and of an ID. */
const LIST_BYTES = 100
const ID_BYTES = 16

export interface CompiledList {
  readonly list: WatchedList
  readonly owner: Builder
  /** The target's place in a reported row. */
  readonly from: number
  readonly target: Builder
  /** Place of the order column, counted from `from`; undefined: none. */
  readonly position: number | undefined
  /** The key for clients, if the pivot table has another. */
  readonly shown: { readonly id: Builder; readonly at: number } | undefined
  readonly read: CompiledRead
  /** Undefined: the IDs give the order. */
  readonly order: CompiledListOrder | undefined
}

interface LinkChange {
  readonly kind: 'link'
  readonly compiled: CompiledList
  readonly inserted: boolean
  readonly owner: string | number
  readonly target: string | number
  readonly shown: unknown
  readonly row: Row
}

export interface PendingChange {
  /** Who hears of the change, beside the watchers. */
  readonly sink: ChangeSink | undefined
  readonly change: RowChange | LinkChange | ChangedList
}

/** @param alias of the pivot table's row */
export function compileList(list: WatchedList, flavour: Flavour, alias: string, recall: Recall): CompiledList {
  const { attribute, table } = list
  const { via } = attribute
  const owner = compileLink(table.resource, alias, via.ownerColumns, flavour)
  const target = compileLink(attribute.target, alias, via.targetColumns, flavour)
  const shown = compileShownLink(attribute.target, memberColumn(list, alias), flavour, recall)
  return {
    list,
    owner: owner.id,
    from: owner.columns.length,
    target: target.id,
    position: via.orderColumn === undefined ? undefined : target.columns.length,
    shown: shown && { id: shown.id, at: target.columns.length + (via.orderColumn === undefined ? 0 : 1) },
    order: compileListOrder(list, flavour),
    read: compileRead(
      {
        resource: table.resource,
        anchor: { kind: 'record' },
        node: { resource: table.resource, fields: [makeListField(attribute), ...makeKeyFields(table.resource, ['shown'])] },
        where: [],
        scopeOf: () => undefined,
        order: [],
        paged: false,
        sort: '',
      },
      flavour,
    ),
  }
}

/** Reads both keys of a member, if clients know another key than the pivot table holds. */
function makeListField(attribute: WatchedList['attribute']): Field {
  const { target } = attribute
  const order = planListOrder(attribute)
  const fields = makeKeyFields(target, ['key', 'shown'])
  return fields.length === 0
    ? { kind: 'references', attribute, order }
    : { kind: 'records', attribute, order, node: { resource: target, fields } }
}

function makeKeyFields({ byName, keyNames, shownKey }: Resource, names: readonly ('key' | 'shown')[]): Field[] {
  if (shownKey === undefined) return []
  return names.map(as => {
    const attribute = byName.get(as === 'key' ? keyNames[0]! : shownKey.name) as ScalarAttribute
    return { kind: 'scalar', attribute: { ...attribute, name: as, render: undefined } }
  })
}

function memberColumn({ attribute: { via } }: WatchedList, alias: string): string {
  return `${alias}.${name(via.targetColumns[0]!)}`
}

export function linkColumns(list: WatchedList, alias: string, flavour: Flavour, recall: Recall): readonly string[] {
  const { attribute, table } = list
  const { ownerColumns, targetColumns, orderColumn } = attribute.via
  return [
    ...compileLink(table.resource, alias, ownerColumns, flavour).columns,
    ...compileLink(attribute.target, alias, targetColumns, flavour).columns,
    ...(orderColumn === undefined ? [] : [`${alias}.${name(orderColumn)}`]),
    ...(compileShownLink(attribute.target, memberColumn(list, alias), flavour, recall)?.columns ?? []),
  ]
}

/** @returns undefined for a row that links nothing */
export function readLink(compiled: CompiledList, row: Row, inserted: boolean): LinkChange | undefined {
  const owner = compiled.owner(row) as string | number | null
  const linked = row.slice(compiled.from)
  const target = compiled.target(linked) as string | number | null
  if (owner === null || target === null) return undefined
  const shown = compiled.shown?.id(linked.slice(compiled.shown.at)) ?? undefined
  return { kind: 'link', compiled, inserted, owner, target, shown, row: linked }
}

export interface TouchedList {
  readonly compiled: CompiledList
  /** Undefined if another program has stored a value that cannot be a key. */
  readonly key: KeyValues | undefined
  /** The rows of removed members. */
  readonly left: Row[]
}

/** By list and owner. */
type TouchedLists = ReadonlyMap<CompiledList, ReadonlyMap<string | number, TouchedList>>

export interface ListNow {
  readonly ids: readonly unknown[]
  /** By ID, also of removed members; undefined: no member was removed, or IDs give the order. */
  readonly places: ReadonlyMap<unknown, number> | undefined
  /** The keys for clients of members and owner, if other keys. */
  readonly shown?: ReadonlyMap<unknown, unknown> | undefined
  readonly owner?: unknown
}

export function findTouched(pending: readonly PendingChange[]): TouchedLists {
  const touched = new Map<CompiledList, Map<string | number, TouchedList>>()
  for (const { change } of pending) {
    if (change.kind !== 'link') continue
    const { compiled, owner, inserted, row } = change
    let lists = touched.get(compiled)
    if (lists === undefined) touched.set(compiled, (lists = new Map()))
    let list = lists.get(owner)
    if (list === undefined) lists.set(owner, (list = { compiled, key: keyFromJson(owner, compiled.list.table.resource), left: [] }))
    if (!inserted) list.left.push(row)
  }
  return touched
}

export function* readListNow({ compiled, key, left }: TouchedList, dialect: Dialect): Reading<ListNow> {
  if (key === undefined) return { ids: [], places: undefined }
  const given = { filters: [], key, limit: 1, offset: 0 }
  const [record] = yield* readBefore(readRecords(compiled.read, given, dialect))
  const members = (Object.values(record ?? {})[0] ?? []) as readonly unknown[]
  const pairs = compiled.shown === undefined ? undefined : (members as readonly { key: unknown; shown: unknown }[])
  const ids = pairs?.map(({ key: id }) => id) ?? members
  const known = { ids, shown: pairs && new Map(pairs.map(each => [each.key, each.shown])), owner: record?.['shown'] }
  const { order, target } = compiled
  if (order === undefined || left.length === 0) return { ...known, places: undefined }
  const rows = [...(yield* readRows(order.members, given, dialect)), ...left]
  const places = new Map<unknown, number>()
  if (order.ranks === undefined) {
    // Repeated members count at the first place.
    for (const row of rows.toReversed()) places.set(target(row), Number(row[compiled.position!]))
  } else {
    const { parameter } = dialect.encodeLinks(rows, order.ranks)
    const ranked = yield* readRows(order.ranks.statement, { ...given, links: parameter }, dialect)
    for (const [place, row] of ranked.entries()) places.set(order.ranks.id(row), place)
  }
  return { ...known, places }
}

interface ListState {
  ids: Set<unknown>
  readonly places: Map<unknown, number> | undefined
  readonly shown: Map<unknown, unknown>
  readonly owner: unknown
  readonly left: Map<ChangeSink | undefined, { count: number; after?: unknown[] }>
}

/**
 * Finds each list before and after the changes: begins with the lists of now, and undoes row after row, the last first.
 *
 * @param findNow returns the result of `readListNow`
 */
export function gatherLists(
  pending: readonly PendingChange[],
  touched: TouchedLists,
  findNow: (list: TouchedList) => ListNow,
): PendingChange[] {
  const states = new Map<TouchedList, ListState>()
  for (const { sink, change } of pending) {
    if (change.kind !== 'link') continue
    const list = touched.get(change.compiled)!.get(change.owner)!
    let state = states.get(list)
    if (state === undefined) {
      const { ids, places, shown, owner } = findNow(list)
      state = { ids: new Set(ids), places: places && new Map(places), shown: new Map(shown), owner, left: new Map() }
      states.set(list, state)
    }
    state.left.set(sink, { count: (state.left.get(sink)?.count ?? 0) + 1 })
  }
  const result: PendingChange[] = []
  for (const { sink, change } of pending.toReversed()) {
    if (change.kind !== 'link') {
      result.push({ sink, change })
      continue
    }
    const { compiled, owner } = change
    const state = states.get(touched.get(compiled)!.get(owner)!)!
    const mine = state.left.get(sink)!
    mine.after ??= listShown(state.ids, state)
    if (change.shown !== undefined && !state.shown.has(change.target)) state.shown.set(change.target, change.shown)
    undo(change, state)
    if (--mine.count > 0) continue
    const { list } = compiled
    const before = inOrder(state, list)
    // In the order that the change before has left.
    state.ids = new Set(before)
    const bytes = LIST_BYTES + ID_BYTES * (before.length + mine.after.length)
    const shownOwner = state.owner === undefined ? {} : { shown: state.owner as string | number }
    result.push({
      sink,
      change: { kind: 'list', list, bytes, id: owner, ...shownOwner, before: listShown(before, state), after: mine.after },
    })
  }
  return result.reverse()
}

function listShown(ids: Iterable<unknown>, { shown }: ListState): unknown[] {
  if (shown.size === 0) return [...ids]
  const result: unknown[] = []
  for (const id of ids) result.push(shown.get(id) ?? id)
  return result
}

function undo({ compiled, inserted, target, row }: LinkChange, { ids, places }: ListState): void {
  if (inserted) {
    ids.delete(target)
    return
  }
  ids.add(target)
  // An order column stands in the row of the link; `orderBy` sorts by members.
  if (compiled.position !== undefined && compiled.order?.ranks === undefined) places?.set(target, Number(row[compiled.position]))
}

/** A member of a deleted record has no place: sorted by key, or last if the list has another order. */
function inOrder({ ids, places }: ListState, { attribute }: WatchedList): unknown[] {
  const { target, orderBy, via } = attribute
  const isByKey = orderBy.length === 0 && via.orderColumn === undefined
  const list = [...ids]
  if (places !== undefined && !(isByKey && list.some(id => !places.has(id)))) {
    const placeOf = (id: unknown): number => places.get(id) ?? Number.MAX_VALUE
    return list.toSorted((a, b) => placeOf(a) - placeOf(b) || compareIds(a, b, target))
  }
  // No member was removed.
  if (places === undefined && (!isByKey || target.key.length > 1)) return list
  return list.toSorted((a, b) => compareIds(a, b, target))
}

/** Compares texts if another program has stored values that cannot be keys. */
function compareIds(a: unknown, b: unknown, target: Resource): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [first, second] = [keyFromJson(a, target), keyFromJson(b, target)]
  if (first === undefined || second === undefined) return compareOrdered(String(a), String(b))
  for (let part = 0; part < first.length; part++) {
    const order = compareOrdered(first[part]!, second[part]!)
    if (order !== 0) return order
  }
  return 0
}

interface CompiledListOrder {
  readonly members: Statement
  /** Reads targets in the model's order; undefined where the order column decides. */
  readonly ranks: CompiledRanks | undefined
}

interface CompiledRanks {
  readonly statement: Statement
  /** Places of the keys in the rows of `members`. */
  readonly from: readonly number[]
  readonly parts: readonly KeyPart[]
  readonly id: Builder
}

function compileListOrder(list: WatchedList, flavour: Flavour): CompiledListOrder | undefined {
  const { attribute } = list
  const isRanked = attribute.orderBy.length > 0 || (attribute.target.key.length > 1 && attribute.via.orderColumn === undefined)
  if (!isRanked && attribute.via.orderColumn === undefined) return undefined
  return { members: compileMembers(list, flavour), ranks: isRanked ? compileRanks(list, flavour) : undefined }
}

function compileMembers({ attribute, table }: WatchedList, flavour: Flavour): Statement {
  const { table: pivot, ownerColumns, targetColumns, orderColumn, discriminator } = attribute.via
  const select = new Select(flavour)
  const alias = select.tables.next()
  const column = (called: string): string => `${alias}.${name(called)}`
  select.columns.push(...compileLink(attribute.target, alias, targetColumns, flavour).columns.map(text))
  if (orderColumn !== undefined) select.columns.push(text(column(orderColumn)))
  select.from = sql`${tableName(pivot)} as ${alias}`
  const isMeant = discriminatorCondition(discriminator, column)
  select.where = [isKey(ownerColumns.map(column), table.resource.key, flavour), ...(isMeant === undefined ? [] : [isMeant])]
  if (orderColumn !== undefined) select.order = [text(column(orderColumn))]
  return select.finish()
}

function compileRanks({ attribute }: WatchedList, flavour: Flavour): CompiledRanks {
  const { target } = attribute
  const select = new Select(flavour)
  const scope = new FromClause(target, select.tables, select.tables.next(), select.joins)
  const { build } = compileIds(scope, select)
  select.from = sql`${formatTable(target)} as ${scope.alias}`
  select.where = [flavour.isInLinks(scope.key, target.key)]
  select.order = [...planListOrder(attribute).map(term => sortTerm(term, scope)), ...keyOrder(scope)]
  return { statement: select.finish(), from: target.key.map((_, index) => index), parts: target.key, id: build }
}
