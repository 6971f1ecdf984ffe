/**
 * Other forms of a filter's value, for columns with several stored forms: a UUID in upper case, the bounds of a rounded number, a pattern
 * for GLOB.
 */
import { parseNumber, type ScalarType } from '../../../foundation/values/scalar-type.ts'
import type { OwnForm, OwnPatternForm } from '../../../records/database/binding.ts'
import { formatLike, upperBound } from '../../sql/pattern.ts'
import { toGlob } from './match-like.ts'
import { formatGlob, isAscii, jsonFunction } from './match.ts'
import { findForm, findNeighbour } from './stored-time.ts'

/** better-sqlite3 binds no booleans. */
function form(encode: (value: unknown, type: ScalarType) => unknown): OwnForm {
  return { of: 'value', encode: (value, type) => (typeof value === 'boolean' ? Number(value) : encode(value, type)) }
}

function pattern(encode: (pieces: readonly string[]) => unknown): OwnPatternForm {
  return { of: 'pattern', encode }
}

/** The number in a text. BigInt keeps all digits. */
export const NUMBER = form(value => {
  const number = parseNumber(String(value))
  return number === undefined ? null : Number.isSafeInteger(number) ? BigInt(number) : number
})

export const WORD: OwnForm = { of: 'value', encode: String }

export const UPPER = form(value => String(value).toUpperCase())

/** The spelling without zero seconds: `10:30` for `10:30:00`. */
export const MINUTES = form(value => String(value).replace(/^(\d\d:\d\d):00$/, '$1'))

/** Sorts before (LOW) or after (HIGH) all stored forms of the time. */
export const TIME_LOW = form((value, type) => findNeighbour(value as number, findForm(type)?.unit ?? 'text', -1))
export const TIME_HIGH = form((value, type) => findNeighbour(value as number, findForm(type)?.unit ?? 'text', 1))

/** The next millisecond. */
export const TIME_NEXT = form(value => (value as number) + 1)

/** Bounds of all numbers shown as the given number. */
export const ROUND_LOW = form((value, type) => findRoundedBound(String(value), type.scale!, 'low'))
export const ROUND_HIGH = form((value, type) => findRoundedBound(String(value), type.scale!, 'high'))

/** The text of a misfit; NULL for other values. */
export const MISFIT: OwnForm = { ...form(() => null), takesMisfits: true }

/** As `mikro_json` spells objects and arrays. */
export const JSON_VALUE = form(jsonFunction)

/** `Ann` for `"Ann"`; NULL for a value without quotes. */
export const JSON_TEXT = form(value => parseQuoted(String(value)))

function parseQuoted(text: string): string | null {
  if (!text.startsWith('"')) return null
  try {
    return String(JSON.parse(text))
  } catch {
    return null
  }
}

export const PREFIX_LOW = pattern(pieces => pieces[0])
export const PREFIX_HIGH = pattern(pieces => upperBound(pieces[0]!))

export const CONTAINED = pattern(pieces => pieces[1])

export const GLOB = pattern(formatGlob)
export const LIKE = pattern(formatLike)

/** 1 where LIKE folds all letters. */
export const IS_ASCII = pattern(pieces => (isAscii(pieces) ? 1 : 0))

/** NULL for a pattern with a NUL, where GLOB ends. */
export const LIKE_GLOB = form(value => (typeof value !== 'string' || value.includes('\0') ? null : toGlob(value)))

export const PIECES = pattern(pieces => JSON.stringify(pieces))

const bits = new BigInt64Array(1)
const double = new Float64Array(bits.buffer)

/**
 * Returns the least double shown as at least the given decimal (`low`), or the greatest shown as at most the decimal (`high`).
 *
 * @param text digits, with optional sign and point
 */
function findRoundedBound(text: string, scale: number, end: 'low' | 'high'): number {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  // Such doubles are whole numbers.
  if (sign === undefined || Math.abs(Number(text)) >= Number.MAX_SAFE_INTEGER) return Number(text)
  const digits = BigInt(whole + fraction.padEnd(scale, '0').slice(0, scale))
  const isExact = /^0*$/.test(fraction.slice(scale))
  // Cut off, a number is nearer to zero.
  const units = sign === '-' ? -digits : digits
  // Where doubles are coarser than the scale, `toFixed` adds digits.
  const double = isExact ? Number(text) : Number.NaN
  if (end === 'low') {
    const bound = least(isExact || sign === '-' ? units : units + 1n, scale)
    return double < bound ? double : bound
  }
  const bound = before(least((isExact || sign !== '-' ? units : units - 1n) + 1n, scale))
  return double > bound ? double : bound
}

/** The least double shown as so many units of the last digit. */
function least(units: bigint, scale: number): number {
  // Half a unit below, or near.
  const half = (units * 2n - 1n) * 5n
  let value = Number(`${half}e-${scale + 1}`)
  while (countUnits(value, scale) >= units) value = before(value)
  while (countUnits(value, scale) < units) value = -before(-value)
  return value
}

function countUnits(value: number, scale: number): bigint {
  if (Math.abs(value) >= 1e21) return BigInt(value) * 10n ** BigInt(scale)
  return BigInt(value.toFixed(scale).replace('.', ''))
}

/** The next smaller double. */
function before(value: number): number {
  if (value === 0) return -Number.MIN_VALUE
  double[0] = value
  bits[0]! += value > 0 ? -1n : 1n
  return double[0]
}
