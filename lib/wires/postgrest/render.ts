/** Render: shapes rows as `select` says: aliases, casts, JSON paths, embedded tables, spreads, aggregates. */
import type { WireApi, WireAttribute } from '../../foundation/base/wire.ts'
import { notServed } from './failure.ts'
import { keyOf, readEmbedded, type EmbeddedRows, type ShownRow } from './rows.ts'
import type { AggregateItem, ColumnItem, EmbedItem, SelectItem, TableNode } from './select.ts'
import { columnOf, isStored, shownAs, typeOf } from './tables.ts'
import { castValue, showText, showValue } from './values.ts'

/** Gives one row for each record, in their order. */
export async function renderRows(api: WireApi, node: TableNode, records: readonly ShownRow[]): Promise<readonly ShownRow[]> {
  const embedded = await readEmbedded(api, node, records, renderOwn)
  return records.map(record => shape(api, node, record, embedded))
}

/** Aggregates of an embedded table are made where the rows of its owner are known: a row keeps its record until then. */
const recordOf = new WeakMap<ShownRow, ShownRow>()

async function renderOwn(api: WireApi, node: TableNode, records: readonly ShownRow[]): Promise<readonly ShownRow[]> {
  const rows = await renderRows(api, node, records)
  for (const [index, row] of rows.entries()) recordOf.set(row, records[index]!)
  return rows
}

function shape(api: WireApi, node: TableNode, record: ShownRow, embedded: EmbeddedRows): ShownRow {
  const row: Record<string, unknown> = {}
  const set = (key: string, value: unknown): void => {
    // `__proto__` is a column like others.
    Object.defineProperty(row, key, { value, enumerable: true, writable: true, configurable: true })
  }
  for (const item of node.items) {
    if (item.kind === 'all') {
      for (const attribute of node.resource.attributes)
        if (isStored(attribute) && Object.hasOwn(record, shownAs(attribute))) set(columnOf(attribute), valueOf(api, attribute, record))
    } else if (item.kind === 'column') set(item.key, columnValue(api, item, record))
    else if (item.kind === 'embed' && item.node.items.length > 0) setEmbedded(api, item, embedded.get(item)!(record), set)
  }
  return row
}

function valueOf(api: WireApi, attribute: WireAttribute, record: ShownRow): unknown {
  const value = record[shownAs(attribute)] ?? null
  if (attribute.kind === 'toOne') {
    const target = api.resources.find(({ name }) => name === attribute.target)
    return showValue(target === undefined ? value : keyOf(value, target), typeOf(api, attribute))
  }
  return showValue(value, attribute.type)
}

export function columnValue(api: WireApi, { attribute, steps, cast }: ColumnItem, record: ShownRow): unknown {
  let value = valueOf(api, attribute, record)
  for (const { name, isText } of steps) {
    value = stepInto(value, name)
    if (isText) value = showText(value)
  }
  return cast === undefined ? value : castValue(value, cast)
}

function stepInto(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(name) ? ((value as unknown[]).at(Number(name)) ?? null) : null
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as ShownRow)[name] : null
}

function setEmbedded(
  api: WireApi,
  { key, node, relation, isSpread }: EmbedItem,
  rows: readonly ShownRow[],
  set: (key: string, value: unknown) => void,
): void {
  const shown = hasAggregates(node)
    ? aggregate(
        api,
        node,
        rows.map(row => recordOf.get(row)!),
        rows,
      )
    : rows
  if (!isSpread) return set(key, relation.isMany ? shown : (shown[0] ?? null))
  for (const name of shown[0] === undefined ? keysOf(node) : Object.keys(shown[0]))
    set(name, relation.isMany ? shown.map(row => row[name]) : (shown[0]?.[name] ?? null))
}

/** The keys that a row of the table would have. */
export function keysOf({ items, resource }: TableNode): string[] {
  return items.flatMap((item: SelectItem) => {
    if (item.kind === 'all') return resource.attributes.filter(isStored).map(columnOf)
    if (item.kind === 'embed') return item.isSpread ? keysOf(item.node) : item.node.items.length === 0 ? [] : [item.key]
    return [item.key]
  })
}

export function hasAggregates({ items }: TableNode): boolean {
  return items.some(({ kind }) => kind === 'aggregate')
}

/** One row for each group of rows that are equal but for what is aggregated; of no rows one, unless they have columns. */
export function aggregate(api: WireApi, node: TableNode, records: readonly ShownRow[], rows: readonly ShownRow[]): ShownRow[] {
  const groups = new Map<string, { readonly row: ShownRow; readonly records: ShownRow[] }>()
  for (const [index, row] of rows.entries()) {
    const key = JSON.stringify(row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { row, records: [records[index]!] })
    else group.records.push(records[index]!)
  }
  if (groups.size === 0 && node.items.every(({ kind }) => kind === 'aggregate')) groups.set('', { row: {}, records: [] })
  return [...groups.values()].map(group =>
    Object.fromEntries(
      node.items.flatMap((item): [string, unknown][] => {
        if (item.kind === 'aggregate') return [[item.key, compute(api, item, group.records)]]
        const keys = item.kind === 'all' ? Object.keys(group.row) : item.kind === 'embed' && item.isSpread ? keysOf(item.node) : [item.key]
        return keys.filter(key => Object.hasOwn(group.row, key)).map(key => [key, group.row[key]])
      }),
    ),
  )
}

function compute(api: WireApi, { how, of, cast }: AggregateItem, records: readonly ShownRow[]): unknown {
  const values = of === undefined ? records : records.map(record => columnValue(api, of, record)).filter(value => value !== null)
  const value = how === 'count' ? values.length : values.length === 0 ? null : computeOf(how, values)
  return cast === undefined ? value : castValue(value, cast)
}

function computeOf(how: 'sum' | 'avg' | 'min' | 'max', values: readonly unknown[]): unknown {
  if (how === 'min' || how === 'max') {
    if (values.some(value => typeof value === 'object')) throw notServed(`${how}() of JSON`)
    const sorted = (values as (string | number)[]).toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
    return sorted.at(how === 'min' ? 0 : -1)
  }
  if (values.some(value => typeof value !== 'number')) throw notServed(`${how}() of values that are no numbers`)
  const sum = (values as number[]).reduce((total, value) => total + value, 0)
  return how === 'sum' ? sum : sum / values.length
}
