/** Decode: values as SQLite gives them to their JSON form. A value that does not fit its declared type (SQLite allows it) is shown as it is. */
import { formatIso } from '../values/iso-time.ts'
import { isValue } from '../model/model.ts'
import type { EmbeddedAttribute, InnerAttribute, ScalarAttribute } from '../model/model.ts'
import type { Field } from '../plan/read-plan.ts'
import type { ScalarType } from '../values/scalar-type.ts'
import { parseStoredTime } from '../values/stored-time.ts'

/** The JSON form of a value. NULL is decided before: a decoder is only asked for what is there. */
export type Decoder = (value: never) => unknown

/** A date-time is a number of milliseconds, or a text: a default such as current_timestamp, or another program. Without an offset it is UTC. */
function decodeDatetime(value: unknown): unknown {
  if (typeof value === 'number') return formatIso(value)
  const time = parseStoredTime(value)
  return time === undefined ? decodeOdd(value) : formatIso(time)
}

function decodeBoolean(value: unknown): unknown {
  return value === 1 ? true : value === 0 ? false : decodeOdd(value)
}

/** JSON has no infinity, and -0 would read back as 0. */
function decodeNumber(value: unknown): unknown {
  if (typeof value !== 'number') return decodeOdd(value)
  return Number.isFinite(value) ? value + 0 : null
}

