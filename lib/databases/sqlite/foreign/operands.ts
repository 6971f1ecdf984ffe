/** Finds operands and types among SQL tokens of PostgreSQL and MySQL. For `::` in `(a + b)::int`, the operand begins at `(`. */
import { findPartner, word, type SqlToken } from '../../sql/sql-tokens.ts'

/** @returns the place of the last token where no bracket closes */
export function findClosing(tokens: readonly SqlToken[], open: number): number {
  const close = findPartner(tokens, open)
  return close < 0 ? tokens.length - 1 : close
}

export function findOperandStart(tokens: readonly SqlToken[], end: number): number {
  let at = end
  if (word(tokens[at]) === ')' || word(tokens[at]) === ']') {
    const close = tokens[at]!.text
    const open = close === ')' ? '(' : '['
    let depth = 0
    for (; at >= 0; at--) {
      if (word(tokens[at]) === close) depth++
      else if (word(tokens[at]) === open && --depth === 0) break
    }
    const before = tokens[at - 1]
    // A function or an array, not a keyword before a group.
    if ((before?.kind === 'word' && !KEYWORDS.has(word(before))) || before?.kind === 'name') at--
    else return Math.max(at, 0)
  }
  while (at >= 2 && word(tokens[at - 1]) === '.' && tokens[at]!.gap === '') at -= 2
  return Math.max(at, 0)
}

const KEYWORDS = new Set(
  'and or not in is when then else case select from where on as between like ilike having by limit offset union all distinct'.split(' '),
)

/** @returns `end`, the place of the last token */
export function readType(tokens: readonly SqlToken[], start: number): { type: string; end: number } {
  let end = start
  while (word(tokens[end + 1]) === '.' && tokens[end + 2] !== undefined) end += 2
  let type = tokens[end]!.text.toLowerCase().replaceAll(/["`]/g, '')
  if (type === 'double' && word(tokens[end + 1]) === 'precision') end++
  if (type === 'character' && word(tokens[end + 1]) === 'varying') end++
  if (word(tokens[end + 1]) === '(') end = findClosing(tokens, end + 1)
  if (/^time(?:stamp)?$/.test(type) && /^with(?:out)?$/.test(word(tokens[end + 1])) && word(tokens[end + 2]) === 'time') end += 3
  while (word(tokens[end + 1]) === '[') {
    end = findClosing(tokens, end + 1)
    type += '[]'
  }
  return { type, end }
}

/** A zone equal to UTC. */
export function isUtc(zone: SqlToken | undefined): boolean {
  return zone?.kind === 'text' && /^'(?:(?:etc\/)?(?:utc|uct|gmt|universal|zulu|greenwich)|z|[+-]?0?0(?::?00)?)'$/i.test(zone.text)
}

/** A token that no rewrite reads. */
export const asText = (text: string, gap: string): SqlToken => ({ kind: 'text', text, gap })

/** @returns false where not applicable */
export type Rewrite = (tokens: SqlToken[], at: number) => boolean
