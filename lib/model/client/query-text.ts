/**
 * Writes the query object of a client call for a URL: `{ 'age>=': 18, sort: 'name' }` becomes `age>=18&sort=name`. Refuses empty lists: no
 * filter means them.
 */
import type { FreeParameters } from './query-names.ts'

export type QueryRecord = Readonly<Record<string, unknown>>

/** Operators without `=`: `age>18`. */
const ANGLE = /[<>]$/

/**
 * Escapes a text, so that a filter takes `*`, `,`, `\` and `null` literally. In arrays only `*` has a meaning.
 *
 * @example await api.users.list({ name: literal('Smith, *') })
 */
export function literal(text: string): string {
  return text === 'null' ? String.raw`\null` : text.replaceAll(/[\\,*]/g, String.raw`\$&`)
}

export function writeQuery(query: QueryRecord | undefined, more: QueryRecord = {}): string {
  const { $: free, ...typed } = (query ?? {}) as QueryRecord & { readonly $?: FreeParameters }
  const given: Record<string, readonly string[]> = {}
  for (const [name, value] of Object.entries({ ...typed, ...more })) {
    if (value !== undefined)
      given[name] = [areConditions(name, value) ? writeConditions(name, value) : writePair(name, textOfTyped(name, value))]
  }
  for (const [name, value] of Object.entries(free ?? {})) {
    if (value === undefined) continue
    given[name] = areConditions(name, value)
      ? [writeConditions(name, value)]
      : (Array.isArray(value) ? (value as readonly unknown[]) : [value]).map(item => writePair(name, textOfValue(name, item)))
  }
  return Object.values(given).flat().join('&')
}

function areConditions(name: string, value: unknown): boolean {
  return name !== 'expand' && hasConditions(name, value)
}

const CONDITIONS: GroupWriter = { write: textOfTyped, refuse: (name, why) => new TypeError(`client: "${name}" ${why}`) }

function writeConditions(name: string, value: unknown): string {
  return encodeURIComponent(writeGroup(name, value, CONDITIONS))
}

/** An array: any of the values; in `sort`, `expand` and `attributes`, a list. */
function textOfTyped(name: string, value: unknown): string {
  if (name === 'expand') return textOfExpand(value, { one: textOfValue, ...CONDITIONS })
  if (!Array.isArray(value)) return textOfValue(name, value)
  const isList = isListName(name)
  if (value.length === 0 && !isList)
    throw new TypeError(`client: "${name}" has an array without values, which no record can equal: leave the filter or the request out.`)
  return value.map(item => (isList || item === null ? textOfValue(name, item) : escapeItem(textOfValue(name, item)))).join(',')
}

function isListName(name: string): boolean {
  return name === 'sort' || name === 'attributes'
}

/** `{ posts: { limit: 3 } }` becomes `posts(limit=3)`. */
export function textOfExpand(value: unknown, writer: ListWriter): string {
  const { one } = writer
  if (Array.isArray(value)) return value.map(item => textOfExpand(item, writer)).join(',')
  if (!isPlainObject(value)) return one('expand', value)
  const listed = Object.entries(value).map(([path, given]): string | undefined => {
    if (given === undefined) return undefined
    if (!isPlainObject(given)) return given === true ? path : `${path}(${one(path, given)})`
    const items = Object.entries(given).flatMap(([name, inner]) => (inner === undefined ? [] : [textOfParameter(name, inner, writer)]))
    return items.length === 0 ? path : `${path}(${items.join(';')})`
  })
  return listed.filter(text => text !== undefined).join(',')
}

/** `one` writes a plain value, or refuses. */
interface ListWriter extends GroupWriter {
  readonly one: (name: string, value: unknown) => string
}

