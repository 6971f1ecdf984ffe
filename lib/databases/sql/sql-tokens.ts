/** Splits SQL into words, names, texts and marks. Joined, the tokens give the SQL again. */

/** Whose quotes, comments and parameters a text has. Both know MySQL's backticks. */
export type SqlDialect = 'sqlite' | 'postgres'

/** A quote without its end is a mark; tokens follow. */
export interface SqlToken {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'parameter' | 'mark'
  readonly text: string
  /** Blanks and comments before. */
  readonly gap: string
}

const LETTER = String.raw`A-Za-z_\u{80}-\u{10ffff}`
const NAME = String.raw`"[^"]*(?:""[^"]*)*"|\x60[^\x60]*(?:\x60\x60[^\x60]*)*\x60`

const SQLITE = [
  String.raw`--[^\n]*|/\*[^]*?(?:\*/|$)`,
  String.raw`[xX]?'[^']*(?:''[^']*)*'`,
  String.raw`${NAME}|\[[^\]]*\]`,
  String.raw`\?\d*|[:@$][${LETTER}\d]+`,
]

const POSTGRES = [
  // A comment in a comment, or without an end, gives the mark `/*`: the caller decides.
  String.raw`--[^\r\n]*|/\*(?:(?!/\*)[^])*?\*/`,
  // E'it\'s', N'it''s', $body$it's$body$.
  String.raw`[eE]'[^'\\]*(?:(?:\\[^]|'')[^'\\]*)*'|[nN]?'[^']*(?:''[^']*)*'|\$(?<tag>(?:[${LETTER}][${LETTER}\d]*)?)\$[^]*?\$\k<tag>\$`,
  NAME,
  // MikroORM writes `?` for a value, `??` for a name, `\?` for the character.
  String.raw`\\\?|\?\??|\$\d+`,
]

function compile(own: readonly string[]): RegExp {
  const number = String.raw`0[xX][\da-fA-F]+|\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?`
  const marks = String.raw`/\*|::|->>|->|#>>|#>|\|\||!?~\*?|<=|>=|<>|!=|==|@>|<@|[^]`
  return new RegExp([String.raw`[ \t\r\n\f\v]+`, ...own, number, String.raw`[${LETTER}][${LETTER}\d$]*`, marks].join('|'), 'gu')
}

const PATTERNS = { sqlite: compile(SQLITE), postgres: compile(POSTGRES) }

/** The first pattern that fits decides; the text `$a$it's$a$` is known by its end. */
const KINDS: readonly (readonly [kind: SqlToken['kind'] | undefined, begins: RegExp])[] = [
  ['word', new RegExp(`^[${LETTER}](?!')`, 'u')],
  [undefined, /^(?:[ \t\r\n\f\v]|--|\/\*[^])/],
  ['name', /^["\x60[][^]/],
  ['parameter', /^(?:\?|\\\?|[:@$][^:>$](?![^]*\$$))/],
  ['number', /^\d/],
  ['text', /^(?:\w?'[^]|\$[^])/],
  ['mark', /^/],
]

/** Leaves out blanks and comments at the end. */
export function tokenize(sql: string, dialect: SqlDialect): SqlToken[] {
  const tokens: SqlToken[] = []
  let gap = ''
  for (const text of sql.match(PATTERNS[dialect]) ?? []) {
    const [kind] = KINDS.find(([, begins]) => begins.test(text))!
    if (kind === undefined) gap += text
    else {
      tokens.push({ kind, text, gap })
      gap = ''
    }
  }
  return tokens
}

export function formatTokens(tokens: readonly SqlToken[]): string {
  return tokens.map(({ gap, text }) => gap + text).join('')
}

/** @returns a word in lower case, or a mark: `select`, `(`; the empty text for other tokens */
export function word(token: SqlToken | undefined): string {
  return token?.kind === 'word' ? token.text.toLowerCase() : token?.kind === 'mark' ? token.text : ''
}

export function unquote(written: string): string {
  const [first] = written
  if (first === '[') return written.slice(1, -1)
  if (first !== '"' && first !== '`' && first !== "'") return written
  return written.slice(1, -1).replaceAll(first + first, first)
}

/** Names without their quotes, and keywords. */
export function listNames(tokens: readonly SqlToken[]): string[] {
  return tokens.filter(({ kind }) => kind === 'word' || kind === 'name').map(({ text }) => unquote(text))
}

/** The place of the closing bracket; -1: none. */
export function findPartner(tokens: readonly SqlToken[], open: number): number {
  const [begin, end] = word(tokens[open]) === '[' ? ['[', ']'] : ['(', ')']
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    if (word(tokens[at]) === begin) depth++
    else if (word(tokens[at]) === end && --depth === 0) return at
  }
  return -1
}

/** Splits outside of brackets. */
export function splitParts(tokens: readonly SqlToken[], separator = ','): SqlToken[][] {
  const parts: SqlToken[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    const mark = word(token)
    if (mark === '(' || mark === '[') depth++
    else if (mark === ')' || mark === ']') depth--
    if (depth === 0 && mark === separator) parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts.filter(part => part.length > 0)
}
