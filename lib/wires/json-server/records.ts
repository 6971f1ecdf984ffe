/**
 * Converts between records of the engine and of json-server, which names links by keys of a `db.json` (`authorId`) and takes values of
 * forms (`"5"`).
 */
import type { WireApi, WireAttribute, WireQuery, WireResource } from '../../foundation/base/wire.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The name of the embedded record or list, by attribute. */
export type EmbeddedRelations = ReadonlyMap<WireAttribute, string>

export const NOTHING_EMBEDDED: EmbeddedRelations = new Map()

export function findResource(api: WireApi, name: string | undefined): WireResource | undefined {
  return api.resources.find(resource => resource.name === name)
}

export function findTarget(api: WireApi, { target }: WireAttribute): WireResource | undefined {
  return target === undefined ? undefined : findResource(api, target)
}

export function nameOf({ kind, ids, name }: WireAttribute): string {
  return ids ?? (kind === 'toOne' ? `${name}Id` : name)
}

export function findAttribute({ attributes }: WireResource, name: string): WireAttribute | undefined {
  return attributes.find(attribute => nameOf(attribute) === name) ?? attributes.find(attribute => attribute.name === name)
}

export function listLinks(other: WireResource, resource: WireResource): readonly WireAttribute[] {
  return other.attributes.filter(({ kind, target, writable }) => kind === 'toOne' && target === resource.name && writable)
}

/** Ignores names of no relation, as json-server does. */
export function readEmbedded(api: WireApi, resource: WireResource, names: readonly string[]): EmbeddedRelations {
  if (names.length === 0) return NOTHING_EMBEDDED
  const relations = resource.attributes.filter(({ target }) => target !== undefined)
  const found = names.flatMap((wanted): (readonly [WireAttribute, string])[] => {
    const attribute =
      relations.find(({ name }) => name === wanted) ??
      relations.find(each => (each.kind === 'toMany' ? each.target === wanted : findTarget(api, each)?.singular === wanted))
    return attribute === undefined ? [] : [[attribute, wanted]]
  })
  return new Map(found)
}

/** Asks for embedded relations, and lists of IDs. */
export function askedOf(resource: WireResource, embedded: EmbeddedRelations): Pick<WireQuery, 'attributes' | 'expand'> {
  const expanded = [...embedded.keys()].map(({ name }) => name)
  const expand = expanded.length === 0 ? {} : { expand: expanded }
  if (!resource.attributes.some(isOwnList)) return expand
  const shown = resource.attributes.filter(attribute => attribute.kind !== 'toMany' || isOwnList(attribute))
  return { ...expand, attributes: [...new Set([...shown.map(({ ids, name }) => ids ?? name), ...expanded])] }
}

/** Such as `tagIds: [1, 2]`; not the `comments` linking a post. */
export function isOwnList({ kind, writable }: WireAttribute): boolean {
  return kind === 'toMany' && writable
}

type ShowRecord = (record: Fields) => Fields

/** By resource, and names of embedded relations. */
const shown = new WeakMap<WireResource, Map<string, ShowRecord>>()

/** Clients may embed in many ways. */
const MOST_KEPT = 50

export function findShow(api: WireApi, resource: WireResource, embedded: EmbeddedRelations): ShowRecord {
  const kept = shown.get(resource) ?? new Map<string, ShowRecord>()
  if (kept.size === 0) shown.set(resource, kept)
  const key = embedded.size === 0 ? '' : [...embedded].flatMap(([{ name }, wanted]) => [name, wanted]).join('\n')
  let show = kept.get(key)
  if (show === undefined) {
    show = resource.attributes.some(isRelation) ? compileShow(api, resource, embedded) : record => record
    if (kept.size < MOST_KEPT) kept.set(key, show)
  }
  return show
}

