/** Refuses values that PostgreSQL would refuse or change: integers of more than 32 bits, texts with NUL. */
import type { ScalarType, ScalarValue } from '../../../foundation/values/scalar-type.ts'

/** An `integer` has 32 bits. */
const LEAST = -(2 ** 31)
const GREATEST = 2 ** 31 - 1

/** Unsigned maxima. */
const MOST_OF_32 = 2n ** 32n - 1n
const MOST_OF_64 = 2n ** 64n - 1n

interface TextForm {
  readonly is: string
  takes(text: string): boolean
}

const upTo = (most: bigint): TextForm => ({
  is: `an integer from 0 to ${most}`,
  takes: text => /^\d{1,20}$/.test(text) && BigInt(text) <= most,
})
const upToBytes = (most: number): TextForm => ({ is: `a string of at most ${most} bytes`, takes: text => Buffer.byteLength(text) <= most })
const BITS: TextForm = { is: 'a string of 0 and 1', takes: text => /^[01]*$/.test(text) }

/** Types that would silently change other texts. */
const FORMS: ReadonlyMap<string, TextForm> = new Map([
  ['oid', upTo(MOST_OF_32)],
  ['xid', upTo(MOST_OF_32)],
  ['cid', upTo(MOST_OF_32)],
  ['xid8', upTo(MOST_OF_64)],
  ['bit', BITS],
  ['varbit', BITS],
  ['char', upToBytes(1)],
  ['name', upToBytes(63)],
])

/** See `Dialect.describeUnstorable`. */
export function describeUnstorable(value: ScalarValue, { kind, column }: ScalarType): string | undefined {
  if (kind === 'integer' && ((value as number) < LEAST || (value as number) > GREATEST)) return `an integer from ${LEAST} to ${GREATEST}`
  if ((kind === 'text' && (value as string).includes('\0')) || (kind === 'json' && hasNul(value))) {
    return `${kind === 'text' ? 'a string' : 'a JSON value'} without the character NUL, which PostgreSQL does not store`
  }
  if (column === undefined) return undefined
  const form = FORMS.get(column.startsWith(CATALOGUE) ? column.slice(CATALOGUE.length) : column)
  return form === undefined || form.takes(`${value as string | number}`) ? undefined : form.is
}

/** See `Dialect.storesAll`. */
export function storesAll({ kind, column }: ScalarType): boolean {
  return column === undefined && kind !== 'integer' && kind !== 'text' && kind !== 'json'
}

const CATALOGUE = 'pg_catalog.'

function hasNul(json: unknown): boolean {
  if (typeof json === 'string') return json.includes('\0')
  if (typeof json !== 'object' || json === null) return false
  return Object.entries(json).some(([name, value]) => name.includes('\0') || hasNul(value))
}
