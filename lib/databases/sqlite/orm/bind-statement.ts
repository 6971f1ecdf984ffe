/**
 * Binds the values of MikroORM's statements. MikroORM writes values into the text, which fails on NUL characters and keeps prepared
 * statements from reuse.
 */
import { isRaw } from '@mikro-orm/core'
import { LruCache } from '../../../foundation/base/lru-cache.ts'
import { toParameter } from '../sql/encode.ts'

/** SQLite's default limit (SQLITE_MAX_VARIABLE_NUMBER). A larger insert keeps MikroORM's text. */
const MAX_PARAMETERS = 32_766

/** The number of values; -1 where a `?` stands for no value. */
const bindable = new LruCache<number>(1000, { bytes: 4 << 20, weigh: (_, sql) => 100 + 2 * sql.length })

/** @returns undefined where a `?` is quoted or stands for an identifier */
function countPlaceholders(sql: string): number | undefined {
  const known = bindable.get(sql)
  if (known !== undefined) return known < 0 ? undefined : known
  const bare = sql.replaceAll(/'(?:[^']|'')*'/g, quoted => (quoted.includes('?') ? '??' : "''"))
  const count = bare.includes('??') || bare.includes('\\?') ? undefined : bare.split('?').length - 1
  bindable.set(sql, count ?? -1)
  return count
}

/** Writes SQL fragments into the text: `version = ?` of an optimistic lock. */
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

/** @returns undefined where a value cannot be bound */
export function bindStatement(sql: string, given: readonly unknown[]): { sql: string; values: unknown[] } | undefined {
  const { text, params } = withFragments(sql, given)
  if (params.length > MAX_PARAMETERS || countPlaceholders(text) !== params.length) return undefined
  const values = params.map(toParameter)
  return values.includes(undefined) ? undefined : { sql: text, values }
}
