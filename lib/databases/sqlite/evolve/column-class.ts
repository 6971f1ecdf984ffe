/** Classifies columns by declared type (`varchar(20)` is text), and converts values to another class. */
import type { EvolvedColumn } from '../../evolve/evolved-columns.ts'
import { toParameter } from '../sql/encode.ts'

export type ColumnClass = 'integer' | 'real' | 'numeric' | 'text' | 'json' | 'datetime' | 'date' | 'time' | 'blob' | 'any'

const CLASSES: readonly (readonly [RegExp, ColumnClass])[] = [
  [/^(?:datetime|timestamp)/i, 'datetime'],
  [/^date$/i, 'date'],
  [/^time$/i, 'time'],
  [/^json/i, 'json'],
  [/int|bool/i, 'integer'],
  [/char|clob|text|uuid/i, 'text'],
  [/blob/i, 'blob'],
  [/real|floa|doub/i, 'real'],
  [/^(?:any)?$/i, 'any'],
]

export function classify(type: string): ColumnClass {
  return CLASSES.find(([pattern]) => pattern.test(type))?.[1] ?? 'numeric'
}

const STRICT_TYPES: Readonly<Record<ColumnClass, string>> = {
  integer: 'integer',
  real: 'real',
  numeric: 'any',
  text: 'text',
  json: 'text',
  datetime: 'integer',
  date: 'text',
  time: 'text',
  blob: 'blob',
  any: 'any',
}

export function strictType(type: string): string {
  return STRICT_TYPES[classify(type)]
}

/** @returns the parameter; undefined for a value without an equal in the other type */
export function convertValue(value: unknown, from: ColumnClass, to: EvolvedColumn): unknown {
  if (value === null) return null
  const kind = to.type?.kind
  if (value instanceof Uint8Array) return kind === 'blob' ? value : undefined
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  // The engine stores milliseconds.
  if (kind === 'datetime' && isNumber) return Number.isSafeInteger(Number(value)) && Number.isInteger(Number(value)) ? value : undefined
  const stored = to.storeText(formatText(value, from, kind))
  return stored === undefined || stored === null ? undefined : toParameter(stored)
}

function formatText(value: unknown, from: ColumnClass, kind: string | undefined): string {
  // The range of a Date (ECMA-262, section 21.4.1.1).
  if (from !== 'datetime' || typeof value === 'string' || !(Math.abs(Number(value)) <= 8.64e15)) return String(value)
  const iso = new Date(Number(value)).toISOString()
  return kind === 'date' && iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso
}
