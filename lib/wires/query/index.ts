/** The entry `mikro-rest/wire/query`: what wires of an application's own share: nested names of a query, values of their type, links. */
import type { WireApi, WireRequest, WireResource } from '../../foundation/base/wire.ts'

/** What `readNested` gives: texts, lists of texts, and objects of them. */
export type NestedQuery = { [name: string]: string | string[] | NestedQuery }

/** Further brackets are part of the name, which the engine then refuses. */
const MOST_LEVELS = 20

/**
 * Reads names with brackets: `filters[title][$eq]=x` becomes `{ filters: { title: { $eq: 'x' } } }`, `fields[]=a&fields[]=b`, `fields[0]=a`
 * and a repeated name a list.
 */
export function readNested(pairs: WireRequest['pairs']): NestedQuery {
  const query: NestedQuery = {}
  for (const [name, value] of pairs) {
    const [, first = name, brackets = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? []
    const names = [first, ...(brackets === '' ? [] : brackets.slice(1, -1).split('][', MOST_LEVELS))]
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

/**
 * Gives a text of a query the type of an attribute: `'10'` of an integer is 10. Other texts stay, and the engine refuses what no value of
 * the attribute can be.
 *
 * @param path of attributes: `['author', 'age']`
 */
export function readTyped(api: WireApi, resource: WireResource, path: readonly string[], text: string): unknown {
  let within: WireResource | undefined = resource
  let type: string | undefined
  for (const name of path) {
    const attribute: WireResource['attributes'][number] | undefined = within?.attributes.find(each => each.name === name)
    within = api.resources.find(each => each.name === attribute?.target)
    type = attribute?.type
  }
  // A relation is compared with the key of its records.
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
 * @param operator `eq ne gt gte lt lte`, `in nin` of a list or of a text with commas, `null` of `true` or `false`, `contains starts ends`
 * and, without regard to case, `ieq icontains istarts iends`; the engine refuses others
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
    if (operator === 'null') return { $exists: one !== 'true' }
    return { [`$${operator}`]: operator === 'in' || operator === 'nin' ? list.map(typed) : typed(one) }
  }
  return path.reduceRight<object>((inner, name) => ({ [name]: inner }), made())
}

/** Writes the address of a request with another query: `linkTo(request, { page: 2 })`; `undefined` leaves a name out. */
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
