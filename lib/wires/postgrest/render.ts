/** Shapes records into the rows of `select`, with aliases, casts, JSON paths, embedded tables, spreads and aggregates. */
import type { WireApi, WireAttribute } from '../../foundation/base/wire.ts'
import { notServed } from './failure.ts'
import { readApart, type ApartRows } from './apart.ts'
import { keyOf, type ShownRow } from './keys.ts'
import { comesAlong, isCount, isEmpty, listEmbeds, rowsAlong } from './select.ts'
import type { AggregateItem, ColumnItem, EmbedItem, SelectItem, TableNode } from './select.ts'
import { columnOf, isStored, shownAs, typeOf } from './tables.ts'
import { castValue, showsOf, showText } from './values.ts'

export async function renderRows(api: WireApi, node: TableNode, records: readonly ShownRow[]): Promise<readonly ShownRow[]> {
  if (listEmbeds(node).length > 0) return shapeRows(planRow(api, node, await readApart(api, node, records)), records)
  let plan = plainPlans.get(node.items)
  if (plan === undefined) plainPlans.set(node.items, (plan = planRow(api, node, NONE_APART)))
  return shapeRows(plan, records)
}

const NONE_APART: ApartRows = new Map()

/** Without embedded tables. */
const plainPlans = new WeakMap<TableNode['items'], RowSource>()

/** Code of an object literal for a row, from the record `r`. */
interface RowSource {
  readonly parts: readonly RowPart[]
  readonly helpers: readonly RowHelper[]
}

interface RowPart {
  /** `"author_id":r["author"]` */
  readonly source: string
  readonly of: (record: ShownRow) => readonly (readonly [string, unknown])[]
  /** In records without this name, the caller cannot see the column. */
  readonly name?: string
}

type RowHelper = (given: never) => unknown

function planRow(api: WireApi, node: TableNode, apart: ApartRows): RowSource {
  const helpers: RowHelper[] = []
  const call = (helper: RowHelper | undefined, value: string): string =>
    helper === undefined ? value : `h[${helpers.push(helper) - 1}](${value})`
  const keyed = (key: string, of: (record: ShownRow) => unknown): RowPart => ({
    source: `${keySource(key)}:${call(of, 'r')}`,
    of: record => [[key, of(record)]],
  })
  const parts = node.items.flatMap((item): RowPart[] => {
    if (item.kind === 'column') return [keyed(item.key, readerOf(api, item))]
    if (item.kind === 'all')
      return node.resource.attributes.filter(isStored).map(attribute => {
        const [name, column, show] = [shownAs(attribute), columnOf(attribute), showerOf(api, attribute)]
        const source = `${keySource(column)}:${call(show, `r[${JSON.stringify(name)}]`)}`
        return { name, source, of: record => [[column, show === undefined ? record[name] : show(record[name])]] }
      })
    if (item.kind !== 'embed' || isEmpty(item)) return []
    const embedded = embeddedOf(api, node, item, apart)
    if (!item.isSpread) return [keyed(item.key, embedded)]
    return [{ source: `...${call(embedded, 'r')}`, of: record => Object.entries(embedded(record) as ShownRow) }]
  })
  return { parts, helpers }
}

/** `__proto__` is a column like others. */
function keySource(key: string): string {
  return key === '__proto__' ? '["__proto__"]' : JSON.stringify(key)
}

function shapeRows({ parts, helpers }: RowSource, records: readonly ShownRow[]): readonly ShownRow[] {
  const [first] = records
  if (first === undefined) return []
  const shown = parts.filter(({ name }) => name === undefined || first[name] !== undefined)
  const make = compile(shown.map(({ source }) => source).join(','))?.(helpers)
  return records.map(make ?? (record => Object.fromEntries(shown.flatMap(({ of }) => of(record)))))
}

type RowLiteral = (helpers: readonly RowHelper[]) => (record: ShownRow) => ShownRow

const makers = new Map<string, RowLiteral | undefined>()
const MAX_MAKERS = 500

/** Object literals take a third of a loop's time: rows share a hidden class. Undefined where a policy forbids generated code. */
function compile(source: string): RowLiteral | undefined {
  if (makers.has(source)) return makers.get(source)
  if (makers.size >= MAX_MAKERS) makers.clear()
  let maker: RowLiteral | undefined
  try {
    // eslint-disable-next-line typescript/no-implied-eval -- names alone, each as a JSON text
    maker = new Function('h', `"use strict";return r=>({${source}})`) as RowLiteral
  } catch (error) {
    if (!(error instanceof EvalError)) throw error
  }
  makers.set(source, maker)
  return maker
}

/** `undefined`: as they are. */
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
  const readAttribute = (record: ShownRow): unknown => {
    const value = record[name] ?? null
    return show === undefined ? value : show(value)
  }
  if (steps.length === 0 && cast === undefined) return readAttribute
  return record => {
    let value = readAttribute(record)
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

/** A row or rows; of `...author(name)`, values by keys. */
function embeddedOf(api: WireApi, owner: TableNode, embed: EmbedItem, apart: ApartRows): (record: ShownRow) => unknown {
  const { node, relation, isSpread } = embed
  const rowsOf = shownRowsOf(api, owner, embed, apart)
  if (!isSpread) return relation.isMany ? rowsOf : record => rowsOf(record)[0] ?? null
  return record => {
    const shown = rowsOf(record)
    const names = shown[0] === undefined ? keysOf(node) : Object.keys(shown[0])
    return Object.fromEntries(names.map(name => [name, relation.isMany ? shown.map(each => each[name]) : (shown[0]?.[name] ?? null)]))
  }
}

function shownRowsOf(api: WireApi, owner: TableNode, embed: EmbedItem, apart: ApartRows): (record: ShownRow) => readonly ShownRow[] {
  const { node, relation } = embed
  const isAlong = comesAlong(owner, embed)
  if (isAlong && isCount(embed)) {
    const [key] = keysOf(node)
    return record => [{ [key!]: record[relation.attribute!.name] }]
  }
  const plan = planRow(api, node, apart)
  const found = apart.get(embed)
  const recordsOf = (record: ShownRow): readonly ShownRow[] => (isAlong ? rowsAlong(embed, record) : (found?.(record) ?? []))
  if (!hasAggregates(node)) return record => shapeRows(plan, recordsOf(record))
  return record => {
    const records = recordsOf(record)
    return aggregate(api, node, records, shapeRows(plan, records))
  }
}

function keysOf({ items, resource }: TableNode): string[] {
  return items.flatMap((item: SelectItem) => {
    if (item.kind === 'all') return resource.attributes.filter(isStored).map(columnOf)
    if (item.kind === 'embed') return item.isSpread ? keysOf(item.node) : item.node.items.length === 0 ? [] : [item.key]
    return [item.key]
  })
}

export function hasAggregates({ items }: TableNode): boolean {
  return items.some(({ kind }) => kind === 'aggregate')
}

/** Makes a row of each group of equal rows. Without columns, even no rows are a group. */
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
