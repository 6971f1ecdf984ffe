/** SQLite stores decimals as doubles, exact to 15 digits: bodies may not hold more digits, and filters get a storable neighbour. */
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'

export function describeUnstorable(value: unknown, type: ScalarType): string | undefined {
  if (makesNumbers(type)) {
    const number = typeof value === 'string' && IS_NUMBER.test(value) ? String(Number(value)) : value
    return number === value ? undefined : `another value: SQLite would make ${String(number)} of it in a column of this type`
  }
  const { kind } = type
  if (kind !== 'decimal' || isExact(String(value))) return undefined
  return 'a decimal number of at most 15 digits, because SQLite stores no more exactly'
}

export function storesAll(type: ScalarType): boolean {
  return type.kind !== 'decimal' && !makesNumbers(type)
}

/** The type of a column such as `STRING`, where SQLite makes numbers of texts of digits. */
export const NUMERIC = 'numeric'

function makesNumbers({ kind, column }: ScalarType): boolean {
  return column === NUMERIC && (kind === 'any' || kind === 'text')
}

const IS_NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/

export function findBound(value: unknown, { kind }: ScalarType, operator: string): unknown {
  return kind === 'decimal' ? findDecimalBound(value as string, operator) : value
}

/** At most 15 significant digits, or an integer up to 2^53. */
function isExact(text: string): boolean {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '').replace(/0+$/, '')
  return digits.length <= 15 || (/^0*$/.test(fraction) && Number.isSafeInteger(Number(text)))
}

/**
 * Gives a storable neighbour that compares like all digits: below for `>` and `<=`, above for `>=` and `<`. Null for `=`: no stored decimal
 * is equal.
 */
function findDecimalBound(text: string, operator: string): string | null {
  // A file's number may be shown with many digits.
  if (isExact(text) || String(Number(text)) === text) return text
  const isNegative = text.startsWith('-')
  const [whole = '', fraction = ''] = text
    .replace('-', '')
    .replace(/(\.\d*?)0+$/, '$1')
    .split('.')
  const digits = BigInt(whole + fraction)
  // Integers are exact up to 2^53.
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
