/**
 * Parses queries, first a text or object into pairs, then pairs into Parameters. Refuses with query_malformed (bad percent-encoding, NUL,
 * ill-formed Unicode) and parameter_invalid.
 */
import type { QueryConditions, QueryValue } from '../../foundation/base/query-input.ts'
import { restError, parameterError } from '../../foundation/errors/errors.ts'
import { ALTERNATIVES, hasConditions, isPlainObject, writeGroup, escapeItem, textOfExpand } from '../../model/client/query-text.ts'
import { GroupReader, isGroup, type FilterTree } from './filter-groups.ts'
import { suggestObject } from './habits.ts'
import { parseStart, type KeyStart } from './key-start.ts'
import { findAngle, findMarked, findSignAtEnd, isAngle } from './operators.ts'
import { parseFilter, type Pair, type RawFilter } from './raw-filter.ts'
import { ALL_RESERVED, NONE_GIVEN, PARAMETERS, RESERVED, parseReserved } from './reserved-parameters.ts'
import type { GivenParameters, Reserved } from './reserved-parameters.ts'

/** A relation in `expand`, with parameters of its own. */
export interface ExpandedList {
  readonly path: string
  /** The client's name of `expand`. */
  readonly parameter: string
  /** Shows only the number of records. */
  readonly counts: boolean
  readonly parameters: Parameters
}

/** Comparisons, and trees over their positions; all must hold. */
export interface AskedFilters {
  readonly filters: readonly RawFilter[]
  readonly asked: readonly FilterTree[]
}

export interface Parameters extends GivenParameters, AskedFilters {
  readonly pairs: readonly Pair[]
  readonly flags: readonly string[]
  /** Custom parameters. */
  readonly own: readonly Pair[]
  /** Lists of all levels. */
  readonly lists: readonly ExpandedList[]
  /** Attributes by which the record of a POST may exist already. */
  readonly upsert: readonly string[] | undefined
  /** `offset` without a number: pages by keys. */
  readonly start: KeyStart | undefined
}

export const NO_PARAMETERS: Parameters = Object.freeze({
  ...NONE_GIVEN,
  pairs: [],
  filters: [],
  asked: [],
  flags: [],
  own: [],
  lists: [],
  start: undefined,
  upsert: undefined,
})

/** The key ends with the operator (`{ 'age>=': 18 }`); an array means any of its values. */
export function pairsOfObject(query: QueryConditions): Pair[] {
  const pairs: Pair[] = []
  for (const [key, value] of Object.entries(query)) if (value !== undefined) pairs.push(pairOfMember(key, value))
  return pairs
}

function pairOfMember(key: string, value: unknown): Pair {
  if (ALTERNATIVES.test(key)) return pairOfGroup(key, value)
  const operator = findSignAtEnd(key)
  const name = operator === '' ? key : key.slice(0, -operator.length)
  if (hasConditions(key, value)) return pairOfObject(key, value)
  if (isPlainObject(value) || (Array.isArray(value) && value.some(isPlainObject))) return pairOfLists(key, name, operator, value)
  return Array.isArray(value)
    ? pairOfArray(key, name, operator, value as readonly QueryValue[])
    : pairOfItem(key, name, operator, value as QueryValue)
}

function pairOfObject(key: string, value: unknown): Pair {
  const lists = (): Pair => pairOfLists(key, key, '', value)
  if (key === 'expand') return { ...lists(), refuse: undefined, other: { key, make: () => pairOfGroup(key, value) } }
  try {
    return { ...pairOfGroup(key, value), other: { key, make: lists } }
  } catch (error) {
    const refuse = (): never => {
      throw error
    }
    return { ...lists(), refuse }
  }
}

