/**
 * Makes the Codec of a MikroORM type class (`Type`, `ArrayType`): between JSON, property and column. Takes only values that the type reads
 * back as stored.
 */
import { BigIntType, Type, type ArrayType, type EntityProperty, type Platform } from '@mikro-orm/core'
import { runtime } from '../../foundation/runtime/runtime.ts'
import { isObject, toJson } from '../../foundation/json/json.ts'
import { parseNumber, type Codec, type ScalarValue } from '../../foundation/values/scalar-type.ts'

/** MikroORM's own type, converted by the engine. */
export function isBuiltIn(type: object): boolean {
  return Type.getOrmType(type.constructor) !== undefined
}

/** @throws for a value without a JSON form */
function plainJson(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return runtime.formatBytes(value, 'base64')
  return value === undefined ? null : toJson(value, 'the type')
}

function findJsonKind(json: unknown): string {
  return Array.isArray(json) ? 'array' : json === null ? 'null' : typeof json
}

function readings(text: string, runtime: string): unknown[] {
  const number = parseNumber(text)
  if (runtime === 'number') return typeof number === 'number' ? [number] : []
  if (runtime === 'boolean') return text === 'true' || text === '1' ? [true] : text === 'false' || text === '0' ? [false] : []
  const all: unknown[] = [text]
  if (/^[[{\d-]|^(?:true|false)$/.test(text)) {
    try {
      all.push(JSON.parse(text))
    } catch {
      // No JSON: a text.
    }
  }
  return all
}

function asRead(stored: unknown, runtime: string, platform: Platform): unknown {
  if (runtime === 'Date' && (typeof stored === 'string' || typeof stored === 'number')) return platform.parseDate(stored)
  return runtime === 'boolean' && typeof stored === 'number' ? stored !== 0 : stored
}

/** Where the code of the type throws, `fromJson` and `fromText` give undefined. */
export function customCodec(prop: EntityProperty, platform: Platform): Codec {
  const type = prop.customType as Type<unknown, unknown>
  const runtime = type.compareAsType()
  const { read, store } = findStoredForm(prop, platform)
  const toProperty = (stored: unknown): unknown => type.convertToJSValue(asRead(read(stored), prop.runtimeType, platform), platform)
  const toColumn = (value: unknown): unknown => type.convertToDatabaseValue(value, platform)
  const forms: TypeForms = {
    toProperty: stored => callType(() => toProperty(stored)),
    fromProperty: value => {
      const stored = callType(() => toColumn(value))
      return store(stored)
    },
    toJson: value => {
      const json = callType(() => plainJson(type.toJSON(value, platform)))
      // An ID is one text: a key of objects is shown as stored.
      return prop.primary === true && typeof json === 'object' && json !== null ? callType(() => plainJson(toColumn(value))) : json
    },
    fromJson: type.fromJSON === undefined ? undefined : json => callType(() => type.fromJSON!(json, platform)),
  }
  const select = type.convertToJSValueSQL?.bind(type)
  const compare = type.convertToDatabaseValueSQL?.bind(type)
  return {
    toJson: stored => {
      // An unreadable value, shown as stored, does not fail the page.
      const json = attempt(() => forms.toJson(forms.toProperty(stored)))
      return json === undefined ? plainJson(stored) : json
    },
    fromJson: json => storeJson(json, forms),
    fromText: text => {
      for (const reading of readings(text, runtime)) {
        const stored = storeJson(reading, forms)
        if (stored !== undefined) return stored
      }
      // A type may show a word for each stored number.
      const stored = runtime === 'number' || runtime === 'boolean' ? storeJson(text, forms) : undefined
      return typeof stored === 'string' ? undefined : stored
    },
    toProperty,
    fromProperty: value => store(toColumn(value)),
    ...(select === undefined ? {} : { selectSql: (column: string) => select(column, platform) }),
    ...(compare === undefined ? {} : { compareSql: (placeholder: string) => compare(placeholder, platform) }),
    exact: type instanceof BigIntType,
  }
}

/** @throws ValueRefusal, by each member, for a value that is not of the type */
interface TypeForms {
  readonly toProperty: (stored: unknown) => unknown
  readonly fromProperty: (value: unknown) => ScalarValue | undefined
  readonly toJson: (value: unknown) => unknown
  readonly fromJson: ((json: unknown) => unknown) | undefined
}

/** Tries the value as the type's JSON form, as property, as stored value, as value object. */
function storeJson(json: unknown, forms: TypeForms): ScalarValue | undefined {
  const { fromJson, toProperty } = forms
  return (
    (fromJson === undefined ? undefined : attempt(() => storeCandidate(fromJson(json), json, forms))) ??
    attempt(() => storeCandidate(json, json, forms)) ??
    (typeof json === 'string' || typeof json === 'number'
      ? attempt(() => storeCandidate(toProperty(json), json, forms, true))
      : undefined) ??
    storeValueObject(json, forms)
  )
}

/** Stores an object around one text, such as an email address: from the text, or from the object as shown (`{ "value": "a@b" }`). */
function storeValueObject(json: unknown, forms: TypeForms): ScalarValue | undefined {
  const texts = isObject(json) ? Object.values(json) : [json]
  for (const text of texts) {
    if (typeof text !== 'string' && typeof text !== 'number') continue
    const object = attempt(() => forms.toProperty(text))
    const stored = isValueObject(object) ? attempt(() => forms.fromProperty(object)) : undefined
    if (stored === undefined) continue
    const shown = attempt(() => forms.toJson(object)) ?? stored
    if (typeof json === 'object' ? runtime.isSame(shown, json) : [stored, shown].some(each => isSpelled(each, json))) return stored
  }
  return undefined
}

function isValueObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date || ArrayBuffer.isView(value))
    return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && prototype !== Object.prototype
}

