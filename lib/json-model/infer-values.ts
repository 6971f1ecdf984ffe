/** Infer values: what a value of plain data is, for all parts of infer.ts. */

export type JsonObject = Readonly<Record<string, unknown>>

/** The type of a plain attribute. `json` holds anything, as it was given: objects, arrays, values of several types. */
export type InferredType = 'integer' | 'number' | 'text' | 'boolean' | 'json'

/** The value of a key; null where the record has none. What every object inherits, such as `toString`, is not of the record. */
export function readValue(record: JsonObject, key: string): unknown {
  return Object.hasOwn(record, key) ? (record[key] ?? null) : null
}

export function inferValueType(value: unknown): InferredType {
  switch (typeof value) {
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number'
    case 'boolean':
      return 'boolean'
    case 'string':
      // Half a character cannot be stored as text; JSON can write it.
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
