/** Encode: values to the parameters that SQLite compares and stores: those of the engine by their types, and those of MikroORM. */
import { JsonProperty, Utils } from '@mikro-orm/core'
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

/**
 * Returns a value of a column, as MikroORM converts it, as better-sqlite3 binds it. Undefined when it cannot be bound. Integers become
 * BigInt, since a number would be stored as REAL.
 */
export function toParameter(value: unknown): unknown {
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
      // Plain objects, and values that MikroORM has marked as JSON, become JSON documents as in MikroORM's own quoting.
      return Utils.isPlainObject(value) || (typeof value === 'object' && JsonProperty in value) ? JSON.stringify(value) : undefined
  }
}
