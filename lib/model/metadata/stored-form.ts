/**
 * Stored form: converts between a custom type's column and the form MikroORM's driver gives a type. SQLite has numbers, texts and bytes; a
 * server sends texts.
 */
import type { EntityProperty, Platform } from '@mikro-orm/core'
import type { ScalarValue } from '../../foundation/values/scalar-type.ts'

interface StoredForm {
  /** As MikroORM hands values to a type. */
  readonly read: (stored: unknown) => unknown
  /** Undefined: cannot be stored. */
  readonly store: (value: unknown) => ScalarValue | undefined
}

export function findStoredForm(prop: EntityProperty, platform: Platform): StoredForm {
  const declared = (prop.columnTypes?.[0] ?? '').toLowerCase()
  const isText = /char|clob|text/.test(declared) && !/int/.test(declared)
  // Only a server has a boolean type.
  if (platform.getBooleanTypeDeclarationSQL() !== 'boolean') {
    const isCounted = prop.primary === true && /int/.test(declared)
    return { read: readNumber, store: value => (isCounted && isWord(value) ? undefined : storePlain(value, isText)) }
  }
  return { read: findServerReader(declared, platform), store: findServerStore(declared, platform, isText) }
}

/** Whether an integer key cannot hold the text. */
function isWord(value: unknown): boolean {
  return typeof value === 'string' && !/^[+-]?\d+$/.test(value)
}

/** MikroORM reads a safe bigint back as a number. */
function readNumber(stored: unknown): unknown {
  return typeof stored === 'bigint' && Number.isSafeInteger(Number(stored)) ? Number(stored) : stored
}

/** A text column stores numbers as texts. */
function storePlain(value: unknown, isText: boolean): ScalarValue | undefined {
  if (value instanceof Date) return storePlain(value.getTime(), isText)
  if (typeof value === 'boolean') return storePlain(value ? 1 : 0, isText)
  if (typeof value === 'number') return Number.isFinite(value) ? (isText ? String(value) : value) : undefined
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined
  return typeof value === 'bigint' || value instanceof Uint8Array ? value : undefined
}

/** As the server's driver does, by declared column type. */
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
