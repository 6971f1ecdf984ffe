/**
 * Matches texts with `$like` and `$ilike` as PostgreSQL does: `%` is any number of characters, `_` a single character, `\%` a `%`. SQLite's
 * LIKE folds ASCII letters alone.
 */

/** `%` and `_`. */
const MANY = 0
const ONE = 1

type Pattern = readonly (string | typeof MANY | typeof ONE)[]

/** A backslash at the end stands for itself. */
function parse(pattern: string): Pattern {
  const parts: (string | typeof MANY | typeof ONE)[] = []
  let isPlain = false
  for (const character of pattern) {
    if (isPlain) parts.push(character)
    else if (character === '%') parts.push(MANY)
    else if (character === '_') parts.push(ONE)
    else if (character !== '\\') parts.push(character)
    isPlain = !isPlain && character === '\\'
  }
  if (isPlain) parts.push('\\')
  return parts
}

export function toGlob(pattern: string): string {
  const texts = parse(pattern).map(part => (part === MANY ? '*' : part === ONE ? '?' : part.replace(/[*?[]/, '[$&]')))
  return texts.join('')
}

/** Steps between two checks of the clock. */
const CHECK_EVERY = 100_000

/**
 * The SQL function `mikro_like(text, pattern, fold)`.
 *
 * @param checkClock may throw
 */
export function likeFunction(checkClock: () => void): (value: unknown, pattern: unknown, fold: unknown) => number | null {
  let last: { readonly text: string; readonly fold: unknown; readonly pattern: Pattern } | undefined
  let work = 0
  const step = (): void => {
    if (++work % CHECK_EVERY === 0) checkClock()
  }
  return (value, pattern, fold) => {
    if (value === null || typeof pattern !== 'string') return null
    // A file's column of texts may hold numbers or bytes.
    if (typeof value !== 'string') return 0
    if (last?.text !== pattern || last.fold !== fold)
      last = { text: pattern, fold, pattern: parse(fold === 1 ? foldCase(pattern) : pattern) }
    return matches([...(fold === 1 ? foldCase(value) : value)], last.pattern, step) ? 1 : 0
  }
}

/** Simple case folding, like `iu` of RegExp: a character never becomes two. */
function foldCase(text: string): string {
  let folded = ''
  for (const character of text) folded += foldCharacter(character)
  return folded
}

/** By the capital letter: `s` equals the long `s`. */
function foldCharacter(character: string): string {
  if (character < '\u0080') return character.toLowerCase()
  const upper = character === 'ı' ? character : character.toUpperCase()
  const lower = ([...upper].length === 1 ? upper : character).toLowerCase()
  return [...lower].length === 1 ? lower : character
}

/** Takes each text between two `%` at the first place, enough for any match. */
function matches(text: readonly string[], pattern: Pattern, step: () => void): boolean {
  let [at, part] = [0, 0]
  let retry: { readonly part: number; at: number } | undefined
  while (at < text.length) {
    step()
    const wanted = pattern[part]
    if (wanted === MANY) retry = { part: ++part, at }
    else if (wanted === ONE || wanted === text[at]) {
      at++
      part++
    } else if (retry === undefined) return false
    else [at, part] = [++retry.at, retry.part]
  }
  while (pattern[part] === MANY) part++
  return part === pattern.length
}
