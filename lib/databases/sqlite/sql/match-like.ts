/**
 * Match like: a text against a pattern of `$like`, as PostgreSQL has it: `%` is any number of characters, `_` is one, `\` takes away the
 * meaning of the next one, and letters are compared as they are. SQLite's own LIKE folds letters and knows no escape; its GLOB does the
 * same as this function, where that is quick and right.
 */

/** Any number of characters, and one, among the characters of a pattern. */
const MANY = 0
const ONE = 1

type Pattern = readonly (string | typeof MANY | typeof ONE)[]

/** Reads a pattern, character by character. A backslash at the end stands for itself. */
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

/** The pattern as GLOB takes it. */
export function toGlob(pattern: string): string {
  const texts = parse(pattern).map(part => (part === MANY ? '*' : part === ONE ? '?' : part.replace(/[*?[]/, '[$&]')))
  return texts.join('')
}

/** Steps between two looks at the clock. */
const LOOK_EVERY = 100_000

/**
 * The SQL function that `mikro_like(text, pattern)` calls. Deterministic.
 *
 * @param look is called between pieces of work, and may throw
 */
export function likeFunction(look: () => void): (value: unknown, pattern: unknown) => number | null {
  let last: { readonly text: string; readonly pattern: Pattern } | undefined
  let work = 0
  const step = (): void => {
    if (++work % LOOK_EVERY === 0) look()
  }
  return (value, pattern) => {
    if (value === null || typeof pattern !== 'string') return null
    // The SQL around it asks for texts alone: what is long, or has a NUL.
    if (typeof value !== 'string') return 0
    if (last?.text !== pattern) last = { text: pattern, pattern: parse(pattern) }
    return matches([...value], last.pattern, step) ? 1 : 0
  }
}

/** What stands between two `%` is taken at its first place: if the pattern matches at all, it matches so. */
function matches(text: readonly string[], pattern: Pattern, step: () => void): boolean {
  let [at, part] = [0, 0]
  let again: { readonly part: number; at: number } | undefined
  while (at < text.length) {
    step()
    const wanted = pattern[part]
    if (wanted === MANY) again = { part: ++part, at }
    else if (wanted === ONE || wanted === text[at]) {
      at++
      part++
    } else if (again === undefined) return false
    else [at, part] = [++again.at, again.part]
  }
  while (pattern[part] === MANY) part++
  return part === pattern.length
}