/** Generated code takes a tenth of a loop's time. A content security policy may forbid such code: then a loop. */
function compileShow(api: WireApi, resource: WireResource, embedded: EmbeddedRelations): ShowRecord {
  const helpers: unknown[] = []
  const plainMember = (key: string, from = key): ShownMember => [key, `r[${JSON.stringify(from)}]`, record => record[from]]
  const made = (key: string, from: string, make: (value: never) => unknown): ShownMember => [
    key,
    `h[${helpers.push(make) - 1}](r[${JSON.stringify(from)}])`,
    record => make(record[from] as never),
  ]
  const members = resource.attributes.flatMap((attribute): ShownMember[] => {
    const { kind, ids, name } = attribute
    if (!isRelation(attribute)) return [plainMember(name)]
    const wanted = embedded.get(attribute)
    const target = findTarget(api, attribute)
    const whole: ShownMember[] = []
    if (wanted !== undefined) {
      const show = findShow(api, target!, NOTHING_EMBEDDED)
      const each = (related: Fields | null | undefined): Fields | undefined => (related ? show(related) : undefined)
      const all = (list: readonly Fields[] | undefined): readonly Fields[] | undefined => list?.map(show)
      whole.push(made(wanted, name, kind === 'toOne' ? each : all))
    }
    if (kind === 'toMany') return wanted === undefined && isOwnList(attribute) ? [plainMember(ids ?? name)] : whole
    const link = nameOf(attribute)
    if (ids !== undefined) return [plainMember(link, ids), ...whole]
    return [wanted === undefined ? plainMember(link, name) : made(link, name, related => keyOf(related, target)), ...whole]
  })
  const literal = members.map(([key, source]) => `${key === '__proto__' ? '["__proto__"]' : JSON.stringify(key)}:${source}`).join(',')
  try {
    // eslint-disable-next-line typescript/no-implied-eval -- generated from the model alone, once per shape
    return (new Function('h', `"use strict";return r=>({${literal}})`) as (helpers: readonly unknown[]) => ShowRecord)(helpers)
  } catch (error) {
    if (!(error instanceof EvalError)) throw error
    return record => Object.fromEntries(members.map(([key, , of]) => [key, of(record)]))
  }
}

/** `source` is the code of `of`. */
type ShownMember = readonly [key: string, source: string, of: (record: Fields) => unknown]

function isRelation({ kind }: WireAttribute): boolean {
  return kind === 'toOne' || kind === 'toMany'
}

export function keyOf(value: unknown, resource: WireResource | undefined): unknown {
  const isWhole = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isWhole && resource?.key.length === 1 ? (value as Fields)[resource.key[0]!] : value
}

export function keyAttribute(resource: WireResource | undefined): WireAttribute | undefined {
  return resource?.key.length === 1 ? resource.attributes.find(({ name }) => name === resource.key[0]) : undefined
}

/** Leaves out embedded records, sent back by a client, and the ID of an existing record. */
export function readBody(api: WireApi, resource: WireResource, body: Fields, isNew: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]): (readonly [string, unknown])[] => {
      const attribute = findAttribute(resource, name)
      if (attribute === undefined) return [[name, value]]
      if (resource.key.includes(attribute.name) && !(isNew && mayBeId(attribute, value))) return []
      const { kind, ids = attribute.name, writable, type } = attribute
      if (kind === 'toMany') return writable && isIds(value) ? [[ids, value.map(each => readLink(api, attribute, each))]] : []
      if (kind !== 'toOne') return [[name, readValue(type, value)]]
      const isEmbedded = name !== nameOf(attribute) && (Object.hasOwn(body, nameOf(attribute)) || !writable)
      return isEmbedded ? [] : [[ids, readLink(api, attribute, value)]]
    }),
  )
}

function mayBeId({ type }: WireAttribute, value: unknown): boolean {
  return value !== null && value !== '' && (type !== 'integer' || Number.isInteger(readValue(type, value)))
}

function isIds(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every(each => typeof each !== 'object')
}

function readLink(api: WireApi, attribute: WireAttribute, value: unknown): unknown {
  const target = findTarget(api, attribute)
  return value === '' ? null : readValue(keyAttribute(target)?.type, keyOf(value, target))
}

/** PUT unsets attributes without a value in the body. */
export function unsetOthers(resource: WireResource): Record<string, unknown> {
  const others = resource.attributes.filter(({ name, writable }) => writable && !resource.key.includes(name))
  return Object.fromEntries(
    others.flatMap((attribute): (readonly [string, unknown])[] => {
      const { kind, nullable, ids, name } = attribute
      if (kind === 'toMany') return [[ids ?? name, []]]
      return nullable ? [[kind === 'toOne' ? (ids ?? name) : name, resource.exact ? undefined : null]] : []
    }),
  )
}

const NUMBER = /^\s*-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i
const TIMES = new Set(['date', 'datetime', 'time'])

/** Forms send `"5"` for a number; a text may come as 5. */
function readValue(type: string | undefined, value: unknown): unknown {
  if (type === 'text') return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof value !== 'string' || type === undefined) return value
  const isNumber = type === 'integer' || type === 'float'
  if (value === '' && (isNumber || type === 'boolean' || TIMES.has(type))) return null
  if (isNumber && NUMBER.test(value)) return Number(value)
  return type === 'boolean' && (value === 'true' || value === 'false') ? value === 'true' : value
}
