/** Other forms of a value than the stored form, for filters: bounds of a time or a prefix, patterns, regular expressions, JSON. */
import type { OwnForm, OwnPatternForm } from '../../../records/database/binding.ts'
import { formatLike, upperBound } from '../../sql/pattern.ts'
import { parseKept } from '../../../foundation/json/json-numbers.ts'
import { parseNumber } from '../../../foundation/values/scalar-type.ts'
import { encode, formatTime, keepPossible } from './encode.ts'
import { formatExpression } from './format-expression.ts'

/** The last microsecond of the same millisecond. */
export const TIME_LAST: OwnForm = {
  of: 'value',
  encode: value => (value === null || value === undefined ? null : formatTime(value as number).replace('Z', '999Z')),
}

/** The server makes a value of the column's type. */
export const OWN_TYPE: OwnForm = { of: 'value', encode }

/** NULL for patterns with NUL: stored texts have no NUL. */
function pattern(encode: (pieces: readonly string[]) => unknown): OwnPatternForm {
  return { of: 'pattern', encode: pieces => (pieces.some(piece => keepPossible(piece) === null) ? null : encode(pieces)) }
}

/** Bounds for `abc*`. */
export const PREFIX_LOW = pattern(pieces => pieces[0])
export const PREFIX_HIGH = pattern(pieces => upperBound(pieces[0]!))

/** The middle of `*abc*`. */
export const CONTAINED = pattern(pieces => pieces[1])

export const LIKE = pattern(formatLike)

/** Doubles a lone backslash at the end, refused by the server. */
export const GIVEN_LIKE: OwnForm = {
  of: 'value',
  encode: value => (typeof value === 'string' ? keepPossible(value.replace(/(?<!\\)(?:\\\\)*\\$/, '$&\\')) : null),
}

/** Regular expressions. */
export const EXPRESSION = expression(false)
export const EXPRESSION_FOLDED = expression(true)

function expression(fold: boolean): OwnForm {
  return { of: 'value', encode: value => (typeof value === 'string' ? formatExpression(value, fold) : null) }
}

export const NUMBER: OwnForm = {
  of: 'value',
  encode: value => {
    const number = parseNumber(String(value))
    return number === undefined ? null : String(number)
  },
}

/** A stored number, or NULL. Booleans sort as numbers. */
export const STORED_NUMBER: OwnForm = {
  of: 'value',
  encode: value =>
    typeof value === 'boolean' ? String(Number(value)) : typeof value === 'number' || typeof value === 'bigint' ? String(value) : null,
}

/** NUL and lone surrogates, never in stored JSON. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f]..)/i

/** The server takes some thousand. */
const MAX_DEPTH = 1000

/** A text as JSON, in the server's spelling; NULL for null and other texts. */
export const JSON_VALUE: OwnForm = {
  of: 'value',
  encode: value => {
    const given = String(value)
    const number = parseNumber(given)
    if (number !== undefined) return String(number)
    if (!/^\s*["[{tf]/.test(given) || isDeep(given)) return null
    try {
      const json = JSON.stringify(parseKept(given))
      return UNSTORABLE.test(json) ? null : json
    } catch {
      return null
    }
  },
}

function isDeep(text: string): boolean {
  let depth = 0
  for (const character of text) {
    if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    if (depth > MAX_DEPTH) return true
  }
  return false
}
