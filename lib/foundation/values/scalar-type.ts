/**
 * The types of plain attributes, and conversions between text (path, query), JSON (body), entities and the engine. The engine's values are
 * those of MikroORM's properties, but date-times are milliseconds since 1970, 64-bit integers BigInts, decimals texts. Dialects convert
 * stored values, except for arrays and custom types (see Codec).
 */
import { EndlessDate, TIME, parseDatetime, parseServerTime, isCalendarDate, isServerDate, formatIso } from './iso-time.ts'
import { runtime } from '../runtime/runtime.ts'

/** Kinds of plain values. */
export type ScalarKind =
  | 'integer'
  | 'bigint'
  | 'float'
  | 'decimal'
  | 'text'
  | 'boolean'
  | 'datetime'
  | 'date'
  | 'time'
  | 'uuid'
  | 'json'
  | 'blob'
  /** Plain values in one column. */
  | 'array'
  /** A type of the application. */
  | 'custom'
  /** A plain value of any kind inside a JSON value. */
  | 'jsonValue'
  /** A column of a file without a declared type: text or number. */
  | 'any'

/**
 * Conversions of an array or custom type: the engine holds and compares stored values. Functions return undefined for values of other
 * types.
 */
export interface Codec {
  readonly toJson: (stored: unknown) => unknown
  readonly fromJson: (json: unknown) => ScalarValue | undefined
  readonly fromText: (text: string) => ScalarValue | undefined
  /** Both convert between stored values and entities' properties. */
  readonly toProperty: (stored: unknown) => unknown
  readonly fromProperty: (value: unknown) => ScalarValue | undefined
  /** SQL around a column to read, and around a parameter to compare. */
  readonly selectSql?: (column: string) => string
  readonly compareSql?: (placeholder: string) => string
  /** 64-bit integers, too large for some JavaScript numbers. */
  readonly exact?: boolean
}

/** The type of a plain attribute, by the model: kind, length, items. */
export interface ScalarType {
  readonly kind: ScalarKind
  /** For bigint and decimal: a JSON number, not a string (MikroORM's number mode). */
  readonly asNumber?: boolean
  /** For bigint: a string in entities (MikroORM's string mode). */
  readonly asText?: boolean
  /** For decimal. Undefined: unlimited. */
  readonly precision?: number
  readonly scale?: number
  /** For text: maximum of characters (code points). */
  readonly length?: number
  /** For enums, and arrays of enums. */
  readonly items?: readonly (string | number)[]
  /** For arrays and custom types. */
  readonly codec?: Codec
  /** For custom types: the JSON type of values, if the model says so. */
  readonly json?: 'string' | 'number' | 'boolean'
  /** An unusual type, such as `inet` for a text: a strict database compares in the form of the type. */
  readonly column?: string
  /** From a file: the column may hold any value, shown unchanged. Entities hold stored values. */
  readonly loose?: boolean
  /** For numbers of a file: other programs may have written texts, or integers beyond 2^53. */
  readonly ofFile?: boolean
  /** A key in a file: the column may hold other types, such as `A12` among integers. Never a rowid. */
  readonly strays?: boolean
  /** For loose types: the stored form of a value. */
  readonly toStored?: (value: unknown) => unknown
  /** For dates and date-times: `infinity`, and years beyond ISO 8601. */
  readonly endless?: boolean
  /** For text: by the column's collation, where the engine compares by code point. */
  readonly collated?: boolean
}

export type ScalarValue = string | number | bigint | boolean | Uint8Array | object

export function mayHoldAny({ loose, ofFile }: ScalarType): boolean {
  return loose === true || ofFile === true
}

