/** Refuses an application's values without JSON form (`undefined`, NaN, circles), and too deep values of clients. */
import { withArticle } from '../base/article.ts'
import { restError } from '../errors/errors.ts'
import { findQuote } from './json-numbers.ts'
import { thresholds } from '../base/thresholds.ts'

const MAX_NESTING = 200

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function notAnObject(body: unknown, what: string) {
  const given = body === undefined ? 'no body' : body === null ? 'null' : Array.isArray(body) ? 'an array' : `a ${typeof body}`
  return restError('body_invalid', `The body must be a JSON object ${what}, got ${given}.`)
}

export function isPlain(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

const texts = new WeakMap<object, string>()

/** Keeps the text of a long value of allowed depth: the value then needs no check and no second text. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (text.length >= thresholds.keptJson && typeof value === 'object' && value !== null && !exceedsNesting(text)) texts.set(value, text)
  return value
}

/** The kept text of a value unchanged since parsing. */
export function findText(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined
}

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
 * Other values than JSON are a mistake of the application, not of a client.
 *
 * @throws TypeError that names the place; RestError for too deep nesting.
 */
export function assertJson(value: unknown, place: string): void {
  if (!isPlain(value) && findText(value) === undefined) assertInside(value, place, [], [])
}

/**
 * A circular value is nested endlessly: circles are searched for in too deep values only.
 *
 * @param within objects around the value, and names on the way: shared by all calls
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

/** Infinity and NaN in entities become `null`, as by `JSON.stringify`. */
export function nullNonFinite(key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? null : refuseLoss(key, value)
}

/**
 * Rejects values lost in JSON.
 *
 * @param replace the replacer of `JSON.stringify`
 * @throws TypeError that names the place, for a value without JSON form.
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

export function putInside(record: Readonly<Record<string, unknown>>, within: readonly string[], key: string, value: unknown): void {
  let holder: unknown = record
  for (const name of within) holder = (holder as Record<string, unknown> | null)?.[name]
  if (typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)) (holder as Record<string, unknown>)[key] = value
}
