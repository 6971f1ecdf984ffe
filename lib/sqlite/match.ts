/**
 * Match: wildcard patterns. Prepares the parameters of SQLite's own comparisons, and holds the function for what they cannot do:
 * Unicode case folding, text with a NUL in it, and times that are stored in several forms.
 */
import { canonicalJson } from '../json.ts'
import { Recent } from '../recent.ts'
import { timeOf } from '../stored-time.ts'
import type { StoredTime } from '../stored-time.ts'

/** The SQL function that `mikro_time(value, unit)` calls: milliseconds since 1970, or the value itself when it is no time. Deterministic. */
export function timeFunction(value: unknown, unit: unknown): unknown {
  return timeOf(value, unit as StoredTime['unit']) ?? value
}

/** The SQL function that `mikro_json(text)` calls: an object or array in the one spelling that equal ones have, NULL for anything else. Deterministic. */
export function jsonFunction(text: unknown): string | null {
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return null
  try {
    return canonicalJson(JSON.parse(text)) ?? null
  } catch {
    return null
  }
}

/** The SQL function that `mikro_match(text, pieces, fold)` calls. Deterministic. */
export function matchFunction(value: unknown, pieces: unknown, fold: unknown): number | null {
  if (value === null) return null
  if (typeof value !== 'string') return 0
  return matcherOf(String(pieces), fold === 1)(value) ? 1 : 0
}

type Matcher = (text: string) => boolean

/** A matcher holds its pieces, and where it folds a regular expression for each, compiled: many times as much as their text. */
const matchers = new Recent<Matcher>(100, { bytes: 4 << 20, weigh: (_, key) => 1000 + 40 * key.length })

/** The last one that was asked for: a statement asks for one again with every row, and a key of thousands of characters is long to look up. */
let last: { readonly pieces: string; readonly fold: boolean; readonly matcher: Matcher } | undefined

function matcherOf(pieces: string, fold: boolean): Matcher {
  if (last?.pieces === pieces && last.fold === fold) return last.matcher
  const matcher = knownMatcher(pieces, fold)
  last = { pieces, fold, matcher }
  return matcher
}

/** @param pieces the pieces of a pattern as JSON, or a list of such: then any may match */
function knownMatcher(pieces: string, fold: boolean): Matcher {
  const key = (fold ? '~' : '=') + pieces
  let matcher = matchers.get(key)
  if (matcher === undefined) {
    const patterns = JSON.parse(pieces) as readonly string[] | readonly (readonly string[])[]
    matcher = areSeveral(patterns) ? compileMatchers(patterns, fold) : compileMatcher(patterns, fold)
    matchers.set(key, matcher)
  }
  return matcher
}

function areSeveral(patterns: readonly string[] | readonly (readonly string[])[]): patterns is readonly (readonly string[])[] {
  return Array.isArray(patterns[0])
}

function compileMatchers(patterns: readonly (readonly string[])[], fold: boolean): Matcher {
  const all = patterns.map(pieces => compileMatcher(pieces, fold))
  return text => all.some(matches => matches(text))
}

/** The text that a string is compared as. Simple case folding (Unicode, CaseFolding.txt C and S) is what the `iu` flags of RegExp do. */
function compileMatcher(pieces: readonly string[], fold: boolean): Matcher {
  const finders = pieces.map(piece => finderOf(piece, fold))
  const last = pieces.length - 1
  if (last === 0) return text => text.length === pieces[0]!.length && finders[0]!(text, 0) === 0
  return text => {
    const first = pieces[0]!.length
    const end = text.length - pieces[last]!.length
    if (end < first || !finders[0]!.startsAt(text, 0) || !finders[last]!.startsAt(text, end)) return false
    // Each piece at its first place: if the pattern matches at all, it matches so; hence no backtracking.
    let position = first
    for (let index = 1; index < last; index++) {
      const found = finders[index]!(text, position)
      if (found < 0) return false
      position = found + pieces[index]!.length
      if (position > end) return false
    }
    return true
  }
}

interface Finder {
  /** The first place of the piece at or after a position, or -1. */
  (text: string, from: number): number
  startsAt(text: string, at: number): boolean
}

function finderOf(piece: string, fold: boolean): Finder {
  if (!fold) {
    return Object.assign((text: string, from: number) => text.indexOf(piece, from), {
      startsAt: (text: string, at: number) => text.startsWith(piece, at),
    })
  }
  // Simple folding maps one UTF-16 unit to one, so a match is as long as the piece.
  const source = piece.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  const search = new RegExp(source, 'giu')
  const sticky = new RegExp(source, 'yiu')
  return Object.assign(
    (text: string, from: number) => {
      search.lastIndex = from
      return search.exec(text)?.index ?? -1
    },
    {
      startsAt: (text: string, at: number) => {
        sticky.lastIndex = at
        // Set amid a surrogate pair, a RegExp looks at the whole pair: such a match begins before the place that was asked for.
        return sticky.exec(text)?.index === at
      },
    },
  )
}

/** A GLOB pattern: case-sensitive, and only our stars are special. */
export function globOf(pieces: readonly string[]): string {
  return pieces.map(piece => piece.replaceAll(/[*?[]/g, '[$&]')).join('*')
}

/** A LIKE pattern with `\` as escape. */
export function likeOf(pieces: readonly string[]): string {
  return pieces.map(piece => piece.replaceAll(/[\\%_]/g, String.raw`\$&`)).join('%')
}

/** The smallest text that is larger than every text with this prefix, by code point. */
export function upperBound(prefix: string): string {
  const points = [...prefix]
  const last = points.pop()!.codePointAt(0)!
  // The surrogates are no characters: what follows U+D7FF is U+E000.
  return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
}

export function isAscii(pieces: readonly string[]): boolean {
  // eslint-disable-next-line no-control-regex -- NUL is what LIKE cannot see behind
  return pieces.every(piece => /^[\x01-\x7f]*$/.test(piece))
}
