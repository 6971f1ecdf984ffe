/**
 * The oracle's plain values: from the text of a query, to JSON, and their order. By contract sections 3 and 4.
 */
import { Refused, SOMETHING, type PlainAttribute, type PlainType, type Scalar } from './oracle-model.ts'

/**
 * "`name=Ann` equals, typed by the model, case-sensitive (uuids are not). A value that cannot be of that type: 400. Integers are plain
 * decimals (`01`, `5.0`, `1e3`: 400), booleans `true false 1 0`, date-times ISO 8601 (no zone: UTC; no time: midnight)."
 */
export function parsePlain(attribute: PlainAttribute, text: string): Scalar {
  const { kind, wanted, value } = PARSERS[attribute.type]
  const item = attribute.items?.find(known => String(known) === text)
  const parsed = attribute.codec ? attribute.codec.parse(text) : attribute.items ? (item ?? null) : wanted.test(text) ? value(text) : null
  if (parsed === null) throw new Refused(`not ${kind}: ${text}`)
  return parsed
}

interface Parser {
  readonly kind: string
  readonly wanted: RegExp
  /** The value of a text that looks right, or `null` when there is no such value all the same. */
  readonly value: (text: string) => Scalar
}

const INTEGER = /^(0|-?[1-9]\d*)$/
const NUMBER = /^-?\d+(\.\d+)?$/
const FLOAT = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/
const PARSERS: Readonly<Record<PlainType, Parser>> = {
  text: { kind: 'a text', wanted: /^/, value: text => text },
  integer: { kind: 'an integer', wanted: INTEGER, value: Number },
  bigint: { kind: 'an integer', wanted: INTEGER, value: BigInt },
  double: { kind: 'a number', wanted: FLOAT, value: Number },
  decimal: { kind: 'a decimal', wanted: NUMBER, value: text => text },
  boolean: { kind: 'a boolean', wanted: /^(true|false|1|0)$/, value: text => text === 'true' || text === '1' },
  datetime: { kind: 'a date-time', wanted: /^\d{4}-\d\d-\d\d(T.*)?$/, value: parseDateTime },
  date: { kind: 'a date', wanted: /^\d{4}-\d\d-\d\d$/, value: text => (isDay(text) ? text : null) },
  time: { kind: 'a time', wanted: /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/, value: text => text },
  uuid: { kind: 'a uuid', wanted: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, value: text => text.toLowerCase() },
  enum: { kind: 'an item of the enum', wanted: /^/, value: text => text },
  custom: { kind: 'of the custom type', wanted: /^/, value: text => text },
  // "numbers with a number, and texts with anything else"
  inside: { kind: 'a value', wanted: /^/, value: text => (NUMBER.test(text) ? Number(text) : text) },
}

function parseDateTime(text: string): number | null {
  const parts = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text)
  if (!parts || !isDay(parts[1] ?? '')) return null
  const at = Date.parse(`${parts[1]}T${parts[2] ?? '00:00'}${parts[3] ?? 'Z'}`)
  return Number.isNaN(at) ? null : at
}

/** JavaScript takes 30 February for 1 March. */
function isDay(text: string): boolean {
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

/** "Text compares by code point." JavaScript compares UTF-16 units, which puts U+FFFD after U+10400. */
export function compareText(a: string, b: string): number {
  const left = Array.from(a, char => char.codePointAt(0) ?? 0)
  const right = Array.from(b, char => char.codePointAt(0) ?? 0)
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** "NULLs are the smallest value, on every database." */
export function comparePlain(attribute: PlainAttribute, a: Scalar, b: Scalar): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  // Inside of JSON numbers come before texts; what is an object or array sorts as NULL.
  if (attribute.type === 'inside') {
    if (a === SOMETHING || b === SOMETHING) return Number(a !== SOMETHING) - Number(b !== SOMETHING)
    if (typeof a !== typeof b) return typeof a === 'string' ? 1 : -1
  }
  if (attribute.type === 'decimal') return compareOrdered(digits(String(a)), digits(String(b)))
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  return compareOrdered(a, b)
}

function compareOrdered<T extends Scalar & {}>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A decimal as a whole number of 10^-20: exact, whatever its length. */
function digits(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(20, '0'))
}
