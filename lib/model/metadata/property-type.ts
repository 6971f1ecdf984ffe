/** Finds the `ScalarType` of a MikroORM property, by type class, runtime type and column type. */
import {
  ArrayType,
  BigIntType,
  BlobType,
  DateType,
  DecimalType,
  DoubleType,
  IntervalType,
  JsonType,
  TimeType,
  Type,
  Uint8ArrayType,
  UuidType,
} from '@mikro-orm/core'
import type { EntityProperty, Platform } from '@mikro-orm/core'
import { arrayCodec, customCodec, isBuiltIn } from './custom-type-codec.ts'
import { DescribedType } from './described-type.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'

export function publicName(prop: EntityProperty): string {
  return prop.serializedName ?? prop.name
}

export function isGetter(prop: EntityProperty): boolean {
  return prop.persist === false && ((prop.getter === true && prop.setter !== true) || prop.getterName !== undefined)
}

const RUNTIME_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'bigint', 'object', 'Date', 'Buffer'])

/** Whether the type is unknown: the compiler emits `Object` for `string | null`. Stored as text. */
export function isUnnamed(prop: EntityProperty): boolean {
  const { type, runtimeType, customType } = prop
  return (
    customType === undefined && !RUNTIME_TYPES.has(runtimeType) && type !== 'text' && type !== 'string' && findItems(prop) === undefined
  )
}

/**
 * MikroORM's `runtimeType`, but not for enums read from source (`TsMorphMetadataProvider`), with names such as `Kind`, nor for columns
 * unknown to MikroORM (`citext`).
 */
function findRuntimeType(prop: EntityProperty): string {
  const { runtimeType, type, columnTypes } = prop
  if (RUNTIME_TYPES.has(runtimeType) || columnTypes === undefined) return runtimeType
  const items = findItems(prop)
  if (items !== undefined && items.length > 0)
    for (const kind of ['string', 'number'] as const) if (items.every(item => typeof item === kind)) return kind
  return runtimeType === 'unknown' && type === 'string' ? 'string' : runtimeType
}

/** A union of texts in an entity's source: `"x" | "y"`. */
const LITERALS = /^"[^"]*"(?: \| "[^"]*")*$/

function findItems({ items, type, customType }: EntityProperty): (string | number)[] | undefined {
  if (items !== undefined) return items
  return customType === undefined && LITERALS.test(type) ? type.slice(1, -1).split('" | "') : undefined
}

/** Whether classes of an embedded object declare different types. */
function isMerged({ runtimeType, type }: EntityProperty): boolean {
  return runtimeType === 'any' && type.includes(' | ')
}

/** Undefined: unknown type. */
export function scalarType(prop: EntityProperty): ScalarType | undefined {
  const known = findItems(prop)
  const items = known === undefined ? {} : { items: Object.freeze<(string | number)[]>([...known]) }
  const type = prop.customType
  const runtime = findRuntimeType(prop)
  if (type instanceof DescribedType) return type.scalar
  if (type instanceof ArrayType) return { kind: 'array', ...items, codec: arrayCodec(prop, findPlatform(prop)) }
  if (type !== undefined && !isBuiltIn(type))
    return { kind: 'custom', codec: customCodec(prop, findPlatform(prop)), ...findJsonType(prop, type) }
  if (type instanceof BigIntType || type instanceof DecimalType) return exactType(prop, type)
  if (type instanceof JsonType) return { kind: 'json' }
  // MikroORM may make no type object.
  if (type instanceof UuidType || prop.type === 'uuid') return { kind: 'uuid' }
  if (type instanceof DateType) return { kind: 'date', ...findEnds(prop) }
  if (type instanceof TimeType) return { kind: 'time' }
  if (type instanceof DoubleType) return { kind: 'float', ...items }
  if (type instanceof BlobType || type instanceof Uint8ArrayType || runtime === 'Buffer') return { kind: 'blob' }
  if (runtime === 'Date') return { kind: 'datetime', ...findEnds(prop) }
  if (runtime === 'boolean') return { kind: 'boolean' }
  if (runtime === 'number') {
    const column = prop.columnTypes?.[0] ?? prop.type
    if (!/^(real|double|float|numeric|decimal)/i.test(column)) return { kind: 'integer', ...items }
    return { kind: 'float', ...items, ...(/^(?:real|float4)\b/i.test(column) ? { column: 'real' } : {}) }
  }
  if (runtime === 'string') {
    if (/^time\b/i.test(prop.columnTypes?.[0] ?? '')) return { kind: 'time' }
    // The engine compares texts itself; the collation only keeps texts unique.
    const collated = prop.collation !== undefined && !/^binary$/i.test(prop.collation)
    const isFree = prop.length === undefined || prop.items !== undefined || type instanceof IntervalType
    return {
      kind: 'text',
      ...(isFree ? {} : { length: prop.length! }),
      ...items,
      ...(collated ? { collated } : {}),
      ...findTextColumn(prop),
    }
  }
  if (isMerged(prop)) return { kind: 'json' }
  // Not stored: a life-cycle hook may take anything.
  if (isUnnamed(prop) && prop.persist === false && prop.formula === undefined) return { kind: 'json' }
  if (!/^(?:text|varchar\(\d+\))$/i.test(prop.columnTypes?.[0] ?? '')) return undefined
  return { kind: 'text', ...items, ...(prop.length === undefined ? {} : { length: prop.length }) }
}

