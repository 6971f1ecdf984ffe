/**
 * Binds the values of a MikroORM statement as parameters. MikroORM itself writes values into the text, which fails on NUL characters and
 * prevents the reuse of prepared statements.
 */
import { isRaw } from '@mikro-orm/core'
import { LruCache } from '../../../foundation/base/lru-cache.ts'
import { toParameter } from '../sql/encode.ts'

/**
 * SQLite's default limit of parameters in one statement (SQLITE_MAX_VARIABLE_NUMBER). A larger insert has its values in the text, as
 * MikroORM writes it.
 */
const MAX_PARAMETERS = 32_766

/** The number of values that a text binds; -1 where a `?` does not stand for a value. */
const bindable = new LruCache<number>(1000, { bytes: 4 << 20, weigh: (_, sql) => 100 + 2 * sql.length })

/** Counts the values that a text binds. Undefined when a `?` is quoted or stands for an identifier. */
function countPlaceholders(sql: string): number | undefined {
  const known = bindable.get(sql)
  if (known !== undefined) return known < 0 ? undefined : known
  const bare = sql.replaceAll(/'(?:[^']|'')*'/g, quoted => (quoted.includes('?') ? '??' : "''"))
  const count = bare.includes('??') || bare.includes('\\?') ? undefined : bare.split('?').length - 1
  bindable.set(sql, count ?? -1)
  return count
}

/** Writes SQL fragments among the values into the text, so that the other values can be bound: `version = ?` of an optimistic lock. */
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

/** Returns the text with its bound values. Undefined when they cannot be bound. */
export function bindStatement(sql: string, given: readonly unknown[]): { sql: string; values: unknown[] } | undefined {
  const { text, params } = withFragments(sql, given)
  if (params.length > MAX_PARAMETERS || countPlaceholders(text) !== params.length) return undefined
  const values = params.map(toParameter)
  return values.includes(undefined) ? undefined : { sql: text, values }
}
