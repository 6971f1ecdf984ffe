/**
 * Exact decimals: SQLite stores the numbers of a `numeric` column as doubles, so decimals of more digits are refused in bodies, and
 * replaced in filters.
 */
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'

/** See `Dialect.describeUnstorable`. */
export function describeUnstorable(value: unknown, type: ScalarType): string | undefined {
  if (makesNumbers(type)) {
    const number = typeof value === 'string' && IS_NUMBER.test(value) ? String(Number(value)) : value
    return number === value ? undefined : `another value: SQLite would make ${String(number)} of it in a column of this type`
  }
  const { kind } = type
  if (kind !== 'decimal' || isExact(String(value))) return undefined
  return 'a decimal number of at most 15 digits, because SQLite stores no more exactly'
}

/** See `Dialect.storesAll`. */
export function storesAll(type: ScalarType): boolean {
  return type.kind !== 'decimal' && !makesNumbers(type)
}

/** The column of a file whose declared type SQLite does not know, as `STRING`: it makes numbers of what looks like numbers. */
export const NUMERIC = 'numeric'

function makesNumbers({ kind, column }: ScalarType): boolean {
  return column === NUMERIC && (kind === 'any' || kind === 'text')
}

const IS_NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/

/** See `Dialect.findBound`. */
export function findBound(value: unknown, { kind }: ScalarType, operator: string): unknown {
  return kind === 'decimal' ? findDecimalBound(value as string, operator) : value
}

/** Whether a double stores a decimal exactly: one of at most 15 significant digits, or an integer up to 2^53. */
function isExact(text: string): boolean {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '').replace(/0+$/, '')
  return digits.length <= 15 || (/^0*$/.test(fraction) && Number.isSafeInteger(Number(text)))
}

/**
 * Replaces a decimal of a filter that has more digits than can be stored, so that every stored one compares as with all digits: by the
 * storable neighbour below for `>` and `<=`, and the one above for `>=` and `<`. Null for `=`, which no stored decimal satisfies.
 */
function findDecimalBound(text: string, operator: string): string | null {
  // A number of a file with many digits is shown with all of them, so it can be compared.
  if (isExact(text) || String(Number(text)) === text) return text
  const isNegative = text.startsWith('-')
  const [whole = '', fraction = ''] = text
    .replace('-', '')
    .replace(/(\.\d*?)0+$/, '$1')
    .split('.')
  const digits = BigInt(whole + fraction)
  // Integers are exact beyond 15 digits. Beyond 2^53 they are not, and the database compares its stored values.
  const isLong = BigInt(whole) >= 10n ** 15n
  if (BigInt(whole) >= BigInt(Number.MAX_SAFE_INTEGER)) return text
  if (operator !== '>' && operator !== '<=' && operator !== '>=' && operator !== '<') return null
  const unit = 10n ** BigInt(isLong ? fraction.length : String(digits).length - 15)
  const smaller = digits - (digits % unit)
  const isBelow = operator === '>' || operator === '<='
  const bound = String(isBelow === isNegative ? smaller + unit : smaller).padStart(fraction.length + 1, '0')
  const point = bound.length - fraction.length
  return `${isNegative ? '-' : ''}${bound.slice(0, point)}${fraction === '' ? '' : `.${bound.slice(point)}`}`
}
