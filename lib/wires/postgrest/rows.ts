/** Rows: reads the rows of a table with what is embedded, one request of the engine for each page of each table. */
import type { WireApi, WireAttribute, WireQuery, WireResource } from '../../foundation/base/wire.ts'
import type { WireCondition } from './conditions.ts'
import { Failure } from './failure.ts'
import { finishWhere } from './query.ts'
import { shownAs } from './tables.ts'
import { listEmbeds, type EmbedItem, type TableNode } from './select.ts'

export type ShownRow = Readonly<Record<string, unknown>>

export interface RowPage {
  readonly records: readonly ShownRow[]
  /** Counts all rows that the condition meets. */
  readonly count: number
}

/** Rows of a page: what the engine gives at once, unless its limits are lower. */
const PAGE = 1000
/** Keys in one condition. */
const KEYS = 500
/** Rows of one table that a request may read. */
const MAX_ROWS = 100_000

/** Lists all rows, or so many as `limit` says. */
export async function listAll(api: WireApi, resource: WireResource, query: WireQuery): Promise<RowPage> {
  const { limit = Infinity, offset = 0 } = query
  const records: ShownRow[] = []
  for (;;) {
    const page = await api.list(resource, { ...query, limit: Math.min(PAGE, limit - records.length), offset: offset + records.length })
    records.push(...page.records)
    if (records.length > MAX_ROWS) throw new Failure(413, '54000', `The request reads more than ${MAX_ROWS} rows of "${resource.table}".`)
    if (page.records.length === 0 || records.length >= limit || offset + records.length >= page.count) return { records, count: page.count }
  }
}

/** Waits until the keys of tables are known that only the other side links. */
async function findOwners(api: WireApi, { relation }: EmbedItem, where: WireCondition): Promise<WireCondition> {
  const { owner, target, back } = relation
  const { records } = await listAll(api, target, { where, attributes: [shownAs(back!)] })
  const keys = new Map(records.map(record => [textOf(record[shownAs(back!)]), keyOf(record[shownAs(back!)], owner)]))
  keys.delete('')
  if (keys.size > PAGE)
    throw new Failure(413, '54000', `The filter on "${target.table}" meets rows of more than ${PAGE} rows of "${owner.table}".`)
  return whereKeys(owner, [...keys.values()])
}

export function whereOf(api: WireApi, node: TableNode): Promise<WireCondition> {
  return finishWhere(api, node, findOwners)
}

/** The key of a row, or of the row that a link shows. */
export function keyOf(value: unknown, { key }: WireResource): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return key.length === 1 ? plainKey((value as ShownRow)[key[0]!]) : key.map(name => plainKey((value as ShownRow)[name]))
}

