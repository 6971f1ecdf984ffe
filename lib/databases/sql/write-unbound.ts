/** Writes SQL given as a value, such as `raw('now()')`, into the text of a statement: no parameter can hold SQL. */
import type { Platform } from '@mikro-orm/core'
import { UnboundValue } from '../../records/database/unbound-value.ts'

const PLACES = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\?|\$(\d+)/g

export function writeUnbound(
  sql: string,
  parameters: readonly unknown[],
  platform: Platform,
): { sql: string; parameters: readonly unknown[] } {
  if (!parameters.some(parameter => parameter instanceof UnboundValue)) return { sql, parameters }
  const bound: unknown[] = []
  let next = 0
  const text = sql.replace(PLACES, (token: string, place: string | undefined) => {
    if (token !== '?' && place === undefined) return token
    const parameter = parameters[place === undefined ? next++ : Number(place) - 1]
    if (parameter instanceof UnboundValue) return `(${platform.quoteValue(parameter.value)})`
    bound.push(parameter)
    return place === undefined ? token : `$${bound.length}`
  })
  return { sql: text, parameters: bound }
}
