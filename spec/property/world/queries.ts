/**
 * Random queries for the world model that the contract gives exactly one meaning: filters whose values mostly come from the data (so that
 * they find something), sorts, views. What the contract refuses is drawn apart (`refusedArb`); what it leaves open is not drawn at all.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { encodePair } from '../../helpers/encode-query.ts'
import { idOf, parseName, reach, SOMETHING } from '../../helpers/oracle.ts'
import type {
  FilterPair,
  GroupTree,
  PlainAttribute,
  PlainType,
  RelationAttribute,
  Resource,
  Row,
  Scalar,
  EmbeddedValue,
} from '../../helpers/oracle.ts'
import { text } from './data.ts'
import type { World } from './data.ts'

/** A path of the model, what it ends at, and the values the data has there. */
export interface PathEnd {
  readonly path: string
  /** Relations on the way, the last attribute included. */
  readonly relations: number
  readonly end: PlainAttribute | RelationAttribute
  readonly pool: readonly Exclude<Scalar, null>[]
}

/** Every path from a resource over at most `most` relations. */
export function pathsOf(world: World, resource: Resource, most: number): PathEnd[] {
  const found: PathEnd[] = []
  const known = (values: (Scalar | undefined)[]): Exclude<Scalar, null>[] =>
    values.filter(value => value !== null && value !== undefined).filter(value => value !== SOMETHING)
  const walk = (of: Resource, prefix: string, relations: number): void => {
    const rows: readonly Row[] = world[of.name] ?? []
    for (const [name, attribute] of Object.entries({ ...of.attributes, ...of.below?.() })) {
      const path = prefix + name
      if (attribute.kind === 'plain') {
        found.push({ path, relations, end: attribute, pool: known(rows.map(row => row.values[name] as Scalar)) })
      } else if (attribute.kind === 'embedded') {
        for (const [inner, plain] of Object.entries(attribute.attributes)) {
          const pool = known(rows.map(row => (row.values[name] as EmbeddedValue | null)?.[inner]))
          found.push({ path: `${path}.${inner}`, relations, end: plain, pool })
        }
      } else if (attribute.kind === 'opaque') {
        for (const inner of attribute.paths ?? []) {
          const end: PlainAttribute = { kind: 'plain', type: 'inside', nullable: true }
          const pool = rows.flatMap(row => reach(of, row, [name, ...inner.split('.')]))
          found.push({
            path: `${path}.${inner}`,
            relations,
            end,
            pool: known(pool.map(each => (each.kind === 'plain' ? each.value : null))),
          })
        }
      } else if (relations < most) {
        const target = attribute.target()
        found.push({ path, relations: relations + 1, end: attribute, pool: (world[target.name] ?? []).map(idOf) })
        walk(target, `${path}.`, relations + 1)
      }
    }
  }
  walk(resource, '', 0)
  return found
}

/** Draws a path, short ones more often. */
function pathArb(ends: readonly PathEnd[]): Arbitrary<PathEnd> {
  const byLength = [0, 1, 2, 3, 4].flatMap(relations => {
    const some = ends.filter(end => end.relations === relations)
    return some.length > 0 ? [{ weight: 5 - relations, arbitrary: fc.constantFrom(...some) }] : []
  })
  return fc.oneof(...byLength)
}

/** A text that stands for itself in a filter. */
export function escapeText(value: string): string {
  const escaped = value.replaceAll(/[\\,*]/g, char => `\\${char}`)
  return escaped === 'null' ? '\\null' : escaped
}

/** NUL cannot travel in a query (contract 2), so a text that has one is only found by a wildcard in its place. */
const withoutNul = (value: string): string => value.replaceAll('\0', '')

