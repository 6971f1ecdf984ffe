/** Records: the keys of a `db.json` over the attributes of the engine: `authorId` of a link; bodies of forms in the types of the model. */
import type { WireApi, WireAttribute, WireQuery, WireResource } from '../../foundation/base/wire.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The relations that answers show whole, by attribute, with the key that the client asked for. */
export type EmbeddedRelations = ReadonlyMap<WireAttribute, string>

export const NOTHING_EMBEDDED: EmbeddedRelations = new Map()

export function findResource(api: WireApi, name: string | undefined): WireResource | undefined {
  return api.resources.find(resource => resource.name === name)
}

export function findTarget(api: WireApi, { target }: WireAttribute): WireResource | undefined {
  return target === undefined ? undefined : findResource(api, target)
}

/** The key of a link or a value in records. */
export function nameOf({ kind, ids, name }: WireAttribute): string {
  return ids ?? (kind === 'toOne' ? `${name}Id` : name)
}

export function findAttribute({ attributes }: WireResource, name: string): WireAttribute | undefined {
  return attributes.find(attribute => nameOf(attribute) === name) ?? attributes.find(attribute => attribute.name === name)
}

/** Links from the records of `other` to those of `resource`. */
export function listLinks(other: WireResource, resource: WireResource): readonly WireAttribute[] {
  return other.attributes.filter(({ kind, target, writable }) => kind === 'toOne' && target === resource.name && writable)
}

/** Names that mean no relation are left out, as json-server does. */
export function readEmbedded(api: WireApi, resource: WireResource, names: readonly string[]): EmbeddedRelations {
  const relations = resource.attributes.filter(({ target }) => target !== undefined)
  const found = names.flatMap((wanted): (readonly [WireAttribute, string])[] => {
    const attribute =
      relations.find(({ name }) => name === wanted) ??
      relations.find(each => (each.kind === 'toMany' ? each.target === wanted : findTarget(api, each)?.singular === wanted))
    return attribute === undefined ? [] : [[attribute, wanted]]
  })
  return new Map(found)
}

/** Asks the engine for the embedded relations, and for lists of IDs that bodies have. */
export function askedOf(resource: WireResource, embedded: EmbeddedRelations): Pick<WireQuery, 'attributes' | 'expand'> {
  const expanded = [...embedded.keys()].map(({ name }) => name)
  const expand = expanded.length === 0 ? {} : { expand: expanded }
  if (!resource.attributes.some(isOwnList)) return expand
  const shown = resource.attributes.filter(attribute => attribute.kind !== 'toMany' || isOwnList(attribute))
  return { ...expand, attributes: [...new Set([...shown.map(({ ids, name }) => ids ?? name), ...expanded])] }
}

/** `tagIds: [1, 2]`, and not the `comments` that link a post. */
export function isOwnList({ kind, writable }: WireAttribute): boolean {
  return kind === 'toMany' && writable
}

const relations = new WeakMap<WireResource, ReadonlyMap<string, WireAttribute>>()

/** Kept by name, since a list shows many records. */
function relationsOf(resource: WireResource): ReadonlyMap<string, WireAttribute> {
  let found = relations.get(resource)
  if (found === undefined) relations.set(resource, (found = new Map(resource.attributes.filter(isRelation).map(each => [each.name, each]))))
  return found
}

export function showRecord(api: WireApi, resource: WireResource, record: Fields, embedded: EmbeddedRelations): Fields {
  const links = relationsOf(resource)
  if (links.size === 0) return record
  const shown: Record<string, unknown> = {}
  for (const name of Object.keys(record)) {
    const value = record[name]
    const attribute = links.get(name)
    const wanted = attribute === undefined ? undefined : embedded.get(attribute)
    if (attribute === undefined) shown[name] = value
    else if (attribute.kind === 'toOne') {
      if (attribute.ids === undefined) shown[nameOf(attribute)] = keyOf(value, findTarget(api, attribute))
      else if (attribute.ids === name && wanted === undefined) shown[name] = value
      if (wanted !== undefined && value !== null) shown[wanted] = showRelated(api, attribute, value as Fields)
    } else if (wanted !== undefined) shown[wanted] = (value as readonly Fields[]).map(each => showRelated(api, attribute, each))
    else if (isOwnList(attribute)) shown[name] = value
  }
  return shown
}

function isRelation({ kind }: WireAttribute): boolean {
  return kind === 'toOne' || kind === 'toMany'
}

function showRelated(api: WireApi, attribute: WireAttribute, record: Fields): Fields {
  return showRecord(api, findTarget(api, attribute)!, record, NOTHING_EMBEDDED)
}

export function keyOf(value: unknown, resource: WireResource | undefined): unknown {
  const isWhole = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isWhole && resource?.key.length === 1 ? (value as Fields)[resource.key[0]!] : value
}

export function keyAttribute(resource: WireResource | undefined): WireAttribute | undefined {
  return resource?.key.length === 1 ? resource.attributes.find(({ name }) => name === resource.key[0]) : undefined
}

/** Makes a body of the engine; embedded records that a client sends back are left out. */
export function readBody(api: WireApi, resource: WireResource, body: Fields, isNew: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]): (readonly [string, unknown])[] => {
      const attribute = findAttribute(resource, name)
      if (attribute === undefined) return [[name, value]]
      if (resource.key.includes(attribute.name) && (!isNew || value === null || value === '')) return []
      const { kind, ids = attribute.name, writable, type } = attribute
      if (kind === 'toMany') return writable && isIds(value) ? [[ids, value.map(each => readLink(api, attribute, each))]] : []
      if (kind !== 'toOne') return [[name, readValue(type, value)]]
      const isEmbedded = name !== nameOf(attribute) && (Object.hasOwn(body, nameOf(attribute)) || !writable)
      return isEmbedded ? [] : [[ids, readLink(api, attribute, value)]]
    }),
  )
}

function isIds(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every(each => typeof each !== 'object')
}

function readLink(api: WireApi, attribute: WireAttribute, value: unknown): unknown {
  const target = findTarget(api, attribute)
  return value === '' ? null : readValue(keyAttribute(target)?.type, keyOf(value, target))
}

/** A replaced record loses what the body does not name. */
export function unsetOthers(resource: WireResource): Record<string, unknown> {
  const others = resource.attributes.filter(({ name, writable }) => writable && !resource.key.includes(name))
  return Object.fromEntries(
    others.flatMap((attribute): (readonly [string, unknown])[] => {
      const { kind, nullable, ids, name } = attribute
      if (kind === 'toMany') return [[ids ?? name, []]]
      return nullable ? [[kind === 'toOne' ? (ids ?? name) : name, null]] : []
    }),
  )
}

const NUMBER = /^\s*-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i
const TIMES = new Set(['date', 'datetime', 'time'])

/** `"5"` of a form is a number where the model has numbers, and 5 a text where the model has texts. */
function readValue(type: string | undefined, value: unknown): unknown {
  if (type === 'text') return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof value !== 'string' || type === undefined) return value
  const isNumber = type === 'integer' || type === 'float'
  if (value === '' && (isNumber || type === 'boolean' || TIMES.has(type))) return null
  if (isNumber && NUMBER.test(value)) return Number(value)
  return type === 'boolean' && (value === 'true' || value === 'false') ? value === 'true' : value
}
