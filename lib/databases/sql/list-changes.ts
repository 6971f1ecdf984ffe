/**
 * List changes: rows of pivot tables that came and went, as what they mean: the IDs in the list of a record, before and after, in the order
 * of the list.
 */
import type { ChangeSink, ChangedList, RowChange, WatchedList } from '../../records/database/changes.ts'
import type { Builder, CompiledRead, Dialect, Reading, Row } from '../../records/database/dialect.ts'
import { keyFromJson, type KeyValues } from '../../model/key.ts'
import type { Resource, ScalarAttribute } from '../../model/model.ts'
import type { Field } from '../../records/plan/read-plan.ts'
import { planListOrder } from '../../records/plan/order.ts'
import { readBefore, readRecords, readRows } from '../../records/read/run-read.ts'
import { compileRead } from './compile-read.ts'
import type { Flavour } from './flavour.ts'
import { compileListOrder, type CompiledListOrder } from './list-order.ts'
import type { Recall } from './from-clause.ts'
import { compileLink, compileShownLink } from './row-image.ts'
import { name } from './sql.ts'
import { compareOrdered } from '../../foundation/values/scalar-type.ts'

/** The bytes of a change, and those of an ID in it. */
const LIST_BYTES = 100
const ID_BYTES = 16

/** A pivot table whose changed rows are handed over. */
export interface CompiledList {
  readonly list: WatchedList
  readonly owner: Builder
  /** Position of the columns of the target among those that are handed over. */
  readonly from: number
  readonly target: Builder
  /** Position of the column that orders the list among those that are handed over; undefined: there is none. */
  readonly position: number | undefined
  /** Where clients know the members by another key: what makes it, and its position among the columns that are handed over. */
  readonly shown: { readonly id: Builder; readonly at: number } | undefined
  /** Reads the IDs in the list of a record, in the order of the list. */
  readonly read: CompiledRead
  /** Finds the place of members that have left; undefined where their IDs show it. */
  readonly order: CompiledListOrder | undefined
}

/** A row of a pivot table that has come or gone. */
interface LinkChange {
  readonly kind: 'link'
  readonly compiled: CompiledList
  readonly inserted: boolean
  readonly owner: string | number
  readonly target: string | number
  /** The ID by which clients know the target, where that is another one. */
  readonly shown: unknown
  /** The columns that link the target, and the one that orders the list. */
  readonly row: Row
}

/** A change that has not been reported, and who hears of it beside the watchers. */
export interface PendingChange {
  readonly sink: ChangeSink | undefined
  readonly change: RowChange | LinkChange | ChangedList
}

/** @param alias that of the row of the pivot table */
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

/** The IDs of a list; where clients know its members by another key, each with both. */
function makeListField(attribute: WatchedList['attribute']): Field {
  const { target } = attribute
  const order = planListOrder(attribute)
  const fields = makeKeyFields(target, ['key', 'shown'])
  return fields.length === 0
    ? { kind: 'references', attribute, order }
    : { kind: 'records', attribute, order, node: { resource: target, fields } }
}

/** The primary key of a record, and the key that clients know it by; none where these are the same. */
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

/** Returns the columns of a row of a pivot table that are handed over. */
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

/** Returns the change that a row of a pivot table is; undefined for a row that links nothing. */
export function readLink(compiled: CompiledList, row: Row, inserted: boolean): LinkChange | undefined {
  const owner = compiled.owner(row) as string | number | null
  const linked = row.slice(compiled.from)
  const target = compiled.target(linked) as string | number | null
  if (owner === null || target === null) return undefined
  const shown = compiled.shown?.id(linked.slice(compiled.shown.at)) ?? undefined
  return { kind: 'link', compiled, inserted, owner, target, shown, row: linked }
}

/** A list of a record whose rows have changed. */
export interface TouchedList {
  readonly compiled: CompiledList
  /** The key of the record; undefined for a value that cannot be a key, as another program may have written. */
  readonly key: KeyValues | undefined
  /** The rows of members that have left it. */
  readonly left: Row[]
}

/** The lists whose rows have changed, by their owner. */
type TouchedLists = ReadonlyMap<CompiledList, ReadonlyMap<string | number, TouchedList>>

/** A list as it is now. */
export interface ListNow {
  readonly ids: readonly unknown[]
  /** What its members, and those that have left it, are ordered by; undefined where their IDs show it. */
  readonly places: ReadonlyMap<unknown, number> | undefined
  /** The IDs by which clients know its members, where these are others; and the record that has the list. */
  readonly shown?: ReadonlyMap<unknown, unknown> | undefined
  readonly owner?: unknown
}

/** Returns the lists that changed rows of pivot tables belong to. */
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

/** Reads what has become of a list, before the transaction ends. */
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
    // Where a member stands more than once, the list shows the first place.
    for (const row of rows.toReversed()) places.set(target(row), Number(row[compiled.position!]))
  } else {
    const { parameter } = dialect.encodeLinks(rows, order.ranks)
    const ranked = yield* readRows(order.ranks.statement, { ...given, links: parameter }, dialect)
    for (const [place, row] of ranked.entries()) places.set(order.ranks.id(row), place)
  }
  return { ...known, places }
}

/** What becomes of a list. */
interface ListState {
  ids: Set<unknown>
  readonly places: Map<unknown, number> | undefined
  readonly shown: Map<unknown, unknown>
  readonly owner: unknown
  readonly left: Map<ChangeSink | undefined, { count: number; after?: unknown[] }>
}

/**
 * Makes of the rows of pivot tables the lists that they are: from what these hold now, back through what has happened.
 *
 * @param findNow finds what `readListNow` has read of a list
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
    // The order in which an earlier change of the list has left it.
    state.ids = new Set(before)
    const bytes = LIST_BYTES + ID_BYTES * (before.length + mine.after.length)
    const own = state.owner === undefined ? {} : { shown: state.owner as string | number }
    result.push({ sink, change: { kind: 'list', list, bytes, id: owner, ...own, before: listShown(before, state), after: mine.after } })
  }
  return result.reverse()
}

/** The IDs of members as clients know them. */
function listShown(ids: Iterable<unknown>, { shown }: ListState): unknown[] {
  if (shown.size === 0) return [...ids]
  const result: unknown[] = []
  for (const id of ids) result.push(shown.get(id) ?? id)
  return result
}

/** Puts a list back to what it was before a row came or went. */
function undo({ compiled, inserted, target, row }: LinkChange, { ids, places }: ListState): void {
  if (inserted) {
    ids.delete(target)
    return
  }
  ids.add(target)
  // The model's own order is that of the members, whatever their row.
  if (compiled.position !== undefined && compiled.order?.ranks === undefined) places?.set(target, Number(row[compiled.position]))
}

/**
 * Returns the IDs of a list in its order. Members whose place nothing shows any more, since their records are gone, stand where their keys
 * say; at the end of a list with an order of its own.
 */
function inOrder({ ids, places }: ListState, { attribute }: WatchedList): unknown[] {
  const { target, orderBy, via } = attribute
  const isByKey = orderBy.length === 0 && via.orderColumn === undefined
  const list = [...ids]
  if (places !== undefined && !(isByKey && list.some(id => !places.has(id)))) {
    const placeOf = (id: unknown): number => places.get(id) ?? Number.MAX_VALUE
    return list.toSorted((a, b) => placeOf(a) - placeOf(b) || compareIds(a, b, target))
  }
  // No member has left the list.
  if (places === undefined && (!isByKey || target.key.length > 1)) return list
  return list.toSorted((a, b) => compareIds(a, b, target))
}

/** Compares IDs by their keys, part by part; as texts where another program has written what is no key. */
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
