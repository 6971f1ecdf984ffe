/**
 * Custom type codec: a mapped type of MikroORM (`Type`, `ArrayType`) as a Codec. The value of a body or a filter is handed to the type, and
 * taken only when the type makes of it what can be stored and read back: nothing is stored that would read as something else.
 */
import { BigIntType, Type, type ArrayType, type EntityProperty, type Platform } from '@mikro-orm/core'
import { builtin } from '../../foundation/base/builtins.ts'
import { isObject, toJson } from '../../foundation/base/json.ts'
import { parseNumber, type Codec, type ScalarValue } from '../../foundation/values/scalar-type.ts'
import { findStoredForm } from './stored-form.ts'

/** Whether a type is one of MikroORM's own, whose values the engine reads and writes itself, and not a class derived from it. */
export function isBuiltIn(type: object): boolean {
  return Type.getOrmType(type.constructor) !== undefined
}

/** The JSON form of a value, where JavaScript's own is of no use. Throws for what has none. */
function plainJson(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  return value === undefined ? null : toJson(value, 'the type')
}

function findJsonKind(json: unknown): string {
  return Array.isArray(json) ? 'array' : json === null ? 'null' : typeof json
}

/** Lists the JSON values that a text of a filter may stand for. */
function readings(text: string, runtime: string): unknown[] {
  const number = parseNumber(text)
  if (runtime === 'number') return typeof number === 'number' ? [number] : []
  if (runtime === 'boolean') return text === 'true' || text === '1' ? [true] : text === 'false' || text === '0' ? [false] : []
  const all: unknown[] = [text]
  if (/^[[{\d-]|^(?:true|false)$/.test(text)) {
    try {
      all.push(JSON.parse(text))
    } catch {
      // A text like any other.
    }
  }
  return all
}

/** A stored value as MikroORM hands it to a type: one of dates or booleans is given such. */
function asRead(stored: unknown, runtime: string, platform: Platform): unknown {
  if (runtime === 'Date' && (typeof stored === 'string' || typeof stored === 'number')) return platform.parseDate(stored)
  return runtime === 'boolean' && typeof stored === 'number' ? stored !== 0 : stored
}

/**
 * Returns the codec of a custom type. Every error of the type's own code means that the value is not of the type; any other error is thrown
 * on.
 */
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
      // An ID is one text, so that a key without a plain JSON form is shown as it is stored.
      return prop.primary === true && typeof json === 'object' && json !== null ? callType(() => plainJson(toColumn(value))) : json
    },
    fromJson: type.fromJSON === undefined ? undefined : json => callType(() => type.fromJSON!(json, platform)),
  }
  const select = type.convertToJSValueSQL?.bind(type)
  const compare = type.convertToDatabaseValueSQL?.bind(type)
  return {
    toJson: stored => {
      // A value that the type itself cannot read is shown as it is stored: that is more use than failing the whole page.
      const json = attempt(() => forms.toJson(forms.toProperty(stored)))
      return json === undefined ? plainJson(stored) : json
    },
    fromJson: json => storeJson(json, forms),
    fromText: text => {
      for (const reading of readings(text, runtime)) {
        const stored = storeJson(reading, forms)
        if (stored !== undefined) return stored
      }
      // A type that is compared as what it stores may show texts of its own: a number for each word.
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

/** The conversions of a custom type. Each throws a ValueRefusal for a value that is not of the type. */
interface TypeForms {
  readonly toProperty: (stored: unknown) => unknown
  readonly fromProperty: (value: unknown) => ScalarValue | undefined
  readonly toJson: (value: unknown) => unknown
  readonly fromJson: ((json: unknown) => unknown) | undefined
}

/** Returns the stored value of a JSON value, by the first reading that the type takes; undefined when it takes none. */
function storeJson(json: unknown, forms: TypeForms): ScalarValue | undefined {
  const { fromJson, toProperty } = forms
  return (
    (fromJson === undefined ? undefined : attempt(() => storeCandidate(fromJson(json), json, forms))) ??
    attempt(() => storeCandidate(json, json, forms)) ??
    // A type whose JSON form is the stored one.
    (typeof json === 'string' || typeof json === 'number'
      ? attempt(() => storeCandidate(toProperty(json), json, forms, true))
      : undefined) ??
    storeValueObject(json, forms)
  )
}

/**
 * Returns the stored value of an object around one text, such as an email address: of the text itself, or of an object that shows it
 * (`{ "value": "a@b" }`). Another object cannot be made of what it shows.
 */
function storeValueObject(json: unknown, forms: TypeForms): ScalarValue | undefined {
  const texts = isObject(json) ? Object.values(json) : [json]
  for (const text of texts) {
    if (typeof text !== 'string' && typeof text !== 'number') continue
    const object = attempt(() => forms.toProperty(text))
    const stored = isValueObject(object) ? attempt(() => forms.fromProperty(object)) : undefined
    if (stored === undefined) continue
    const shown = attempt(() => forms.toJson(object)) ?? stored
    if (typeof json === 'object' ? builtin.util.isDeepStrictEqual(shown, json) : [stored, shown].some(each => isSpelled(each, json)))
      return stored
  }
  return undefined
}

/** Whether a value is an object of a class of the application. */
function isValueObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date || ArrayBuffer.isView(value))
    return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && prototype !== Object.prototype
}

