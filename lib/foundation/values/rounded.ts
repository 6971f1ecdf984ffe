/** Rounded: the doubles that are shown as a decimal with so many digits after the point, as `toFixed` rounds them. */

const bits = new BigInt64Array(1)
const double = new Float64Array(bits.buffer)

/**
 * The least double that is shown as a decimal of at least the given one (`low`), or the greatest that is shown as one of at most that
 * (`high`). Where the given one has no more digits than are shown, these are the ends of what is shown as it.
 *
 * @param text digits, with a sign and a point or without
 */
export function findRoundedBound(text: string, scale: number, end: 'low' | 'high'): number {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  // From here on doubles are whole numbers.
  if (sign === undefined || Math.abs(Number(text)) >= Number.MAX_SAFE_INTEGER) return Number(text)
  const digits = BigInt(whole + fraction.padEnd(scale, '0').slice(0, scale))
  const isExact = /^0*$/.test(fraction.slice(scale))
  // Cut off, a number is nearer to zero.
  const units = sign === '-' ? -digits : digits
  // Where doubles have fewer digits than the scale, they are shown with digits that nobody has given.
  const own = isExact ? Number(text) : Number.NaN
  if (end === 'low') {
    const bound = least(isExact || sign === '-' ? units : units + 1n, scale)
    return own < bound ? own : bound
  }
  const bound = before(least((isExact || sign !== '-' ? units : units - 1n) + 1n, scale))
  return own > bound ? own : bound
}

/** The least double that is shown as so many units of the last digit, or more. */
function least(units: bigint, scale: number): number {
  // Half a unit below; near it, for few doubles are just there.
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
