/** Takes the SQL and the values out of a text, a fragment of `raw()` or a query builder. */
import { isRaw, raw, type RawQueryFragment } from '@mikro-orm/core'

interface RawBuilder {
  toRaw(): RawQueryFragment
}

/** `?` stands for a value, `??` for a name. */
interface Unwrapped {
  readonly text: string
  readonly values: readonly unknown[]
}

export function isBuilder(value: unknown): value is RawBuilder {
  return typeof value === 'object' && value !== null && typeof (value as { readonly toRaw?: unknown }).toRaw === 'function'
}

export function unwrapQuery(
  query: string | RawQueryFragment | RawBuilder,
  params: readonly unknown[] | Readonly<Record<string, unknown>>,
): Unwrapped {
  let given: string | RawQueryFragment = isBuilder(query) ? query.toRaw() : query
  // An object holds parameters by name.
  if (typeof given === 'string' && !Array.isArray(params)) given = raw(given, params as Record<string, unknown>)
  return isRaw(given) ? { text: given.sql, values: given.params } : { text: given, values: params as readonly unknown[] }
}
