/**
 * Bind statement: the values of a statement of MikroORM's as parameters. MikroORM splices values into the text, which breaks on a NUL and defeats prepared
 * statements.
 */
import { JsonProperty, Utils, isRaw } from '@mikro-orm/core'
import { LruCache } from '../../base/lru-cache.ts'

/** SQLite's default limit of parameters in one statement (SQLITE_MAX_VARIABLE_NUMBER); a larger insert has its values spliced in as MikroORM does. */
const MAX_PARAMETERS = 32_766

/** How many values texts bind, by text; -1 where some `?` does not stand for one. */
const bindable = new LruCache<number>(1000, { bytes: 4 << 20, weigh: (_, sql) => 100 + 2 * sql.length })

/** Counts the values that a text binds; undefined when some `?` stands in quotes or means an identifier. */
function countPlaceholders(sql: string): number | undefined {
  const known = bindable.get(sql)
  if (known !== undefined) return known < 0 ? undefined : known
  const bare = sql.replaceAll(/'(?:[^']|'')*'/g, quoted => (quoted.includes('?') ? '??' : "''"))
  const count = bare.includes('??') || bare.includes('\\?') ? undefined : bare.split('?').length - 1
  bindable.set(sql, count ?? -1)
  return count
}

/** Returns the value as better-sqlite3 binds it; undefined when it cannot be bound as one. Integers become BigInt: a number would be stored as REAL. */
function parameterOf(value: unknown): unknown {
  if (value === undefined || value === null) return null
  switch (typeof value) {
    case 'string':
    case 'bigint':
      return value
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : Number.isFinite(value) ? value : undefined
    case 'boolean':
      return value ? 1n : 0n
    default:
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : BigInt(value.getTime())
      if (value instanceof Uint8Array) return value
      // Documents, as MikroORM's own quoting writes them: plain objects, and what it has marked as JSON.
      return Utils.isPlainObject(value) || (typeof value === 'object' && JsonProperty in value) ? JSON.stringify(value) : undefined
  }
}

/** Puts fragments of SQL among the values into the text, so that the values beside them can be bound: `version = ?` of an optimistic lock. */
function withFragments(query: string, params: readonly unknown[]): { text: string; params: readonly unknown[] } {
  if (!params.some(isRaw) || countPlaceholders(query) !== params.length) return { text: query, params }
  const values: unknown[] = []
  let next = 0
  const text = query.replaceAll('?', mark => {
    const value = params[next++]
    values.push(...(isRaw(value) ? value.params : [value]))
    return isRaw(value) ? value.sql : mark
  })
  return { text, params: values }
}

/** Returns the text with the values that are bound to it; undefined when it cannot be run with bound ones. */
export function bindStatement(sql: string, given: readonly unknown[]): { sql: string; values: unknown[] } | undefined {
  const { text, params } = withFragments(sql, given)
  if (params.length > MAX_PARAMETERS || countPlaceholders(text) !== params.length) return undefined
  const values = params.map(parameterOf)
  return values.includes(undefined) ? undefined : { sql: text, values }
}
