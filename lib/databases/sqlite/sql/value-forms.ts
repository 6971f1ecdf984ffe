/** Value forms: the forms in which SQLite compares values and wildcard patterns, beside the stored one. */
import type { OwnForm, OwnPatternForm } from '../../../records/database/value-form.ts'
import { formatLike, upperBound } from '../../sql/pattern.ts'
import { findRoundedBound } from '../../../foundation/values/rounded.ts'
import { parseNumber, type ScalarType } from '../../../foundation/values/scalar-type.ts'
import { findForm, findNeighbour } from './stored-time.ts'
import { toGlob } from './match-like.ts'
import { formatGlob, isAscii, jsonFunction } from './match.ts'

/** A form of values. better-sqlite3 binds no booleans. */
function form(encode: (value: unknown, type: ScalarType) => unknown): OwnForm {
  return { of: 'value', encode: (value, type) => (typeof value === 'boolean' ? Number(value) : encode(value, type)) }
}

function pattern(encode: (pieces: readonly string[]) => unknown): OwnPatternForm {
  return { of: 'pattern', encode }
}

/** The number that a text is as well, where either may be stored. Integers as BigInt, to keep all digits. */
export const NUMBER = form(value => {
  const number = parseNumber(String(value))
  return number === undefined ? null : Number.isSafeInteger(number) ? BigInt(number) : number
})

/** Of booleans: `true` or `false` as a text. */
export const WORD: OwnForm = { of: 'value', encode: String }

/** Of UUIDs: in upper case. */
export const UPPER = form(value => String(value).toUpperCase())

/** Of times: without seconds, where these are zero. */
export const MINUTES = form(value => String(value).replace(/^(\d\d:\d\d):00$/, '$1'))

/** Of date-times: a stored value before, or after, all that stand for the time. */
export const TIME_LOW = form((value, type) => findNeighbour(value as number, findForm(type)?.unit ?? 'text', -1))
export const TIME_HIGH = form((value, type) => findNeighbour(value as number, findForm(type)?.unit ?? 'text', 1))

/** Of date-times: the next millisecond. */
export const TIME_NEXT = form(value => (value as number) + 1)

/** Of decimals: the least and the greatest number that is shown as one that is at least, or at most, the given one. */
export const ROUND_LOW = form((value, type) => findRoundedBound(String(value), type.scale!, 'low'))
export const ROUND_HIGH = form((value, type) => findRoundedBound(String(value), type.scale!, 'high'))

/** A value that is not of the type of its attribute, as a text; NULL for any other. */
export const MISFIT: OwnForm = { ...form(() => null), takesMisfits: true }

/** The object or array that a text is, in one spelling. */
export const JSON_VALUE = form(jsonFunction)

/** The text that a JSON text is, if it is a text in quotes. */
export const JSON_TEXT = form(value => parseQuoted(String(value)))

function parseQuoted(text: string): string | null {
  if (!text.startsWith('"')) return null
  try {
    return String(JSON.parse(text))
  } catch {
    return null
  }
}

/** Of `abc*`: the bounds between which the texts are. */
export const PREFIX_LOW = pattern(pieces => pieces[0])
export const PREFIX_HIGH = pattern(pieces => upperBound(pieces[0]!))

/** Of `*abc*`: the text in the middle. */
export const CONTAINED = pattern(pieces => pieces[1])

/** The pattern as GLOB and LIKE take it, and whether LIKE folds all its letters. */
export const GLOB = pattern(formatGlob)
export const LIKE = pattern(formatLike)
export const IS_ASCII = pattern(pieces => (isAscii(pieces) ? 1 : 0))

/** Of a pattern of `$like`: the same for GLOB, which ends at a NUL. What it is asked for has none. */
export const LIKE_GLOB = form(value => (typeof value !== 'string' || value.includes('\0') ? null : toGlob(value)))

/** The pattern as `mikro_match` takes it. */
export const PIECES = pattern(pieces => JSON.stringify(pieces))
