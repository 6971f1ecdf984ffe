/** Values that PostgreSQL stores as SQLite does, made of those that it does not: docs/postgresql.md, "What is different". */
import { Opaque } from '../../helpers/oracle.ts'
import type { Attribute, EmbeddedValue, Json, Value } from '../../helpers/oracle.ts'

/** No NUL in a text, no integer beyond 32 bits, and the keys of a JSON object in the order of `jsonb`. */
export function storable(attribute: Attribute, value: Value): Value {
  if (value instanceof Opaque) return new Opaque(inJson(value.json, attribute.kind === 'opaque' && attribute.json))
  if (attribute.kind === 'plain' && attribute.type === 'integer' && typeof value === 'number') return value | 0
  if (attribute.kind === 'embedded' && value !== null)
    return Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, withoutNul(inner)])) as EmbeddedValue
  return withoutNul(value) as Value
}

const withoutNul = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll('\0', '\u0001') : value)

/** @param isSorted shorter keys come first; embedded objects are shown as they are declared */
function inJson(json: Json, isSorted: boolean): Json {
  if (Array.isArray(json)) return json.map(item => inJson(item, isSorted))
  if (json === null || typeof json !== 'object') return withoutNul(json) as Json
  const entries = Object.entries(json).map(([key, value]) => [key, inJson(value, isSorted)] as const)
  return Object.fromEntries(isSorted ? entries.toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1)) : entries)
}