const JSON_TYPES: Readonly<Record<string, ScalarType['json']>> = { string: 'string', Date: 'string', number: 'number', boolean: 'boolean' }

/**
 * Finds a custom type's type in JSON, for OpenAPI: the declared `runtimeType`, else, if nothing is converted, the column's. A type with a
 * `toJSON` may show anything.
 */
function findJsonType({ runtimeType, columnTypes }: EntityProperty, type: Type<unknown>): { json?: NonNullable<ScalarType['json']> } {
  if (type.toJSON !== Type.prototype.toJSON) return {}
  const compared = type.compareAsType()
  const runtimeName = declares(type, 'runtimeType')
    ? type.runtimeType
    : runtimeType === (compared === 'any' ? 'string' : compared)
      ? ''
      : runtimeType
  const column = type.convertToJSValue === Type.prototype.convertToJSValue ? nameJsonType(columnTypes?.[0] ?? '') : undefined
  const json = JSON_TYPES[runtimeName] ?? column
  return json === undefined ? {} : { json }
}

/** Whether a class below `Type` declares the member. */
function declares(type: Type<unknown>, member: string): boolean {
  for (let holder: object = type; holder !== Type.prototype; holder = Object.getPrototypeOf(holder) as object)
    if (Object.hasOwn(holder, member)) return true
  return false
}

function nameJsonType(column: string): ScalarType['json'] {
  if (/^(?:\w*text|n?varchar|character varying|character|n?char|bpchar|uuid|inet)\b/i.test(column)) return 'string'
  if (/^(?:int|integer|int4|smallint|int2|real|double|float)\b/i.test(column)) return 'number'
  return /^bool(?:ean)?\b/i.test(column) ? 'boolean' : undefined
}

const endless = new WeakSet<EntityProperty>()

export function markEndless(props: readonly EntityProperty[]): void {
  for (const prop of props) {
    endless.add(prop)
    if (prop.embeddedProps !== undefined) markEndless(Object.values(prop.embeddedProps))
  }
}

function findEnds(prop: EntityProperty): { endless?: true } {
  return endless.has(prop) ? { endless: true } : {}
}

function exactType({ columnTypes, precision, scale }: EntityProperty, type: BigIntType | DecimalType): ScalarType {
  const mode: string | undefined = type.mode
  const asNumber = mode === 'number'
  if (type instanceof BigIntType)
    return { kind: 'bigint', asNumber, asText: mode === 'string', ...(columnTypes?.[0] === 'oid' ? { column: 'oid' } : {}) }
  return { kind: 'decimal', asNumber, ...(precision === undefined ? {} : { precision }), ...(scale === undefined ? {} : { scale }) }
}

/** Names an unusual column type of a text: `char(5)`, `inet`, an enum of the database. */
function findTextColumn({ columnTypes, formula }: EntityProperty): { column?: string } {
  const [declared = 'text'] = columnTypes ?? []
  if (formula !== undefined || /^(?:\w*text|n?varchar|character varying)\b/i.test(declared)) return {}
  return { column: /^(?:bpchar|char|character)\b/i.test(declared) ? 'bpchar' : declared }
}

function findPlatform(prop: EntityProperty): Platform {
  return (prop.customType as { platform: Platform }).platform
}
