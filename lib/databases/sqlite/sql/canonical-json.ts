/** Canonical JSON: one spelling of a JSON value, by which objects and lists in JSON columns are compared. */

/** Deepest nesting of a stored JSON value. SQLite does not read deeper ones. */
const MAX_STORED_DEPTH = 1000

/** Returns the canonical spelling of a JSON value: sorted keys, no spaces. Undefined for a value that is nested too deep to be stored. */
export function canonicalJson(value: unknown, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (depth >= MAX_STORED_DEPTH) return undefined
  const isArray = Array.isArray(value)
  const parts: string[] = []
  for (const key of isArray ? value.keys() : Object.keys(value).toSorted()) {
    const part = canonicalJson((value as Record<string | number, unknown>)[key], depth + 1)
    if (part === undefined) return undefined
    parts.push(isArray ? part : `${JSON.stringify(key)}:${part}`)
  }
  return isArray ? `[${parts.join()}]` : `{${parts.join()}}`
}