/** A key may be made of links. */
function plainKey(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.values(value)[0] : value
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(textOf).join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function whereKeys({ key }: WireResource, keys: readonly unknown[]): WireCondition {
  if (key.length === 1) return { [key[0]!]: { $in: keys } }
  const parts = keys.map(each =>
    Object.fromEntries(key.map((name, index) => [name, (Array.isArray(each) ? each : textOf(each).split(','))[index]])),
  )
  // No row meets an empty list.
  return parts.length === 0 ? { [key[0]!]: { $in: [] } } : { $or: parts }
}

/** Names of the attributes that the items of a table need; undefined: those that the caller sees. */
export function neededOf(node: TableNode, more: readonly string[] = []): Pick<WireQuery, 'attributes' | 'expand'> {
  const lists: WireAttribute[] = []
  const names = new Set([...node.resource.key, ...more])
  for (const item of node.items) {
    if (item.kind === 'column') names.add(shownAs(item.attribute))
    else if (item.kind === 'aggregate' && item.of !== undefined) names.add(shownAs(item.of.attribute))
    else if (item.kind === 'embed' && !isByBack(item)) {
      const attribute = item.relation.attribute!
      if (attribute.column === undefined) lists.push(attribute)
      else names.add(shownAs(attribute))
    }
  }
  if (node.items.some(({ kind }) => kind === 'all')) return lists.length === 0 ? {} : { expand: lists.map(({ name }) => name) }
  return { attributes: [...names, ...lists.map(shownAs)] }
}

/** Whether rows are found by their foreign key to the owner. */
function isByBack({ relation: { attribute, back, owner } }: EmbedItem): boolean {
  return attribute === undefined || (back !== undefined && owner.key.length === 1)
}

/** The rows of an embedded table for each row of its owner. */
export type EmbeddedRows = ReadonlyMap<EmbedItem, (record: ShownRow) => readonly ShownRow[]>

export async function readEmbedded(api: WireApi, node: TableNode, records: readonly ShownRow[], render: Render): Promise<EmbeddedRows> {
  const found = new Map<EmbedItem, (record: ShownRow) => readonly ShownRow[]>()
  for (const embed of listEmbeds(node)) {
    if (embed.node.items.length === 0) continue
    const where = await whereOf(api, embed.node)
    const groups = isByBack(embed) ? await readByBack(api, embed, where, records) : await readByKey(api, embed, where, records)
    const rows = new Set<ShownRow>([...groups.values()].flat())
    const shown = await render(api, embed.node, [...rows])
    const shownOf = new Map([...rows].map((row, index) => [row, shown[index]!]))
    found.set(embed, record => (groups.get(record) ?? []).map(row => shownOf.get(row)!))
  }
  return found
}

/** Shapes rows; the result has their order. */
export type Render = (api: WireApi, node: TableNode, records: readonly ShownRow[]) => Promise<readonly ShownRow[]>

function slice(node: TableNode, rows: readonly ShownRow[]): readonly ShownRow[] {
  return node.offset === 0 && node.limit === undefined
    ? rows
    : rows.slice(node.offset, node.limit === undefined ? undefined : node.offset + node.limit)
}

function* chunks<Each>(all: readonly Each[]): Generator<readonly Each[]> {
  for (let at = 0; at < all.length; at += KEYS) yield all.slice(at, at + KEYS)
}

async function readByBack(
  api: WireApi,
  { relation, node }: EmbedItem,
  where: WireCondition,
  records: readonly ShownRow[],
): Promise<Map<ShownRow, readonly ShownRow[]>> {
  const { owner, target, back } = relation
  const groups = new Map<string, ShownRow[]>()
  const name = back!.name
  const shown = shownAs(back!)
  for (const part of chunks(records)) {
    const own = { [name]: { $in: part.map(record => keyOf(record, owner)) } }
    const query = { where: { $and: [where, own] }, sort: node.sort, ...neededOf(node, [shown]) }
    for (const row of (await listAll(api, target, query)).records) {
      const key = textOf(keyOf(row[shown], owner))
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [row])
      else group.push(row)
    }
  }
  return new Map(records.map(record => [record, slice(node, groups.get(textOf(keyOf(record, owner))) ?? [])]))
}

async function readByKey(
  api: WireApi,
  { relation, node }: EmbedItem,
  where: WireCondition,
  records: readonly ShownRow[],
): Promise<Map<ShownRow, readonly ShownRow[]>> {
  const { target, attribute } = relation
  const links = new Map(records.map(record => [record, linksOf(record, attribute!, target)]))
  const keys = [...new Map([...links.values()].flat().map(key => [textOf(key), key])).values()]
  const found = new Map<string, { readonly row: ShownRow; readonly place: number }>()
  let place = 0
  for (const part of chunks(keys)) {
    const query = { where: { $and: [where, whereKeys(target, part)] }, sort: node.sort, ...neededOf(node) }
    for (const row of (await listAll(api, target, query)).records) found.set(textOf(keyOf(row, target)), { row, place: place++ })
  }
  const rowsOf = (own: readonly unknown[]): readonly ShownRow[] => {
    const rows = own.map(key => found.get(textOf(key))).filter(each => each !== undefined)
    return slice(
      node,
      rows.sort((one, other) => one.place - other.place).map(({ row }) => row),
    )
  }
  return new Map([...links].map(([record, own]) => [record, rowsOf(own)]))
}

function linksOf(record: ShownRow, attribute: WireAttribute, target: WireResource): unknown[] {
  const value = record[attribute.name] ?? record[shownAs(attribute)]
  if (value === null || value === undefined) return []
  // A key of two parts is an array, too, of plain values.
  const isOne = !Array.isArray(value) || (target.key.length > 1 && typeof value[0] !== 'object')
  return (isOne ? [value] : (value as unknown[])).map(each => keyOf(each, target))
}