/** A pattern made of a text: some characters starred, dropped, of the other case, or escaped without need. */
const patternArb = (texts: Arbitrary<string>): Arbitrary<string> =>
  fc.tuple(texts, fc.array(fc.nat(9), { minLength: 8, maxLength: 8 })).map(([value, changes]) => {
    let stars = 0
    const star = (): string => (stars++ < 3 ? '*' : '')
    const parts = Array.from(value).map((char, i) => {
      if (char === '\0') return star()
      const change = changes[i % changes.length]
      if (change === 0) return star()
      if (change === 1) return star() + escapeText(char)
      if (change === 2) return ''
      if (change === 3) return escapeText(otherCase(char))
      if (change === 4) return `\\${char}`
      return escapeText(char)
    })
    const pattern = parts.join('') + (changes[0] === 5 ? star() : '')
    return pattern === 'null' ? '\\null' : pattern
  })

function otherCase(char: string): string {
  const other = char.toLowerCase() === char ? char.toUpperCase() : char.toLowerCase()
  return Array.from(other).length === 1 ? other : char
}

/** Values of types that need nothing else to be known. */
const FRESH: Record<Exclude<PlainType, 'text' | 'custom' | 'inside'>, Arbitrary<Exclude<Scalar, null>>> = {
  integer: fc.integer({ min: -5, max: 130 }),
  bigint: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  double: fc.integer({ min: -20, max: 20 }).map(eighths => eighths / 8 + 0),
  decimal: fc.integer({ min: -500, max: 500 }).map(cents => (cents / 100).toFixed(2)),
  boolean: fc.boolean(),
  datetime: fc.integer({ min: Date.UTC(1950, 0), max: Date.UTC(2050, 0) }),
  date: fc.constantFrom('2024-02-29', '2024-01-01', '1999-12-31'),
  time: fc.constantFrom('00:00:00', '12:30:00', '23:59:59'),
  uuid: fc.uuid(),
  enum: fc.constantFrom('admin', 'user', 'guest'),
}

/** One of the ways to write a value of a type. */
function spell(type: PlainType, value: Exclude<Scalar, null>, way: number): string {
  switch (type) {
    case 'boolean':
      return way % 2 === 0 ? String(value) : String(Number(value))
    case 'decimal':
      return way % 2 === 0 ? String(value) : String(value).replace(/\.?0+$/, '')
    case 'uuid':
      return way % 2 === 0 ? String(value) : String(value).toUpperCase()
    case 'datetime': {
      const at = value as number
      const iso = new Date(at).toISOString()
      if (way % 5 === 1) return iso.slice(0, -1)
      if (way % 5 === 2) return `${new Date(at + 5_400_000).toISOString().slice(0, -1)}+01:30`
      if (way % 5 === 3 && iso.endsWith('T00:00:00.000Z')) return iso.slice(0, 10)
      if (way % 5 === 4 && iso.endsWith('.000Z')) return iso.replace('.000', '')
      return iso
    }
    default:
      return String(value)
  }
}

/** One value of a plain type that is not text, as a filter spells it. */
function plainArb(end: PlainAttribute, pool: readonly Exclude<Scalar, null>[]): Arbitrary<string> {
  if (end.codec)
    return pool.length > 0
      ? fc
          .constantFrom(...pool)
          .map(end.codec.spell)
          .map(escapeText)
      : fc.constant('null')
  if (end.items) return fc.constantFrom(...end.items.map(String))
  const type = end.type as keyof typeof FRESH
  const values = pool.length > 0 ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...pool) }, FRESH[type]) : FRESH[type]
  return fc.tuple(values, fc.nat(9)).map(([value, way]) => spell(type, value, way))
}

function textsArb(pool: readonly Exclude<Scalar, null>[]): Arbitrary<string> {
  return pool.length > 0 ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...pool.map(String)) }, text) : text
}

/** Whether a part of a key is one integer, or a relation to what has one for its key. */
function isIntegral(resource: Resource, name: string): boolean {
  const attribute = resource.attributes[name]
  if (attribute?.kind === 'plain') return attribute.type === 'integer' || attribute.type === 'bigint'
  if (attribute?.kind !== 'one') return false
  const { key } = attribute.target()
  return key.length === 1 && isIntegral(attribute.target(), key[0]!)
}

