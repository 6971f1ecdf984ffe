/** Reads the parts of CREATE TABLE that no pragma shows: allowed values in checks, collations, AUTOINCREMENT. Ignores unknown forms. */
import { findPartner, splitParts, tokenize, unquote, word, type SqlToken } from '../../sql/sql-tokens.ts'

function takeBrackets(tokens: readonly SqlToken[], at: number): readonly SqlToken[] {
  const close = findPartner(tokens, at)
  return tokens.slice(at + 1, close < 0 ? undefined : close)
}

/**
 * No unquoted name can be AUTOINCREMENT.
 *
 * @param sql of a CREATE TABLE statement in sqlite_schema
 */
export function hasAutoincrement(sql: string): boolean {
  return /autoincrement/i.test(sql) && tokenize(sql, 'sqlite').some(token => word(token) === 'autoincrement')
}

/** By lower-case names. */
interface Ddl {
  /** Columns with a collation other than BINARY. */
  readonly collated: ReadonlySet<string>
  /** Values in checks of the form `column in (...)`. */
  readonly items: ReadonlyMap<string, readonly (string | number)[]>
}

/** @param sql of a CREATE TABLE statement in sqlite_schema */
export function readDdl(sql: string): Ddl {
  const tokens = tokenize(sql, 'sqlite')
  const collated = new Set<string>()
  const items = new Map<string, readonly (string | number)[]>()
  const open = tokens.findIndex(token => word(token) === '(')
  const body = open < 0 ? [] : takeBrackets(tokens, open)
  for (const part of splitParts(body)) {
    const column = unquote(part[0]!.text).toLowerCase()
    let depth = 0
    for (const [index, token] of part.entries()) {
      const key = word(token)
      if (key === '(') depth++
      else if (key === ')') depth--
      if (depth !== 0) continue
      if (key === 'collate' && unquote(part[index + 1]?.text ?? '').toUpperCase() !== 'BINARY') collated.add(column)
      if (key === 'check' && word(part[index + 1]) === '(') {
        const found = readItems(takeBrackets(part, index + 1))
        if (found !== undefined) items.set(found.column, found.items)
      }
    }
  }
  return { collated, items }
}

/** Reads `column in (...)`, with or without `or column is null`. */
function readItems(condition: readonly SqlToken[]): { column: string; items: (string | number)[] } | undefined {
  const whole = word(condition[0]) === '(' && takeBrackets(condition, 0).length === condition.length - 2
  if (whole) return readItems(condition.slice(1, -1))
  const alternatives = splitParts(condition, 'or')
  const lists = alternatives.filter(part => !isNullTest(part))
  const [list] = lists
  if (list === undefined || lists.length !== 1) return undefined
  const [column] = list
  if (!isName(column) || word(list[1]) !== 'in' || word(list[2]) !== '(') return undefined
  const values = takeBrackets(list, 2)
  if (values.length + 4 !== list.length) return undefined
  const items: (string | number)[] = []
  for (const part of splitParts(values)) {
    const negative = word(part[0]) === '-'
    const [value, ...more] = negative ? part.slice(1) : part
    if (more.length > 0) return undefined
    if (value?.text.startsWith("'") === true && !negative) items.push(unquote(value.text))
    else if (value?.kind === 'number') items.push(negative ? -Number(value.text) : Number(value.text))
    else if (word(value) !== 'null') return undefined
  }
  return { column: unquote(column.text).toLowerCase(), items }
}

function isNullTest(tokens: readonly SqlToken[]): boolean {
  const [column, ...test] = tokens
  return isName(column) && /^(?:is null|isnull)$/.test(test.map(word).join(' '))
}

function isName(token: SqlToken | undefined): token is SqlToken {
  return token?.kind === 'word' || token?.kind === 'name'
}