/** The application may have another name for `expand`. */
export function choosePairs(pairs: readonly Pair[], { reserved }: Vocabulary): readonly Pair[] {
  if (pairs.every(({ other }) => other === undefined)) return pairs
  return pairs.map(pair => {
    const { other, isGroup: isConditions = false } = pair
    return other === undefined || isConditions !== (reserved.get(other.key) === 'expand') ? pair : other.make()
  })
}

function pairOfLists(key: string, name: string, operator: Pair['operator'], value: unknown): Pair {
  const refuse = (): void => {
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) if (isPlainObject(item)) checkItem(key, name, item)
  }
  if (operator !== '') refuse()
  const text = textOfExpand(value, { one: (inner, item) => pairOfItem(inner, inner, '', item as QueryValue).value, ...MEMBERS })
  return { ...pairOfItem(key, name, operator, text), refuse }
}

function pairOfGroup(key: string, value: unknown): Pair {
  return asGroup(writeGroup(key, value, MEMBERS))
}

function asGroup(name: string): Pair {
  return { name, operator: '', value: '', bare: true, isGroup: true }
}

function textOfMember(key: string, value: unknown): string {
  const { value: text, items, refuse } = pairOfMember(key, value)
  refuse?.()
  if (items?.length === 0) throw emptyArray(key)
  return text
}

function refuseMember(key: string, why: string, isLimit = false): Error {
  const parameter = key.slice(0, 200)
  return parameterError({ code: isLimit ? 'limit_exceeded' : 'value_invalid', detail: `"${key.slice(0, 100)}" ${why}`, parameter })
}

const MEMBERS = { write: textOfMember, refuse: refuseMember } as const

function pairOfArray(key: string, name: string, operator: Pair['operator'], array: readonly QueryValue[]): Pair {
  const items = array.map(item => pairOfItem(key, name, operator, item).value)
  const value = items.map((text, index) => (array[index] === null ? text : escapeItem(text))).join(',')
  return { name, operator, value, bare: false, items }
}

function pairOfItem(key: string, name: string, operator: Pair['operator'], item: QueryValue): Pair {
  if (typeof item === 'object' || typeof item === 'function' || typeof item === 'symbol') checkItem(key, name, item)
  const value = item === null ? 'null' : String(item)
  if (key.includes('\0') || value.includes('\0')) throw nul()
  if (!key.isWellFormed() || !value.isWellFormed()) throw restError('query_malformed', 'The query is not well-formed Unicode.')
  return { name, operator, value, bare: value === '' && operator === '' }
}

/** Refuses objects: their texts would be `[object Object]`. */
function checkItem(key: string, name: string, item: unknown): void {
  if (item === null || Array.isArray(item)) return
  const isObject = typeof item === 'object'
  // An object with a text of its own, such as a URL, is a value.
  // oxlint-disable-next-line typescript/no-base-to-string -- that is the question
  if (isObject && !(item instanceof Date) && 'toString' in item && !String(item).startsWith('[object ')) return
  const spelling = isObject ? suggestObject(name, item) : undefined
  const what = !isObject ? `a ${typeof item}` : item instanceof Date ? 'a Date' : 'an object'
  throw parameterError({
    code: 'value_invalid',
    detail:
      `"${key}" has ${what} as its value; ` +
      `it must be a string, a number, a boolean or null, or an array of them.${spelling === undefined ? '' : ` ${spelling.detail}`}`,
    parameter: key,
    ...(spelling === undefined ? {} : { suggestion: spelling.suggestion }),
  })
}

function nul(): Error {
  return restError('query_malformed', 'The query contains a NUL character.')
}

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw restError('query_malformed', `The query contains a bad percent-encoding in "${text.slice(0, 100)}".`)
  }
}

export function pairsOfText(query: string): Pair[] {
  const pairs: Pair[] = []
  for (let start = 0, end = 0; end >= 0; start = end + 1) {
    end = query.indexOf('&', start)
    const part = end < 0 ? query.slice(start) : query.slice(start, end)
    if (part === '') continue
    const pair = pairOfText(part, decode)
    if (pair.name.includes('\0') || pair.value.includes('\0')) throw nul()
    pairs.push(pair)
  }
  return pairs
}

