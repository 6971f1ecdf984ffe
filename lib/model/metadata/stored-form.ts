/**
 * Stored form: what the engine reads and writes in the column of a custom type. MikroORM hands the type what the driver of the database
 * makes of that, and gives the driver what the type returns. SQLite has numbers, texts and bytes; a server sends all values as texts.
 */
import type { EntityProperty, Platform } from '@mikro-orm/core'
import type { ScalarValue } from '../../foundation/values/scalar-type.ts'

interface StoredForm {
  /** Returns a stored value as MikroORM hands it to a type. */
  readonly read: (stored: unknown) => unknown
  /** Returns a type's result in the form that the column stores. Undefined where it cannot be stored. */
  readonly store: (value: unknown) => ScalarValue | undefined
}

export function findStoredForm(prop: EntityProperty, platform: Platform): StoredForm {
  const declared = (prop.columnTypes?.[0] ?? '').toLowerCase()
  const isText = /char|clob|text/.test(declared) && !/int/.test(declared)
  // Only a server has a type for booleans.
  if (platform.getBooleanTypeDeclarationSQL() !== 'boolean') {
    const isCounted = prop.primary === true && /int/.test(declared)
    return { read: readNumber, store: value => (isCounted && isWord(value) ? undefined : storePlain(value, isText)) }
  }
  return { read: findServerReader(declared, platform), store: findServerStore(declared, platform, isText) }
}

/** Whether a value is a text that a key of integers cannot hold. */
function isWord(value: unknown): boolean {
  return typeof value === 'string' && !/^[+-]?\d+$/.test(value)
}

/** A type may return a bigint. MikroORM reads it back as a number, where that holds it. */
function readNumber(stored: unknown): unknown {
  return typeof stored === 'bigint' && Number.isSafeInteger(Number(stored)) ? Number(stored) : stored
}

/** A column of texts makes texts of numbers. */
function storePlain(value: unknown, isText: boolean): ScalarValue | undefined {
  if (value instanceof Date) return storePlain(value.getTime(), isText)
  if (typeof value === 'boolean') return storePlain(value ? 1 : 0, isText)
  if (typeof value === 'number') return Number.isFinite(value) ? (isText ? String(value) : value) : undefined
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined
  return typeof value === 'bigint' || value instanceof Uint8Array ? value : undefined
}

/** Reads the text of a server as its driver does, by the declared type of the column. */
function findServerReader(declared: string, platform: Platform): StoredForm['read'] {
  const ofText =
    (read: (text: string) => unknown, readOther: StoredForm['read'] = stored => stored): StoredForm['read'] =>
    stored =>
      typeof stored === 'string' ? read(stored) : readOther(stored)
  if (declared.endsWith('[]')) return ofText(text => platform.unmarshallArray(text))
  if (declared.startsWith('bool')) return ofText(text => text === 't' || text === 'true')
  if (declared === 'bytea') return ofText(text => (text.startsWith(String.raw`\x`) ? Buffer.from(text.slice(2), 'hex') : text))
  if (/^jsonb?$/.test(declared)) return ofText(parseDocument)
  if (!/^(?:smallint|int2|int4|int|integer|smallserial|serial|real|float|double)\b/.test(declared)) return stored => stored
  return ofText(text => (text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)), readNumber)
}

function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function findServerStore(declared: string, platform: Platform, isText: boolean): StoredForm['store'] {
  return value => {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString()
    if (typeof value === 'boolean') return isText ? String(value) : value
    if (Array.isArray(value) && declared.endsWith('[]')) return platform.marshallArray(value as string[])
    const isDocument = typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
    return isDocument && /^jsonb?$/.test(declared) ? JSON.stringify(value) : storePlain(value, isText)
  }
}
