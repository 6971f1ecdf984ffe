/**
 * SQL tokens: a text of PostgreSQL's or MySQL's SQL as tokens that keep the blanks and comments between them, so that the text can be
 * written back as it was; and the end or beginning of brackets, operands and types among them.
 */
export interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'mark'
  readonly text: string
  /** The blanks and comments before it. */
  readonly gap: string
}

const PARTS = [
  String.raw`(?<text>[eEnN]?'(?:[^']|'')*')`,
  String.raw`(?<name>"(?:[^"]|"")*"|\x60(?:[^\x60]|\x60\x60)*\x60)`,
  String.raw`(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)`,
  String.raw`(?<word>[\p{L}_$][\p{L}\p{N}_$]*)`,
  String.raw`(?<mark>::|->>|->|#>>|#>|\|\||~\*|!~\*|!~|<=|>=|<>|!=|@>|<@|\?\?|[^])`,
]

/** Blanks and comments, and the token behind them. */
const TOKEN = new RegExp(String.raw`(?<gap>(?:\s+|--[^\n]*|/\*[^]*?(?:\*/|$))*)(?:${PARTS.join('|')})`, 'guy')

/** Splits a text into tokens. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = []
  for (const { groups = {} } of sql.matchAll(TOKEN)) {
    const { gap = '' } = groups
    for (const kind of ['text', 'name', 'number', 'word', 'mark'] as const) {
      const text = groups[kind]
      if (text !== undefined) tokens.push({ kind, text, gap })
    }
  }
  return tokens
}

/** Returns the text of tokens. */
export function formatTokens(tokens: readonly Token[]): string {
  return tokens.map(({ gap, text }) => gap + text).join('')
}

/** Returns a word in lower case; the empty string for any other token. */
export function word(token: Token | undefined): string {
  return token?.kind === 'word' ? token.text.toLowerCase() : ''
}

export function isMark(token: Token | undefined, mark: string): boolean {
  return token?.kind === 'mark' && token.text === mark
}

const PAIRS: Readonly<Record<string, string>> = { '(': ')', '[': ']' }

/** Finds the end of the bracket that opens at a place. */
export function findClosing(tokens: readonly Token[], at: number): number {
  const open = tokens[at]!.text
  let depth = 0
  for (let index = at; index < tokens.length; index++) {
    if (isMark(tokens[index], open)) depth++
    else if (isMark(tokens[index], PAIRS[open]!) && --depth === 0) return index
  }
  return tokens.length - 1
}

/** Finds the beginning of the operand that ends at a place: a literal, a name, a call, a group. */
export function findOperandStart(tokens: readonly Token[], end: number): number {
  let at = end
  if (isMark(tokens[at], ')') || isMark(tokens[at], ']')) {
    const close = tokens[at]!.text
    const open = close === ')' ? '(' : '['
    let depth = 0
    for (; at >= 0; at--) {
      if (isMark(tokens[at], close)) depth++
      else if (isMark(tokens[at], open) && --depth === 0) break
    }
    const before = tokens[at - 1]
    // A function or an array, not a keyword before a group.
    if ((before?.kind === 'word' && !KEYWORDS.has(word(before))) || before?.kind === 'name') at--
    else return Math.max(at, 0)
  }
  while (at >= 2 && isMark(tokens[at - 1], '.') && tokens[at]!.gap === '') at -= 2
  return Math.max(at, 0)
}

const KEYWORDS = new Set(
  'and or not in is when then else case select from where on as between like ilike having by limit offset union all distinct'.split(' '),
)

/** Reads the name of the type that begins at a place. Returns it with the place where it ends. */
export function readType(tokens: readonly Token[], start: number): { type: string; end: number } {
  let end = start
  while (isMark(tokens[end + 1], '.') && tokens[end + 2] !== undefined) end += 2
  let type = tokens[end]!.text.toLowerCase().replaceAll(/["`]/g, '')
  if (type === 'double' && word(tokens[end + 1]) === 'precision') end++
  if (type === 'character' && word(tokens[end + 1]) === 'varying') end++
  if (isMark(tokens[end + 1], '(')) end = findClosing(tokens, end + 1)
  if (/^time(?:stamp)?$/.test(type) && /^with(?:out)?$/.test(word(tokens[end + 1])) && word(tokens[end + 2]) === 'time') end += 3
  while (isMark(tokens[end + 1], '[')) {
    end = findClosing(tokens, end + 1)
    type += '[]'
  }
  return { type, end }
}

/** Returns SQL that is not read further, as one token. */
export const asText = (text: string, gap: string): Token => ({ kind: 'text', text, gap })

/** Rewrites the tokens at a place. Returns false where it does not apply. */
export type Rewrite = (tokens: Token[], at: number) => boolean