export function pairOfText(part: string, decoded: (text: string) => string = text => text): Pair {
  const equals = part.indexOf('=')
  return equals < 0 ? makePair(decoded(part), undefined) : makePair(decoded(part.slice(0, equals)), decoded(part.slice(equals + 1)))
}

function makePair(left: string, right: string | undefined): Pair {
  if (isGroup(left)) return asGroup(right === undefined || right === '' ? left : `${left}=${right}`)
  return makeComparison(left, right)
}

/**
 * Cut at `=`, `age>=18` is `age>` and `18`; `age>18` stays whole; `age%3E%3D=18` is `age>=` and `18`. Behind `>` or `<`, a value with a
 * leading `=` is written `\=`.
 */
function makeComparison(left: string, right: string | undefined): Pair {
  const angle = findAngle(left)
  if (angle >= 0) {
    const name = left.slice(0, angle)
    const sign = left[angle] as '<' | '>'
    const rest = left.slice(angle + 1)
    if (rest === '' && right !== undefined) return { name, operator: `${sign}=`, value: right, bare: false }
    const value = right === undefined ? rest : rest === '=' ? `=${right}` : `${rest}=${right}`
    return value.startsWith('=')
      ? { name, operator: `${sign}=`, value: value.slice(1), bare: false }
      : { name, operator: sign, value, bare: false }
  }
  if (right === undefined) return { name: left, operator: '', value: '', bare: true }
  const named = left.endsWith('=') ? left.slice(0, -1) : left
  const operator = findMarked(named)
  if (operator === undefined) return { name: left, operator: '', value: right, bare: right === '' }
  return { name: named.slice(0, 1 - operator.length), operator, value: right, bare: false }
}

export function textOfPair(pair: Pair): string {
  const encode = (text: string): string => encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%20', '+')
  const name = encode(pair.name)
  if (pair.bare) return name
  if (isAngle(pair.operator)) return `${name}${encode(pair.operator + pair.value)}`
  return `${name}${encode(pair.operator.slice(0, -1))}=${encode(pair.value)}`
}

/** The parameter to blame for a too large request. */
export function findLongest(pairs: readonly Pair[]): string {
  let longest: Pair | undefined
  const length = ({ name, value }: Pair): number => name.length + value.length
  for (const pair of pairs) if (longest === undefined || length(pair) > length(longest)) longest = pair
  return longest === undefined ? '' : longest.name + longest.operator
}

/** Names of parameters other than filters. */
export interface Vocabulary {
  /** By the application's names. */
  readonly reserved: ReadonlyMap<string, Reserved>
  readonly flags: ReadonlySet<string>
  readonly own: ReadonlySet<string>
  /** All names above. */
  readonly names: ReadonlySet<string>
  /** By plural, for custom parameters of resources. */
  readonly of?: ReadonlyMap<string, Vocabulary> | undefined
}

export function vocabularyOf(vocabulary: Vocabulary, plural: string | undefined): Vocabulary {
  return (plural === undefined ? undefined : vocabulary.of?.get(plural)) ?? vocabulary
}

/** @param renamed the application's names; `page` exists only with a name */
export function buildVocabulary(
  renamed: Readonly<Partial<Record<Reserved, string>>>,
  flags: ReadonlySet<string>,
  own: ReadonlySet<string>,
): Vocabulary {
  const known = ALL_RESERVED.filter(name => renamed[name] !== undefined || RESERVED.includes(name))
  const reserved = new Map(known.map(name => [renamed[name] ?? name, name]))
  return { reserved, flags, own, names: new Set([...reserved.keys(), ...flags, ...own]) }
}

