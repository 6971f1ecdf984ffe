/** Makes JSON values of PostgreSQL's texts in the time zone UTC: `2020-01-31T12:13:14.123Z` of `2020-01-31 12:13:14.123456+00`. */
import { decodeJson, formatDecimal } from '../../sql/decode-document.ts'
import type { BuilderSource, RowValue } from '../../sql/builder-source.ts'
import type { Decoder } from '../../sql/flavour.ts'
import { parseServerTime } from '../../../foundation/values/iso-time.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { BLANK_PADDED } from './parameters.ts'

/** Null for infinity and NaN; 0 for -0. */
function decodeNumber(text: string): number | null {
  const value = Number(text)
  return Number.isFinite(value) ? value + 0 : null
}

const DATETIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/

/** Also without offset. Leaves `infinity` and years before the first. */
function decodeDatetime(text: string): string {
  const bare = text.endsWith('+00') ? text.slice(0, -3) : text
  return DATETIME.test(bare) ? `${bare.slice(0, 10)}T${bare.slice(11, 19)}.${bare.slice(20, 23).padEnd(3, '0')}Z` : text
}

function trimBlanks(text: string): string {
  return text.replace(/ +$/, '')
}

/** Takes `\x0aff`, returns base64. */
function decodeBytes(text: string): string {
  return Buffer.from(text.slice(2), 'hex').toString('base64')
}

/** See `Flavour.findDecoder`. */
export function findDecoder(type: ScalarType): Decoder | undefined {
  switch (type.kind) {
    case 'integer':
      return Number
    case 'float':
      return decodeNumber
    case 'bigint':
      return type.asNumber === true ? decodeNumber : undefined
    case 'decimal':
      return type.asNumber === true ? decodeNumber : (text: string) => formatDecimal(text, type.scale)
    case 'boolean':
      return (text: string) => text === 't'
    case 'datetime':
      return decodeDatetime
    case 'text':
      return type.column === BLANK_PADDED ? trimBlanks : undefined
    case 'json':
      return decodeJson
    case 'blob':
      return decodeBytes
    case 'array':
    case 'custom':
      return type.codec!.toJson
    default:
      return undefined
  }
}

/** See `Dialect.decode`. */
export function decodeBare(value: unknown, { kind }: ScalarType): unknown {
  if (typeof value !== 'string') return value
  if (kind === 'datetime') return parseServerTime(value) ?? Date.parse(decodeDatetime(value))
  return kind === 'integer' || kind === 'float' ? Number(value) : value
}

/** See `Flavour.readValue`. */
export function readValue(type: ScalarType, value: RowValue, source: BuilderSource): RowValue {
  const decoder = findDecoder(type)
  if (decoder === undefined) return value
  const decoded = source.call(decoder, value)
  if (type.kind === 'integer') return source.unlessNull([value], 'some', { ...decoded, source: `+${value.source}` })
  if (type.kind === 'boolean') return source.unlessNull([value], 'some', { ...decoded, source: `${value.source}==="t"` })
  return source.unlessNull([value], 'some', decoded)
}
