/**
 * The scalar types of attributes, and the conversion of their values between text (path, query), JSON (body), entities and the engine.
 * The engine holds a value as MikroORM's property does, except that a date-time is milliseconds since 1970. How a database stores values
 * is the dialect's business, except for arrays and custom types (see Codec).
 */
import { TIME, parseDatetime, isCalendarDate, formatIso } from './iso-time.ts'

/** The kinds of scalar values an attribute can have. */
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
  /** A list of plain values in one column. */
  | 'array'
  /** A type of the application. */
  | 'custom'
  /** A plain value of any kind inside a JSON value. */
  | 'jsonValue'
  /** A column of a file without a declared type: text or number. */
  | 'any'

/**
 * Converts the values of a type that only the application's code knows. The engine holds them as the database stores them, because that
 * form is compared. Each function returns undefined for a value that is not of the type.
 */
export interface Codec {
  /** The JSON form of a stored value. */
  readonly toJson: (stored: unknown) => unknown
  /** The stored value of a JSON value, or of the text of a filter. */
  readonly fromJson: (json: unknown) => ScalarValue | undefined
  readonly fromText: (text: string) => ScalarValue | undefined
  /** Convert between the stored value and the property of an entity. */
  readonly toProperty: (stored: unknown) => unknown
  readonly fromProperty: (value: unknown) => ScalarValue | undefined
  /** Wrap the column where it is read, and a parameter that it is compared with, in SQL. */
  readonly selectSql?: (column: string) => string
  readonly compareSql?: (placeholder: string) => string
  /** Whether stored values are 64-bit integers, which a JavaScript number may not hold exactly. */
  readonly exact?: boolean
}

/** The type of a scalar attribute, as the model declares it. */
export interface ScalarType {
  readonly kind: ScalarKind
  /** For bigint and decimal: rendered as a JSON number instead of a string (MikroORM's number mode). */
  readonly asNumber?: boolean
  /** For bigint: the entity holds it as a string (MikroORM's string mode). */
  readonly asText?: boolean
  /** For decimal: total digits, and digits after the point. Unset means unconstrained. */
  readonly precision?: number
  readonly scale?: number
  /** For text: longest allowed length, in characters (code points). */
  readonly length?: number
  /** For enums, and arrays of them: the allowed values. */
  readonly items?: readonly (string | number)[]
  /** For arrays and custom types. */
  readonly codec?: Codec
  /** For custom types: the JSON type of their values, where the model says it. */
  readonly json?: 'string' | 'number' | 'boolean'
  /**
   * The type of the column, where that is not the usual one of the kind (`inet` for a text): a database with strict types compares it in a
   * form of its own.
   */
  readonly column?: string
  /**
   * Whether the type was read from a file, which may hold any value. Values of another type are shown as they are; entities hold stored
   * values.
   */
  readonly loose?: boolean
  /** For numbers: whether other programs may write the column, which may hold integers beyond 2^53 and texts then. */
  readonly ofFile?: boolean
  /** For keys of a file: whether a row may have a value of another type, as `A12` in a column of integers. A rowid cannot. */
  readonly strays?: boolean
  /** For loose types: returns the stored form of a value, which entities hold. */
  readonly toStored?: (value: unknown) => unknown
  /** For text: whether the column compares by its own collation, where the engine compares by code point. */
  readonly collated?: boolean
}

/** A value of a scalar attribute, never null. */
export type ScalarValue = string | number | bigint | boolean | Uint8Array | object

/** Whether the column of a value may hold what its type does not say: it is read from a file, or one of numbers in a file. */
export function mayHoldAny({ loose, ofFile }: ScalarType): boolean {
  return loose === true || ofFile === true
}

/** Describes a value of the type for error texts. */
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
  // No other form than the plain decimal digits is taken.
  return Number.isSafeInteger(value) && String(value) === text ? value : undefined
}

function parseBigint(text: string): bigint | undefined {
  if (text.length > 20 || !INTEGER.test(text)) return undefined
  const value = BigInt(text)
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined
}

/** Parses an integer of a file beyond 2^53, where a JSON number is not exact and the API shows a text. */
function parseLongInteger(text: string, type: ScalarType): bigint | undefined {
  return mayHoldAny(type) && type.items === undefined && parseInteger(text) === undefined ? parseBigint(text) : undefined
}

/** Parses `HH:MM:SS`, with an optional fraction. */
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

/** Counts the characters (code points) of a text, as databases do. */
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

/**
 * Parses a text of a path or query. Returns undefined when it is not of the type. The length of the attribute is not checked: a filter by
 * a longer text finds nothing.
 */
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
      // A number with too many digits is a valid decimal that equals no stored one.
      return parseDecimal(text, { kind: 'decimal' }) ?? (NUMBER.test(text) && String(Number(text)) === text ? text : undefined)
    case 'text':
      return keepIfAllowed(text, type)
    case 'boolean':
      return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined
    case 'datetime':
      return parseDatetime(text)
    case 'date':
      return isCalendarDate(text) ? text : undefined
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

/**
 * Reads a JSON value of a body. Returns undefined when it is not of the type. The caller checks the length of a text (`countCharacters`).
 */
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
      return typeof json === 'string' ? parseDatetime(json) : undefined
    case 'date':
      return typeof json === 'string' && isCalendarDate(json) ? json : undefined
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
      return typeof json === 'string' && BASE64.test(json) ? Buffer.from(json, 'base64') : undefined
    case 'any':
      return typeof json === 'string' || (typeof json === 'number' && Number.isFinite(json)) ? keepIfAllowed(json, type) : undefined
  }
}

/** Whether the values of a type have an order, so that `>=`, `<=`, `>`, `<` and sorting make sense. */
export function isOrdered(type: ScalarType): boolean {
  return type.kind !== 'json' && type.kind !== 'blob' && type.kind !== 'array'
}

/** Whether the values of a type are text, so that wildcards and `~=` make sense. */
export function isText(type: ScalarType): boolean {
  return type.kind === 'text' || type.kind === 'jsonValue' || type.kind === 'any'
}

/** Parses a JSON number. An integer beyond 2^53 keeps all its digits. */
export function parseNumber(text: string): number | bigint | undefined {
  if (INTEGER.test(text)) return parseInteger(text) ?? parseBigint(text)
  return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined
}

/** Formats a value of the engine as JSON. */
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

/** Converts a value of the engine to that of an entity's property. */
export function toProperty(value: unknown, type: ScalarType): unknown {
  if (value === null) return null
  if (type.toStored !== undefined) return type.toStored(value)
  switch (type.kind) {
    case 'datetime':
      return new Date(value as number)
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

/** Converts the value of an entity's property to that of the engine. */
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

/** Compares two values of one type of JavaScript, texts by code unit. */
export function compareOrdered<T extends ScalarValue>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
