/** Replaces `now()` and `current_date` in defaults and values by the engine's time, where the engine's clock differs from the server's. */
import { isRaw, raw, type Dictionary, type EntityMetadata } from '@mikro-orm/core'
import type { Clock } from '../../../foundation/async/clock.ts'

/** Texts and quoted names, to skip; the present, with digits of the second. */
const PRESENT =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|\b(?:(?<moment>(?:now|(?:transaction|statement|clock)_timestamp)\s*\(\s*\))|(?<type>current_timestamp|localtimestamp|current_date|current_time|localtime)\b(?:\s*\(\s*(?<digits>\d)\s*\))?)/gi

/** In the session's time zone, UTC. */
const TYPES: Readonly<Record<string, string>> = {
  current_timestamp: 'timestamptz',
  localtimestamp: 'timestamp',
  current_date: 'date',
  current_time: 'timetz',
  localtime: 'time',
}

/** @returns `undefined` for an expression without the present */
export function withTime(expression: string, time: number): string | undefined {
  let isChanged = false
  const changed = expression.replaceAll(PRESENT, (found, ...rest) => {
    const { moment, type, digits } = rest.at(-1) as { readonly moment?: string; readonly type?: string; readonly digits?: string }
    if (moment === undefined && type === undefined) return found
    isChanged = true
    const target = type === undefined ? 'timestamptz' : TYPES[type.toLowerCase()]!
    return `(to_timestamp(${time} / 1000.0)::${target}${digits === undefined ? '' : `(${digits})`})`
  })
  return isChanged ? changed : undefined
}

export function followClock(
  { props }: Pick<EntityMetadata, 'props'>,
  rows: readonly Dictionary[],
  clock: Clock | undefined,
  areNew: boolean,
): void {
  if (clock === undefined || clock.isSystem) return
  const time = clock.time()
  for (const prop of props) {
    if (prop.persist === false || prop.generated !== undefined) continue
    const usual = areNew && prop.defaultRaw !== undefined ? withTime(prop.defaultRaw, time) : undefined
    for (const row of rows) {
      const value: unknown = row[prop.name]
      if (value === undefined && usual !== undefined) row[prop.name] = raw(usual)
      else if (isRaw(value) && value.params.length === 0) {
        const sql = withTime(value.sql, time)
        if (sql !== undefined) row[prop.name] = raw(sql)
      }
    }
  }
}
