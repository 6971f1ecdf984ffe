/** Values, keys and patterns as JSON texts for `json_each`. */
import type { CompiledChild, EncodedLinks, Row } from '../../../records/database/dialect.ts'
import type { KeyPart } from '../../../model/model.ts'

/** See `Dialect.encodeList`. A bigint keeps all digits. */
export function encodeList(values: readonly unknown[]): string {
  const items = values.flatMap(value => (value === null ? [] : typeof value === 'bigint' ? String(value) : JSON.stringify(value)))
  return `[${items.join()}]`
}

/** See `Dialect.encodePatterns`. */
export function encodePatterns(patterns: readonly (readonly string[])[]): string {
  return JSON.stringify(patterns)
}

/** See `Dialect.encodeLinks`. */
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

/** JSON has no bytes, which any column may hold. */
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

/** Integers come as numbers, or as texts of digits. */
function isNumber({ type }: KeyPart): boolean {
  return type.kind === 'integer' || type.kind === 'bigint' || type.codec?.exact === true
}
