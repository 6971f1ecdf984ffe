/** Finds the known name nearest to a misspelt name, for errors: `Did you mean "email"?` */
import leven from 'leven'

/**
 * Ignores case; undefined if none is close.
 *
 * @example findNearest('emial', ['email', 'name']) // 'email'
 */
export function findNearest(name: string, known: Iterable<string>): string | undefined {
  // A long name is hardly a misspelling, and costly.
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

export function formatHint(suggestion: string | undefined): string {
  return suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`
}

/**
 * @param habits names of other libraries, with the names used here
 * @throws TypeError on an unknown name.
 */
export function checkNames(given: object, known: readonly string[], where: string, habits: Readonly<Record<string, string>> = {}): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const meant = Object.hasOwn(habits, name) ? habits[name] : findNearest(name, known)
    throw new TypeError(`${where}: unknown option "${name}".${meant === undefined ? ` Known are ${known.join(', ')}.` : formatHint(meant)}`)
  }
}
