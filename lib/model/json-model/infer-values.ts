/** Infers the types of plain values. */
import type { JsonObject } from '../../foundation/base/json.ts'

/** The type of a plain attribute. `json` holds any value as it was given: objects, arrays, values of several types. */
export type InferredType = 'integer' | 'number' | 'text' | 'boolean' | 'json'

/** Reads the value of a key; null where the record has none. Inherited members, such as `toString`, do not count. */
export function readValue(record: JsonObject, key: string): unknown {
  return Object.hasOwn(record, key) ? (record[key] ?? null) : null
}

/** Reads the value of an attribute. What links records whose IDs are texts is one, too. */
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
      // A lone surrogate cannot be stored as text, but as JSON.
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
