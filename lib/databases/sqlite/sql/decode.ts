/** Makes JSON values of stored values, such as `true` of 1, or an ISO text of milliseconds. A value of a wrong type is shown unchanged. */
import { formatIso } from '../../../foundation/values/iso-time.ts'
import { formatBytes } from '../../../model/key.ts'
import type { ScalarAttribute } from '../../../model/model.ts'
import type { BuilderSource, RowValue } from '../../sql/builder-source.ts'
import { decodeDatetime, decodeJson, decodeNumber, decodeOdd, formatDecimal } from '../../sql/decode-document.ts'
import type { ColumnScope, Decoder } from '../../sql/flavour.ts'
import { text, type Sql } from '../../sql/sql.ts'
import { mayHoldAny, type ScalarType } from '../../../foundation/values/scalar-type.ts'
import { findForm, parseStoredTime } from './stored-time.ts'
import { compileStoredValue } from './stored-value.ts'

function decodeBoolean(value: unknown): unknown {
  return value === 1 ? true : value === 0 ? false : decodeOdd(value)
}

/** Undefined where the stored value is the JSON value. */
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

function findLooseDecoder(type: ScalarType): Decoder {
  switch (type.kind) {
    case 'boolean':
      return (value: unknown) => (value === 1 ? true : value === 0 ? false : decodeOdd(value))
    case 'datetime': {
      const { unit } = findForm(type)!
      return (value: unknown) => {
        const time = parseStoredTime(value, unit)
        return time === undefined ? decodeOdd(value) : formatIso(time)
      }
    }
    case 'json':
      return decodeJson
    default:
      return type.strays === true ? decodeKey : decodeOdd
  }
}

function decodeKey(value: unknown): unknown {
  return value instanceof Uint8Array ? formatBytes(value) : decodeOdd(value)
}

function plainTest(type: ScalarType, value: string): string {
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

/** In a file, integers beyond 2^53 become texts. */
export function compileShown(attribute: ScalarAttribute, scope: ColumnScope): Sql {
  const { type, source } = attribute
  if (!mayHoldAny(type) || source.kind !== 'column') return compileStoredValue(attribute, scope)
  const column = scope.column(source.column)
  // Binary JSON is shown as JSON, other bytes unchanged.
  if (type.kind === 'json')
    return text(`case when typeof(${column}) = 'blob' and json_valid(${column}, 8) then json(${column}) else ${column} end`)
  // Introspection has made larger integer keys `bigint`.
  if ((type.kind !== 'integer' && type.kind !== 'any') || attribute.primary) return text(column)
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number
  const other = `case typeof(${column}) when 'integer' then cast(${column} as text) else ${column} end`
  return text(`case when ${column} between ${least} and ${most} then ${column} else ${other} end`)
}

export function readValue(type: ScalarType, value: RowValue, source: BuilderSource): RowValue {
  const decoder = findDecoder(type)
  // Any column may hold bytes.
  const decoded = source.call(decoder ?? decodeOdd, value)
  const isPlain = decoder === undefined ? `typeof ${value.source}!=="object"||${value.source}===null` : plainTest(type, value.source)
  return { source: `(${isPlain}?${value.source}:${decoded.source})`, of: row => (value.of(row) === null ? null : decoded.of(row)) }
}
