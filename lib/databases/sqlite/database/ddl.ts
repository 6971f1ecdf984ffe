/**
 * Reads the parts of a CREATE TABLE statement for which SQLite has no pragma: allowed values in checks, collations, AUTOINCREMENT. It
 * ignores parts of an unknown form.
 */
import { findPartner, splitParts, tokenize, unquote, type CreateToken } from './create-tokens.ts'

/** Takes the tokens between a bracket and its partner; `at` is the position of the opening one. */
function takeBrackets(tokens: readonly CreateToken[], at: number): readonly CreateToken[] {
  const close = findPartner(tokens, at)
  return tokens.slice(at + 1, close < 0 ? undefined : close)
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
  const open = tokens.findIndex(({ word }) => word === '(')
  const body = open < 0 ? [] : takeBrackets(tokens, open)
  for (const part of splitParts(body)) {
    const column = unquote(part[0]!.text).toLowerCase()
    let depth = 0
    for (const [index, token] of part.entries()) {
      if (token.word === '(') depth++
      else if (token.word === ')') depth--
      if (depth !== 0) continue
      if (token.word === 'COLLATE' && unquote(part[index + 1]?.text ?? '').toUpperCase() !== 'BINARY') collated.add(column)
      if (token.word === 'CHECK' && part[index + 1]?.word === '(') {
        const found = readItems(takeBrackets(part, index + 1))
        if (found !== undefined) items.set(found.column, found.items)
      }
    }
  }
  return { collated, items }
}

/** Reads the column and the values of `column in (...)`, also with `or column is null`. */
function readItems(condition: readonly CreateToken[]): { column: string; items: (string | number)[] } | undefined {
  const whole = condition[0]?.word === '(' && takeBrackets(condition, 0).length === condition.length - 2
  if (whole) return readItems(condition.slice(1, -1))
  const alternatives = splitParts(condition, 'OR')
  const lists = alternatives.filter(part => !isNullTest(part))
  const [list] = lists
  if (list === undefined || lists.length !== 1) return undefined
  const [column, word, open] = list
  if (!isName(column) || word?.word !== 'IN' || open?.word !== '(') return undefined
  const values = takeBrackets(list, 2)
  if (values.length + 4 !== list.length) return undefined
  const items: (string | number)[] = []
  for (const part of splitParts(values)) {
    const negative = part[0]!.word === '-'
    const [value, ...more] = negative ? part.slice(1) : part
    if (more.length > 0) return undefined
    if (value?.text.startsWith("'") === true && !negative) items.push(unquote(value.text))
    else if (/^\d/.test(value?.text ?? '')) items.push(negative ? -Number(value!.text) : Number(value!.text))
    else if (value?.word !== 'NULL') return undefined
  }
  return { column: unquote(column.text).toLowerCase(), items }
}

function isNullTest([column, is, nothing, ...more]: readonly CreateToken[]): boolean {
  const isTest = (is?.word === 'IS' && nothing?.word === 'NULL') || (is?.word === 'ISNULL' && nothing === undefined)
  return isName(column) && isTest && more.length === 0
}

/** Whether a token may be a name, with or without quotes. */
function isName(token: CreateToken | undefined): token is CreateToken {
  return token !== undefined && /^["`[\p{L}_$\u0080-\uffff]/u.test(token.text) && !/^x'/i.test(token.text)
}
