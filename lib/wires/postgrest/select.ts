/** Parses `select=id,author:users(name)` into a tree of tables, with columns and embedded tables. */
import type { WireApi, WireAttribute, WireResource } from '../../foundation/base/wire.ts'
import type { WireCondition } from './conditions.ts'
import { noOperator, unreadable, Failure } from './failure.ts'
import type { ShownRow } from './keys.ts'
import { findColumn, findRelation, needColumn, type TableRelation } from './tables.ts'
import { TextReader, type Step } from './text-reader.ts'
import { checkCast, nameType } from './values.ts'

type AggregateName = 'count' | 'sum' | 'avg' | 'min' | 'max'

export interface ColumnItem {
  readonly kind: 'column'
  readonly key: string
  readonly attribute: WireAttribute
  readonly steps: readonly Step[]
  readonly cast: string | undefined
}

export interface AggregateItem {
  readonly kind: 'aggregate'
  readonly key: string
  readonly how: AggregateName
  /** Undefined: counts rows. */
  readonly of: ColumnItem | undefined
  readonly cast: string | undefined
}

export interface EmbedItem {
  readonly kind: 'embed'
  readonly key: string
  /** As the client says: `users`, `author_id`. */
  readonly name: string
  readonly relation: TableRelation
  readonly isInner: boolean
  readonly isSpread: boolean
  readonly node: TableNode
}

export type SelectItem = { readonly kind: 'all' } | ColumnItem | AggregateItem | EmbedItem

/** The table of the path, or an embedded table. */
export interface TableNode {
  readonly resource: WireResource
  readonly items: readonly SelectItem[]
  readonly where: WireCondition[]
  sort: readonly string[]
  limit: number | undefined
  offset: number
}

/** Each may be a request. */
const MAX_EMBEDS = 50

interface RawItem {
  readonly isAll: boolean
  readonly isSpread: boolean
  readonly alias: string | undefined
  readonly name: string
  readonly steps: readonly Step[]
  readonly cast: string | undefined
  readonly aggregate: AggregateName | undefined
  readonly aggregateCast: string | undefined
  readonly hints: readonly string[]
  readonly inner: readonly RawItem[] | undefined
}

const PLAIN: RawItem = {
  isAll: false,
  isSpread: false,
  alias: undefined,
  name: '',
  steps: [],
  cast: undefined,
  aggregate: undefined,
  aggregateCast: undefined,
  hints: [],
  inner: undefined,
}

/** @throws Failure for unreadable texts, unknown columns and relations */
export function parseSelect(api: WireApi, resource: WireResource, text: string): TableNode {
  let kept = selects.get(resource)
  if (kept === undefined) selects.set(resource, (kept = new Map()))
  const known = kept.get(text)
  if (known !== undefined) return { resource, items: known, where: [], sort: [], limit: undefined, offset: 0 }
  const node = readSelect(api, resource, text)
  if (listEmbeds(node).length > 0 || text.length > 500) return node
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(text, node.items)
  return node
}

/** Most requests differ only in values. Not with embedded tables: their filters differ. */
const selects = new WeakMap<WireResource, Map<string, TableNode['items']>>()
const MAX_KEPT = 200

function readSelect(api: WireApi, resource: WireResource, text: string): TableNode {
  const reader = new TextReader(text, found => unreadable('select parameter', text, found))
  const items: RawItem[] = []
  reader.space()
  while (!reader.isAtEnd) {
    if (items.length > 0) reader.need(',')
    reader.space()
    reader.count()
    items.push(readItem(reader))
    reader.space()
  }
  const counter = { embeds: 0 }
  return resolveNode(api, resource, items.length === 0 ? [{ ...PLAIN, isAll: true }] : items, counter)
}

function readItem(reader: TextReader): RawItem {
  const isSpread = reader.take('...')
  if (!isSpread && reader.take('*')) return { ...PLAIN, isAll: true }
  let name = reader.name()
  let alias: string | undefined
  if (!reader.sees('::') && reader.take(':')) {
    alias = name
    name = reader.name()
  }
  const hints: string[] = []
  while (reader.take('!')) hints.push(reader.name())
  if (hints.length > 0 || isSpread || (reader.sees('(') && !(name === 'count' && reader.sees('()')))) {
    reader.need('(')
    const inner = reader.members(')', () => readItem(reader))
    return { ...PLAIN, isSpread, alias, name, hints, inner }
  }
  if (reader.take('()')) return { ...PLAIN, alias, aggregate: 'count', aggregateCast: readCast(reader) }
  const steps = reader.steps()
  const cast = readCast(reader)
  const aggregate = reader.match(/\.(?:count|sum|avg|min|max)\(\)/)?.slice(1, -2) as AggregateName | undefined
  return { ...PLAIN, alias, name, steps, cast, aggregate, aggregateCast: aggregate === undefined ? undefined : readCast(reader) }
}

