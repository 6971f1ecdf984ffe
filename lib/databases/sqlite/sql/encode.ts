/** Encode: typed values to the parameters that SQLite compares and stores. */
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'

/**
 * A value as better-sqlite3 binds it: it takes no booleans, and binds numbers as REAL, which a column or a comparison with one turns back.
 */
export function encode(value: unknown, type: ScalarType, inDocument: boolean): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  // Inside a JSON document MikroORM writes dates as ISO text, which sorts as time does.
  if (type.kind === 'datetime' && inDocument) return new Date(value as number).toISOString()
  return value
}