/** The ID of a record that is there, or could be. */
function idArb(end: RelationAttribute, pool: readonly Exclude<Scalar, null>[]): Arbitrary<string> {
  const target = end.target()
  const [name = ''] = target.key
  const key = target.attributes[name]
  const integral = target.key.length > 1 && target.key.every(part => isIntegral(target, part))
  const absent = integral
    ? fc.constantFrom('999~1', '1~999')
    : key?.kind === 'plain' && key.type === 'uuid'
      ? fc.uuid()
      : target.key.length === 1 && isIntegral(target, name)
        ? fc.constantFrom('999', '1000')
        : key?.kind === 'plain' && key.type === 'text' && target.key.length === 1
          ? fc.constant('nowhere')
          : fc.constant('null')
  const there = pool.map(value => escapeText(String(value)))
  return there.length > 0 ? fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...there) }, absent) : absent
}

const listOf = (item: Arbitrary<string>): Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: item },
    fc.array(item, { minLength: 2, maxLength: 3 }).map(items => items.join(',')),
  )
const orNull = (item: Arbitrary<string>): Arbitrary<string> => fc.oneof({ weight: 6, arbitrary: item }, fc.constant('null'))

/** Booleans, uuids and enums have no order that the contract tells. */
const RANGED: readonly PlainType[] = ['integer', 'bigint', 'double', 'decimal', 'text', 'datetime', 'date', 'time', 'custom']

/** What is inside of JSON: values of any type, and texts with wildcards. */
function insideArb(pool: readonly Exclude<Scalar, null>[]): Arbitrary<FilterPair> {
  const spelt = pool.map(value => escapeText(withoutNul(String(value))))
  const item = spelt.length > 0 ? fc.constantFrom(...spelt) : fc.constantFrom('1', 'a')
  const equal = fc.oneof({ weight: 4, arbitrary: item }, fc.constantFrom('null', '*', 'a*', '1', '2.5', 'true'))
  return fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom('', '!='), listOf(equal)) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom('>=', '<=', '>', '<'), item) },
  )
}

/** Operator and value for what a path ends at. */
function testArb(end: PlainAttribute | RelationAttribute, pool: readonly Exclude<Scalar, null>[]): Arbitrary<FilterPair> {
  const equality = fc.constantFrom('', '', '', '!=')
  if (end.kind !== 'plain') return fc.tuple(equality, listOf(orNull(idArb(end, pool))))
  const range = fc.constantFrom('>=', '<=', '>', '<')
  if (end.type === 'text') {
    const texts = textsArb(pool)
    const item = orNull(fc.oneof(texts.map(withoutNul).map(escapeText), patternArb(texts), fc.constantFrom('*', '')))
    return fc.oneof(
      { weight: 4, arbitrary: fc.tuple(equality, listOf(item)) },
      { weight: 3, arbitrary: fc.tuple(fc.constantFrom('~=', '~~='), listOf(item)) },
      { weight: 1, arbitrary: fc.tuple(range, texts.map(withoutNul).map(escapeText)) },
    )
  }
  if (end.type === 'inside') return insideArb(pool)
  if (end.codec && pool.length === 0) return fc.tuple(equality, fc.constant('null'))
  const item = plainArb(end, pool)
  const equal = fc.tuple(equality, listOf(orNull(item)))
  return RANGED.includes(end.type) ? fc.oneof(equal, fc.tuple(range, item)) : equal
}

