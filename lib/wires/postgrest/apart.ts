/**
 * Reads embedded tables by requests of their own, where the engine cannot embed them in the owner's rows, as for a table embedded twice.
 */
import type { WireApi, WireAttribute, WireResource } from '../../foundation/base/wire.ts'
import type { WireCondition } from './conditions.ts'
import { keyOf, textOf, whereKeys, type ShownRow } from './keys.ts'
import { askedOf, listAll, whereOf } from './rows.ts'
import { comesAlong, isByBack, isEmpty, listEmbeds, rowsAlong, type EmbedItem, type TableNode } from './select.ts'
import { shownAs } from './tables.ts'

const KEYS = 500

export type ApartRows = ReadonlyMap<EmbedItem, (record: ShownRow) => readonly ShownRow[]>

export async function readApart(
  api: WireApi,
  node: TableNode,
  records: readonly ShownRow[],
  found = new Map<EmbedItem, (record: ShownRow) => readonly ShownRow[]>(),
): Promise<ApartRows> {
  for (const embed of listEmbeds(node)) {
    if (isEmpty(embed)) continue
    if (comesAlong(node, embed)) {
      if (listEmbeds(embed.node).length > 0)
        await readApart(
          api,
          embed.node,
          records.flatMap(record => rowsAlong(embed, record)),
          found,
        )
      continue
    }
    const where = await whereOf(api, embed.node)
    const groups = isByBack(embed) ? await readByBack(api, embed, where, records) : await readByKey(api, embed, where, records)
    found.set(embed, record => groups.get(record) ?? [])
    await readApart(api, embed.node, [...new Set([...groups.values()].flat())], found)
  }
  return found
}

function slice({ offset, limit = Infinity }: TableNode, rows: readonly ShownRow[]): readonly ShownRow[] {
  return offset === 0 && limit >= rows.length ? rows : rows.slice(offset, offset + limit)
}

function* chunks<Each>(all: readonly Each[]): Generator<readonly Each[]> {
  for (let at = 0; at < all.length; at += KEYS) yield all.slice(at, at + KEYS)
}

/** By backward links. */
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
    const ofOwners = { [name]: { $in: part.map(record => keyOf(api, record, owner)) } }
    const query = { where: { $and: [where, ofOwners] }, sort: node.sort, ...(await askedOf(api, node, [shown])) }
    for (const row of (await listAll(api, target, query)).records) {
      const key = textOf(keyOf(api, row[shown], owner))
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [row])
      else group.push(row)
    }
  }
  return new Map(records.map(record => [record, slice(node, groups.get(textOf(keyOf(api, record, owner))) ?? [])]))
}

/** By own links. */
async function readByKey(
  api: WireApi,
  { relation, node }: EmbedItem,
  where: WireCondition,
  records: readonly ShownRow[],
): Promise<Map<ShownRow, readonly ShownRow[]>> {
  const { target, attribute } = relation
  const links = new Map(records.map(record => [record, linksOf(api, record, attribute!, target)]))
  const keys = [...new Map([...links.values()].flat().map(key => [textOf(key), key])).values()]
  const found = new Map<string, { readonly row: ShownRow; readonly place: number }>()
  let place = 0
  for (const part of chunks(keys)) {
    const query = { where: { $and: [where, whereKeys(target, part)] }, sort: node.sort, ...(await askedOf(api, node)) }
    for (const row of (await listAll(api, target, query)).records) found.set(textOf(keyOf(api, row, target)), { row, place: place++ })
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

function linksOf(api: WireApi, record: ShownRow, attribute: WireAttribute, target: WireResource): unknown[] {
  const value = record[attribute.name] ?? record[shownAs(attribute)]
  if (value === null || value === undefined) return []
  // A key of two parts is an array of plain values.
  const isOne = !Array.isArray(value) || (target.key.length > 1 && typeof value[0] !== 'object')
  return (isOne ? [value] : (value as unknown[])).map(each => keyOf(api, each, target))
}
