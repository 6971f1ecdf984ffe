/** Infers types of plain values. */
import type { JsonObject } from '../../foundation/json/json.ts'

/** `json` holds any value: objects, arrays, mixed types. */
export type InferredType = 'integer' | 'number' | 'text' | 'boolean' | 'json'

/** Null: no such key. Ignores inherited members, such as `toString`. */
export function readValue(record: JsonObject, key: string): unknown {
  return Object.hasOwn(record, key) ? (record[key] ?? null) : null
}

/** Turns links to text IDs into texts. */
export function readAttribute(record: JsonObject, { key, isMixed = false }: { readonly key: string; readonly isMixed?: boolean }): unknown {
  const value = readValue(record, key)
  if (!isMixed) return value
  return Array.isArray(value) ? value.map(toText) : toText(value)
}

export function toText(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value
}

export function inferValueType(value: unknown): InferredType {
  switch (typeof value) {
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number'
    case 'boolean':
      return 'boolean'
    case 'string':
      // Only JSON can hold a lone surrogate.
      return value.isWellFormed() ? 'text' : 'json'
    default:
      return 'json'
  }
}

export function describe(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function shorten(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
