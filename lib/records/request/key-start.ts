/**
 * Reads where a page by keys begins, `offset=first`, or behind a record, `offset=after.<cursor>`. A cursor is base64url of JSON: the list
 * with its order, the values of sort keys and key. Refuses other texts with parameter_invalid.
 */
import { runtime } from '../../foundation/runtime/runtime.ts'
import { parameterError, type FieldError } from '../../foundation/errors/errors.ts'

export interface KeyStart {
  /** As sent. */
  readonly text: string
  /** The client's name of `offset`. */
  readonly parameter: string
  /** Undefined: from the first record. */
  readonly after: Cursor | undefined
}

interface Cursor {
  readonly of: string
  readonly values: readonly CursorValue[]
}

/** An integer, a real number, a text, bytes in base64, as stored. */
type CursorValue = `${'i' | 'r' | 't' | 'b'}${string}` | null

const FORMS: Readonly<Record<string, RegExp>> = {
  i: /^i(?:0|-?[1-9]\d{0,18})$/,
  r: /^r-?(?:\d+(?:\.\d+)?(?:e[+-]\d{1,3})?|Infinity)$/,
  t: /^t/,
  b: /^b[A-Za-z\d+/]*={0,2}$/,
}

/** Undefined for a number of records to skip. */
export function parseStart(text: string, parameter: string): KeyStart | undefined {
  if (text === 'first') return { text, parameter, after: undefined }
  if (!text.startsWith('after.')) return undefined
  const [of, ...values] = readCursor(text.slice('after.'.length)) ?? []
  if (typeof of !== 'string' || !values.every(isValue)) throw refuseStart({ text, parameter }, 'is no cursor of this API')
  return { text, parameter, after: { of, values } }
}

function readCursor(cursor: string): unknown[] | undefined {
  if (!/^[\w-]+$/.test(cursor)) return undefined
  try {
    const read: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(runtime.parseBytes(cursor, 'base64url')))
    return Array.isArray(read) ? read : undefined
  } catch {
    return undefined
  }
}

function isValue(value: unknown): value is CursorValue {
  if (value === null) return true
  if (typeof value !== 'string' || FORMS[value[0] ?? '']?.test(value) !== true || !value.isWellFormed()) return false
  return value[0] !== 'i' || BigInt.asIntN(64, BigInt(value.slice(1))) === BigInt(value.slice(1))
}

export function refuseStart({ text, parameter }: Pick<KeyStart, 'text' | 'parameter'>, why: string) {
  const detail = `"${parameter}=${text.slice(0, 60)}" ${why}: begin with "${parameter}=first", and follow "next".`
  return parameterError({ code: 'value_invalid', detail, parameter, value: text } satisfies FieldError)
}

/** @param row values in the form of `Flavour.cursor` */
export function formatStart(of: string, row: readonly unknown[]): string {
  const values = row.map(value => {
    if (typeof value === 'number') return `r${value}`
    return value instanceof Uint8Array ? `b${runtime.formatBytes(value, 'base64')}` : value
  })
  return `after.${runtime.formatBytes(new TextEncoder().encode(JSON.stringify([of, ...values])), 'base64url')}`
}

/** For plans: where values are NULL. */
export function formatStartShape({ after }: KeyStart): string {
  return after === undefined ? 'first' : after.values.map(value => (value === null ? '0' : '1')).join('')
}
