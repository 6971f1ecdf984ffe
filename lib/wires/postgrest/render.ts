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
  const cells = listCells(api, node, embedded)
  return records.map(record => shape(cells, record))
}

/** Aggregates of an embedded table are made where the rows of its owner are known: a row keeps its record until then. */
const recordOf = new WeakMap<ShownRow, ShownRow>()

async function renderOwn(api: WireApi, node: TableNode, records: readonly ShownRow[]): Promise<readonly ShownRow[]> {
  const rows = await renderRows(api, node, records)
  for (const [index, row] of rows.entries()) recordOf.set(row, records[index]!)
  return rows
}

/** What a record has for a key of its row; `undefined`: the row has no such key. */
interface Cell {
  readonly key: string
  readonly read: (record: ShownRow) => unknown
}

type RowPart = Cell | { readonly key: undefined; readonly set: (record: ShownRow, row: Record<string, unknown>) => void }

/** Lists cells once for all rows. */
function listCells(api: WireApi, node: TableNode, embedded: EmbeddedRows): readonly RowPart[] {
  return node.items.flatMap((item): RowPart[] => {
    if (item.kind === 'all') return node.resource.attributes.filter(isStored).map(attribute => storedCell(api, attribute))
    if (item.kind === 'column') return [{ key: item.key, read: readerOf(api, item) }]
    if (item.kind !== 'embed' || item.node.items.length === 0) return []
    const rowsOf = embedded.get(item)!
    return [{ key: undefined, set: (record, row) => setEmbedded(api, item, rowsOf(record), row) }]
  })
}

/** What the caller cannot see is no column. */
function storedCell(api: WireApi, attribute: WireAttribute): Cell {
  const name = shownAs(attribute)
  const show = shownValue(api, attribute)
  return { key: columnOf(attribute), read: record => (record[name] === undefined ? undefined : show(record)) }
}

function shape(parts: readonly RowPart[], record: ShownRow): ShownRow {
  const row: Record<string, unknown> = {}
  for (const part of parts) {
    if (part.key === undefined) part.set(record, row)
    else {
      const value = part.read(record)
      if (value !== undefined) setCell(row, part.key, value)
    }
  }
  return row
}

/** `__proto__` is a column like others. */
function setCell(row: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(row, key, { value, enumerable: true, writable: true, configurable: true })
  else row[key] = value
}

function shownValue(api: WireApi, attribute: WireAttribute): (record: ShownRow) => unknown {
  const name = shownAs(attribute)
  const target = attribute.kind === 'toOne' ? api.resources.find(each => each.name === attribute.target) : undefined
  const type = attribute.kind === 'toOne' ? typeOf(api, attribute) : attribute.type
  return record => {
    const value = record[name] ?? null
    return showValue(target === undefined ? value : keyOf(value, target), type)
  }
}

function readerOf(api: WireApi, { attribute, steps, cast }: ColumnItem): (record: ShownRow) => unknown {
  const show = shownValue(api, attribute)
  if (steps.length === 0 && cast === undefined) return show
  return record => {
    let value = show(record)
    for (const { name, isText } of steps) {
      value = stepInto(value, name)
      if (isText) value = showText(value)
    }
    return cast === undefined ? value : castValue(value, cast)
  }
}

function stepInto(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(name) ? ((value as unknown[]).at(Number(name)) ?? null) : null
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as ShownRow)[name] : null
}

function setEmbedded(
  api: WireApi,
  { key, node, relation, isSpread }: EmbedItem,
  rows: readonly ShownRow[],
  row: Record<string, unknown>,
): void {
  const shown = hasAggregates(node)
    ? aggregate(
        api,
        node,
        rows.map(each => recordOf.get(each)!),
        rows,
      )
    : rows
  if (!isSpread) return setCell(row, key, relation.isMany ? shown : (shown[0] ?? null))
  for (const name of shown[0] === undefined ? keysOf(node) : Object.keys(shown[0]))
    setCell(row, name, relation.isMany ? shown.map(each => each[name]) : (shown[0]?.[name] ?? null))
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
  const values = of === undefined ? records : records.map(readerOf(api, of)).filter(value => value !== null)
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
