/** Reads and infers plain values of JSON data. */
import type { JsonObject } from '../../foundation/json/json.ts'

/** `json`: objects, arrays, mixed types. */
export type InferredType = 'integer' | 'number' | 'text' | 'boolean' | 'json'

/** Null: no value. Ignores `toString` and other inherited members. */
export function readValue(record: JsonObject, key: string): unknown {
  return Object.hasOwn(record, key) ? (record[key] ?? null) : null
}

interface ReadLinks {
  readonly idType: 'integer' | 'text'
  readonly gone: ReadonlySet<unknown>
}

/** A link to a missing record becomes null; in a list, nothing. */
export function readAttribute(record: JsonObject, attribute: { readonly key: string } & ({} | ReadLinks)): unknown {
  const value = readValue(record, attribute.key)
  if (!('gone' in attribute)) return value
  const { gone, idType } = attribute
  if (!Array.isArray(value)) return gone.has(readLink(value, idType)) ? null : readLink(value, idType)
  const links = value.map(link => readLink(link, idType))
  return gone.size === 0 ? links : links.filter(id => !gone.has(id))
}

const INTEGER = /^(?:0|-?[1-9]\d*)$/

/** Reads "1" and 1 alike. */
export function readLink(value: unknown, idType: ReadLinks['idType']): unknown {
  if (idType === 'text') return typeof value === 'number' ? String(value) : value
  return typeof value === 'string' && INTEGER.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** Undefined: both forms, or no IDs. `long` counts numbers beyond 2^53, held as texts. */
export function findForm(values: readonly unknown[], long: number): IdForm | undefined {
  if (values.length === 0) return undefined
  const texts = values.filter(value => typeof value === 'string').length
  if (texts === long) return 'number'
  return texts === values.length && long === 0 ? 'text' : undefined
}

export type IdForm = 'number' | 'text'

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
