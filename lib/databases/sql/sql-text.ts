/**
 * Finds the columns compared and sorted by statements of the engine and of MikroORM, for advice on indexes, and the column of each
 * parameter, to hide secrets.
 */
import { name as quoted } from './sql.ts'
import { tokenize, unquote, type SqlDialect } from './sql-tokens.ts'

/** A token, or the tokens inside parentheses. */
type SqlWord = string | SqlWord[]

/** An expression over one table, without the table's name. */
export interface IndexPart {
  readonly text: string
  /** Undefined for more than a column. */
  readonly column: string | undefined
}

export interface UsedTable {
  readonly table: string
  readonly isFiltered: boolean
  readonly equal: IndexPart[]
  readonly range: IndexPart[]
  /** The first terms of `order by`, up to a term of another table. */
  readonly order: OrderPart[]
}

export interface OrderPart {
  readonly part: IndexPart
  readonly descending: boolean
  readonly nulls?: 'first' | 'last'
}

function splitWords(sql: string, dialect: SqlDialect): string[] {
  return tokenize(sql, dialect).map(({ text }) => text)
}

function nestBrackets(flat: readonly string[]): SqlWord[] {
  const stack: SqlWord[][] = [[]]
  for (const token of flat) {
    if (token === '(') stack.push([])
    else if (token === ')' && stack.length > 1) {
      const group = stack.pop()!
      stack.at(-1)!.push(group)
    } else stack.at(-1)!.push(token)
  }
  return stack[0]!
}

function isParameter(token: SqlWord | undefined): boolean {
  return typeof token === 'string' && /^(?:\?|\$\d+)$/.test(token)
}

function isWord(token: SqlWord | undefined, ...words: string[]): boolean {
  return typeof token === 'string' && words.includes(token.toLowerCase())
}

