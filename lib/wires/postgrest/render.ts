/** Render: shapes rows as `select` says: aliases, casts, JSON paths, embedded tables, spreads, aggregates. */
import type { WireApi, WireAttribute } from '../../foundation/base/wire.ts'
import { notServed } from './failure.ts'
import { readApart, type ApartRows } from './apart.ts'
import { keyOf, type ShownRow } from './keys.ts'
import { comesAlong, isCount, isEmpty, listEmbeds, rowsAlong } from './select.ts'
import type { AggregateItem, ColumnItem, EmbedItem, SelectItem, TableNode } from './select.ts'
import { columnOf, isStored, shownAs, typeOf } from './tables.ts'
import { castValue, showsOf, showText } from './values.ts'

/** Gives one row for each record, in their order. */
export async function renderRows(api: WireApi, node: TableNode, records: readonly ShownRow[]): Promise<readonly ShownRow[]> {
  if (listEmbeds(node).length > 0) return shapeRows(partsOf(api, node, await readApart(api, node, records)), records)
  let parts = plainParts.get(node.items)
  if (parts === undefined) plainParts.set(node.items, (parts = partsOf(api, node, NONE_APART)))
  return shapeRows(parts, records)
}

const NONE_APART: ApartRows = new Map()

/** Of tables without embedded tables, whose items are kept by `parseSelect`. */
const plainParts = new WeakMap<TableNode['items'], readonly SetPart[]>()

/** Sets what a record has for a part of its row. */
type SetPart = (record: ShownRow, row: Record<string, unknown>) => void

/** Asks once for all rows what each column is. */
function partsOf(api: WireApi, node: TableNode, apart: ApartRows): readonly SetPart[] {
  return node.items.flatMap((item): SetPart[] => {
    if (item.kind === 'all') return node.resource.attributes.filter(isStored).map(attribute => setStored(api, attribute))
    if (item.kind === 'column') return [setRead(item.key, readerOf(api, item))]
    return item.kind !== 'embed' || isEmpty(item) ? [] : [setterOf(api, node, item, apart)]
  })
}

/** Each row is a copy of a blank row, which has all keys: so rows are made, and written as JSON, in half the time. */
function shapeRows(parts: readonly SetPart[], records: readonly ShownRow[]): readonly ShownRow[] {
  let blank: Record<string, unknown> | undefined
  return records.map(record => {
    const row = { ...blank }
    for (const set of parts) set(record, row)
    blank ??= records.length === 1 ? row : blankOf(row)
    return row
  })
}

function blankOf(row: ShownRow): Record<string, unknown> {
  const blank: Record<string, unknown> = {}
  for (const key of Object.keys(row)) setCell(blank, key, undefined)
  return blank
}

/** What the caller cannot see is no column. */
function setStored(api: WireApi, attribute: WireAttribute): SetPart {
  const name = shownAs(attribute)
  const key = columnOf(attribute)
  const show = showerOf(api, attribute)
  if (key === '__proto__') return (record, row) => record[name] !== undefined && setCell(row, key, record[name])
  return (record, row) => {
    const value = record[name]
    if (value !== undefined) row[key] = show === undefined ? value : show(value)
  }
}

function setRead(key: string, read: (record: ShownRow) => unknown): SetPart {
  return (record, row) => setCell(row, key, read(record))
}

/** `__proto__` is a column like others. */
function setCell(row: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(row, key, { value, enumerable: true, writable: true, configurable: true })
  else row[key] = value
}

/** How a value is shown; `undefined`: as it is. */
function showerOf(api: WireApi, attribute: WireAttribute): ((value: unknown) => unknown) | undefined {
  if (attribute.kind !== 'toOne') return showsOf(attribute.type)
  const target = api.resources.find(each => each.name === attribute.target)
  const show = showsOf(typeOf(api, attribute)) ?? (value => value)
  // Most links are plain keys.
  return value => show(target !== undefined && typeof value === 'object' ? keyOf(api, value, target) : value)
}

function readerOf(api: WireApi, { attribute, steps, cast }: ColumnItem): (record: ShownRow) => unknown {
  const name = shownAs(attribute)
  const show = showerOf(api, attribute)
  const own = (record: ShownRow): unknown => {
    const value = record[name] ?? null
    return show === undefined ? value : show(value)
  }
  if (steps.length === 0 && cast === undefined) return own
  return record => {
    let value = own(record)
    for (const step of steps) {
      value = stepInto(value, step.name)
      if (step.isText) value = showText(value)
    }
    return cast === undefined ? value : castValue(value, cast)
  }
}

function stepInto(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(name) ? ((value as unknown[]).at(Number(name)) ?? null) : null
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as ShownRow)[name] : null
}

function setterOf(api: WireApi, owner: TableNode, embed: EmbedItem, apart: ApartRows): SetPart {
  const { key, node, relation, isSpread } = embed
  const rowsOf = shownRowsOf(api, owner, embed, apart)
  if (!isSpread) return (record, row) => setCell(row, key, relation.isMany ? rowsOf(record) : (rowsOf(record)[0] ?? null))
  return (record, row) => {
    const shown = rowsOf(record)
    for (const name of shown[0] === undefined ? keysOf(node) : Object.keys(shown[0]))
      setCell(row, name, relation.isMany ? shown.map(each => each[name]) : (shown[0]?.[name] ?? null))
  }
}

/** The shaped rows of an embedded table for a record of its owner. */
function shownRowsOf(api: WireApi, owner: TableNode, embed: EmbedItem, apart: ApartRows): (record: ShownRow) => readonly ShownRow[] {
  const { node, relation } = embed
  const isAlong = comesAlong(owner, embed)
  if (isAlong && isCount(embed)) {
    const [key] = keysOf(node)
    return record => [{ [key!]: record[relation.attribute!.name] }]
  }
  const parts = partsOf(api, node, apart)
  const found = apart.get(embed)
  const recordsOf = (record: ShownRow): readonly ShownRow[] => (isAlong ? rowsAlong(embed, record) : (found?.(record) ?? []))
  if (!hasAggregates(node)) return record => shapeRows(parts, recordsOf(record))
  return record => {
    const records = recordsOf(record)
    return aggregate(api, node, records, shapeRows(parts, records))
  }
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