/** A class of addresses may hold lower case. */
function isSpelled(held: unknown, given: unknown): boolean {
  if (typeof held !== 'string' || typeof given !== 'string') return held === given
  return held.trim().toLowerCase() === given.trim().toLowerCase()
}

/** Undefined for a value read back as another kind of JSON; if `exactly`, as other JSON. */
function storeCandidate(candidate: unknown, json: unknown, forms: TypeForms, exactly = false): ScalarValue | undefined {
  const stored = forms.fromProperty(candidate)
  // A type that calls `String(value)` takes any JSON object.
  if (stored === undefined || (typeof candidate === 'object' && stored === '[object Object]')) return undefined
  const property = forms.toProperty(stored)
  const back = forms.toJson(property)
  const isTaken = exactly ? runtime.isSame(back, json) : findJsonKind(back) === findJsonKind(json)
  return isTaken ? storeProperty(property, candidate, { stored, back }, forms) : undefined
}

/**
 * Stores what the type makes of its own reading. A date type may take any text, yet store `2026-01-31`: filters for the raw text would not
 * find the row.
 */
function storeProperty(
  property: unknown,
  candidate: unknown,
  { stored, back }: { readonly stored: ScalarValue; readonly back: unknown },
  forms: TypeForms,
): ScalarValue {
  if (Object.is(property, candidate)) return stored
  const normalized = attempt(() => forms.fromProperty(property))
  if (normalized === undefined || runtime.isSame(normalized, stored)) return stored
  return runtime.isSame(
    attempt(() => forms.toJson(forms.toProperty(normalized))),
    back,
  )
    ? normalized
    : stored
}

class ValueRefusal extends Error {}

/** @throws ValueRefusal for any error of the type's code */
function callType<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new ValueRefusal('The type refuses the value.', { cause: error })
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof ValueRefusal) return undefined
    throw error
  }
}

/** @throws for anything but a list with a JSON form */
function listItems(list: unknown): unknown {
  return plainJson((list as unknown[]).map(item => (typeof item === 'bigint' ? item.toString() : item)))
}

export function arrayCodec(prop: EntityProperty, platform: Platform): Codec {
  const type = prop.customType as ArrayType
  const toProperty = (stored: unknown): unknown => type.convertToJSValue(stored as never, platform)
  const { store } = findStoredForm(prop, platform)
  const fromProperty = (value: unknown): ScalarValue | undefined => store(type.convertToDatabaseValue(value as never, platform))
  const toJson = (stored: unknown): unknown => {
    if (typeof stored !== 'string') return plainJson(stored)
    return attempt(() => callType(() => listItems(toProperty(stored)))) ?? stored
  }
  return {
    toJson,
    fromJson: json => {
      if (!Array.isArray(json)) return undefined
      const stored = attempt(() => callType(() => fromProperty(json)))
      return stored !== undefined && runtime.isSame(toJson(stored), json) ? stored : undefined
    },
    fromText: () => undefined,
    toProperty,
    fromProperty,
  }
}

/** Converts between a column and the values MikroORM's driver gives to types. SQLite has numbers, texts, bytes; a server sends texts. */
interface StoredForm {
  readonly read: (stored: unknown) => unknown
  /** Undefined: cannot be stored. */
  readonly store: (value: unknown) => ScalarValue | undefined
}

function findStoredForm(prop: EntityProperty, platform: Platform): StoredForm {
  const declared = (prop.columnTypes?.[0] ?? '').toLowerCase()
  const isText = /char|clob|text/.test(declared) && !/int/.test(declared)
  // Only a server has a boolean type.
  if (platform.getBooleanTypeDeclarationSQL() !== 'boolean') {
    const isCounted = prop.primary === true && /int/.test(declared)
    return { read: readNumber, store: value => (isCounted && isWord(value) ? undefined : storePlain(value, isText)) }
  }
  return { read: findServerReader(declared, platform), store: findServerStore(declared, platform, isText) }
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' && !/^[+-]?\d+$/.test(value)
}

function readNumber(stored: unknown): unknown {
  return typeof stored === 'bigint' && Number.isSafeInteger(Number(stored)) ? Number(stored) : stored
}

function storePlain(value: unknown, isText: boolean): ScalarValue | undefined {
  if (value instanceof Date) return storePlain(value.getTime(), isText)
  if (typeof value === 'boolean') return storePlain(value ? 1 : 0, isText)
  if (typeof value === 'number') return Number.isFinite(value) ? (isText ? String(value) : value) : undefined
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined
  return typeof value === 'bigint' || value instanceof Uint8Array ? value : undefined
}

/** Reads a server's texts like MikroORM's driver, by the declared column type. */
function findServerReader(declared: string, platform: Platform): StoredForm['read'] {
  const ofText =
    (read: (text: string) => unknown, readOther: StoredForm['read'] = stored => stored): StoredForm['read'] =>
    stored =>
      typeof stored === 'string' ? read(stored) : readOther(stored)
  if (declared.endsWith('[]')) return ofText(text => platform.unmarshallArray(text))
  if (declared.startsWith('bool')) return ofText(text => text === 't' || text === 'true')
  if (declared === 'bytea') return ofText(text => (text.startsWith(String.raw`\x`) ? runtime.parseBytes(text.slice(2), 'hex') : text))
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
