/**
 * Reads the filters of a json-server query into conditions, such as `views_gte=10`, `views:gt=10`, `author.name=Ann`, `_where={...}` and
 * `q`. The engine compares columns; this file compares `q`, values inside JSON, and texts of numbers (`views_like=1`), record by record.
 */
import type { WireApi, WireAttribute, WireResource } from '../../foundation/base/wire.ts'
import { findAttribute, findResource, findTarget, keyAttribute, keyOf, nameOf, type Fields } from './records.ts'

export type Version = 0 | 1

/** An attribute, a link, or a place inside a JSON value. */
interface AskedPlace {
  /** Names of to-one relations: `author` of `author.name`. */
  readonly hops: readonly string[]
  readonly attribute: WireAttribute
  /** For a link, the key of the linked record. */
  readonly key: WireAttribute | undefined
  /** Names inside JSON: `color` of `meta.color`. */
  readonly keys: readonly string[]
}

type Test =
  | { readonly kind: 'any'; readonly values: readonly string[]; readonly negated: boolean }
  | { readonly kind: 'compare'; readonly operator: '$lt' | '$lte' | '$gt' | '$gte'; readonly value: string }
  /** `isOfTexts`: no numbers match, except by `_like` of 0.17. */
  | { readonly kind: 'text'; readonly patterns: readonly TextPattern[]; readonly isOfTexts: boolean }

type ClientCondition =
  | { readonly kind: 'all' | 'some'; readonly of: readonly ClientCondition[] }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'leaf'; readonly place: AskedPlace; readonly test: Test }
  | { readonly kind: 'anywhere'; readonly text: string }

export interface Conditions {
  readonly where: object | undefined
  readonly holds: ((record: Fields) => boolean) | undefined
  readonly expand: readonly string[]
}

const UNCONDITIONAL: Conditions = { where: undefined, holds: undefined, expand: [] }

const NOTHING: ClientCondition = { kind: 'nothing' }

const COMPARISONS = { lt: '$lt', lte: '$lte', gt: '$gt', gte: '$gte' } as const

const OPERATORS = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'contains', 'startsWith', 'endsWith', 'like'] as const
type OperatorName = (typeof OPERATORS)[number]

const COLON = new RegExp(`^(.+):(${OPERATORS.join('|')})$`)
const SUFFIX = new RegExp(`^(.+)_(${OPERATORS.join('|')})$`)

export function findPlace(api: WireApi, resource: WireResource, path: string): AskedPlace | undefined {
  const names = path.split('.')
  const hops: string[] = []
  let within = resource
  for (const [index, name] of names.entries()) {
    const attribute = findAttribute(within, name)
    const rest = names.slice(index + 1)
    if (attribute === undefined || attribute.kind === 'toMany') return undefined
    if (attribute.kind === 'embedded' || attribute.type === 'json' || attribute.type === 'jsonValue')
      return { hops, attribute, key: undefined, keys: rest }
    if (attribute.kind !== 'toOne') return rest.length === 0 ? { hops, attribute, key: undefined, keys: [] } : undefined
    const target = findTarget(api, attribute)
    if (target === undefined) return undefined
    if (rest.length === 0) {
      const key = keyAttribute(target)
      return key === undefined || name !== nameOf(attribute) ? undefined : { hops, attribute, key, keys: [] }
    }
    hops.push(attribute.name)
    within = target
  }
  return undefined
}

export class ConditionReader {
  readonly #api: WireApi
  readonly #resource: WireResource
  readonly #version: Version

  constructor(api: WireApi, resource: WireResource, version: Version) {
    this.#api = api
    this.#resource = resource
    this.#version = version
  }

