/**
 * SQL functions for comparisons that SQLite lacks, or does slowly: Unicode case folding, texts with a NUL, times in several forms, long
 * texts.
 */
import { escapeRegExp } from '../../../foundation/base/escape-reg-exp.ts'
import { parseExact } from '../../../foundation/json/json-numbers.ts'
import type { Fold } from '../../../records/request/operators.ts'
import { withoutAccents } from '../../../foundation/values/accents.ts'
import { LruCache } from '../../../foundation/base/lru-cache.ts'
import { thresholds } from '../../../foundation/base/thresholds.ts'
import { parseStoredTime, type StoredTime } from './stored-time.ts'
import { expressions } from '../../../foundation/expressions/load-expressions.ts'

/** `mikro_time(value, unit)`: milliseconds since 1970, or the value. */
export function timeFunction(value: unknown, unit: unknown): unknown {
  return parseStoredTime(value, unit as StoredTime['unit']) ?? value
}

/** `mikro_moment(value, unit)`: milliseconds since 1970, or NULL. */
export function momentFunction(value: unknown, unit: unknown): number | null {
  return parseStoredTime(value, unit as StoredTime['unit']) ?? null
}

/** `mikro_rounded(value, scale)`: a number with `scale` digits after the point; other values unchanged. */
export function roundedFunction(value: unknown, scale: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(scale as number)) : value
}

/** `mikro_json(text)`: the same text for equal objects or arrays; else NULL. */
export function jsonFunction(text: unknown): string | null {
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return null
  try {
    return canonicalJson(parseExact(text)) ?? null
  } catch {
    return null
  }
}

/**
 * `mikro_match(text, pieces, fold)`: 1 where a text consists of the pieces, with any characters between.
 *
 * @param checkClock may throw
 */
export function matchFunction(checkClock: () => void): (value: unknown, pieces: unknown, fold: unknown) => number | null {
  let work = 0
  return (value, pieces, fold) => {
    if (value === null) return null
    if (typeof value !== 'string') return 0
    work += value.length
    if (work >= CHECK_EVERY) {
      work = 0
      checkClock()
    }
    const text = fold === 2 ? withoutAccents(value) : value
    return parseMatcher(String(pieces), fold as Fold)(text, checkClock) ? 1 : 0
  }
}

/** Characters between two checks of the clock. */
const CHECK_EVERY = 10_000

type Matcher = (text: string, checkClock: () => void) => boolean

/** A compiled expression takes many times the bytes of its text. */
const matchers = new LruCache<Matcher>(1000, { bytes: 4 << 20, weigh: (_, key) => 1000 + 40 * key.length })

/** For the rows of a statement: a long key is slow to look up. */
let last: { readonly pieces: string; readonly fold: Fold; readonly matcher: Matcher } | undefined

function parseMatcher(pieces: string, fold: Fold): Matcher {
  if (last?.pieces === pieces && last.fold === fold) return last.matcher
  const matcher = knownMatcher(pieces, fold)
  last = { pieces, fold, matcher }
  return matcher
}

/** @param pieces as JSON, or a list of patterns: then any may match */
function knownMatcher(pieces: string, fold: Fold): Matcher {
  const key = String(fold) + pieces
  let matcher = matchers.get(key)
  if (matcher === undefined) {
    const patterns = JSON.parse(fold === 2 ? withoutAccents(pieces) : pieces) as readonly string[] | readonly (readonly string[])[]
    matcher = areSeveral(patterns) ? compileMatchers(patterns, fold > 0) : compileMatcher(patterns, fold > 0)
    matchers.set(key, matcher)
  }
  return matcher
}

function areSeveral(patterns: readonly string[] | readonly (readonly string[])[]): patterns is readonly (readonly string[])[] {
  return Array.isArray(patterns[0])
}

function compileMatchers(patterns: readonly (readonly string[])[], fold: boolean): Matcher {
  const all = patterns.map(pieces => compileMatcher(pieces, fold))
  return (text, checkClock) => all.some(matches => matches(text, checkClock))
}

/** The `iu` flags of RegExp do simple case folding (Unicode, CaseFolding.txt C and S). */
function compileMatcher(pieces: readonly string[], fold: boolean): Matcher {
  const finders = pieces.map(piece => compileFinder(piece, fold))
  const last = pieces.length - 1
  if (last === 0) return text => text.length === pieces[0]!.length && finders[0]!.startsAt(text, 0)
  return (text, checkClock) => {
    const first = pieces[0]!.length
    const end = text.length - pieces[last]!.length
    if (end < first || !finders[0]!.startsAt(text, 0) || !finders[last]!.startsAt(text, end)) return false
    // First places are enough for any match.
    let position = first
    for (let index = 1; index < last; index++) {
      const found = finders[index]!(text, position, checkClock)
      if (found < 0) return false
      position = found + pieces[index]!.length
      if (position > end) return false
    }
    return true
  }
}