/** By parameter: a list, a repeated parameter, or a filter for any of the values. */
function readArrays(pairs: readonly Pair[], { reserved, flags, own }: Vocabulary): readonly Pair[] {
  if (pairs.every(({ items }) => items === undefined)) return pairs
  return pairs.flatMap(({ items, ...pair }): Pair | Pair[] => {
    if (items === undefined) return pair
    const { name, operator } = pair
    const list = operator === '' ? reserved.get(name) : undefined
    if (list !== undefined && PARAMETERS[list].isList === true) return { ...pair, value: items.join(',') }
    if (operator === '' && (list !== undefined || flags.has(name) || own.has(name))) return items.map(value => ({ ...pair, value }))
    if (items.length > 0) return pair
    throw emptyArray(name + operator)
  })
}

function emptyArray(parameter: string) {
  const detail = `"${parameter}" has an array without values, which no record can equal: leave the filter or the request out.`
  return parameterError({ code: 'value_invalid', detail, parameter })
}

export function parseParameters(given: readonly Pair[], vocabulary: Vocabulary): Parameters {
  const pairs = readArrays(given, vocabulary)
  if (pairs.length === 0) return NO_PARAMETERS
  const named: (readonly [name: Reserved, pair: Pair])[] = []
  const filters: RawFilter[] = []
  const asked: FilterTree[] = []
  const flags: string[] = []
  const own: Pair[] = []
  const groups = new GroupReader(text => filters.push(parseFilter(splitComparison(text), true)) - 1)
  for (const pair of pairs) {
    if (pair.isGroup === true) {
      asked.push(groups.read(pair.name))
      continue
    }
    const reserved = pair.operator === '' ? vocabulary.reserved.get(pair.name) : undefined
    if (pair.refuse !== undefined && reserved !== 'expand') pair.refuse()
    if (reserved !== undefined) {
      const index = named.findIndex(([name]) => name === reserved)
      if (index < 0) named.push([reserved, pair])
      else named[index] = [reserved, joinLists(reserved, named[index]![1], pair)]
    } else if (pair.operator === '' && vocabulary.flags.has(pair.name)) {
      if (isFlagSet(pair)) flags.push(pair.name)
    } else if (pair.operator === '' && vocabulary.own.has(pair.name)) {
      own.push(pair)
    } else {
      asked.push(filters.push(parseFilter(pair)) - 1)
    }
  }
  const parameters = { ...NO_PARAMETERS, pairs, filters, asked, flags, own }
  for (const [name, pair] of named) {
    if (name === 'offset') parameters.start = parseStart(pair.value, pair.name)
    if (name !== 'offset' || parameters.start === undefined) parseReserved(name, pair, parameters)
  }
  return parameters
}

function joinLists(reserved: Reserved, first: Pair, { name, value }: Pair): Pair {
  if (PARAMETERS[reserved].isList === true) return { ...first, value: [first.value, value].filter(text => text !== '').join(',') }
  throw parameterError({ code: 'parameter_repeated', detail: `The parameter "${name}" is given twice.`, parameter: name, value })
}

function isFlagSet({ name, value }: Pair): boolean {
  if (value === '' || value === 'true' || value === '1') return true
  if (value === 'false' || value === '0') return false
  throw parameterError({ code: 'value_invalid', detail: `The flag "${name}" takes no value but true or false.`, parameter: name, value })
}

export function findParameterName(vocabulary: Vocabulary, reserved: Reserved): string {
  return [...vocabulary.reserved].find(([, meant]) => meant === reserved)?.[0] ?? reserved
}

/** A group has no text. */
export function listAsked({ filters, asked }: AskedFilters): (readonly [label: string, text: string])[] {
  return asked.map(tree => (typeof tree === 'number' ? [filters[tree]!.label, filters[tree]!.text] : [tree.label, '']))
}

function splitComparison(text: string): Pair {
  const equals = text.indexOf('=')
  return equals < 0 ? makeComparison(text, undefined) : makeComparison(text.slice(0, equals), text.slice(equals + 1))
}