  /** `_where` replaces all others, as in json-server 1. */
  read(pairs: readonly (readonly [string, string])[]): Conditions {
    if (pairs.every(([name]) => name.startsWith('_') && name !== '_where')) return UNCONDITIONAL
    const tree = readTree(pairs.findLast(([name]) => name === '_where')?.[1])
    const conditions = tree === undefined ? this.#flat(pairs) : [this.#tree(tree, [], 0)]
    const here = conditions.filter(isLocal)
    const there = conditions.filter(condition => !isLocal(condition)).map(condition => this.#where(condition))
    return {
      where: there.length === 0 ? undefined : { $and: there },
      holds: here.length === 0 ? undefined : record => here.every(condition => this.#holds(condition, record)),
      expand: [...new Set(here.flatMap(listHops))],
    }
  }

  #flat(pairs: readonly (readonly [string, string])[]): ClientCondition[] {
    const alike = new Map<string, string[]>()
    for (const [name, value] of pairs) {
      // A search form sends empty fields, too.
      if (value === '' && this.#version === 1) continue
      const list = alike.get(name)
      if (list === undefined) alike.set(name, [value])
      else list.push(value)
    }
    return [...alike].flatMap(([name, values]) => {
      if (name === 'q') return values[0] === '' ? [] : [{ kind: 'anywhere' as const, text: values[0]!.toLowerCase() }]
      if (name.startsWith('_')) return []
      return this.#named(name, values) ?? []
    })
  }

  #named(name: string, values: readonly string[]): ClientCondition | undefined {
    const plain = findPlace(this.#api, this.#resource, name)
    const [, path, operator] = COLON.exec(name) ?? SUFFIX.exec(name) ?? []
    // Inside JSON any name is possible: `meta.color_ne` has an operator.
    if (plain !== undefined && (path === undefined || plain.keys.length === 0)) return this.#leaf(plain, 'eq', values)
    const place = path === undefined ? undefined : findPlace(this.#api, this.#resource, path)
    if (place !== undefined) return this.#leaf(place, operator as OperatorName, values)
    // json-server 1 finds nothing by an unknown name, but ignores an unknown name with an operator, as 0.17 ignores both.
    return this.#version === 1 && path === undefined && !name.includes(':') ? NOTHING : undefined
  }

  #leaf(place: AskedPlace, operator: OperatorName, values: readonly string[]): ClientCondition {
    const leaf = (test: Test): ClientCondition => ({ kind: 'leaf', place, test })
    switch (operator) {
      case 'eq':
        return leaf({ kind: 'any', values, negated: false })
      case 'in':
        return leaf({ kind: 'any', values: values.flatMap(value => value.split(',').map(each => each.trim())), negated: false })
      case 'ne':
        return leaf({ kind: 'any', values, negated: true })
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
        return some(values.map(value => leaf({ kind: 'compare', operator: COMPARISONS[operator], value })))
      default:
        return leaf({ kind: 'text', patterns: values.map(value => readPattern(operator, value)), isOfTexts: operator !== 'like' })
    }
  }

  /** Reads `_where`: `{ "or": [{ "views": { "gt": 10 } }, { "author": { "name": { "eq": "Ann" } } }] }` */
  #tree(node: unknown, path: readonly string[], level: number): ClientCondition {
    if (level > 25) return NOTHING
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return { kind: 'all', of: [] }
    const parts = Object.entries(node).flatMap(([name, value]: [string, unknown]): ClientCondition[] => {
      if ((name === 'or' || name === 'and') && Array.isArray(value)) {
        const of = value.map(each => this.#tree(each, path, level + 1))
        return [name === 'or' ? some(of) : { kind: 'all', of }]
      }
      if (path.length === 0 || !(OPERATORS as readonly string[]).includes(name)) return [this.#tree(value, [...path, name], level + 1)]
      const place = findPlace(this.#api, this.#resource, path.join('.'))
      const values = (Array.isArray(value) ? value : [value]).map(each => String(each))
      return place === undefined ? [NOTHING] : [this.#leaf(place, name as OperatorName, values)]
    })
    return { kind: 'all', of: parts }
  }

  #where(condition: ClientCondition): object {
    switch (condition.kind) {
      case 'all':
        return { $and: condition.of.map(each => this.#where(each)) }
      case 'some':
        return { $or: condition.of.map(each => this.#where(each)) }
      case 'leaf':
        return this.#column(condition.place, condition.test)
      default:
        return this.#never()
    }
  }

  #never(): object {
    return { [this.#resource.attributes.find(({ kind }) => kind === 'scalar')!.name]: { $in: [] } }
  }

  #column({ hops, attribute, key }: AskedPlace, test: Test): object {
    const value = key ?? attribute
    const within = (condition: object): object => [...hops, attribute.name].reduceRight((inner, name) => ({ [name]: inner }), condition)
    const inside = (condition: object): object => within(key === undefined ? condition : { [key.name]: condition })
    if (test.kind === 'text') return some$(test.patterns.map(pattern => inside({ $ilike: likeOf(pattern) })))
    if (test.kind === 'compare') {
      const bound = readBound(value.type, test.operator, test.value)
      return bound === undefined ? this.#never() : inside({ [test.operator]: bound })
    }
    const given = test.values.map(text => (text === 'null' && this.#version === 1 ? null : readText(value.type, text)))
    const values = given.filter(each => each !== undefined)
    if (!test.negated) return values.length === 0 ? this.#never() : within({ $in: values })
    if (this.#version === 0 || values.includes(null)) return within({ $nin: values.length === 0 ? [null] : values })
    // In JavaScript, null differs from any value.
    return values.length === 0 ? {} : { $or: [within({ $nin: values }), within({ $in: [null] })] }
  }

  #holds(condition: ClientCondition, record: Fields): boolean {
    switch (condition.kind) {
      case 'all':
        return condition.of.every(each => this.#holds(each, record))
      case 'some':
        return condition.of.some(each => this.#holds(each, record))
      case 'anywhere':
        return Object.entries(record).some(([name, value]) => hasText(this.#unembedded(name, value), condition.text))
      case 'leaf':
        return this.#isMet(readPlace(record, condition.place), condition.test)
      default:
        return false
    }
  }

  /** `q` looks at the ID of a link, not at an expanded record. */
  #unembedded(name: string, value: unknown): unknown {
    const { kind, target } = this.#resource.attributes.find(each => each.name === name) ?? {}
    if (kind !== 'toOne' && kind !== 'toMany') return value
    const other = findResource(this.#api, target)
    return Array.isArray(value) ? value.map(each => keyOf(each, other)) : keyOf(value, other)
  }

  #isMet(value: unknown, test: Test): boolean {
    const isNone = value === undefined || value === null
    if (test.kind === 'any') {
      const isAny = test.values.some(text => (isNone ? this.#version === 1 && text === 'null' : showText(value) === text))
      return test.negated ? !isAny && (this.#version === 1 || !isNone) : isAny
    }
    if (isNone) return false
    if (test.kind === 'text')
      return (typeof value === 'string' || !test.isOfTexts) && test.patterns.some(pattern => matchesText(showText(value), pattern))
    const [left, right] = typeof value === 'number' ? [value, Number(test.value)] : [showText(value), test.value]
    if (test.operator === '$lt') return left < right
    if (test.operator === '$lte') return left <= right
    return test.operator === '$gt' ? left > right : left >= right
  }
}

function some(of: readonly ClientCondition[]): ClientCondition {
  return of.length === 1 ? of[0]! : { kind: 'some', of }
}

function some$(of: readonly object[]): object {
  return of.length === 1 ? of[0]! : { $or: of }
}

/** json-server 1 ignores broken JSON. */
function readTree(text: string | undefined): object | undefined {
  if (text === undefined) return undefined
  try {
    const tree: unknown = JSON.parse(text)
    return typeof tree === 'object' && tree !== null ? tree : undefined
  } catch {
    return undefined
  }
}

function isLocal(condition: ClientCondition): boolean {
  switch (condition.kind) {
    case 'all':
    case 'some':
      return condition.of.some(isLocal)
    case 'anywhere':
      return true
    case 'leaf': {
      const { place, test } = condition
      if (place.attribute.kind === 'embedded' || place.attribute.kind === 'toOneOf') return true
      const { type = '' } = place.key ?? place.attribute
      return type === 'json' || type === 'jsonValue' || (test.kind === 'text' && type !== 'text')
    }
    default:
      return false
  }
}

function listHops(condition: ClientCondition): readonly string[] {
  if (condition.kind === 'all' || condition.kind === 'some') return condition.of.flatMap(listHops)
  return condition.kind === 'leaf' && condition.place.hops.length > 0 ? [condition.place.hops.join('.')] : []
}

function readPlace(record: Fields, { hops, attribute, key, keys }: AskedPlace): unknown {
  const isLink = key !== undefined && attribute.ids !== undefined
  let value: unknown = record
  for (const name of [...hops, isLink ? attribute.ids : attribute.name, ...keys]) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Fields)[name]
  }
  return value
}

function showText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function hasText(value: unknown, text: string): boolean {
  if (value === null || value === undefined || value === false || value === 0) return false
  if (typeof value === 'object') return Object.values(value).some(each => hasText(each, text))
  return showText(value).toLowerCase().includes(text)
}

const INTEGER = /^-?\d{1,15}$/
const DECIMAL = /^-?\d{1,40}(?:\.\d{1,40})?$/
const FLOAT = /^-?\d{1,300}(?:\.\d{1,300})?(?:e[+-]?\d{1,2})?$/i

/** Undefined: no value of the type, so no record fits. */
function readText(type: string | undefined, text: string): unknown {
  switch (type) {
    case 'integer':
      return INTEGER.test(text) ? Number(text) : undefined
    case 'float':
      return FLOAT.test(text) ? Number(text) : undefined
    case 'decimal':
      return DECIMAL.test(text) ? text : undefined
    case 'bigint':
      return /^-?\d{1,18}$/.test(text) ? text : undefined
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : undefined
    default:
      return text
  }
}

/** `views_gte=1.5` of integers is `views_gte=2`. */
function readBound(type: string | undefined, operator: string, text: string): unknown {
  if (type === 'boolean') return undefined
  if (type !== 'integer' || INTEGER.test(text)) return readText(type, text)
  if (!FLOAT.test(text)) return undefined
  const bound = operator === '$gte' || operator === '$lt' ? Math.ceil(Number(text)) : Math.floor(Number(text))
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, bound))
}

/** Of `_like`, `contains`, `startsWith` and `endsWith`, for the database (`LIKE`) and for single values. */
interface TextPattern {
  /** In order, with any text between. */
  readonly parts: readonly string[]
  readonly fromStart: boolean
  readonly toEnd: boolean
}

/** Of regular expressions, `_like` knows `^`, `$` and, up to so many parts, `.*`. */
const MOST_PARTS = 8

function readPattern(operator: string, text: string): TextPattern {
  if (operator !== 'like') return { parts: [text], fromStart: operator === 'startsWith', toEnd: operator === 'endsWith' }
  const fromStart = text.startsWith('^')
  const toEnd = text.endsWith('$') && text !== '$'
  const inner = text.slice(fromStart ? 1 : 0, toEnd ? -1 : undefined)
  const parts = inner.split('.*')
  return { parts: parts.length > MOST_PARTS ? [inner] : parts, fromStart, toEnd }
}

function likeOf({ parts, fromStart, toEnd }: TextPattern): string {
  return `${fromStart ? '' : '%'}${parts.map(escapeLike).join('%')}${toEnd ? '' : '%'}`
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}

function matchesText(text: string, { parts, fromStart, toEnd }: TextPattern): boolean {
  const folded = text.toLowerCase()
  const wanted = parts.map(part => part.toLowerCase())
  if (wanted.length === 1 && fromStart && toEnd) return folded === wanted[0]
  const last = toEnd ? wanted.pop()! : ''
  const end = folded.length - last.length
  if (end < 0 || !folded.endsWith(last)) return false
  let from = 0
  for (const [index, part] of wanted.entries()) {
    const found = index === 0 && fromStart ? (folded.startsWith(part) ? 0 : -1) : folded.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return from <= end
}
