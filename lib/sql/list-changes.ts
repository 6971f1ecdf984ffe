/** List changes: rows of pivot tables that came and went, as what they mean: the IDs in the list of a record, before and after. */
import type { ChangeSink, ListChange, RowChange, WatchedList } from '../database/changes.ts'
import type { Builder, CompiledRead } from '../database/dialect.ts'
import { keyFromJson } from '../model/key.ts'
import type { KeyValues } from '../model/key.ts'
import { planListOrder } from '../plan/order.ts'
import { compileRead } from './compile-read.ts'
import type { Flavour } from './flavour.ts'
import { compileLink } from './row-image.ts'

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
  /** Reads the IDs in the list of a record, in the order of the list. */
  readonly read: CompiledRead
}

/** A row of a pivot table that has come or gone. */
export interface LinkChange {
  readonly kind: 'link'
  readonly compiled: CompiledList
  readonly inserted: boolean
  readonly owner: string | number
  readonly target: string | number
}

/** A change that has not been reported, and who hears of it beside the watchers. */
export interface PendingChange {
  readonly sink: ChangeSink | undefined
  readonly change: RowChange | LinkChange | ListChange
}

/** @param alias that of the row of the pivot table */
export function compileList(list: WatchedList, flavour: Flavour, alias: string): CompiledList {
  const { attribute, table } = list
  const owner = compileLink(table.resource, alias, attribute.via.ownerColumns, flavour)
  return {
    list,
    owner: owner.id,
    from: owner.columns.length,
    target: compileLink(attribute.target, alias, attribute.via.targetColumns, flavour).id,
    read: compileRead(
      {
        resource: table.resource,
        anchor: { kind: 'record' },
        node: { resource: table.resource, fields: [{ kind: 'references', attribute, order: planListOrder(attribute) }] },
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

/** Returns the columns of a row of a pivot table that are handed over. */
export function linkColumns({ attribute, table }: WatchedList, alias: string, flavour: Flavour): readonly string[] {
  return [
    ...compileLink(table.resource, alias, attribute.via.ownerColumns, flavour).columns,
    ...compileLink(attribute.target, alias, attribute.via.targetColumns, flavour).columns,
  ]
}

/** Returns the change that a row of a pivot table is; undefined for a row that links nothing. */
export function readLink(compiled: CompiledList, row: readonly unknown[], inserted: boolean): LinkChange | undefined {
  const owner = compiled.owner(row) as string | number | null
  const target = compiled.target(row.slice(compiled.from)) as string | number | null
  return owner === null || target === null ? undefined : { kind: 'link', compiled, inserted, owner, target }
}

/** Returns the key of the record whose list a row of a pivot table belongs to; undefined for a value that cannot be a key, as another program may have written. */
export function findOwnerKey({ compiled, owner }: LinkChange): KeyValues | undefined {
  return keyFromJson(owner, compiled.list.table.resource)
}

/** What becomes of a list. */
interface ListState {
  readonly ids: Set<unknown>
  readonly left: Map<ChangeSink | undefined, { count: number; after?: unknown[] }>
}

/**
 * Makes of the rows of pivot tables the lists that they are: from what these hold now, back through what has happened.
 *
 * @param readList reads the IDs in the list of a record
 */
export function gatherLists(
  pending: readonly PendingChange[],
  readList: (compiled: CompiledList, key: KeyValues) => readonly unknown[],
): PendingChange[] {
  const states = new Map<CompiledList, Map<string | number, ListState>>()
  for (const { sink, change } of pending) {
    if (change.kind !== 'link') continue
    const { compiled, owner } = change
    const lists = states.get(compiled) ?? new Map<string | number, ListState>()
    states.set(compiled, lists)
    let state = lists.get(owner)
    if (state === undefined) {
      const key = findOwnerKey(change)
      state = { ids: new Set(key === undefined ? [] : readList(compiled, key)), left: new Map() }
      lists.set(owner, state)
    }
    state.left.set(sink, { count: (state.left.get(sink)?.count ?? 0) + 1 })
  }
  const result: PendingChange[] = []
  for (const { sink, change } of pending.toReversed()) {
    if (change.kind !== 'link') {
      result.push({ sink, change })
      continue
    }
    const { compiled, inserted, owner, target } = change
    const { ids, left } = states.get(compiled)!.get(owner)!
    const mine = left.get(sink)!
    mine.after ??= [...ids]
    if (inserted) ids.delete(target)
    else ids.add(target)
    if (--mine.count > 0) continue
    const { list } = compiled
    const before = inOrder([...ids], list)
    const bytes = LIST_BYTES + ID_BYTES * (before.length + mine.after.length)
    result.push({ sink, change: { kind: 'list', list, bytes, id: owner, before, after: mine.after } })
  }
  return result.reverse()
}

/** Puts removed members, which stand at the end, to their place in a list that is in the order of its keys. */
function inOrder(ids: unknown[], { attribute }: WatchedList): unknown[] {
  if (attribute.orderBy.length > 0 || attribute.via.orderColumn !== undefined || attribute.target.key.length > 1) return ids
  return ids.toSorted((a, b) => {
    const [first, second] =
      typeof a === 'string' && /^-?\d+$/.test(a) && attribute.target.key[0]!.type.kind === 'bigint'
        ? [BigInt(a), BigInt(b as string)]
        : [a as string, b as string]
    return first < second ? -1 : first > second ? 1 : 0
  })
}