function readName(token: SqlWord | undefined): string | undefined {
  if (typeof token !== 'string') return undefined
  if (/^["`]/.test(token)) return unquote(token)
  return /^[A-Za-z_]\w*$/.test(token) ? token : undefined
}

/** Finds tables by their names in the query plan. A name in several SELECTs is left out. */
export function findTables(sql: string, dialect: SqlDialect): Map<string, UsedTable> {
  const found = new Map<string, UsedTable>()
  const twice = new Set<string>()
  const visit = (tokens: readonly SqlWord[], outer: ReadonlyMap<string, UsedTable>): void => {
    const known = new Map(outer)
    const clauses = splitClauses(tokens)
    const isFiltered = clauses !== undefined && clauses.where.length > 0
    const declare = (alias: string, table: string): void => {
      const used: UsedTable = { table, isFiltered, equal: [], range: [], order: [] }
      known.set(alias, used)
      if (found.has(alias)) twice.add(alias)
      found.set(alias, used)
    }
    if (clauses !== undefined) {
      const conditions = readFrom(clauses.from, declare)
      for (const condition of [...conditions, ...splitConjuncts(clauses.where)]) readCondition(condition, known)
      readOrder(clauses.order, known)
    }
    for (const token of tokens) if (Array.isArray(token)) visit(token, known)
  }
  visit(nestBrackets(splitWords(sql, dialect)), new Map())
  for (const alias of twice) found.delete(alias)
  return found
}

interface Clauses {
  readonly from: readonly SqlWord[]
  readonly where: readonly SqlWord[]
  readonly order: readonly SqlWord[]
}

function splitClauses(tokens: readonly SqlWord[]): Clauses | undefined {
  if (!isWord(tokens[0], 'select', 'update', 'delete')) return undefined
  // A compound SELECT has one order for all parts.
  if (tokens.some(token => isWord(token, 'union', 'intersect', 'except'))) return undefined
  const clauses: { from: SqlWord[]; where: SqlWord[]; order: SqlWord[] } = { from: [], where: [], order: [] }
  let current: SqlWord[] | undefined
  for (const [index, token] of tokens.entries()) {
    if (isWord(token, 'from') || (index === 0 && isWord(token, 'update'))) current = clauses.from
    else if (isWord(token, 'where')) current = clauses.where
    else if (isWord(token, 'order') && isWord(tokens[index + 1], 'by')) current = clauses.order
    else if (isWord(token, 'group', 'having', 'limit', 'returning', 'set')) current = undefined
    else if (!(isWord(token, 'by') && isWord(tokens[index - 1], 'order'))) current?.push(token)
  }
  return clauses
}

/** @returns the conditions of joins */
function readFrom(tokens: readonly SqlWord[], declare: (alias: string, table: string) => void): SqlWord[][] {
  const conditions: SqlWord[][] = []
  let expectsTable = true
  let condition: SqlWord[] | undefined
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!
    if (expectsTable) {
      expectsTable = false
      let table = readName(token)
      if (table !== undefined && tokens[index + 1] === '.') {
        index += 2
        table += `.${readName(tokens[index]) ?? ''}`
      }
      if (isWord(tokens[index + 1], 'as')) index++
      const next = tokens[index + 1]
      const isAlias = readName(next) !== undefined && !isWord(next, 'left', 'inner', 'cross', 'join', 'on', 'indexed', 'not')
      if (isAlias) index++
      if (table !== undefined) declare(isAlias ? readName(next)! : table, table)
    } else if (isWord(token, 'join') || token === ',') {
      expectsTable = true
      condition = undefined
    } else if (isWord(token, 'left', 'inner', 'cross', 'outer')) {
      condition = undefined
    } else if (isWord(token, 'on')) {
      condition = []
      conditions.push(condition)
    } else condition?.push(token)
  }
  return conditions.flatMap(splitConjuncts)
}

function splitConjuncts(tokens: readonly SqlWord[]): SqlWord[][] {
  const parts: SqlWord[][] = [[]]
  let cases = 0
  let isBetween = false
  for (const token of tokens) {
    if (isWord(token, 'case')) cases++
    else if (isWord(token, 'end')) cases--
    else if (isWord(token, 'between')) isBetween = true
    if (isWord(token, 'and') && cases === 0 && !isBetween) parts.push([])
    else {
      if (isWord(token, 'and')) isBetween = false
      parts.at(-1)!.push(token)
    }
  }
  return parts.flatMap(part => {
    if (part.some(token => isWord(token, 'or'))) return []
    const [first] = part
    return part.length === 1 && Array.isArray(first) && !isWord(first[0], 'select') ? splitConjuncts(first) : [part]
  })
}

const OPERATORS = ['=', '==', 'in', 'is', '<', '>', '<=', '>=', 'between', 'glob']

function readCondition(condition: readonly SqlWord[], known: ReadonlyMap<string, UsedTable>): void {
  const at = condition.findIndex(token => isWord(token, ...OPERATORS))
  if (at <= 0) return
  const operator = (condition[at] as string).toLowerCase()
  const [left, right] = [condition.slice(0, at), condition.slice(at + 1)]
  // An index looks up `is null`, not `is not`.
  if (operator === 'is' && !isWord(right[0], 'null')) return
  for (const side of operator === '=' ? [left, right] : [left]) {
    const found = findIndexPart(side, known)
    if (found === undefined) continue
    const list = ['=', '==', 'in', 'is'].includes(operator) ? found.used.equal : found.used.range
    if (!list.some(({ text }) => text === found.part.text)) list.push(found.part)
  }
}

function readOrder(tokens: readonly SqlWord[], known: ReadonlyMap<string, UsedTable>): void {
  let used: UsedTable | undefined
  for (const term of splitAt(tokens, ',')) {
    const nulls = isWord(term.at(-2), 'nulls') ? (isWord(term.at(-1), 'first') ? 'first' : 'last') : undefined
    const directed = nulls === undefined ? term : term.slice(0, -2)
    const isDirected = isWord(directed.at(-1), 'asc', 'desc')
    const found = findIndexPart(isDirected ? directed.slice(0, -1) : directed, known)
    if (found === undefined || (used !== undefined && used !== found.used)) return
    used = found.used
    used.order.push({ part: found.part, descending: isWord(directed.at(-1), 'desc'), ...(nulls === undefined ? {} : { nulls }) })
  }
}

function splitAt(tokens: readonly SqlWord[], separator: string): SqlWord[][] {
  const parts: SqlWord[][] = [[]]
  for (const token of tokens) {
    if (token === separator) parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts.filter(part => part.length > 0)
}

function findIndexPart(
  tokens: readonly SqlWord[],
  known: ReadonlyMap<string, UsedTable>,
): { used: UsedTable; part: IndexPart } | undefined {
  const used = new Set<UsedTable>()
  let isPure = true
  const written = (list: readonly SqlWord[]): string => {
    let text = ''
    for (let index = 0; index < list.length; index++) {
      const token = list[index]!
      if (Array.isArray(token)) {
        text += `(${written(token)})`
        continue
      }
      if (isParameter(token) || isWord(token, 'select')) isPure = false
      const table = list[index + 1] === '.' ? known.get(readName(token) ?? '') : undefined
      if (table !== undefined) {
        used.add(table)
        index += 2
        text += `${/\w$/.test(text) ? ' ' : ''}${quoted(readName(list[index]) ?? '')}`
      } else if (token.startsWith('`')) {
        text += quoted(readName(token)!)
      } else {
        const isApart = isWord(token, 'collate') || /\bcollate$/i.test(text) || (/\w$/.test(text) && /^\w/.test(token))
        text += `${isApart ? ' ' : ''}${token}${token === ',' ? ' ' : ''}`
      }
    }
    return text
  }
  let text = written(tokens)
  // With a single table, columns need no table name.
  const [only] = tokens
  const column = tokens.length === 3 && tokens[1] === '.' ? readName(tokens[2]) : tokens.length === 1 ? readName(only) : undefined
  if (used.size === 0 && tokens.length === 1 && column !== undefined && typeof only === 'string' && /^["`]/.test(only)) {
    const [table, other] = known.values()
    if (table !== undefined && other === undefined) {
      used.add(table)
      text = quoted(column)
    }
  }
  const [table] = used
  return isPure && used.size === 1 ? { used: table!, part: { text, column } } : undefined
}

/** For each parameter the column compared or written, or `limit` or `offset`; undefined if unknown. */
export function listParameters(sql: string, dialect: SqlDialect): { columns: (string | undefined)[]; names: Set<string> } {
  const flat = splitWords(sql, dialect)
  const names = new Set(flat.filter(token => /^["`]/.test(token)).map(token => readName(token)!))
  const columns: (string | undefined)[] = []
  const written = readInsertedColumns(nestBrackets(flat))
  let column: string | undefined
  for (const [index, token] of flat.entries()) {
    if (isParameter(token)) {
      columns.push(written === undefined ? column : written[columns.length % written.length])
    } else if (isWord(token, ...OPERATORS, '<>', '!=', 'like')) {
      column = readColumnBefore(flat, index)
    } else if (isWord(token, 'limit', 'offset')) {
      column = token
    } else if (token === '+' && isWord(flat[index - 1], 'limit')) {
      // SQLite's statements have `limit +?`.
    } else if (!isWord(token, '(', ',', 'not', 'select', 'value', 'from', 'json_each', 'any')) {
      // `in (select value from json_each(?))` holds keys of several rows.
      column = undefined
    }
  }
  return { columns, names }
}

/** Skips a cast and a collation. */
function readColumnBefore(flat: readonly string[], operator: number): string | undefined {
  let at = operator - 1
  if (isWord(flat[at - 1], 'collate')) at -= 2
  if (flat[at - 1] === '::') at -= 2
  if (flat[at] === ')') at--
  return /^["`]/.test(flat[at] ?? '') ? readName(flat[at]) : undefined
}

/** @returns undefined unless all values are parameters */
function readInsertedColumns(tokens: readonly SqlWord[]): string[] | undefined {
  const at = tokens.findIndex(token => isWord(token, 'values'))
  const list = tokens[at - 1]
  if (!isWord(tokens[0], 'insert', 'replace') || !Array.isArray(list)) return undefined
  const columns = splitAt(list, ',').map(([column]) => readName(column) ?? '')
  const end = tokens.findIndex((token, index) => index > at && !Array.isArray(token) && token !== ',')
  const rows = tokens.slice(at + 1, end < 0 ? tokens.length : end).filter(token => Array.isArray(token))
  const rest = end < 0 ? [] : tokens.slice(end)
  const isPlain = rows.every(
    row => row.length === 2 * columns.length - 1 && row.every((token, index) => (index % 2 === 0 ? isParameter(token) : token === ',')),
  )
  return isPlain && !holdsParameter(rest) ? columns : undefined
}

function holdsParameter(tokens: readonly SqlWord[]): boolean {
  return tokens.some(token => (Array.isArray(token) ? holdsParameter(token) : isParameter(token)))
}
