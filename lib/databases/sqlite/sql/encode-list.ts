/** Encode list: values, keys and patterns as JSON texts, each one parameter, which statements read by `json_each`. */
import type { CompiledChild, EncodedLinks, Row } from '../../../records/database/dialect.ts'
import type { KeyPart } from '../../../model/model.ts'

/** See `Dialect.encodeList`. A bigint is a number of all its digits. */
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
    for (const row of rows) if (row[at] !== null) seen.add(format(row[at], isPlain))
  } else {
    const isPlain = parts.map(isNumber)
    for (const row of rows)
      if (from.every(at => row[at] !== null)) seen.add(`[${from.map((at, index) => format(row[at], isPlain[index]!)).join()}]`)
  }
  return { parameter: `[${[...seen].join()}]`, count: seen.size }
}

function format(value: unknown, isPlain: boolean): string {
  return isPlain ? String(value) : JSON.stringify(value)
}

/** Whether a part of a key is written as it is: integers leave SQLite as numbers, or as texts of digits. */
function isNumber({ type }: KeyPart): boolean {
  return type.kind === 'integer' || type.kind === 'bigint' || type.codec?.exact === true
}
