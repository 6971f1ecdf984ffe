/**
 * Misfits: stored values that the type of their property cannot take, as SQLite lets any column hold (the text `n/a` in a column of numbers). MikroORM
 * would fail at them, or make another value of them, whichever attribute a write is about. They are not loaded, so they stay as they are.
 */
import { ArrayType, BigIntType, BlobType, DecimalType, DoubleType, JsonType, Uint8ArrayType } from '@mikro-orm/core'
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'

type Row = Record<string, unknown>

interface Check {
  readonly column: string
  readonly fits: (value: unknown) => boolean
}

const known = new WeakMap<EntityMetadata, readonly Check[]>()

/** Takes the misfits out of a row as the database has it, in which the columns have their own names. */
export function dropMisfits<T extends object>(row: T, meta: EntityMetadata): T {
  let checks = known.get(meta)
  if (checks === undefined) {
    checks = meta.props.flatMap(prop => findCheck(prop) ?? [])
    known.set(meta, checks)
  }
  for (const { column, fits } of checks) {
    const value = (row as Row)[column]
    if (value !== null && value !== undefined && !fits(value)) delete (row as Row)[column]
  }
  return row
}

/** Keys are found by their value, so they fit; a type of the application's own says itself what it takes. */
function findCheck(prop: EntityProperty): Check | undefined {
  const [column] = prop.fieldNames ?? []
  if (prop.kind !== 'scalar' || prop.primary === true || column === undefined || prop.persist === false) return undefined
  const fits = buildCheck(prop)
  return fits === undefined ? undefined : { column, fits }
}

function buildCheck(prop: EntityProperty): Check['fits'] | undefined {
  const { customType: type, items, runtimeType } = prop
  if (type instanceof ArrayType) return value => typeof value === 'string' && canBeRead(value, type)
  if (type === undefined && prop.enum === true && items !== undefined) return value => items.includes(value as string)
  if (type === undefined && runtimeType === 'Date') return isTime
  if (type instanceof JsonType) return value => typeof value !== 'bigint'
  if (type instanceof BigIntType) return isInteger
  if (type instanceof DoubleType || type instanceof DecimalType)
    return runtimeType === 'number' ? isNumber : value => !(value instanceof Uint8Array)
  if (type instanceof BlobType || type instanceof Uint8ArrayType) return value => value instanceof Uint8Array || typeof value === 'string'
  return undefined
}

/** Whether an array can be made of a text and a text of that again, as an array of an enum checks its items. */
function canBeRead(text: string, type: ArrayType): boolean {
  try {
    type.convertToDatabaseValue(type.convertToJSValue(text, type.platform!), type.platform!, {})
    return true
  } catch {
    return false
  }
}

function isTime(value: unknown): boolean {
  if (typeof value === 'number' || typeof value === 'bigint') return !Number.isNaN(new Date(Number(value)).getTime())
  return typeof value === 'string' && (!Number.isNaN(Date.parse(value)) || !Number.isNaN(Date.parse(`${value}Z`)))
}

function isInteger(value: unknown): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value) || (typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value))
}

function isNumber(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '' && Number.isFinite(Number(value))
  return typeof value === 'number'
}
