/**
 * Finds where a text stops being JSON (RFC 8259): V8 names positions only sometimes, in changing words.
 */

/** `position` counts UTF-16 units from 0; `line` and `column` count from 1. */
interface JsonSyntaxError {
  readonly position: number
  readonly line: number
  readonly column: number
  /** Undefined at the end of the text. */
  readonly found: string | undefined
}

/** The next token; `firstItem` and `firstKey` may be a closing bracket. */
type Due = 'value' | 'firstItem' | 'key' | 'firstKey' | 'colon' | 'after'

const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const PLAIN = /[^"\\\u0000-\u001f]*/y // oxlint-disable-line no-control-regex -- JSON strings hold no control characters
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
// An incomplete number or escape.
const NUMBER_CUT = /-(?!\d)|-?(?:0|[1-9]\d*)(?:(?:\.\d+)?[eE][+-]?|\.)/y
const ESCAPE_CUT = /\\(?:u[0-9a-fA-F]{0,3})?/y
const LITERALS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }

export function findJsonError(text: string): JsonSyntaxError | undefined {
  const position = findErrorPosition(text)
  return position === undefined ? undefined : locate(text, position)
}

/** `line 3, column 5 (position 42)`. */
export function describePosition(fault: JsonSyntaxError): string {
  return `line ${fault.line}, column ${fault.column} (position ${fault.position})`
}

function locate(text: string, position: number): JsonSyntaxError {
  const before = text.slice(0, position)
  const code = text.codePointAt(position)
  return {
    position,
    line: before.split('\n').length,
    column: position - before.lastIndexOf('\n'),
    found: code === undefined ? undefined : String.fromCodePoint(code),
  }
}

function findErrorPosition(text: string): number | undefined {
  const open: ('{' | '[')[] = []
  let due: Due = 'value'
  let at = match(SPACE, text, 0)
  for (;;) {
    const character = text[at]
    if (due === 'after') {
      const within = open.at(-1)
      if (within === undefined) return at === text.length ? undefined : at
      if (character === ',') due = within === '{' ? 'key' : 'value'
      else if (character === (within === '{' ? '}' : ']')) open.pop()
      else return at
      at++
    } else if (due === 'colon') {
      if (character !== ':') return at
      due = 'value'
      at++
    } else if (character === '}' && due === 'firstKey') {
      open.pop()
      due = 'after'
      at++
    } else if (due === 'key' || due === 'firstKey') {
      if (character !== '"') return at
      const end = scanString(text, at)
      if (end.fault) return end.at
      due = 'colon'
      at = end.at
    } else if (character === ']' && due === 'firstItem') {
      open.pop()
      due = 'after'
      at++
    } else if (character === '{' || character === '[') {
      open.push(character)
      due = character === '{' ? 'firstKey' : 'firstItem'
      at++
    } else {
      const end = scanScalar(text, at)
      if (end.fault) return end.at
      due = 'after'
      at = end.at
    }
    at = match(SPACE, text, at)
  }
}

interface JsonEnd {
  readonly at: number
  readonly fault: boolean
}

function scanScalar(text: string, start: number): JsonEnd {
  const character = text.charAt(start)
  if (character === '"') return scanString(text, start)
  const literal = LITERALS[character]
  if (literal !== undefined) {
    let length = 1
    while (length < literal.length && text[start + length] === literal[length]) length++
    return { at: start + length, fault: length < literal.length }
  }
  const end = match(NUMBER, text, start)
  const cut = match(NUMBER_CUT, text, start)
  return cut > end ? { at: cut, fault: true } : { at: end, fault: end === start }
}

function scanString(text: string, start: number): JsonEnd {
  let at = start + 1
  for (;;) {
    at = match(PLAIN, text, at)
    if (text[at] === '"') return { at: at + 1, fault: false }
    const next = match(ESCAPE, text, at)
    if (next === at) return { at: match(ESCAPE_CUT, text, at), fault: true }
    at = next
  }
}

/** Returns the end of the match, else `at`. */
function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}
