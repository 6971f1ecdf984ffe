/** Storable: which values of a type PostgreSQL does not store. */
import type { ScalarType, ScalarValue } from '../../values/scalar-type.ts'

/** An `integer` has 32 bits. */
const LEAST = -(2 ** 31)
const GREATEST = 2 ** 31 - 1

/** See `Dialect.describeUnstorable`. */
export function describeUnstorable(value: ScalarValue, { kind }: ScalarType): string | undefined {
  if (kind === 'integer' && ((value as number) < LEAST || (value as number) > GREATEST)) return `an integer from ${LEAST} to ${GREATEST}`
  if ((kind === 'text' && (value as string).includes('\0')) || (kind === 'json' && hasNul(value))) {
    return `${kind === 'text' ? 'a string' : 'a JSON value'} without the character NUL, which PostgreSQL does not store`
  }
  return undefined
}

/** Whether a text of a JSON value, or a name in it, has a NUL. */
function hasNul(json: unknown): boolean {
  if (typeof json === 'string') return json.includes('\0')
  if (typeof json !== 'object' || json === null) return false
  return Object.entries(json).some(([name, value]) => name.includes('\0') || hasNul(value))
}
