/** Converts values between PostgREST's texts and JSON, and the engine, such as `t` for true, or `2026-01-02 03:04+01`. */
import { Failure, notServed } from './failure.ts'

const NAMES: Readonly<Record<string, string>> = {
  float: 'double precision',
  decimal: 'numeric',
  datetime: 'timestamp with time zone',
  time: 'time without time zone',
}

/** In PostgreSQL's words. */
export function nameType(type: string): string {
  return { json: 'jsonb', array: 'text[]', blob: 'bytea', any: 'text' }[type] ?? NAMES[type] ?? type
}

function badValue(text: string, type: string): Failure {
  const code = ['date', 'datetime', 'time'].includes(type) ? '22007' : '22P02'
  return new Failure(400, code, `invalid input syntax for type ${NAMES[type] ?? type}: "${text.slice(0, 200)}"`)
}

const TRUE = new Set(['t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1'])
const FALSE = new Set(['f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0'])

/** @throws Failure for a text that is no value of the type */
export function readText(text: string, type: string | undefined): unknown {
  if (text.includes('\0')) throw new Failure(400, '22021', 'invalid byte sequence for encoding "UTF8": 0x00')
  const trimmed = text.trim()
  switch (type) {
    case 'integer':
      return readInteger(trimmed, text)
    case 'bigint':
      if (!/^[+-]?\d{1,30}$/.test(trimmed)) throw badValue(text, type)
      return inBigintRange(trimmed)
    case 'float':
    case 'decimal':
      if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(trimmed)) throw badValue(text, type)
      return type === 'float' ? Number(trimmed) : plainDecimal(trimmed)
    case 'boolean':
      if (TRUE.has(trimmed.toLowerCase())) return true
      if (FALSE.has(trimmed.toLowerCase())) return false
      throw badValue(text, type)
    case 'uuid':
      if (!/^\{?[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}\}?$/i.test(trimmed)) throw badValue(text, type)
      return trimmed
        .toLowerCase()
        .replaceAll(/[{}-]/g, '')
        .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
    case 'datetime':
      return readTime(trimmed)
    case 'date':
      return readTime(trimmed).slice(0, 10)
    case 'json':
    case 'array':
      return readJson(text)
    default:
      return text
  }
}

function readInteger(trimmed: string, text: string): number {
  if (!/^[+-]?\d+$/.test(trimmed)) throw badValue(text, 'integer')
  const value = Number(trimmed)
  if (!Number.isSafeInteger(value)) throw new Failure(400, '22003', `value "${text.slice(0, 200)}" is out of range for type integer`)
  return value
}

function inBigintRange(text: string): string {
  const value = BigInt(text.replace(/^\+/, ''))
  if (BigInt.asIntN(64, value) !== value) throw new Failure(400, '22003', `value "${text}" is out of range for type bigint`)
  return String(value)
}

/** The engine's decimals have no exponent. */
function plainDecimal(text: string): string {
  if (!/e/i.test(text))
    return text
      .replace(/^\+/, '')
      .replace(/^(-?)\./, '$10.')
      .replace(/\.$/, '')
  const value = Number(text)
  if (!Number.isFinite(value) || Math.abs(value) >= 1e21) throw new Failure(400, '22003', 'value overflows numeric format')
  return value.toFixed(20).replace(/\.?0+$/, '')
}

/** Takes `2026-01-02`, `2026-01-02 03:04:05.5+01`, `2026-01-02T03:04:05Z`. Default zone: UTC. */
function readTime(text: string): string {
  const [, date, time = '00:00:00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i.exec(text) ?? []
  if (date === undefined) throw badValue(text, 'datetime')
  const offset = /^z$/i.test(zone) ? 'Z' : zone.length === 3 ? `${zone}:00` : zone.replace(/^(...)(\d\d)$/, '$1:$2')
  const read = new Date(`${date}T${time}${offset}`)
  if (Number.isNaN(read.getTime()) || !new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)) throw badValue(text, 'datetime')
  return read.toISOString()
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw badValue(text, 'json')
  }
}

/** PostgreSQL takes `"5"` for an integer, and 5 for a text. */
export function readSent(value: unknown, type: string | undefined): unknown {
  if (typeof value === 'string')
    return type === 'json' || type === 'array' || type === 'custom' || type === undefined ? value : readText(value, type)
  if (type === 'text' && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  return value
}

/** PostgreSQL shows decimals and bigints as numbers. Undefined: as the engine shows them. */
export function showsOf(type: string | undefined): ((value: unknown) => unknown) | undefined {
  if (type === 'decimal' || type === 'bigint') return value => (typeof value === 'string' && value !== '' ? Number(value) : value)
  return type === 'datetime' ? showTime : undefined
}

/** `2026-01-02T03:04:05.000Z` is `2026-01-02T03:04:05+00:00`. */
function showTime(value: unknown): unknown {
  if (typeof value !== 'string' || !value.endsWith('Z')) return value
  return `${value.slice(0, value.endsWith('.000Z') ? -5 : -1)}+00:00`
}

export function showText(value: unknown): unknown {
  return value === null || value === undefined ? null : typeof value === 'string' ? value : formatJson(value)
}

/** As PostgreSQL does: `{"a": [1, 2]}`. */
export function formatJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}: ${formatJson(inner)}`)
    .join(', ')}}`
}

const WHOLE = new Set(['int', 'int2', 'int4', 'int8', 'integer', 'bigint', 'smallint'])
const NUMBER = new Set(['float', 'float4', 'float8', 'numeric', 'decimal', 'real', 'double precision'])
const TEXT = new Set(['text', 'varchar', 'char', 'bpchar', 'citext', 'uuid', 'date', 'time', 'timestamp', 'timestamptz', 'name'])
const BOOLEAN = new Set(['bool', 'boolean'])
const JSONS = new Set(['json', 'jsonb'])

/** @throws Failure for a type that does not exist */
export function checkCast(cast: string): void {
  if (![WHOLE, NUMBER, TEXT, BOOLEAN, JSONS].some(set => set.has(cast))) throw new Failure(400, '42704', `type "${cast}" does not exist`)
}

/** @throws Failure for a value that the type cannot hold */
export function castValue(value: unknown, cast: string): unknown {
  if (value === null || value === undefined) return null
  const text = String(showText(value))
  if (TEXT.has(cast)) return cast === 'date' ? text.slice(0, 10) : text
  if (BOOLEAN.has(cast)) return readText(text, 'boolean')
  if (JSONS.has(cast)) return typeof value === 'string' ? readJson(value) : value
  if (value === true || value === false) return WHOLE.has(cast) ? Number(value) : failCast(cast)
  const read = Number(readText(text, 'float'))
  // PostgreSQL refuses a text with a fraction.
  if (WHOLE.has(cast) && typeof value === 'string' && !Number.isInteger(read)) throw badValue(text, 'integer')
  return WHOLE.has(cast) ? Math.round(read) : read
}

function failCast(cast: string): never {
  throw notServed(`A cast of a boolean to ${cast}`)
}
