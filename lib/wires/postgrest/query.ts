/** Reads a PostgREST query into the tree of `select`, with filters, order, limit and offset for each table, as in `comments.order=id`. */
import type { WireApi, WireAttribute, WireRequest, WireResource } from '../../foundation/base/wire.ts'
import { makeCondition, parseExpression, parseLogic, readPath, splitList, type WireCondition } from './conditions.ts'
import { Failure, unreadable } from './failure.ts'
import { findEmbed, listEmbeds, parseSelect, type EmbedItem, type TableNode } from './select.ts'
import { findRelation, needColumn } from './tables.ts'
import { TextReader } from './text-reader.ts'

export interface Query {
  readonly root: TableNode
  /** Whether the query has a filter; `!inner` alone is none. */
  readonly isFiltered: boolean
  readonly columns: readonly string[] | undefined
  readonly onConflict: readonly string[] | undefined
}

/** Where only the embedded table has the link, finds the owner's keys by a request. */
type OwnerFinder = (api: WireApi, embed: EmbedItem, condition: WireCondition) => Promise<WireCondition>

const OF_LOGIC = /^(?:not\.)?(?:or|and)$/

/** @throws Failure for unreadable parameters and unknown names */
export function parseQuery(api: WireApi, resource: WireResource, { pairs, headers, method }: WireRequest): Query {
  const given = (name: string): string | undefined => pairs.findLast(([each]) => each === name)?.[1]
  const root = parseSelect(api, resource, given('select') ?? '*')
  for (const [name, value] of pairs) {
    if (['select', 'columns', 'on_conflict'].includes(name)) continue
    if (['order', 'limit', 'offset'].includes(name)) setPage(api, root, name, value)
    else setFilter(api, root, name, value)
  }
  if (method === 'GET' || method === 'HEAD') setRange(root, headers['range'], headers['range-unit'])
  const list = (text: string | undefined): string[] | undefined =>
    text === undefined ? undefined : splitList(text, text).map(each => each.trim())
  return { root, isFiltered: root.where.length > 0, columns: list(given('columns')), onConflict: list(given('on_conflict')) }
}

function setRange(root: TableNode, range: string | undefined, unit: string | undefined): void {
  const [, first, last] = /^(?:items=)?(\d+)-(\d*)$/.exec(range ?? '') ?? []
  if (first === undefined || (unit !== undefined && unit !== 'items')) return
  if (last !== '' && Number(last) < Number(first))
    throw outOfRange('The lower boundary must be lower than or equal to the upper boundary in the Range header.')
  root.offset = Math.max(root.offset, Number(first))
  if (last !== '') root.limit = Math.min(root.limit ?? Infinity, Number(last) - Number(first) + 1)
}

export function outOfRange(details: string, headers: Readonly<Record<string, string>> = {}): Failure {
  return new Failure(416, 'PGRST103', 'Requested range not satisfiable', { details, headers })
}

/** Splits `comments.author.name` into the embedded table `author`, and `name`. */
function findNode(root: TableNode, path: string): { readonly node: TableNode; readonly name: string } {
  let node = root
  let name = path
  for (;;) {
    const [, first, rest] = /^("(?:[^"\\]|\\[^])*"|[^."]+)\.([^]+)$/.exec(name) ?? []
    if (first === undefined || rest === undefined || OF_LOGIC.test(name)) return { node, name }
    const embed = findEmbed(node, first.replaceAll('"', ''))
    if (embed === undefined)
      throw new Failure(400, 'PGRST108', `'${first}' is not an embedded resource in this request`, {
        hint: `Verify that '${first}' is included in the 'select' query parameter.`,
      })
    node = embed.node
    name = rest
  }
}

function setFilter(api: WireApi, root: TableNode, path: string, value: string): void {
  const { node, name } = findNode(root, path)
  if (['order', 'limit', 'offset'].includes(name) && node !== root) return setPage(api, node, name, value)
  const condition = (column: string, sent: string): WireCondition => makeMember(api, node, column, sent)
  if (!OF_LOGIC.test(name)) return void node.where.push(condition(name, value))
  const made = parseLogic(name.endsWith('or') ? 'or' : 'and', value, condition)
  node.where.push(name.startsWith('not.') ? { $not: made } : made)
}

/** A condition on a column, or, as `comments=is.null`, on an embedded table without rows. */
function makeMember(api: WireApi, node: TableNode, name: string, sent: string): WireCondition {
  const embed = /^(?:not\.)?is\.null$/i.test(sent) ? findEmbed(node, name) : undefined
  if (embed === undefined) return makeCondition(api, node.resource, name, sent)
  return { [HAS_ROWS]: { embed, isNone: !parseExpression(sent).isNot } }
}

/** Stands for a condition on an embedded table, with filters to follow; `finishWhere` makes the condition. */
const HAS_ROWS = '\0rows'

interface HasRows {
  readonly embed: EmbedItem
  readonly isNone: boolean
}

