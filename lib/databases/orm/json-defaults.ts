/**
 * JSON defaults: what properties of JSON have for a default, as SQL that the database takes. MikroORM writes an object as `[object
 * Object]`, a text as it is, also one with a quote, and numbers and booleans without quotes.
 */
import { JsonType, isRaw, type MikroORM } from '@mikro-orm/core'
import { literal } from '../sql/sql.ts'

/**
 * Corrects the defaults before the schema is made. Those that a property gives in SQL (`defaultRaw`) stay.
 *
 * @param takesJsonAlone whether a column of JSON refuses what is none. Where it does not, a number is stored as such, and a text that is no
 * JSON as it is.
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

/** Returns the text that the column holds; undefined for one that it takes without quotes. */
function findJson(value: unknown, takesJsonAlone: boolean): string | undefined {
  // MikroORM's way to give JSON is its text.
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
