/** Encode: typed values to the parameters that SQLite compares and stores. */
import type { ValueForm } from '../../database/dialect.ts'
import { parseNumber } from '../../values/scalar-type.ts'
import type { ScalarType } from '../../values/scalar-type.ts'
import { findRoundedBound } from '../../values/rounded.ts'
import { findNeighbour } from '../../values/stored-time.ts'
import { formatLike, upperBound } from '../../sql/pattern.ts'
import { formatGlob, isAscii, jsonFunction } from './match.ts'

/** A value as better-sqlite3 binds it: it takes no booleans, and binds numbers as REAL, which a column or a comparison with one turns back. */
export function encode(value: unknown, type: ScalarType, form: ValueForm, inDocument: boolean): unknown {
  if (typeof value === 'boolean') return form === 'word' ? String(value) : value ? 1 : 0
  // The number that a text is as well, where either may be stored. Integers as BigInt, to keep all digits.
  if (form === 'number') {
    const number = parseNumber(String(value))
    return number === undefined ? null : Number.isSafeInteger(number) ? BigInt(number) : number
  }
  if (form === 'json') return jsonFunction(value)
  if (form === 'jsonText') return textOfJson(String(value))
  if (form === 'timeLow' || form === 'timeHigh')
    return findNeighbour(value as number, type.time?.unit ?? 'text', form === 'timeLow' ? -1 : 1)
  // Without seconds it is the same time.
  if (form === 'minutes') return String(value).replace(/^(\d\d:\d\d):00$/, '$1')
  if (form === 'timeNext') return (value as number) + 1
  if (form === 'misfit') return null
  if (form === 'upper') return String(value).toUpperCase()
  if (form === 'roundLow' || form === 'roundHigh') return findRoundedBound(String(value), type.scale!, form === 'roundLow' ? 'low' : 'high')
  // Inside a JSON document MikroORM writes dates as ISO text, which sorts as time does.
  if (type.kind === 'datetime' && inDocument) return new Date(value as number).toISOString()
  return value
}

/** The text that a JSON text is, if it is a text in quotes. */
function textOfJson(text: string): string | null {
  if (!text.startsWith('"')) return null
  try {
    return String(JSON.parse(text))
  } catch {
    return null
  }
}

export function encodePattern(pieces: readonly string[], form: ValueForm): unknown {
  switch (form) {
    case 'prefixLow':
      return pieces[0]
    case 'prefixHigh':
      return upperBound(pieces[0]!)
    case 'contains':
      return pieces[1]
    case 'glob':
      return formatGlob(pieces)
    case 'like':
      return formatLike(pieces)
    case 'isAscii':
      return isAscii(pieces) ? 1 : 0
    case 'pieces':
    case 'value':
    case 'number':
    case 'json':
    case 'jsonText':
    case 'upper':
    case 'minutes':
    case 'timeLow':
    case 'timeHigh':
    case 'timeNext':
    case 'misfit':
    case 'roundLow':
    case 'roundHigh':
    case 'word':
      return JSON.stringify(pieces)
  }
}
