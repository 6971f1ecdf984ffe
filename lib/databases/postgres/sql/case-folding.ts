/**
 * Completes the server's `lower`, so that texts compare as by RegExp's flags `iu`. Of σ, ς and Σ the server may lower Σ to σ and leave ς:
 * `translate` then maps ς to σ. `open.ts` asks the server once for `lower` of all characters.
 *
 * ```
 * translate(lower(name), 'ς', 'σ')
 * ```
 */
import { escapeRegExp } from '../../../foundation/base/escape-reg-exp.ts'

/** `translate(lower(value collate ...), from, to)` */
export interface CaseFolding {
  readonly collation: string
  readonly from: string
  readonly to: string
}

/** Of characters with a case. */
const FIRST = 'A'.codePointAt(0)!
const LAST = 0x1ffff

let classes: ReadonlyMap<string, string> | undefined

/** Maps each character with a case to the smallest character of the same letter. */
export function listCaseClasses(): ReadonlyMap<string, string> {
  return (classes ??= buildCaseClasses())
}

function buildCaseClasses(): ReadonlyMap<string, string> {
  const parents = new Map<string, string>()
  // Union-find: the parents lead to the smallest character.
  const find = (character: string): string => {
    const parent = parents.get(character)
    return parent === undefined ? character : find(parent)
  }
  for (let point = FIRST; point <= LAST; point++) {
    // No characters: surrogates.
    if (point >= 0xd800 && point < 0xe000) continue
    const character = String.fromCodePoint(point)
    for (const other of listOtherCases(character)) {
      const [one, two] = [find(other), find(character)]
      if (one === two || !areEqual(character, other)) continue
      if (one.codePointAt(0)! < two.codePointAt(0)!) parents.set(two, one)
      else parents.set(one, two)
    }
  }
  const smallest = new Map([...parents.keys()].map(character => [character, find(character)] as const))
  for (const character of new Set(smallest.values())) smallest.set(character, character)
  return smallest
}

function listOtherCases(character: string): readonly string[] {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
  if (lower === character && upper === character) return []
  const all = [lower, upper, upper.toLowerCase(), lower.toUpperCase()]
  return all.filter(other => other !== character && [...other].length === 1)
}

function areEqual(one: string, other: string): boolean {
  return new RegExp(`^${escapeRegExp(one)}$`, 'iu').test(other)
}

/** @param lowered what `lower` of the server gives for each key of `listCaseClasses`, in the same order */
export function findCaseFolding(lowered: readonly string[], collation: string): CaseFolding {
  const all = [...listCaseClasses()]
  // The server's `lower` of the first character counts for all. `translate` takes only single characters.
  const folded = new Map<string, string>()
  for (const [index, [character, smallest]] of all.entries()) {
    const given = lowered[index]!
    if (!folded.has(smallest)) folded.set(smallest, [...given].length === 1 ? given : character)
  }
  const mapped = new Map<string, string>()
  for (const [index, [, smallest]] of all.entries()) {
    const given = lowered[index]!
    const wanted = folded.get(smallest)!
    if (given !== wanted && [...given].length === 1) mapped.set(given, wanted)
  }
  return { collation, from: [...mapped.keys()].join(''), to: [...mapped.values()].join('') }
}
