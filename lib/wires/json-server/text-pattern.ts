/**
 * Patterns of `_like`, `contains`, `startsWith` and `endsWith`, without regard to case, for the database (`LIKE`) and for single values.
 */
export interface TextPattern {
  /** In order, with any text between. */
  readonly parts: readonly string[]
  readonly fromStart: boolean
  readonly toEnd: boolean
}

/** Of regular expressions, `_like` knows `^`, `$` and, up to so many parts, `.*`. */
const MOST_PARTS = 8

export function readPattern(operator: string, text: string): TextPattern {
  if (operator !== 'like') return { parts: [text], fromStart: operator === 'startsWith', toEnd: operator === 'endsWith' }
  const fromStart = text.startsWith('^')
  const toEnd = text.endsWith('$') && text !== '$'
  const inner = text.slice(fromStart ? 1 : 0, toEnd ? -1 : undefined)
  const parts = inner.split('.*')
  return { parts: parts.length > MOST_PARTS ? [inner] : parts, fromStart, toEnd }
}

export function likeOf({ parts, fromStart, toEnd }: TextPattern): string {
  return `${fromStart ? '' : '%'}${parts.map(escapeLike).join('%')}${toEnd ? '' : '%'}`
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}

export function matchesText(text: string, { parts, fromStart, toEnd }: TextPattern): boolean {
  const folded = text.toLowerCase()
  const wanted = parts.map(part => part.toLowerCase())
  if (wanted.length === 1 && fromStart && toEnd) return folded === wanted[0]
  const last = toEnd ? wanted.pop()! : ''
  const end = folded.length - last.length
  if (end < 0 || !folded.endsWith(last)) return false
  let from = 0
  for (const [index, part] of wanted.entries()) {
    const found = index === 0 && fromStart ? (folded.startsWith(part) ? 0 : -1) : folded.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return from <= end
}