function readCast(reader: TextReader): string | undefined {
  if (!reader.take('::')) return undefined
  const cast = reader.name().toLowerCase()
  checkCast(cast)
  return cast
}

function resolveNode(api: WireApi, resource: WireResource, raw: readonly RawItem[], counter: { embeds: number }): TableNode {
  const items = raw.map((item): SelectItem => {
    if (item.isAll) return { kind: 'all' }
    return item.inner === undefined ? resolveValue(resource, item) : resolveEmbed(api, resource, item, counter)
  })
  return { resource, items, where: [], sort: [], limit: undefined, offset: 0 }
}

function resolveValue(resource: WireResource, item: RawItem): ColumnItem | AggregateItem {
  const { alias, name, steps, cast, aggregate, aggregateCast } = item
  if (name === '' || (name === 'count' && aggregate === undefined && steps.length === 0 && findColumn(resource, name) === undefined))
    return { kind: 'aggregate', key: alias ?? 'count', how: 'count', of: undefined, cast: aggregateCast ?? cast }
  const attribute = needColumn(resource, name)
  if (steps.length > 0 && attribute.type !== 'json' && attribute.kind !== 'embedded')
    throw noOperator(`${nameType(attribute.type ?? 'record')} -> unknown`)
  const names = steps.map(step => step.name).filter(each => !/^-?\d+$/.test(each))
  const column: ColumnItem = { kind: 'column', key: alias ?? (steps.length > 0 ? names.at(-1) : undefined) ?? name, attribute, steps, cast }
  return aggregate === undefined ? column : { kind: 'aggregate', key: alias ?? aggregate, how: aggregate, of: column, cast: aggregateCast }
}

function resolveEmbed(api: WireApi, owner: WireResource, item: RawItem, counter: { embeds: number }): EmbedItem {
  if (++counter.embeds > MAX_EMBEDS) throw new Failure(400, '54001', `A request embeds at most ${MAX_EMBEDS} tables.`)
  const { name, alias, hints, isSpread } = item
  const relation = findRelation(
    api,
    owner,
    name,
    hints.find(hint => hint !== 'inner' && hint !== 'left'),
  )
  const node = resolveNode(api, relation.target, item.inner!, counter)
  return { kind: 'embed', key: alias ?? name, name, relation, isInner: hints.includes('inner'), isSpread, node }
}

export function listEmbeds({ items }: TableNode): EmbedItem[] {
  return items.filter(item => item.kind === 'embed')
}

export function findEmbed(node: TableNode, name: string): EmbedItem | undefined {
  const embeds = listEmbeds(node)
  return embeds.find(({ key }) => key === name) ?? embeds.find(each => each.name === name)
}

/** `comments()` filters, and shows nothing. */
export function isEmpty({ node }: EmbedItem): boolean {
  return node.items.length === 0
}

/** Whether embedded rows are found by their foreign key to the owner. */
export function isByBack({ relation: { attribute, back, owner } }: EmbedItem): boolean {
  return attribute === undefined || (back !== undefined && owner.key.length === 1)
}

/** Per reading, unless the engine's limits are lower. */
export const PAGE = 1000

/** Whether the engine gives the embedded rows inside the owner's. */
export function comesAlong(owner: TableNode, { relation, node }: EmbedItem): boolean {
  const { attribute, isMany } = relation
  if (attribute === undefined || listEmbeds(owner).filter(each => !isEmpty(each) && each.relation.attribute === attribute).length > 1)
    return false
  if (isMany) return (node.limit ?? 0) <= PAGE
  const isFiltered = node.where.length > 0 || listEmbeds(node).some(({ isInner }) => isInner)
  return node.limit === undefined && node.offset === 0 && !(isFiltered && needsLink(owner, attribute))
}

function needsLink({ items, resource }: TableNode, attribute: WireAttribute): boolean {
  const isLink = (item: SelectItem): boolean =>
    item.kind === 'all' || (item.kind === 'column' ? item : item.kind === 'aggregate' ? item.of : undefined)?.attribute === attribute
  return resource.key.includes(attribute.name) || items.some(isLink)
}

/** `comments(count)` alone. */
export function isCount({ node: { items, limit, offset }, relation }: EmbedItem): boolean {
  const [item] = items
  const counts = item?.kind === 'aggregate' && item.of === undefined && item.cast === undefined
  return relation.isMany && counts && items.length === 1 && limit === undefined && offset === 0
}

export function rowsAlong({ relation }: EmbedItem, record: ShownRow): readonly ShownRow[] {
  const rows = record[relation.attribute!.name] as ShownRow | readonly ShownRow[] | null | undefined
  return rows === null || rows === undefined ? [] : Array.isArray(rows) ? rows : [rows as ShownRow]
}
