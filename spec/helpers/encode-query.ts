/**
 * Writes the object form of a query as a query string, the way contract section 1 relates the two: a key ends with its operator as written.
 * The `=` that ends `>=`, `<=`, `!=` and `~=` is the `=` of the query string itself; `>` and `<` have none, so name, operator and value
 * are one encoded word. An array is any of its values, each literally but for `*`; of `sort`, `attributes` and `expand` it is a list.
 */
export type QueryScalar = string | number | boolean | null
export type QueryObject = Readonly<Record<string, QueryScalar | readonly QueryScalar[]>>
export type Query = string | URLSearchParams | QueryObject

/** One `key=value` of a query object: `('age>=', 18)` is `age%3E=18`, `('age>', 18)` is `age%3E18`. */
export function encodePair(key: string, value: QueryScalar): string {
  if (key.endsWith('=')) return `${encodeURIComponent(key.slice(0, -1))}=${encodeURIComponent(String(value))}`
  if (key.endsWith('>') || key.endsWith('<')) return encodeURIComponent(key + String(value))
  return `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`
}

/** Returns the query string without its `?`; empty for an empty query. */
export function encodeQuery(query: Query | undefined): string {
  if (query === undefined) return ''
  if (typeof query === 'string') return query.replace(/^\?/, '')
  if (query instanceof URLSearchParams) return query.toString()
  return Object.entries(query)
    .map(([key, value]) => encodePair(key, Array.isArray(value) ? joinItems(key, value as readonly QueryScalar[]) : (value as QueryScalar)))
    .join('&')
}

function joinItems(key: string, items: readonly QueryScalar[]): string {
  if (['sort', 'attributes', 'expand'].includes(key)) return items.join(',')
  return items
    .map(item => (item === null ? 'null' : item === 'null' ? String.raw`\null` : String(item).replaceAll(/,|\\(?!\*)/g, String.raw`\$&`)))
    .join(',')
}
