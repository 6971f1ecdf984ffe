/**
 * Finds the doubles of a decimal, for decimals stored as doubles in SQLite: the filter `price=1.10` means all doubles with the `toFixed(2)`
 * 1.10.
 */

const bits = new BigInt64Array(1)
const double = new Float64Array(bits.buffer)

/**
 * Returns the least double shown as at least the given decimal (`low`), or the greatest shown as at most the decimal (`high`).
 *
 * @param text digits, with optional sign and point
 */
export function findRoundedBound(text: string, scale: number, end: 'low' | 'high'): number {
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
