/** Reads rows of a table page by page, and says which attributes and embedded tables to ask the engine for. */
import type { WireApi, WireExpanded, WireQuery, WireResource } from '../../foundation/base/wire.ts'
import type { WireCondition } from './conditions.ts'
import { Failure } from './failure.ts'
import { finishWhere } from './query.ts'
import { keyOf, textOf, whereKeys, type ShownRow } from './keys.ts'
import { comesAlong, isByBack, isCount, isEmpty, PAGE, type EmbedItem, type TableNode } from './select.ts'
import { shownAs } from './tables.ts'

interface RowPage {
  readonly records: readonly ShownRow[]
  /** Of all matching rows. */
  readonly count: number
}

const MAX_ROWS = 100_000

export async function listAll(api: WireApi, resource: WireResource, { where = {}, ...query }: WireQuery): Promise<RowPage> {
  const { limit = Infinity, offset = 0 } = query
  const filtered = Object.keys(where).length === 0 ? query : { ...query, where }
  const first = await api.list(resource, { ...filtered, limit: Math.min(PAGE, limit) })
  if (first.records.length >= limit || offset + first.records.length >= first.count) return first
  const records = [...first.records]
  for (;;) {
    const page = await api.list(resource, { ...filtered, limit: Math.min(PAGE, limit - records.length), offset: offset + records.length })
    records.push(...page.records)
    if (records.length > MAX_ROWS) throw new Failure(413, '54000', `The request reads more than ${MAX_ROWS} rows of "${resource.table}".`)
    if (page.records.length === 0 || records.length >= limit || offset + records.length >= page.count) return { records, count: page.count }
  }
}

/** For a link in the embedded table only. */
async function findOwners(api: WireApi, { relation }: EmbedItem, where: WireCondition): Promise<WireCondition> {
  const { owner, target, back } = relation
  const { records } = await listAll(api, target, { where, attributes: [shownAs(back!)] })
  const keys = new Map(records.map(record => [textOf(record[shownAs(back!)]), keyOf(api, record[shownAs(back!)], owner)]))
  keys.delete('')
  if (keys.size > PAGE)
    throw new Failure(413, '54000', `The filter on "${target.table}" meets rows of more than ${PAGE} rows of "${owner.table}".`)
  return whereKeys(owner, [...keys.values()])
}

export function whereOf(api: WireApi, node: TableNode): Promise<WireCondition> {
  return finishWhere(api, node, findOwners)
}

export async function askedOf(
  api: WireApi,
  node: TableNode,
  more: readonly string[] = [],
): Promise<Pick<WireQuery, 'attributes' | 'expand'>> {
  const { resource, items } = node
  const names = new Set([...resource.key, ...more])
  const expand: (string | Readonly<Record<string, WireExpanded>>)[] = []
  for (const item of items) {
    if (item.kind === 'column') names.add(shownAs(item.attribute))
    else if (item.kind === 'aggregate' && item.of !== undefined) names.add(shownAs(item.of.attribute))
    else if (item.kind === 'embed' && !isEmpty(item) && item.relation.attribute !== undefined) {
      const { attribute } = item.relation
      if (comesAlong(node, item)) expand.push({ [attribute.name]: await embeddedQuery(api, item) })
      // For the keys, list members come whole.
      else if (!isByBack(item) && attribute.kind === 'toMany') expand.push(attribute.name)
      else if (!isByBack(item)) names.add(shownAs(attribute))
    }
  }
  const expanded = expand.length === 0 ? {} : { expand }
  if (items.some(({ kind }) => kind === 'all')) return expanded
  const embedded = expand.flatMap(each => (typeof each === 'string' ? [each] : Object.keys(each)))
  return { attributes: [...new Set([...names, ...embedded])], ...expanded }
}

async function embeddedQuery(api: WireApi, embed: EmbedItem): Promise<WireExpanded> {
  const { node, relation } = embed
  const where = await whereOf(api, node)
  const filter = Object.keys(where).length === 0 ? {} : { where }
  if (isCount(embed)) return { ...filter, count: true }
  const shown = await askedOf(api, node)
  if (!relation.isMany) return { ...filter, ...shown }
  const { sort, limit, offset } = node
  return { ...filter, sort, offset, ...(limit === undefined ? {} : { limit }), ...shown }
}