/** A filter that the contract defines, as an object query has it: name with its operator, and value. */
export function filterArb(world: World, resource: Resource, relations = 3): Arbitrary<FilterPair> {
  const ends = pathsOf(world, resource, relations)
  const sameKind = (one: PathEnd, other: PathEnd): boolean =>
    one.end.kind === 'plain'
      ? other.end.kind === 'plain' &&
        one.end.type === other.end.type &&
        one.end.codec === other.end.codec &&
        String(one.end.items) === String(other.end.items)
      : other.end.kind !== 'plain' && one.end.target() === other.end.target()
  const named =
    (paths: string) =>
    ([[operator, value], negated]: [FilterPair, boolean]): FilterPair => [`${negated ? '!' : ''}${paths}${operator}`, value]
  const negated = fc.boolean()
  const single = pathArb(ends).chain(({ path, end, pool }) => fc.tuple(testArb(end, pool), negated).map(named(path)))
  // Alternatives of one type: what a value means that only one of the paths can take, the contract does not say.
  const either = fc.tuple(pathArb(ends), fc.nat(), fc.nat()).chain(([first, ...picks]) => {
    const alike = ends.filter(end => sameKind(first, end))
    const chosen = [first, ...picks.map(pick => alike[pick % alike.length] ?? first)]
    const pool = chosen.flatMap(each => each.pool)
    return fc.tuple(testArb(first.end, pool), negated).map(named(chosen.map(each => each.path).join('|')))
  })
  return fc.oneof({ weight: 5, arbitrary: single }, { weight: 1, arbitrary: either })
}

