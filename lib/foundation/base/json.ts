/** Checks and converts values of callers, hooks and renderers that must be JSON. */
import { withArticle } from './article.ts'
import { restError } from './errors.ts'
import { findQuote } from './json-numbers.ts'
import { thresholds } from './thresholds.ts'

/** Levels of objects and arrays in a body. */
const MAX_NESTING = 200

export type JsonObject = Readonly<Record<string, unknown>>

/** Whether the value is an object, and not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether the value is clearly JSON: it has no members to check. */
export function isPlain(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

/** Values that have just been parsed, with their texts. */
const texts = new WeakMap<object, string>()

/** Parses JSON. A long value that is not nested too deep is marked as JSON, so that it is not walked through again. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (text.length >= thresholds.keptJson && typeof value === 'object' && value !== null && !exceedsNesting(text)) texts.set(value, text)
  return value
}

/** Returns the text that a long value has been parsed from. The value must not have been changed since. */
export function findText(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined
}

/** Whether a JSON text is nested too deep. */
function exceedsNesting(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = findQuote(text, at + 1)
        break
      case 0x5b:
      case 0x7b:
        if (++depth > MAX_NESTING) return true
        break
      case 0x5d:
      case 0x7d:
        depth--
        break
      default:
    }
  }
  return false
}

/**
 * Rejects a value that is not JSON, which is a mistake of the application or the caller, not of a client.
 *
 * @throws TypeError that names the place; RestError when a body is nested too deep.
 */
export function assertJson(value: unknown, place: string): void {
  if (!isPlain(value) && findText(value) === undefined) assertInside(value, place, [], [])
}

/**
 * Checks the members of a value. A circular value is deeper than any other, so circles are only looked for when the nesting is too deep.
 *
 * @param within the objects around the value, and the names of the members that lead to it: one pair of lists for all values, so that
 * none is copied
 */
function assertInside(value: unknown, place: string, within: object[], path: (string | number)[]): void {
  if (within.length > MAX_NESTING) throw tooDeep(place, within, path)
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(
      `${formatPlace(place, path)} is ${typeof value === 'number' ? String(value) : `a ${typeof value}`}, which is not JSON.`,
    )
  }
  within.push(value)
  const depth = path.length
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index]
      if (isPlain(item)) continue
      path[depth] = index
      assertInside(item, place, within, path)
      path.length = depth
    }
  } else {
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) {
      throw new TypeError(`${formatPlace(place, path)} is ${withArticle(value.constructor.name)}, which is not a plain JSON object.`)
    }
    for (const key of Object.keys(value)) {
      const item = (value as Record<string, unknown>)[key]
      if (item === undefined || isPlain(item)) continue
      path[depth] = key
      assertInside(item, place, within, path)
      path.length = depth
    }
  }
  within.pop()
}

function formatPlace(place: string, path: readonly (string | number)[]): string {
  return [place, ...path].join('.')
}

function tooDeep(place: string, within: readonly object[], path: readonly (string | number)[]): Error {
  const back = within.findIndex((value, index) => within.indexOf(value) < index)
  if (back < 0) return restError('body_invalid', `The body is nested deeper than ${MAX_NESTING} levels.`)
  return new TypeError(`${formatPlace(place, path.slice(0, back))} refers back to an object that contains it, which is not JSON.`)
}

function refuseLoss(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`)
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`a ${typeof value} has no JSON form`)
  if (value instanceof Map || value instanceof Set) throw new TypeError(`${withArticle(value.constructor.name)} has no JSON form`)
  return value
}

/** Infinity and NaN are `null` in the JSON of an entity, as `JSON.stringify` has them, and as a column that holds them shows. */
export function nullNonFinite(key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? null : refuseLoss(key, value)
}

/**
 * Returns the JSON form of a hook's or renderer's value. It calls `toJSON`, as `JSON.stringify` does, and rejects values that JSON would
 * lose.
 *
 * @param replace what `JSON.stringify` is given to reject or replace them
 * @throws TypeError that names the place, when the value has no JSON form.
 */
export function toJson(value: unknown, place: string, replace = refuseLoss): unknown {
  let text: string | undefined
  try {
    text = JSON.stringify(value, replace)
  } catch (error) {
    throw new TypeError(`${place} gave a value that is not JSON: ${(error as Error).message}.`, { cause: error })
  }
  if (text === undefined) throw new TypeError(`${place} gave a ${typeof value}, which is not JSON.`)
  return JSON.parse(text) as unknown
}

/** Sets a value inside an embedded object of a record. Does nothing when that object is absent, or of a class without the key. */
export function putInside(record: Readonly<Record<string, unknown>>, within: readonly string[], key: string, value: unknown): void {
  let holder: unknown = record
  for (const name of within) holder = (holder as Record<string, unknown> | null)?.[name]
  if (typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)) (holder as Record<string, unknown>)[key] = value
}
