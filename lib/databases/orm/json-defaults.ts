/**
 * Writes the defaults of JSON properties, and of texts with quotes, as SQL. MikroORM writes `[object Object]`, texts unescaped, and numbers
 * without quotes.
 */
import { JsonType, isRaw, type MikroORM } from '@mikro-orm/core'
import { literal } from '../sql/sql.ts'

/** Leaves `defaultRaw` alone. */
export function quoteTextDefaults(orm: MikroORM): void {
  for (const { props } of orm.getMetadata())
    for (const prop of props)
      if (typeof prop.default === 'string' && prop.default.includes("'") && prop.defaultRaw === `'${prop.default}'`)
        prop.defaultRaw = literal(prop.default)
}

/**
 * Leaves `defaultRaw` alone.
 *
 * @param takesJsonAlone a JSON column refuses other texts; else numbers and plain texts are stored as given
 */
export function quoteJsonDefaults(orm: MikroORM, takesJsonAlone: boolean): void {
  for (const meta of orm.getMetadata()) {
    for (const prop of meta.props) {
      if (!(prop.customType instanceof JsonType) || prop.defaultRaw !== writtenByMikroOrm(prop.default)) continue
      const text = findJson(prop.default, takesJsonAlone)
      if (text !== undefined) prop.defaultRaw = literal(text)
    }
  }
}

function writtenByMikroOrm(value: unknown): string | undefined {
  if (Array.isArray(value)) return `'${JSON.stringify(value)}'`
  if (typeof value === 'string') return `'${value}'`
  if (value === null || value === undefined || typeof value === 'symbol' || isRaw(value)) return undefined
  // eslint-disable-next-line typescript/no-base-to-string -- that is what MikroORM does
  return String(value)
}

/** @returns undefined for a value without quotes */
function findJson(value: unknown, takesJsonAlone: boolean): string | undefined {
  // MikroORM takes a string for JSON text.
  if (typeof value === 'string') return takesJsonAlone && !isJsonText(value) ? JSON.stringify(value) : value
  return typeof value === 'object' || takesJsonAlone ? JSON.stringify(value) : undefined
}

export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
