/** Value forms: the forms in which PostgreSQL compares values and wildcard patterns, beside the stored one. */
import type { OwnForm, OwnPatternForm } from '../../../records/database/value-form.ts'
import { formatLike, upperBound } from '../../sql/pattern.ts'
import { parseKept } from '../../../foundation/base/json-numbers.ts'
import { parseNumber } from '../../../foundation/values/scalar-type.ts'
import { formatTime, keepPossible } from './encode.ts'

/** Of date-times: the next millisecond. */
export const TIME_NEXT: OwnForm = {
  of: 'value',
  encode: value => (value === null || value === undefined ? null : formatTime((value as number) + 1)),
}

/** A pattern of which no part has a NUL: no stored text has one. */
function pattern(encode: (pieces: readonly string[]) => unknown): OwnPatternForm {
  return { of: 'pattern', encode: pieces => (pieces.some(piece => keepPossible(piece) === null) ? null : encode(pieces)) }
}

/** Of `abc*`: the bounds between which the texts are. */
export const PREFIX_LOW = pattern(pieces => pieces[0])
export const PREFIX_HIGH = pattern(pieces => upperBound(pieces[0]!))

/** Of `*abc*`: the text in the middle. */
export const CONTAINED = pattern(pieces => pieces[1])

/** The pattern as LIKE takes it. */
export const LIKE = pattern(formatLike)

/** A pattern of `$like`. The server refuses a backslash at the end that nothing follows, so it stands for itself. */
export const GIVEN_LIKE: OwnForm = {
  of: 'value',
  encode: value => (typeof value === 'string' ? keepPossible(value.replace(/(?<!\\)(?:\\\\)*\\$/, '$&\\')) : null),
}

/** The number that a text is as well. */
export const NUMBER: OwnForm = {
  of: 'value',
  encode: value => {
    const number = parseNumber(String(value))
    return number === undefined ? null : String(number)
  },
}

/** The number that a stored value is; NULL where it is none. A boolean is compared as a number, as it sorts. */
export const STORED_NUMBER: OwnForm = {
  of: 'value',
  encode: value =>
    typeof value === 'boolean' ? String(Number(value)) : typeof value === 'number' || typeof value === 'bigint' ? String(value) : null,
}

/** What no stored JSON value holds: NUL, and halves of characters. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f]..)/i

/** Objects and arrays in each other; the server takes some thousand. */
const MAX_DEPTH = 1000

/** The JSON value that a text is, in the spelling of the server; NULL for null, which nothing equals. */
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