/** The condition on a node's rows, once all parameters are read. `comments!inner(...)` restricts the owner's rows. */
export async function finishWhere(api: WireApi, node: TableNode, findOwners: OwnerFinder): Promise<WireCondition> {
  if (listEmbeds(node).length === 0) return joinConditions(node.where)
  const finish = async (condition: WireCondition): Promise<WireCondition> => {
    const made: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(condition)) {
      if (name === HAS_ROWS) {
        const { embed, isNone } = value as HasRows
        const some = await hasRows(api, embed, findOwners)
        return isNone ? negate(embed, some) : some
      }
      if (name === '$and' || name === '$or') made[name] = await Promise.all((value as WireCondition[]).map(finish))
      else made[name] = name === '$not' ? await finish(value as WireCondition) : value
    }
    return made
  }
  const parts = await Promise.all(node.where.map(finish))
  for (const embed of listEmbeds(node)) if (embed.isInner) parts.push(await hasRows(api, embed, findOwners))
  return joinConditions(parts)
}

function joinConditions(parts: readonly WireCondition[]): WireCondition {
  return parts.length === 0 ? {} : parts.length === 1 ? parts[0]! : { $and: parts }
}

async function hasRows(api: WireApi, embed: EmbedItem, findOwners: OwnerFinder): Promise<WireCondition> {
  const { attribute, isMany, target } = embed.relation
  const where = await finishWhere(api, embed.node, findOwners)
  if (attribute === undefined) return findOwners(api, embed, where)
  if (isMany) return { [attribute.name]: { $some: where } }
  // A link to a hidden row counts as none.
  return { [attribute.name]: Object.keys(where).length === 0 ? { [target.key[0]!]: { $ne: null } } : where }
}

/** In SQL, conditions on an empty link are neither true nor false. */
function negate({ relation: { attribute, isMany } }: EmbedItem, some: WireCondition): WireCondition {
  return isMany || attribute === undefined ? { $not: some } : { $or: [{ [attribute.name]: { $eq: null } }, { $not: some }] }
}

function setPage(api: WireApi, node: TableNode, name: string, value: string): void {
  if (name === 'order') {
    node.sort = parseOrder(api, node, value)
    return
  }
  if (!/^-?\d+$/.test(value)) throw unreadable(name as 'limit' | 'offset', value, 'expecting an integer')
  const number = Math.min(Number(value), Number.MAX_SAFE_INTEGER)
  if (name === 'offset') node.offset = Math.max(0, number)
  else if (number < 0) throw outOfRange('Limit should be greater than or equal to zero.')
  else node.limit = number
}

/** `name.desc.nullslast,users(name)` */
function parseOrder(api: WireApi, node: TableNode, text: string): string[] {
  const reader = new TextReader(text, found => unreadable('order', text, found))
  const sort: string[] = []
  do {
    reader.space()
    const path = reader.match(/(?:"(?:[^"\\]|\\[^])*"|->>?|[\p{L}\p{N}_$ -])+/u)
    if (path === undefined) throw reader.wrong('expecting field name')
    const related = reader.take('(') ? reader.name() : undefined
    if (related !== undefined) reader.need(')')
    const direction = reader.match(/\.(?:asc|desc)(?![a-z])/) ?? '.asc'
    const nulls = reader.match(/\.nulls(?:first|last)(?![a-z])/)
    const key = { path: path.trim(), direction, nulls }
    sort.push(related === undefined ? sortKey(api, node.resource, key) : relatedKey(api, node, key, related))
    reader.space()
  } while (reader.take(','))
  reader.end()
  return sort
}

interface SortAsked {
  readonly path: string
  readonly direction: string
  readonly nulls: string | undefined
}

/** NULL is last; in descending order, first. */
function sortKey(api: WireApi, resource: WireResource, { path, direction, nulls }: SortAsked, prefix = ''): string {
  const { name, steps } = readPath(path, 'order')
  const attribute = needColumn(resource, name)
  const names = [attribute.name, ...steps.map(step => step.name)]
  if (names.some(each => !/^[\p{L}\p{N}_$-]+$/u.test(each))) throw unreadable('order', path, 'unexpected character in a name')
  // A foreign key sorts as the target's key, so the target's key is asked, not the column.
  const target = attribute.kind === 'toOne' ? api.resources.find(each => each.name === attribute.target) : undefined
  if (target !== undefined) names.push(target.key[0]!)
  const mayBeNull = prefix !== '' || names.length > 1 || isNullable(attribute)
  const placed = mayBeNull || nulls !== undefined ? (nulls ?? (direction === '.desc' ? '.nullsfirst' : '.nullslast')) : ''
  return `${prefix}${names.join('.')}${direction}${placed}`
}

function isNullable({ nullable, kind, column }: WireAttribute): boolean {
  return nullable || kind !== 'scalar' || column === undefined
}

function relatedKey(api: WireApi, node: TableNode, asked: SortAsked, column: string): string {
  const name = asked.path
  const relation = findEmbed(node, name)?.relation ?? findRelation(api, node.resource, name, undefined)
  if (relation.isMany || relation.attribute === undefined)
    throw new Failure(400, 'PGRST118', `A related order on '${name}' is not possible`, {
      details: `'${node.resource.table}' and '${name}' do not form a many-to-one or one-to-one relationship`,
    })
  return sortKey(api, relation.target, { ...asked, path: column }, `${relation.attribute.name}.`)
}
