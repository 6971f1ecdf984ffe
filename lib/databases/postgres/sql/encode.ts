/** Makes texts of values, and lists of texts. Statements cast the texts. */
import type { CompiledChild, EncodedLinks, Row } from '../../../records/database/dialect.ts'
import { formatLike } from '../../sql/pattern.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'

/** See `Dialect.encode`. A text with NUL equals nothing. */
export function encode(value: unknown, type: ScalarType): unknown {
  if (value === null || value === undefined) return null
  if (type.codec !== undefined || value instanceof Uint8Array) return value
  if (type.kind === 'datetime') return formatTime(value as number)
  return keepPossible(type.kind === 'json' && typeof value === 'object' ? JSON.stringify(value) : value)
}

export function keepPossible(value: unknown): string | null {
  const text = String(value)
  return text.includes('\0') ? null : text
}

/** PostgreSQL reads no signed years, and needs `BC` for years before the first. */
export function formatTime(milliseconds: number): string {
  if (Math.abs(milliseconds) === Infinity) return `${milliseconds}`.toLowerCase()
  const text = new Date(milliseconds).toISOString()
  if (text.startsWith('+')) return text.slice(1)
  if (!text.startsWith('-') && !text.startsWith('0000')) return text
  const year = 1 - new Date(milliseconds).getUTCFullYear()
  return `${String(year).padStart(4, '0')}${text.slice(text.startsWith('-') ? 7 : 4)} BC`
}

/** See `Dialect.encodeList`. */
export function encodeList(values: readonly unknown[]): readonly unknown[] {
  return values.filter(value => value !== null)
}

/** See `Dialect.encodeLinks`. Keys of several parts are JSON. */
export function encodeLinks(rows: readonly Row[], { from }: Pick<CompiledChild, 'from'>): EncodedLinks {
  const seen = new Set<string>()
  if (from.length === 1) {
    const at = from[0]!
    for (const row of rows) if (row[at] !== null) seen.add(row[at] as string)
    return { parameter: [...seen], count: seen.size }
  }
  for (const row of rows) if (from.every(at => row[at] !== null)) seen.add(JSON.stringify(from.map(at => row[at])))
  return { parameter: `[${[...seen].join()}]`, count: seen.size }
}

/** See `Dialect.encodePatterns`. */
export function encodePatterns(patterns: readonly (readonly string[])[]): readonly string[] {
  return patterns.map(formatLike).filter(pattern => keepPossible(pattern) !== null)
}