/** Whether a class holds a text as it was given, apart from its case and the blanks around it: an email address in lower case. */
function isSpelled(held: unknown, given: unknown): boolean {
  if (typeof held !== 'string' || typeof given !== 'string') return held === given
  return held.trim().toLowerCase() === given.trim().toLowerCase()
}

/** Returns a candidate for the value of the property as it would be stored, if it reads back as JSON of the kind that was given. */
function storeCandidate(candidate: unknown, json: unknown, forms: TypeForms, exactly = false): ScalarValue | undefined {
  const stored = forms.fromProperty(candidate)
  // A type that asks any object for its text stores nothing of a JSON object.
  if (stored === undefined || (typeof candidate === 'object' && stored === '[object Object]')) return undefined
  const property = forms.toProperty(stored)
  const back = forms.toJson(property)
  const isTaken = exactly ? builtin.util.isDeepStrictEqual(back, json) : findJsonKind(back) === findJsonKind(json)
  return isTaken ? storeProperty(property, candidate, { stored, back }, forms) : undefined
}

/**
 * Returns what MikroORM stores of the value that the property has. A type of dates may pass any text to the database, where the date itself
 * is stored as `2026-01-31`: the text would be another key, and the filter by it would find nothing.
 */
function storeProperty(
  property: unknown,
  candidate: unknown,
  { stored, back }: { readonly stored: ScalarValue; readonly back: unknown },
  forms: TypeForms,
): ScalarValue {
  if (Object.is(property, candidate)) return stored
  const own = attempt(() => forms.fromProperty(property))
  if (own === undefined || builtin.util.isDeepStrictEqual(own, stored)) return stored
  return builtin.util.isDeepStrictEqual(
    attempt(() => forms.toJson(forms.toProperty(own))),
    back,
  )
    ? own
    : stored
}

/** The code of a type has thrown: the value is not of the type. */
class ValueRefusal extends Error {}

/** Calls the code of a type. @throws ValueRefusal for whatever that throws. */
function callType<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new ValueRefusal('The type refuses the value.', { cause: error })
  }
}

/** Returns undefined where the code of a type has refused a value. Errors of the engine itself are thrown on. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof ValueRefusal) return undefined
    throw error
  }
}

/** Returns the items of a list as JSON. Throws for what is not a list, or has no JSON form. */
function listItems(list: unknown): unknown {
  return plainJson((list as unknown[]).map(item => (typeof item === 'bigint' ? item.toString() : item)))
}

/** The codec of a list of plain values in one column. Only a list that reads back as it was given is taken. */
export function arrayCodec(prop: EntityProperty, platform: Platform): Codec {
  const type = prop.customType as ArrayType
  const toProperty = (stored: unknown): unknown => type.convertToJSValue(stored as never, platform)
  const { store } = findStoredForm(prop, platform)
  const fromProperty = (value: unknown): ScalarValue | undefined => store(type.convertToDatabaseValue(value as never, platform))
  const toJson = (stored: unknown): unknown => {
    if (typeof stored !== 'string') return plainJson(stored)
    // As with custom types: a file may hold anything, and a list of numbers may be given a text.
    return attempt(() => callType(() => listItems(toProperty(stored)))) ?? stored
  }
  return {
    toJson,
    fromJson: json => {
      if (!Array.isArray(json)) return undefined
      const stored = attempt(() => callType(() => fromProperty(json)))
      return stored !== undefined && builtin.util.isDeepStrictEqual(toJson(stored), json) ? stored : undefined
    },
    fromText: () => undefined,
    toProperty,
    fromProperty,
  }
}
