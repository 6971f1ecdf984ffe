/** Encode: typed values to the parameters that SQLite compares and stores. */
import type { ValueForm } from '../dialect.ts'
import type { ScalarType } from '../scalars.ts'
import { numberOfText } from '../scalars.ts'
import { globOf, isAscii, likeOf, upperBound } from './match.ts'

/** A value as better-sqlite3 binds it: it takes no booleans, and binds numbers as REAL, which a column or a comparison with one turns back. */
export function encode(value: unknown, type: ScalarType, form: ValueForm, inDocument: boolean): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  // The number that a text is as well, in a comparison with what a JSON value holds. Integers as BigInt, to keep all digits.
  if (form === 'number') {
    const number = numberOfText(String(value))
    return number === undefined ? null : Number.isSafeInteger(number) ? BigInt(number) : number
  }
  if (form === 'upper') return String(value).toUpperCase()
  // Inside a JSON document MikroORM writes dates as ISO text, which sorts as time does.
  if (type.kind === 'datetime' && inDocument) return new Date(value as number).toISOString()
  return value
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
      return globOf(pieces)
    case 'like':
      return likeOf(pieces)
    case 'isAscii':
      return isAscii(pieces) ? 1 : 0
    case 'pieces':
    case 'value':
    case 'number':
    case 'upper':
      return JSON.stringify(pieces)
  }
}
