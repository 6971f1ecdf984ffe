/**
 * Reads the parts of a CREATE TABLE statement for which SQLite has no pragma: allowed values in checks, collations, AUTOINCREMENT. It
 * splits the text into tokens as SQLite does (https://www.sqlite.org/lang_createtable.html), and ignores parts of an unknown form.
 */

interface DdlToken {
  /** `name`: a quoted identifier; `word`: anything that may be a keyword or an identifier; `mark`: one character. */
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'mark'
  readonly value: string
}

const TOKEN =
  /\s+|--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?<text>(?:[^']|'')*)'|"(?<double>(?:[^"]|"")*)"|`(?<back>(?:[^`]|``)*)`|\[(?<bracket>[^\]]*)\]|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<word>[\p{L}_$\u0080-\uffff][\p{L}\p{N}_$\u0080-\uffff]*)|(?<mark>[^])/gu

function tokenize(sql: string): DdlToken[] {
  const tokens: DdlToken[] = []
  for (const { groups = {} } of sql.matchAll(TOKEN)) {
    const { text, double, back, bracket, number, word, mark } = groups
    if (text !== undefined) tokens.push({ kind: 'text', value: text.replaceAll("''", "'") })
    else if (double !== undefined) tokens.push({ kind: 'name', value: double.replaceAll('""', '"') })
    else if (back !== undefined) tokens.push({ kind: 'name', value: back.replaceAll('``', '`') })
    else if (bracket !== undefined) tokens.push({ kind: 'name', value: bracket })
    else if (number !== undefined) tokens.push({ kind: 'number', value: number })
    else if (word !== undefined) tokens.push({ kind: 'word', value: word })
    else if (mark !== undefined) tokens.push({ kind: 'mark', value: mark })
  }
  return tokens
}

function isWord(token: DdlToken | undefined, word: string): boolean {
  return token?.kind === 'word' && token.value.toUpperCase() === word
}

function isMark(token: DdlToken | undefined, mark: string): boolean {
  return token?.kind === 'mark' && token.value === mark
}

/** Takes the tokens between a bracket and its partner; `at` is the position of the opening one. */
function takeBrackets(tokens: readonly DdlToken[], at: number): readonly DdlToken[] {
  let depth = 0
  for (let index = at; index < tokens.length; index++) {
    if (isMark(tokens[index], '(')) depth++
    else if (isMark(tokens[index], ')') && --depth === 0) return tokens.slice(at + 1, index)
  }
  return tokens.slice(at + 1)
}

/** Splits a list at its commas outside of brackets. */
function splitParts(tokens: readonly DdlToken[]): DdlToken[][] {
  const parts: DdlToken[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (isMark(token, '(')) depth++
    else if (isMark(token, ')')) depth--
    if (depth === 0 && isMark(token, ',')) parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts
}

/** What may hold the word AUTOINCREMENT without meaning it: texts, quoted names, comments. */
const QUOTED = /--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/g
const AUTOINCREMENT = /(?<![\p{L}\p{N}_$\u0080-\uffff])autoincrement(?![\p{L}\p{N}_$\u0080-\uffff])/iu

/**
 * Whether a table is made with AUTOINCREMENT. The word is a keyword that no name can be without quotes, so the text needs no parsing.
 *
 * @param sql the text of a CREATE TABLE statement in sqlite_schema
 */
export function hasAutoincrement(sql: string): boolean {
  return AUTOINCREMENT.test(sql) && AUTOINCREMENT.test(sql.replaceAll(QUOTED, ' '))
}

/** The parsed text of a table, by column names in lower case. */
interface Ddl {
  /** Columns with a collation other than BINARY. */
  readonly collated: ReadonlySet<string>
  /** The allowed values of columns with a check of the form `column in (...)`. */
  readonly items: ReadonlyMap<string, readonly (string | number)[]>
}

/** @param sql the text of a CREATE TABLE statement in sqlite_schema */
export function readDdl(sql: string): Ddl {
  const tokens = tokenize(sql)
  const collated = new Set<string>()
  const items = new Map<string, readonly (string | number)[]>()
  const open = tokens.findIndex(token => isMark(token, '('))
  const body = open < 0 ? [] : takeBrackets(tokens, open)
  for (const part of splitParts(body)) {
    const column = part[0]?.value.toLowerCase() ?? ''
    let depth = 0
    for (const [index, token] of part.entries()) {
      if (isMark(token, '(')) depth++
      else if (isMark(token, ')')) depth--
      if (depth !== 0) continue
      if (isWord(token, 'COLLATE') && part[index + 1]?.value.toUpperCase() !== 'BINARY') collated.add(column)
      if (isWord(token, 'CHECK') && isMark(part[index + 1], '(')) {
        const found = readItems(takeBrackets(part, index + 1))
        if (found !== undefined) items.set(found.column, found.items)
      }
    }
  }
  return { collated, items }
}

/** Reads the column and the values of `column in (...)`, also with `or column is null`. */
function readItems(condition: readonly DdlToken[]): { column: string; items: (string | number)[] } | undefined {
  const whole = condition.length > 0 && isMark(condition[0], '(') && takeBrackets(condition, 0).length === condition.length - 2
  if (whole) return readItems(condition.slice(1, -1))
  const alternatives = splitOr(condition)
  const lists = alternatives.filter(part => !isNullTest(part))
  const [list] = lists
  if (list === undefined || lists.length !== 1) return undefined
  const [column, word, open] = list
  if ((column?.kind !== 'word' && column?.kind !== 'name') || !isWord(word, 'IN') || !isMark(open, '(')) return undefined
  const values = takeBrackets(list, 2)
  if (values.length + 4 !== list.length) return undefined
  const items: (string | number)[] = []
  for (const part of splitParts(values)) {
    const negative = isMark(part[0], '-')
    const [value, ...more] = negative ? part.slice(1) : part
    if (more.length > 0) return undefined
    if (value?.kind === 'text' && !negative) items.push(value.value)
    else if (value?.kind === 'number') items.push(negative ? -Number(value.value) : Number(value.value))
    else if (!isWord(value, 'NULL')) return undefined
  }
  return { column: column.value.toLowerCase(), items }
}

function splitOr(condition: readonly DdlToken[]): DdlToken[][] {
  const parts: DdlToken[][] = [[]]
  let depth = 0
  for (const token of condition) {
    if (isMark(token, '(')) depth++
    else if (isMark(token, ')')) depth--
    if (depth === 0 && isWord(token, 'OR')) parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts
}

function isNullTest([column, is, nothing, ...more]: readonly DdlToken[]): boolean {
  return (
    (column?.kind === 'word' || column?.kind === 'name') &&
    ((isWord(is, 'IS') && isWord(nothing, 'NULL')) || (isWord(is, 'ISNULL') && nothing === undefined)) &&
    more.length === 0
  )
}