/** `count: true` is `count`. A backslash keeps `;`, `(` and `)` in the value. */
function textOfParameter(name: string, value: unknown, writer: ListWriter): string {
  const { one } = writer
  if (name === 'count' && value === true) return name
  if (name === 'expand') return `${name}=${textOfExpand(value, writer)}`
  if (hasConditions(name, value)) return writeGroup(name, value, writer)
  const escape = (item: unknown): string => (isListName(name) || item === null ? one(name, item) : escapeItem(one(name, item)))
  const text = Array.isArray(value) ? value.map(escape).join(',') : one(name, value)
  const kept = text.replaceAll(/\\[^]|[;()]/g, found => (found.length > 1 ? found : `\\${found}`))
  if (ANGLE.test(name)) return `${name}${kept.startsWith('=') ? '\\' : ''}${kept}`
  return name.endsWith('=') ? name + kept : `${name}=${kept}`
}

/** Escapes all but `*`. */
export function escapeItem(text: string): string {
  return text === 'null' ? String.raw`\null` : text.replaceAll(/\\(?!\*)|,/g, String.raw`\$&`)
}

function textOfValue(name: string, value: unknown): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  if (value === null || ['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value)
  const what = value instanceof Date ? 'an invalid date' : Array.isArray(value) ? 'an array in an array' : `a value of type ${typeof value}`
  throw new TypeError(`client: "${name}" has ${what}; it may be a string, number, bigint, boolean, date or null, or an array of them.`)
}

/** `age>18` has no `=`: escapes a leading `=` of the value. */
function writePair(name: string, value: string): string {
  if (!ANGLE.test(name)) return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  return encodeURIComponent(name + (value.startsWith('=') ? `\\${value}` : value))
}

interface GroupWriter {
  readonly write: (name: string, value: unknown) => string
  readonly refuse: (name: string, why: string, isLimit?: boolean) => Error
}

export const ALTERNATIVES = /^!*\|$/

/** More levels than the engine takes. */
const MOST_LEVELS = 40

export function hasConditions(name: string, value: unknown): boolean {
  return ALTERNATIVES.test(name) || (isPlainObject(value) && Object.keys(value).length > 0)
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

export function writeGroup(name: string, value: unknown, writer: GroupWriter, level = 1): string {
  if (level > MOST_LEVELS) throw writer.refuse(name, `is deeper than ${MOST_LEVELS} levels.`, true)
  if (!ALTERNATIVES.test(name)) return `${escapeName(name, writer)}(${writeAll(name, value, writer, level)})`
  if (!Array.isArray(value) || value.length === 0)
    throw writer.refuse(name, `takes an array of query objects, any of which holds: { "${name}": [{ ... }, { ... }] }.`)
  const alternatives = value.map((each: unknown) => writeAll(name, each, writer, level))
  return `${name.slice(0, -1)}(${alternatives.join('|')})`
}

function writeAll(name: string, conditions: unknown, writer: GroupWriter, level: number): string {
  if (!isPlainObject(conditions)) throw writer.refuse(name, 'takes query objects: names with operators, and their values.')
  const parts = Object.entries(conditions).filter(([, value]) => value !== undefined)
  if (parts.length === 0) throw writer.refuse(name, 'has a query object without conditions.')
  return parts.map(([key, value]) => writePart(key, value, writer, level)).join(';')
}

function writePart(name: string, value: unknown, writer: GroupWriter, level: number): string {
  if (hasConditions(name, value)) return writeGroup(name, value, writer, level + 1)
  const text = writer.write(name, value)
  if (/(?<!\\)(?:\\\\)*\\$/.test(text))
    throw writer.refuse(name, 'has a value that ends with a lone backslash; write two for a literal one.')
  const path = escapeName(name, writer)
  if (!/[=<>]$/.test(name)) return `${path}=${escapeMarks(text)}`
  // Behind `>`, "=" would belong to the operator.
  return `${path}${/[<>]$/.test(name) && text.startsWith('=') ? '\\' : ''}${escapeMarks(text)}`
}

function escapeName(name: string, { refuse }: GroupWriter): string {
  if (/(?<!\\)\|/.test(name))
    throw refuse(name, 'names several paths, which are several conditions in a group: { "|": [{ ... }, { ... }] }.')
  return escapeMarks(name)
}

/** In groups, `|`, `;`, `(` and `)` have a meaning. */
function escapeMarks(text: string): string {
  return text.replaceAll(/\\.|[|;()]/gs, found => (found.length > 1 ? found : `\\${found}`))
}