/** A number as decimal digits without an exponent, with the scale of its type. */
function formatDecimal(value: unknown, scale: number | undefined): unknown {
  if (typeof value === 'string' && scale !== undefined && /^-?\d+(\.\d+)?$/.test(value)) {
    const [whole = '', fraction = ''] = value.split('.')
    return scale === 0 && fraction === '' ? whole : `${whole}.${fraction.padEnd(scale, '0')}`.replace(/\.$/, '')
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return decodeOdd(value)
  if (Math.abs(value) >= 1e21) return BigInt(value).toString() + (scale === undefined || scale === 0 ? '' : `.${'0'.repeat(scale)}`)
  if (scale !== undefined) return withoutZeroSign(value.toFixed(scale))
  const text = String(value + 0)
  return text.includes('e') ? value.toFixed(20).replace(/0+$/, '').replace(/\.$/, '') : text
}

function withoutZeroSign(text: string): string {
  return text.startsWith('-') && Number(text) === 0 ? text.slice(1) : text
}

function decodeJson(value: unknown): unknown {
  if (typeof value !== 'string') return decodeOdd(value)
  try {
    return JSON.parse(value) as unknown
  } catch {
    // Not written by us: a file may hold any text in a JSON column, and showing it is more use than failing the whole page.
    return value
  }
}

/** A value of a type that was not declared: text and numbers stand as they are, bytes as base64. */
export function decodeOdd(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  if (typeof value === 'bigint') return value.toString()
  // -0 would read back as 0.
  return typeof value === 'number' ? (Number.isFinite(value) ? value + 0 : null) : value
}

/** The decoder of a column's value, or undefined when SQLite's value is the JSON value unless it is bytes: see `decodeOdd`. */
export function findDecoder(type: ScalarType): Decoder | undefined {
  if (type.loose === true) return findLooseDecoder(type)
  switch (type.kind) {
    case 'integer':
    case 'text':
    case 'uuid':
    case 'date':
    case 'time':
      return undefined
    case 'bigint':
      return type.asNumber === true ? decodeNumber : undefined
    case 'float':
      return decodeNumber
    case 'decimal':
      return type.asNumber === true ? decodeNumber : (value: unknown) => formatDecimal(value, type.scale)
    case 'boolean':
      return decodeBoolean
    case 'datetime':
      return decodeDatetime
    case 'json':
      return decodeJson
    case 'blob':
    case 'any':
      return decodeOdd
    case 'array':
    case 'custom':
      return type.codec!.toJson
    case 'jsonValue':
      /* node:coverage ignore next */
      throw new Error('A value inside a JSON value is not shown by itself.')
  }
}

/** The decoder of a column that may hold anything. */
function findLooseDecoder(type: ScalarType): Decoder {
  switch (type.kind) {
    case 'boolean':
      return (value: unknown) => (value === 1 ? true : value === 0 ? false : decodeOdd(value))
    case 'datetime': {
      const { unit } = type.time!
      return (value: unknown) => {
        const time = parseStoredTime(value, unit)
        return time === undefined ? decodeOdd(value) : formatIso(time)
      }
    }
    case 'json':
      return decodeJson
    default:
      return decodeOdd
  }
}

/** JavaScript that tests whether the value of an expression needs no decoder, in a column that has one for others. */
export function plainTest(type: ScalarType, value: string): string {
  if (type.loose === true) {
    switch (type.kind) {
      case 'text':
      case 'uuid':
      case 'date':
      case 'time':
      case 'any':
        return `typeof ${value}==="string"||${value}===null`
      case 'integer':
        return `(${value}|0)===${value}||${value}===null`
      default:
    }
  }
  return `${value}===null`
}

/** The JSON form of a value inside a JSON document, where MikroORM has written dates as texts and big numbers as texts or numbers. */
function decodeInDocument(attribute: ScalarAttribute, value: unknown): unknown {
  const { type } = attribute
  if (value === undefined || value === null) return null
  switch (type.kind) {
    case 'datetime':
      return decodeDatetime(value)
    case 'bigint':
      return type.asNumber === true ? Number(value) : typeof value === 'string' ? value : JSON.stringify(value)
    case 'decimal':
      return type.asNumber === true ? Number(value) : formatDecimal(value, type.scale)
    case 'blob':
      return decodeBuffer(value)
    case 'array':
    case 'custom':
      return type.codec!.toJson(value)
    default:
      return value
  }
}

/** Bytes in a JSON document are what JSON makes of a Buffer: `{ type: 'Buffer', data: [...] }`. */
function decodeBuffer(value: unknown): unknown {
  const { data } = value as { data?: unknown }
  return Array.isArray(data) ? Buffer.from(data as number[]).toString('base64') : value
}

/** Renders an embedded object from the JSON document that holds it. */
export function decodeDocument(embedded: EmbeddedAttribute, fields: readonly Field[], holder: unknown): unknown {
  if (embedded.array) return Array.isArray(holder) ? holder.map(member => decodeObject(embedded, fields, member)) : null
  return decodeObject(embedded, fields, holder)
}

function decodeObject({ variants, byName }: EmbeddedAttribute, fields: readonly Field[], holder: unknown): unknown {
  if (holder === null || typeof holder !== 'object') return null
  const given = holder as Record<string, unknown>
  const own = variants?.byValue.get(String(given[formatKeyColumn(byName.get(variants.discriminator) as ScalarAttribute)]))
  const object: Record<string, unknown> = {}
  const shown = own === undefined ? fields : own.flatMap(({ name }) => fields.filter(field => field.attribute.name === name))
  for (const field of shown) {
    const { attribute } = field
    // What it links is put in later: only the database knows which records exist for the caller.
    if (!isValue(attribute)) {
      object[attribute.name] = null
      continue
    }
    const value = given[formatKeyColumn(attribute)]
    object[attribute.name] =
      attribute.kind === 'embedded'
        ? decodeDocument(attribute, ofClass((field as Field & { kind: 'embedded' }).fields, own, attribute.name), value ?? null)
        : decodeInDocument(attribute, value)
  }
  return object
}

/** Of what classes have under one name, an object shows what its own class has. */
function ofClass(fields: readonly Field[], own: readonly InnerAttribute[] | undefined, name: string): readonly Field[] {
  const narrow = own?.find(attribute => attribute.name === name)
  return narrow?.kind === 'embedded' ? fields.filter(({ attribute }) => narrow.byName.has(attribute.name)) : fields
}

/** The key of an attribute in the object that holds it. */
function formatKeyColumn(attribute: ScalarAttribute | EmbeddedAttribute): string {
  if (attribute.kind === 'embedded') return attribute.document!.keys.at(-1)!
  return attribute.source.kind === 'document' ? attribute.source.keys.at(-1)! : ''
}

/** The JSON document of an embedded object's column: the object at its keys. */
export function documentAt(column: unknown, keys: readonly string[]): unknown {
  let value: unknown = decodeJson(column)
  for (const key of keys) value = value === null || typeof value !== 'object' ? null : (value as Record<string, unknown>)[key]
  return value ?? null
}
