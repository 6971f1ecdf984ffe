/**
 * Removes values of a wrong type from rows, such as `n/a` in a column of numbers: MikroORM would fail or convert, whichever attribute is
 * written. A value that is not loaded stays unchanged.
 */
import { ArrayType, BigIntType, BlobType, DecimalType, DoubleType, JsonType, Uint8ArrayType } from '@mikro-orm/core'
import type { EntityMetadata, EntityProperty, Platform } from '@mikro-orm/core'
import { formatIso } from '../../../foundation/values/iso-time.ts'
import { parseStoredTime } from '../sql/stored-time.ts'
import { runtime } from '../../../foundation/runtime/runtime.ts'

interface FitCheck {
  readonly column: string
  readonly fits: (value: unknown) => boolean
  /** In the place of the stored value. */
  readonly instead?: (value: unknown) => unknown
}

const known = new WeakMap<EntityMetadata, readonly FitCheck[]>()

export function dropMisfits<T extends object>(row: T, meta: EntityMetadata, platform: Platform): T {
  let checks = known.get(meta)
  if (checks === undefined) {
    checks = meta.props.flatMap(prop => findCheck(prop, platform) ?? [])
    known.set(meta, checks)
  }
  for (const { column, fits, instead } of checks) {
    const value = (row as Record<string, unknown>)[column]
    if (value === null || value === undefined || fits(value)) continue
    const other = instead?.(value)
    if (other === undefined) delete (row as Record<string, unknown>)[column]
    else (row as Record<string, unknown>)[column] = other
  }
  return row
}

/** Keys need no check: records are found by stored values. Types of the application check values. */
function findCheck(prop: EntityProperty, platform: Platform): FitCheck | undefined {
  const [column] = prop.fieldNames ?? []
  if (prop.kind !== 'scalar' || prop.primary === true || column === undefined || prop.persist === false) return undefined
  if (isDate(prop)) return { column, fits: value => isTime(value, platform), instead: formatTime }
  if (isText(prop)) return { column, fits: value => !(value instanceof Uint8Array), instead: formatBase64 }
  const fits = buildCheck(prop)
  return fits === undefined ? undefined : { column, fits }
}

function buildCheck(prop: EntityProperty): FitCheck['fits'] | undefined {
  const { customType: type, items, runtimeType } = prop
  if (type instanceof ArrayType) return value => typeof value === 'string' && canBeRead(value, type)
  if (type === undefined && prop.enum === true && items !== undefined) return value => items.includes(value as string)
  if (type instanceof JsonType) return value => typeof value !== 'bigint'
  if (type instanceof BigIntType) return isInteger
  if (type instanceof DoubleType || type instanceof DecimalType)
    return runtimeType === 'number' ? isNumber : value => !(value instanceof Uint8Array)
  if (type instanceof BlobType || type instanceof Uint8ArrayType) return value => value instanceof Uint8Array || typeof value === 'string'
  return undefined
}

function canBeRead(text: string, type: ArrayType): boolean {
  try {
    type.convertToDatabaseValue(type.convertToJSValue(text, type.platform!), type.platform!, {})
    return true
  } catch {
    return false
  }
}

function isText({ customType, runtimeType, enum: isEnum }: EntityProperty): boolean {
  return customType === undefined && runtimeType === 'string' && isEnum !== true
}

/** Setting the shown text changes nothing. */
function formatBase64(value: unknown): string {
  return runtime.formatBytes(value as Uint8Array, 'base64')
}

function isDate({ customType, runtimeType }: EntityProperty): boolean {
  return customType === undefined && runtimeType === 'Date'
}

/** A text without a time zone is read in the zone of the connection. */
function isTime(value: unknown, platform: Platform): boolean {
  if (typeof value === 'bigint') return !Number.isNaN(new Date(Number(value)).getTime())
  if (typeof value !== 'string') return typeof value === 'number' && !Number.isNaN(new Date(value).getTime())
  const zone = platform.getTimezone()
  const namesZone = value.includes('+') || value.lastIndexOf('-') > 10 || value.endsWith('Z')
  return !Number.isNaN(Date.parse(zone === undefined || zone === 'local' || namesZone ? value : value + zone))
}

/** The API shows times that MikroORM cannot read, such as `2024-01-01 10:00:00 UTC`. */
function formatTime(value: unknown): string | undefined {
  const time = typeof value === 'string' ? parseStoredTime(value) : undefined
  return time === undefined ? undefined : formatIso(time)
}

function isInteger(value: unknown): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value) || (typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value))
}

function isNumber(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '' && Number.isFinite(Number(value))
  return typeof value === 'number'
}
