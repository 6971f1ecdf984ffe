/** The entry `mikro-rest/wire/query`, for wires of applications: reads queries, values, pages; writes records, links. */
import type { WireApi, WireRequest, WireResource } from '../../foundation/base/wire.ts'

/** The result of `readNested`. */
export type NestedQuery = { [name: string]: string | string[] | NestedQuery }

/** More than the engine's limit: the engine refuses deeper conditions before reading the last name. */
const MOST_LEVELS = 100
/**
 * Reads names with brackets: `filters[title][$eq]=x` becomes `{ filters: { title: { $eq: 'x' } } }`. `fields[]=a&fields[]=b`, `fields[0]=a`
 * and a repeated name become lists. Brackets behind the hundredth are one name.
 */
export function readNested(pairs: WireRequest['pairs']): NestedQuery {
  const query: NestedQuery = {}
  for (const [name, value] of pairs) {
    const [, first = name, brackets = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? []
    const names = [first, ...(brackets === '' ? [] : brackets.slice(1, -1).split(']['))]
    if (names.length > MOST_LEVELS) names.splice(MOST_LEVELS, Infinity, `[${names.slice(MOST_LEVELS).join('][')}]`)
    const last = /^\d*$/.test(names.at(-1)!) && names.length > 1 ? '' : names.pop()!
    if (last === '') names.pop()
    const key = last === '' ? names.pop()! : last
    let at = query
    for (const each of names) {
      const inner = Object.hasOwn(at, each) ? at[each] : undefined
      at = typeof inner === 'object' && !Array.isArray(inner) ? inner : setNested(at, each, {})
    }
    const known = Object.hasOwn(at, key) ? at[key] : undefined
    if (typeof known === 'string') setNested(at, key, [known, value])
    else if (Array.isArray(known)) known.push(value)
    else setNested(at, key, last === '' ? [value] : value)
  }
  return query
}

/** `__proto__` is a name like others. */
function setNested<Value extends NestedQuery[string]>(at: NestedQuery, name: string, value: Value): Value {
  Object.defineProperty(at, name, { value, enumerable: true, writable: true, configurable: true })
  return value
}

/** Converts a query's text to the type of the attribute at a path, such as `['author', 'age']`: `'10'` becomes 10. Other texts stay. */
export function readTyped(api: WireApi, resource: WireResource, path: readonly string[], text: string): unknown {
  let within: WireResource | undefined = resource
  let type: string | undefined
  for (const name of path) {
    const attribute: WireResource['attributes'][number] | undefined = within?.attributes.find(each => each.name === name)
    within = api.resources.find(each => each.name === attribute?.target)
    type = attribute?.type
  }
  // A relation compares by its records' key.
  type ??= within?.attributes.find(({ name }) => name === within.key[0])?.type
  if (text === 'true' || text === 'false') return type === 'boolean' ? text === 'true' : text
  const isNumber = (type === 'integer' || type === 'float') && text.trim() !== '' && Number.isFinite(Number(text))
  return isNumber ? Number(text) : text
}

const TEXTS: Readonly<Record<string, readonly [sign: string, before: string, after: string]>> = {
  contains: ['$like', '%', '%'],
  icontains: ['$ilike', '%', '%'],
  starts: ['$like', '', '%'],
  istarts: ['$ilike', '', '%'],
  ends: ['$like', '%', ''],
  iends: ['$ilike', '%', ''],
  ieq: ['$ilike', '', ''],
}

/**
 * Makes a condition for `where` of an operator and a text: `compare(api, posts, ['author', 'age'], 'gte', '18')`.
 *
 * @param operator `eq ne gt gte lt lte`, `in nin` of a list or of a text with commas, `null exists` of `true` or `false`, `contains starts
 * ends` and, without regard to case, `ieq icontains istarts iends`; the engine refuses others
 */
export function compare(
  api: WireApi,
  resource: WireResource,
  path: readonly string[],
  operator: string,
  text: string | readonly string[],
): object {
  const typed = (each: string): unknown => readTyped(api, resource, path, each)
  const [sign, before, after] = (Object.hasOwn(TEXTS, operator) ? TEXTS[operator] : undefined) ?? []
  const list = typeof text === 'string' ? text.split(',') : text
  const one = typeof text === 'string' ? text : text.join(',')
  const made = (): object => {
    if (sign !== undefined) return { [sign]: `${before}${one.replaceAll(/[\\%_]/g, String.raw`\$&`)}${after}` }
    if (operator === 'null' || operator === 'exists') return { $exists: (one === 'true') === (operator === 'exists') }
    return { [`$${operator}`]: operator === 'in' || operator === 'nin' ? list.map(typed) : typed(one) }
  }
  return nest(path, made())
}

const nest = (path: readonly string[], condition: object): object => path.reduceRight((inner, name) => ({ [name]: inner }), condition)

/**
 * Makes a condition of nested names, as from `readNested` or JSON: `{ author: { age: { $gte: '18' } }, $or: [...] }`.
 *
 * @param operatorOf the operator of `compare` for a name, if any: `$gte` is `gte`; the empty name is of a plain value
 */
export function readConditions(
  api: WireApi,
  resource: WireResource,
  tree: unknown,
  operatorOf: (name: string) => string | undefined,
  path: readonly string[] = [],
): object {
  const read = (from: unknown, at: readonly string[], level: number): object => {
    // The engine refuses both.
    if (typeof from !== 'object' || from === null || level > MOST_LEVELS) return { $and: [from] }
    const within = (each: unknown, to = at): object => read(each, to, level + 1)
    const all = Object.entries(from).map(([name, given]: [string, object | string | number | boolean | null]): object => {
      if (name === '$and' || name === '$or')
        return { [name]: typeof given === 'object' ? Object.values(given ?? {}).map(each => within(each)) : given }
      if (name === '$not') return { $not: within(given) }
      const operator = operatorOf(name)
      const to = operator === undefined ? [...at, ...name.split('.')] : at
      if (given === null) return compare(api, resource, to, 'null', 'true')
      if (Array.isArray(given) && given.some(each => typeof each === 'object')) return nest(to, { [`$${operator ?? 'in'}`]: given })
      if (Array.isArray(given)) return compare(api, resource, to, operator ?? 'in', given.map(String))
      if (typeof given === 'object') return within(given, to)
      return compare(api, resource, to, operator ?? operatorOf('') ?? 'eq', String(given))
    })
    return { $and: all }
  }
  return read(tree ?? {}, path, 0)
}

/** Lists the texts of a query value, without empty texts: `'a,b'` and `['a', 'b']` become `['a', 'b']`. */
export function readList(value: NestedQuery[string] | undefined): string[] {
  return (Array.isArray(value) ? value : [value])
    .flatMap(each => (typeof each === 'string' ? each.split(',') : []))
    .filter(each => each !== '')
}

/** Makes keys for `sort`: `-views`, `views:desc` and `views,DESC` become `views.desc`. */
export function readSort(keys: readonly string[]): string[] {
  return keys.map(key => key.replace(/^-(.*)/, '$1.desc').replace(/[:,](asc|desc)$/i, (_, way: string) => `.${way.toLowerCase()}`))
}

/** A page by number; `limit` and `offset` for `api.list`. */
export interface AskedPage {
  readonly number: number
  readonly first: number
  readonly limit: number
  readonly offset: number
  /** At least 1. */
  countPages(count: number): number
}

/**
 * Reads a page by the texts of a query: `readPage(page['number'], page['size'], { size: 20 })`.
 *
 * @param standard the size, unless the query has one, and the number of the first page. Default: 1
 */
export function readPage(
  number: unknown,
  size: unknown,
  { size: most, first = 1 }: { readonly size: number; readonly first?: number },
): AskedPage {
  const [at, limit] = [Number(number ?? first), Number(size ?? most)]
  return { number: at, first, limit, offset: (at - first) * limit, countPages: count => Math.max(1, Math.ceil(count / limit)) }
}

/**
 * Writes the addresses of the page and its neighbours; the first page has no `prev`, the last no `next`.
 *
 * @param count of the records of all pages
 * @param queryOf what the address of a page has: `number => ({ page: number })`
 */
export function linkPages(
  request: WireRequest,
  { number, first, countPages }: Pick<AskedPage, 'number' | 'first' | 'countPages'>,
  count: number,
  queryOf: (number: number) => Parameters<typeof linkTo>[1],
): Readonly<Partial<Record<'self' | 'first' | 'prev' | 'next' | 'last', string>>> {
  const last = first + countPages(count) - 1
  const others = Object.entries({ first, prev: number - 1, next: number + 1, last }).filter(([, each]) => each >= first && each <= last)
  return { self: linkTo(request, {}), ...Object.fromEntries(others.map(([name, each]) => [name, linkTo(request, queryOf(each))])) }
}

/** A relation of a record. */
export interface RelatedRecords {
  readonly name: string
  readonly target: WireResource
  readonly isList: boolean
  /** Expanded members with `record`. None for an empty relation. */
  readonly members: readonly { readonly id: unknown; readonly record: Readonly<Record<string, unknown>> | undefined }[]
}

/** Splits a record into ID, plain values and relations. */
export function splitRecord(api: WireApi, { key, attributes }: WireResource, record: Readonly<Record<string, unknown>>) {
  const values: Record<string, unknown> = {}
  const related: RelatedRecords[] = []
  for (const { name, target: named } of attributes) {
    const value = record[name]
    if (value === undefined || key.includes(name)) continue
    const target = api.resources.find(each => each.name === named)
    if (target === undefined) {
      values[name] = value
      continue
    }
    const all = (Array.isArray(value) ? value : [value]) as readonly unknown[]
    const members = all
      .filter(each => each !== null)
      .map(each => {
        const whole = typeof each === 'object' ? (each as RelatedRecords['members'][number]['record']) : undefined
        return { id: whole === undefined ? each : whole[target.key[0]!], record: whole }
      })
    related.push({ name, target, isList: Array.isArray(value), members })
  }
  return { id: record[key[0]!], values, related }
}

/** Writes the request's address with another query: `linkTo(request, { page: 2 })`; `undefined` leaves a name out. */
export function linkTo(
  { headers, base, path, pairs }: WireRequest,
  changes: Readonly<Record<string, string | number | undefined>>,
): string {
  const kept = pairs.filter(([name]) => !Object.hasOwn(changes, name))
  const changed = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  const query = new URLSearchParams([...kept, ...changed] as [string, string][]).toString()
  const { host, 'x-forwarded-proto': scheme } = headers
  const origin = host === undefined ? '' : `${scheme === 'https' ? 'https' : 'http'}://${host}`
  return `${origin}${base}${path}${query === '' ? '' : `?${query}`}`
}
