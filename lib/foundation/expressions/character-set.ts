/** `[a-z]`, `\w` and the like as ranges of code points, the same on all databases. */

/** First and last code point. */
export type CharacterRange = readonly [number, number]

/** `[^a-z]` is negated. */
export interface CharacterSet {
  readonly isNegated: boolean
  /** In ascending order, apart from each other. */
  readonly ranges: readonly CharacterRange[]
}

const LAST = 0x10ffff

/** Above all letters and digits of Unicode. */
const LAST_LETTER = 0x3ffff

const WORD = /[\p{Alphabetic}\p{Nd}_]/u
const DIGITS: readonly CharacterRange[] = [[0x30, 0x39]]

/** The spaces of glibc, as most servers have: no unbreakable spaces. */
const SPACES: readonly CharacterRange[] = [
  [0x9, 0xd],
  [0x20, 0x20],
  [0x1680, 0x1680],
  [0x2000, 0x2006],
  [0x2008, 0x200a],
  [0x2028, 0x2029],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
]

/** By names in `[[:alpha:]]`: ranges, or a RegExp for the letters, found at the first use. */
const CLASSES: Readonly<Record<string, readonly CharacterRange[] | RegExp>> = {
  alnum: /[\p{Alphabetic}\p{Nd}]/u,
  alpha: /\p{Alphabetic}/u,
  digit: DIGITS,
  lower: /\p{Lowercase}/u,
  space: SPACES,
  upper: /\p{Uppercase}/u,
  word: WORD,
}

const found = new Map<string, readonly CharacterRange[]>()

/** Undefined for another name. */
export function findClass(name: string): readonly CharacterRange[] | undefined {
  const described = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined
  if (!(described instanceof RegExp)) return described
  if (!found.has(name)) found.set(name, listRanges(described))
  return found.get(name)
}

function listRanges(letters: RegExp): CharacterRange[] {
  const ranges: CharacterRange[] = []
  let first: number | undefined
  for (let point = 0; point <= LAST_LETTER + 1; point++) {
    const isIn = point <= LAST_LETTER && letters.test(String.fromCodePoint(point))
    if (isIn) first ??= point
    else if (first !== undefined) {
      ranges.push([first, point - 1])
      first = undefined
    }
  }
  return ranges
}

export function joinRanges(ranges: readonly CharacterRange[]): readonly CharacterRange[] {
  const joined: CharacterRange[] = []
  for (const [first, last] of ranges.toSorted((one, other) => one[0] - other[0])) {
    const before = joined.at(-1)
    if (before !== undefined && first <= before[1] + 1) joined[joined.length - 1] = [before[0], Math.max(before[1], last)]
    else joined.push([first, last])
  }
  return joined
}

export function complementRanges(ranges: readonly CharacterRange[]): readonly CharacterRange[] {
  const others: CharacterRange[] = []
  let next = 0
  for (const [first, last] of joinRanges(ranges)) {
    if (first > next) others.push([next, first - 1])
    next = last + 1
  }
  if (next <= LAST) others.push([next, LAST])
  return others
}

/** @param ranges in ascending order */
export function isInRanges(point: number, ranges: readonly CharacterRange[]): boolean {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle]![1] < point) low = middle + 1
    else high = middle
  }
  return low < ranges.length && ranges[low]![0] <= point
}