export function describeScalar(type: ScalarType): string {
  if (type.kind === 'array') return type.items === undefined ? 'an array of plain values' : `an array of ${describeItems(type.items)}`
  if (type.items !== undefined) return `one of ${describeItems(type.items)}`
  switch (type.kind) {
    case 'integer':
      return 'an integer'
    case 'bigint':
      return 'a 64-bit integer'
    case 'float':
      return 'a number'
    case 'decimal':
      return type.scale === undefined || type.precision === undefined
        ? 'a decimal number'
        : `a decimal number with at most ${type.precision - type.scale} digits before and ${type.scale} after the point`
    case 'text':
      return 'a string'
    case 'boolean':
      return 'true or false'
    case 'datetime':
      return 'a date-time (ISO 8601, like 2026-01-31T12:00:00Z)'
    case 'date':
      return 'a date (YYYY-MM-DD)'
    case 'time':
      return 'a time (HH:MM:SS)'
    case 'uuid':
      return 'a UUID'
    case 'json':
      return 'a JSON value'
    case 'blob':
      return 'a base64 string'
    case 'custom':
      return 'a value that the type of the attribute takes'
    case 'jsonValue':
      return 'a plain JSON value'
    case 'any':
      return 'a string or a number'
  }
}

function describeItems(items: readonly (string | number)[]): string {
  return items.map(item => JSON.stringify(item)).join(', ')
}

const INTEGER = /^(?:0|-?[1-9]\d*)$/
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** RFC 4648 section 4, padding required. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

function parseInteger(text: string): number | undefined {
  const value = Number(text)
  // Takes plain decimal digits alone, not `1e3` or `007`.
  return Number.isSafeInteger(value) && String(value) === text ? value : undefined
}

function parseBigint(text: string): bigint | undefined {
  if (text.length > 20 || !INTEGER.test(text)) return undefined
  const value = BigInt(text)
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined
}

/** For columns of files: integers beyond 2^53 are texts in the API. */
function parseLongInteger(text: string, type: ScalarType): bigint | undefined {
  return mayHoldAny(type) && type.items === undefined && parseInteger(text) === undefined ? parseBigint(text) : undefined
}

/** Returns `HH:MM:SS`, with an optional fraction. */
function parseTime(text: string): string | undefined {
  if (!TIME.test(text)) return undefined
  return text.length === 5 ? `${text}:00` : text
}

function parseDecimal(text: string, type: ScalarType): string | undefined {
  if (text.length > 400 || !DECIMAL.test(text)) return undefined
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  if (type.scale !== undefined && fraction.replace(/0+$/, '').length > type.scale) return undefined
  if (type.precision !== undefined && whole.length > Math.max(1, type.precision - (type.scale ?? 0))) return undefined
  return text
}

function parseTimeOf({ endless }: ScalarType, text: string): number | undefined {
  return parseDatetime(text) ?? (endless === true ? parseServerTime(text) : undefined)
}

function isDateOf({ endless }: ScalarType, text: string): boolean {
  return isCalendarDate(text) || (endless === true && isServerDate(text))
}

/** Code points, as databases count. */
export function countCharacters(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      const next = text.charCodeAt(index + 1)
      if (next >= 0xdc00 && next <= 0xdfff) index++
    }
    count++
  }
  return count
}

function keepIfAllowed<T extends string | number>(value: T | undefined, type: ScalarType): T | undefined {
  return value === undefined || type.items === undefined || type.items.includes(value) ? value : undefined
}

/** Does not check the length: a filter by a longer text finds nothing. */
export function parseScalar(text: string, type: ScalarType): ScalarValue | undefined {
  switch (type.kind) {
    case 'integer':
      return keepIfAllowed(parseInteger(text), type) ?? parseLongInteger(text, type)
    case 'bigint':
      return parseBigint(text)
    case 'float': {
      if (!NUMBER.test(text)) return undefined
      const value = Number(text)
      return Number.isFinite(value) ? keepIfAllowed(value, type) : undefined
    }
    case 'decimal':
      // A number with too many digits is valid, and equals no stored decimal.
      return parseDecimal(text, { kind: 'decimal' }) ?? (NUMBER.test(text) && String(Number(text)) === text ? text : undefined)
    case 'text':
      return keepIfAllowed(text, type)
    case 'boolean':
      return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined
    case 'datetime':
      return parseTimeOf(type, text)
    case 'date':
      return isDateOf(type, text) ? text : undefined
    case 'time':
      return parseTime(text)
    case 'uuid':
      return UUID.test(text) ? text.toLowerCase() : undefined
    case 'custom':
      return type.codec!.fromText(text)
    case 'jsonValue':
    case 'any':
      return text
    case 'json':
    case 'blob':
    case 'array':
      return undefined
  }
}

