/**
 * The oracle's plain values: from the text of a query, to JSON, and their order. By contract sections 3 and 4.
 */
import { Refused, type PlainAttribute, type PlainType, type Scalar } from './oracle-model.ts'

/**
 * "`name=Ann` equals, typed by the model, case-sensitive (uuids are not). A value that cannot be of that type: 400. Integers are plain
 * decimals (`01`, `5.0`, `1e3`: 400), booleans `true false 1 0`, date-times ISO 8601 (no zone: UTC; no time: midnight)."
 */
export function parsePlain(attribute: PlainAttribute, text: string): Scalar {
  const { kind, wanted, value } = PARSERS[attribute.type]
  const fits = attribute.type === 'enum' ? attribute.items?.includes(text) : wanted.test(text)
  const parsed = fits ? value(text) : null
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
const PARSERS: Readonly<Record<PlainType, Parser>> = {
  text: { kind: 'a text', wanted: /^/, value: text => text },
  integer: { kind: 'an integer', wanted: INTEGER, value: Number },
  bigint: { kind: 'an integer', wanted: INTEGER, value: BigInt },
  double: { kind: 'a number', wanted: NUMBER, value: Number },
  decimal: { kind: 'a decimal', wanted: NUMBER, value: text => text },
  boolean: { kind: 'a boolean', wanted: /^(true|false|1|0)$/, value: text => text === 'true' || text === '1' },
  datetime: { kind: 'a date-time', wanted: /^\d{4}-\d\d-\d\d(T.*)?$/, value: parseDateTime },
  date: { kind: 'a date', wanted: /^\d{4}-\d\d-\d\d$/, value: text => (isDay(text) ? text : null) },
  time: { kind: 'a time', wanted: /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/, value: text => text },
  uuid: { kind: 'a uuid', wanted: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, value: text => text.toLowerCase() },
  enum: { kind: 'an item of the enum', wanted: /^/, value: text => text },
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

/**
 * "Date-times are ISO 8601 in UTC with milliseconds and `Z`, dates `YYYY-MM-DD`, times `HH:MM:SS`; a property has one JSON type: bigints
 * and decimals are strings (numbers in MikroORM's number mode), decimals with their scale; [...] an SQL NULL is `null`, never absent."
 */
export function toJson(attribute: PlainAttribute, value: Scalar): string | number | boolean | null {
  if (value === null) return null
  if (typeof value === 'bigint') return value.toString()
  if (attribute.type === 'datetime') return new Date(value as number).toISOString()
  return value
}