/** A group of filters, or conditions on one and the same related record. `levels` of groups are within it. */
export function groupArb(world: World, resource: Resource, { levels = 2, relations = 4 } = {}): Arbitrary<GroupTree> {
  const plain = filterArb(world, resource, Math.min(relations, 2))
    .filter(([name]) => !name.includes('|'))
    .map(([name, value]): GroupTree => ({ kind: 'filter', name, value }))
  const inner =
    levels === 0 ? plain : fc.oneof({ weight: 3, arbitrary: plain }, groupArb(world, resource, { levels: levels - 1, relations }))
  const together = fc.array(inner, { minLength: 1, maxLength: 3 })
  const any = fc
    .tuple(fc.array(together, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([of, negated]): GroupTree => ({ kind: 'any', of, negated }))
  const ends = pathsOf(world, resource, Math.min(relations, 2)).filter(({ end }) => end.kind !== 'plain')
  if (ends.length === 0 || relations < 2) return any
  const related = fc.constantFrom(...ends).chain(({ path, end, relations: walked }) => {
    const target = (end as RelationAttribute).target()
    const beyond = { levels: Math.max(0, levels - 1), relations: relations - walked }
    const conditions = fc.oneof(groupArb(world, target, beyond), filterArb(world, target, 1).map(asTree))
    return fc
      .tuple(fc.array(conditions, { minLength: 1, maxLength: 3 }), fc.boolean())
      .map(([of, negated]): GroupTree => ({ kind: 'related', path, negated, of }))
  })
  return fc.oneof(any, related)
}

/** Several paths of one filter are alternatives in a group. */
function asTree([name, value]: FilterPair): GroupTree {
  const { negated, paths, operator } = parseName(name)
  if (!name.includes('|')) return { kind: 'filter', name, value }
  const key = operator === '=' ? '' : operator
  return { kind: 'any', negated, of: paths.map(path => [{ kind: 'filter', name: path.join('.') + key, value }]) }
}

/** A filter on a known path that the contract answers with 400: the value cannot be of the type, or the operator does not fit. */
export function refusedArb(world: World, resource: Resource): Arbitrary<FilterPair> {
  const WRONG: Record<PlainType, readonly string[]> = {
    integer: ['', 'abc', '01', '5.0', '1e3', '+1', ' 1', '0x10', '1*', '*', '--1', '1 ', 'true'],
    bigint: ['', 'abc', '01', '5.0', '1e3', '1n', '*'],
    double: ['', 'abc', '1,x', '*', 'NaN', 'Infinity'],
    decimal: ['', 'abc', '1.2.3', '*', 'NaN'],
    boolean: ['', 'yes', 'TRUE', '2', '*', 't'],
    datetime: ['', 'yesterday', '2024-13-01', '2024-02-30', '*', '2024-01-01T25:00:00Z', '2024-01-01T00:00:00+99:00'],
    date: ['', 'yesterday', '2024-13-01', '2024-02-30', '*', '20240101'],
    time: ['', 'noon', '24:00:01', '12:60:00', '*'],
    uuid: ['', 'abc', '*', '00000000-0000-0000-0000-00000000000'],
    enum: ['', 'boss', 'ADMIN'],
    text: ['a\\', '\\', 'a,b\\'],
    custom: ['\\'],
    inside: ['\\'],
  }
  return pathArb(pathsOf(world, resource, 2)).chain(({ path, end }) => {
    if (end.kind !== 'plain') {
      return fc.constantFrom<FilterPair>([path + '~=', '1'], [path, 'a\\'], [`${path}.nope`, '1'], [`${path}.`, '1'])
    }
    const wrong = fc.constantFrom(...WRONG[end.type]).map((value): FilterPair => [path, value])
    const ranges = fc
      .tuple(fc.constantFrom('>=', '<=', '>', '<'), fc.constantFrom('null', 'a,b', '1,2', 'a*'))
      .map(([operator, value]): FilterPair => [path + operator, value])
    const beyond = fc.constant<FilterPair>([`${path}.nope`, '1'])
    const folded = fc.constantFrom<FilterPair>([`${path}~=`, '1'])
    // Whether an enum of strings is text here the contract does not say.
    return ['text', 'enum'].includes(end.type) ? fc.oneof(wrong, ranges, beyond) : fc.oneof(wrong, ranges, beyond, folded)
  })
}

/** A `sort` of one to three different paths. */
export function sortArb(world: World, resource: Resource, relations = 2): Arbitrary<string> {
  const key = fc.tuple(pathArb(pathsOf(world, resource, relations)), fc.constantFrom('', '.asc', '.desc'))
  return fc
    .uniqueArray(key, { selector: ([end]) => end.path, minLength: 1, maxLength: 3 })
    .map(keys => keys.map(([end, direction]) => end.path + direction).join(','))
}

/** Values of `expand`: relation paths. */
export function expandArb(world: World, resource: Resource, relations = 3): Arbitrary<string[]> {
  const relationPaths = pathsOf(world, resource, relations).filter(end => end.end.kind !== 'plain')
  return fc.uniqueArray(
    pathArb(relationPaths).map(end => end.path),
    { maxLength: 3 },
  )
}

/** Values of `attributes`: paths of anything, some with `!`. */
export function attributesArb(world: World, resource: Resource, relations = 2): Arbitrary<string[]> {
  // Inside of a JSON value nothing is selected.
  const selectable = pathsOf(world, resource, relations).filter(({ end }) => end.kind !== 'plain' || end.type !== 'inside')
  const name = fc.tuple(fc.constantFrom('', '', '!'), pathArb(selectable)).map(([not, end]) => not + end.path)
  return fc.uniqueArray(name, { maxLength: 5 })
}

/** The ways a caller may write one query. */
export type Form = 'object' | 'string' | 'params' | 'path'
export const formArb: Arbitrary<Form> = fc.constantFrom('object', 'string', 'params', 'path')

/** Path and query of a request whose parameters are `pairs`, written in one of the forms. */
export function written(path: string, pairs: readonly FilterPair[], form: Form): { path: string; query: never } {
  const ranges = pairs.filter(([name]) => /[<>]$/.test(name))
  // `age>18` has no `=` of its own, which URLSearchParams cannot say; and a value that begins with `=` would read as `>=` in a string.
  const plainForm = form === 'params' && ranges.length > 0 ? 'string' : form
  // A name that comes twice means both: only text can say that, since an array in an object is any of its values.
  const repeats = new Set(pairs.map(([name]) => name)).size < pairs.length
  const usedForm =
    ranges.some(([, value]) => value.startsWith('=')) && !repeats ? 'object' : repeats && plainForm === 'object' ? 'string' : plainForm
  const text = (): string =>
    pairs.map(([name, value]) => encodePair(name, /[<>]$/.test(name) && value.startsWith('=') ? `\\${value}` : value)).join('&')
  if (usedForm === 'path') return { path: `${path}?${text()}`, query: undefined as never }
  if (usedForm === 'string') return { path, query: text() as never }
  if (usedForm === 'params')
    return { path, query: new URLSearchParams(pairs.map(([name, value]): [string, string] => [name.replace(/=$/, ''), value])) as never }
  return { path, query: Object.fromEntries(pairs) as never }
}
