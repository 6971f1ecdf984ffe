/** Finds the known name nearest to a misspelt one, for the hints in error texts. */
import leven from 'leven'

/**
 * Returns the known name nearest to `name` by edit distance, ignoring case, or undefined when none is close enough.
 *
 * @example findNearest('emial', ['email', 'name']) // 'email'
 */
export function findNearest(name: string, known: Iterable<string>): string | undefined {
  // A long name would make the distance costly, and is hardly a misspelling.
  if (name.length > 100) return undefined
  const wanted = name.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const distance = leven(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Returns ` Did you mean "email"?`, or an empty text without a suggestion. */
export function formatHint(suggestion: string | undefined): string {
  return suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`
}

/**
 * Rejects unknown names of options.
 *
 * @param habits names of other libraries, each with the name that means the same here
 * @throws TypeError on an unknown name.
 */
export function checkNames(given: object, known: readonly string[], where: string, habits: Readonly<Record<string, string>> = {}): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const meant = Object.hasOwn(habits, name) ? habits[name] : findNearest(name, known)
    throw new TypeError(`${where}: unknown option "${name}".${meant === undefined ? ` Known are ${known.join(', ')}.` : formatHint(meant)}`)
  }
}