/** The caller checks the length of a text (`countCharacters`). */
export function readScalar(json: unknown, type: ScalarType): ScalarValue | undefined {
  switch (type.kind) {
    case 'integer':
      if (typeof json === 'string') return parseLongInteger(json, type)
      return typeof json === 'number' && Number.isSafeInteger(json) ? keepIfAllowed(Object.is(json, -0) ? 0 : json, type) : undefined
    case 'bigint':
      if (typeof json === 'string') return parseBigint(json)
      return typeof json === 'number' && Number.isSafeInteger(json) ? BigInt(json) : undefined
    case 'float':
      return typeof json === 'number' && Number.isFinite(json) ? keepIfAllowed(json, type) : undefined
    case 'decimal':
      if (typeof json === 'string') return parseDecimal(json, type)
      return typeof json === 'number' && Number.isFinite(json) ? parseDecimal(String(json), type) : undefined
    case 'text':
      return typeof json === 'string' ? keepIfAllowed(json, type) : undefined
    case 'boolean':
      return typeof json === 'boolean' ? json : undefined
    case 'datetime':
      return typeof json === 'string' ? parseTimeOf(type, json) : undefined
    case 'date':
      return typeof json === 'string' && isDateOf(type, json) ? json : undefined
    case 'time':
      return typeof json === 'string' ? parseTime(json) : undefined
    case 'uuid':
      return typeof json === 'string' && UUID.test(json) ? json.toLowerCase() : undefined
    case 'json':
    case 'jsonValue':
      return json as ScalarValue
    case 'array':
    case 'custom':
      return type.codec!.fromJson(json)
    case 'blob':
      return typeof json === 'string' && BASE64.test(json) ? runtime.parseBytes(json, 'base64') : undefined
    case 'any':
      return typeof json === 'string' || (typeof json === 'number' && Number.isFinite(json)) ? keepIfAllowed(json, type) : undefined
  }
}

/** Whether `>=`, `<=`, `>`, `<` and sorting make sense. */
export function isOrdered(type: ScalarType): boolean {
  return type.kind !== 'json' && type.kind !== 'blob' && type.kind !== 'array'
}

/** Whether wildcards and `~=` make sense. */
export function isText(type: ScalarType): boolean {
  return type.kind === 'text' || type.kind === 'jsonValue' || type.kind === 'any'
}

/** An integer beyond 2^53 keeps all digits. */
export function parseNumber(text: string): number | bigint | undefined {
  if (INTEGER.test(text)) return parseInteger(text) ?? parseBigint(text)
  return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined
}

export function formatScalar(value: unknown, type: ScalarType): unknown {
  switch (type.kind) {
    case 'datetime':
      return formatIso(value as number)
    case 'bigint':
      return type.asNumber === true ? Number(value) : String(value)
    case 'array':
    case 'custom':
      return type.codec!.toJson(value)
    default:
      return value
  }
}

/** Engine to entity. */
export function toProperty(value: unknown, type: ScalarType): unknown {
  if (value === null) return null
  if (type.toStored !== undefined) return type.toStored(value)
  switch (type.kind) {
    case 'datetime':
      return Number.isFinite(value) ? new Date(value as number) : new EndlessDate(value as number)
    case 'bigint':
      return type.asNumber === true ? Number(value) : type.asText === true ? (value as bigint).toString() : value
    case 'decimal':
      return type.asNumber === true ? Number(value) : value
    case 'array':
    case 'custom':
      return type.codec!.toProperty(value)
    default:
      return value
  }
}

/** Entity to engine. */
export function fromProperty(value: unknown, type: ScalarType): ScalarValue {
  switch (type.kind) {
    case 'bigint':
      return BigInt(value as string)
    case 'datetime':
      return value instanceof Date ? value.getTime() : (value as ScalarValue)
    case 'decimal':
      return typeof value === 'number' ? String(value) : (value as ScalarValue)
    case 'array':
    case 'custom':
      return type.codec!.fromProperty(value)!
    default:
      return value as ScalarValue
  }
}

/** Texts compare by code unit. */
export function compareOrdered<T extends ScalarValue>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
