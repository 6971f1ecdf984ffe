/** Create tokens: splits the text of a CREATE TABLE statement into tokens as SQLite does (https://www.sqlite.org/lang_createtable.html). */
/** A word, name, text, number or mark, with its place in the statement. */
export interface CreateToken {
  readonly text: string
  /** In upper case where it may be a keyword; empty for quoted names, texts and numbers. */
  readonly word: string
  readonly start: number
  readonly end: number
}

const TOKEN =
  /\s+|--[^\n]*|\/\*[^]*?(?:\*\/|$)|(?<text>[xX]?'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?<word>[\p{L}_$\u0080-\uffff][\p{L}\p{N}_$\u0080-\uffff]*)|(?<mark>[^])/gu

export function tokenize(sql: string): CreateToken[] {
  return [...sql.matchAll(TOKEN)].flatMap(({ index, groups = {}, 0: text }): CreateToken[] => {
    if (groups['text'] === undefined && groups['word'] === undefined && groups['mark'] === undefined) return []
    return [{ text, word: groups['word']?.toUpperCase() ?? groups['mark'] ?? '', start: index, end: index + text.length }]
  })
}

/** Removes the quotes of a name or a text. */
export function unquote(written: string): string {
  const [first] = written
  if (first === '[') return written.slice(1, -1)
  if (first !== '"' && first !== '`' && first !== "'") return written
  return written.slice(1, -1).replaceAll(first + first, first)
}

/** Returns the place of the bracket that closes the one at a place; -1 where none does. */
export function findPartner(tokens: readonly CreateToken[], open: number): number {
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at]!.word === '(') depth++
    else if (tokens[at]!.word === ')' && --depth === 0) return at
  }
  return -1
}

/** Splits tokens at those of a word, by default at commas, outside of brackets. */
export function splitParts(tokens: readonly CreateToken[], separator = ','): CreateToken[][] {
  const parts: CreateToken[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.word === '(') depth++
    else if (token.word === ')') depth--
    if (depth === 0 && token.word === separator) parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts.filter(part => part.length > 0)
}
