/** Makes parameters of the engine's values and of MikroORM's. */
import { JsonProperty, Utils } from '@mikro-orm/core'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'

/** better-sqlite3 binds no booleans, and numbers as REAL, which columns and comparisons with columns turn back. */
export function encode(value: unknown, type: ScalarType, inDocument: boolean): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  // In documents MikroORM writes ISO texts, which sort as time does.
  if (type.kind === 'datetime' && inDocument) return new Date(value as number).toISOString()
  return value
}

/** Undefined for a value that cannot be bound. Integers become BigInt: a number would be stored as REAL. */
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
      // As in MikroORM's own quoting.
      return Utils.isPlainObject(value) || (typeof value === 'object' && JsonProperty in value) ? JSON.stringify(value) : undefined
  }
}
