/** Makes parameters of values, singly or as a JSON text for `json_each`. */
import { JsonProperty, Utils } from '@mikro-orm/core'
import type { ScalarKind, ScalarType } from '../../../foundation/values/scalar-type.ts'
import type { Binding } from '../../../records/database/binding.ts'
import type { CompiledChild, EncodedLinks, Row } from '../../../records/database/dialect.ts'
import type { KeyPart } from '../../../model/model.ts'

/** better-sqlite3 binds no booleans. Columns, and comparisons with columns, make integers of REAL numbers. */
export function encode(value: unknown, type: ScalarType, inDocument: boolean): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  // In documents MikroORM writes ISO texts, which sort as time does.
  if (type.kind === 'datetime' && inDocument) return new Date(value as number).toISOString()
  // better-sqlite3 takes objects for lists of parameters.
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array) ? JSON.stringify(value) : value
}

/** Neither `encode` nor `findBound` changes their values. */
const PLAIN: ReadonlySet<ScalarKind> = new Set<ScalarKind>(['integer', 'bigint', 'float', 'text', 'uuid', 'date', 'time', 'datetime'])

export function markPlain(binding: Binding): Binding {
  if ((binding.from !== 'key' && binding.from !== 'filter') || binding.form !== 'value' || !PLAIN.has(binding.type.kind)) return binding
  return binding.from === 'filter' && binding.inDocument ? binding : { ...binding, isPlain: true }
}

/** Undefined for other values. Integers become BigInt: a number would be stored as REAL. */
export function toParameter(value: unknown): unknown {
  if (value === undefined || value === null) return null
  switch (typeof value) {
    case 'string':
    case 'bigint':
      return value
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : Number.isFinite(value) ? value : undefined
    case 'boolean':
      return value ? 1n : 0n
    default:
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : BigInt(value.getTime())
      if (value instanceof Uint8Array) return value
      // As in MikroORM's own quoting.
      return Utils.isPlainObject(value) || (typeof value === 'object' && JsonProperty in value) ? JSON.stringify(value) : undefined
  }
}

/** Leaves out NULL. A bigint keeps all digits. */
export function encodeList(values: readonly unknown[]): string {
  const items = values.flatMap(value => (value === null ? [] : typeof value === 'bigint' ? String(value) : JSON.stringify(value)))
  return `[${items.join()}]`
}

export function encodePatterns(patterns: readonly (readonly string[])[]): string {
  return JSON.stringify(patterns)
}

/** Writes each key once, without empty links. */
export function encodeLinks(rows: readonly Row[], { from, parts }: Pick<CompiledChild, 'from' | 'parts'>): EncodedLinks {
  const seen = new Set<string>()
  if (from.length === 1) {
    const at = from[0]!
    const isPlain = isNumber(parts[0]!)
    for (const row of rows) if (canLink(row[at])) seen.add(format(row[at], isPlain))
  } else {
    const isPlain = parts.map(isNumber)
    for (const row of rows)
      if (from.every(at => canLink(row[at]))) seen.add(`[${from.map((at, index) => format(row[at], isPlain[index]!)).join()}]`)
  }
  return { parameter: `[${[...seen].join()}]`, count: seen.size }
}

/** JSON has no bytes, but any column may hold bytes. */
function canLink(value: unknown): boolean {
  return value !== null && typeof value !== 'object'
}

const DIGITS = /^-?\d+$/

/** A file's column of integers may hold a text such as `A12`. */
function format(value: unknown, isPlain: boolean): string {
  // SQLite reads `9e999` as infinity.
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : `${value < 0 ? '-' : ''}9e999`
  return isPlain && (typeof value !== 'string' || DIGITS.test(value)) ? String(value) : JSON.stringify(value)
}

function isNumber({ type }: KeyPart): boolean {
  return type.kind === 'integer' || type.kind === 'bigint' || type.codec?.exact === true
}