interface Finder {
  (text: string, from: number, checkClock: () => void): number
  startsAt(text: string, at: number): boolean
}

function compileFinder(piece: string, fold: boolean): Finder {
  if (!fold) {
    let next: Uint16Array | undefined
    return Object.assign(
      (text: string, from: number) =>
        (text.length - from) * piece.length <= thresholds.quickSearch
          ? text.indexOf(piece, from)
          : findIndex(text, piece, from, (next ??= computeFailures(piece))),
      { startsAt: (text: string, at: number) => text.startsWith(piece, at) },
    )
  }
  // Simple folding keeps the length: a match is as long as the piece.
  const source = escapeRegExp(piece)
  const search = new RegExp(source, 'giu')
  const sticky = new RegExp(source, 'yiu')
  const find = (text: string, from: number): number => {
    search.lastIndex = from
    return search.exec(text)?.index ?? -1
  }
  return Object.assign(
    (text: string, from: number, checkClock: () => void) => {
      if ((text.length - from) * piece.length <= thresholds.quickSearch) return find(text, from)
      // Part by part, each with enough of the next part.
      const size = Math.ceil(thresholds.quickSearch / piece.length)
      for (let start = from; start < text.length; start += size) {
        checkClock()
        // A place amid a surrogate pair begins another character.
        const before = start > 0 && isLowSurrogate(text.charCodeAt(start)) ? 1 : 0
        const found = find(text.slice(start - before, start + size + piece.length), before)
        if (found >= before) return start - before + found
      }
      return -1
    },
    {
      startsAt: (text: string, at: number) => {
        sticky.lastIndex = at
        // Amid a surrogate pair, a RegExp matches before `at`.
        return sticky.exec(text)?.index === at
      },
    },
  )
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** By place: the length of the piece's beginning that ends at the place (Knuth, Morris, Pratt). */
function computeFailures(piece: string): Uint16Array {
  const failures = new Uint16Array(piece.length)
  for (let at = 1, length = 0; at < piece.length; at++) {
    while (length > 0 && piece.charCodeAt(at) !== piece.charCodeAt(length)) length = failures[length - 1]!
    if (piece.charCodeAt(at) === piece.charCodeAt(length)) length++
    failures[at] = length
  }
  return failures
}

/** As `indexOf`, in linear time. */
function findIndex(text: string, piece: string, from: number, failures: Uint16Array): number {
  let length = 0
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (length > 0 && unit !== piece.charCodeAt(length)) length = failures[length - 1]!
    if (unit === piece.charCodeAt(length)) length++
    if (length === piece.length) return at - length + 1
  }
  return -1
}

/** Only the engine's stars stay special. */
export function formatGlob(pieces: readonly string[]): string {
  return pieces.map(piece => piece.replaceAll(/[*?[]/g, '[$&]')).join('*')
}

export function isAscii(pieces: readonly string[]): boolean {
  // eslint-disable-next-line no-control-regex -- NUL is what LIKE cannot see behind
  return pieces.every(piece => /^[\x01-\x7f]*$/.test(piece))
}

/** SQLite reads no deeper. */
const MAX_STORED_DEPTH = 1000

/** Sorts keys, without spaces. Undefined where nested too deep to be stored. */
function canonicalJson(value: unknown, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (depth >= MAX_STORED_DEPTH) return undefined
  const isArray = Array.isArray(value)
  const parts: string[] = []
  for (const key of isArray ? value.keys() : Object.keys(value).toSorted()) {
    const part = canonicalJson((value as Record<string | number, unknown>)[key], depth + 1)
    if (part === undefined) return undefined
    parts.push(isArray ? part : `${JSON.stringify(key)}:${part}`)
  }
  return isArray ? `[${parts.join()}]` : `{${parts.join()}}`
}

/** Steps between two checks of the clock. */
const EXPRESSION_STEPS = 100_000

/**
 * `mikro_expression(text, expression, fold)`: 1 where a regular expression matches.
 *
 * @param checkClock may throw
 */
export function expressionFunction(checkClock: () => void): (value: unknown, expression: unknown, fold: unknown) => number | null {
  let work = 0
  const count = (steps: number): void => {
    work += steps
    if (work < EXPRESSION_STEPS) return
    work = 0
    checkClock()
  }
  return (value, expression, fold) => {
    if (value === null || typeof expression !== 'string') return null
    return typeof value === 'string' && expressions().match(value, expression, fold === 1, count) ? 1 : 0
  }
}
