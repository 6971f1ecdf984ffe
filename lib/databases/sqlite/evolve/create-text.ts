/** Splits a CREATE TABLE statement into columns and constraints, in the author's words (https://www.sqlite.org/lang_createtable.html). */
import { findPartner, listNames, splitParts, tokenize, unquote, word, type SqlToken } from '../../sql/sql-tokens.ts'

export interface Clause {
  readonly kind: 'primary' | 'not null' | 'null' | 'unique' | 'check' | 'default' | 'collate' | 'references' | 'generated'
  readonly text: string
  /** In the brackets, or behind DEFAULT. */
  readonly content: string
}

export interface ColumnText {
  readonly name: string
  /** With its quotes. */
  readonly written: string
  readonly type: string
  readonly clauses: readonly Clause[]
}

export interface ConstraintText {
  readonly kind: 'primary' | 'unique' | 'check' | 'foreign'
  readonly name: string | undefined
  readonly text: string
  /** Of a check, all names inside. */
  readonly columns: readonly string[]
  readonly content: string
}

export interface CreateText {
  readonly columns: readonly ColumnText[]
  readonly constraints: readonly ConstraintText[]
  /** WITHOUT ROWID, STRICT. */
  readonly options: string
}

const CONSTRAINTS = ['primary', 'unique', 'check', 'foreign'] as const

/** @throws Error for a statement of another form. */
export function parseCreate(sql: string): CreateText {
  const tokens = tokenize(sql, 'sqlite')
  const open = tokens.findIndex(token => word(token) === '(')
  const close = open < 0 ? -1 : findPartner(tokens, open)
  if (close < 0) throw new Error('it has no list of columns')
  const columns: ColumnText[] = []
  const constraints: ConstraintText[] = []
  for (const part of splitParts(tokens.slice(open + 1, close))) {
    if (word(part[0]) === 'constraint' || findConstraint(part[0]) !== undefined) constraints.push(...readConstraints(part))
    else columns.push(readColumn(part))
  }
  return { columns, constraints, options: textOf(tokens.slice(close + 1)) }
}

export function formatCreate(table: string, { columns, constraints, options }: CreateText): string {
  const parts = [...columns.map(formatColumn), ...constraints.map(({ text }) => text)]
  return `create table ${table} (\n  ${parts.join(',\n  ')}\n)${options === '' ? '' : ` ${options}`}`
}

function formatColumn({ written, type, clauses }: ColumnText): string {
  return [written, type, ...clauses.map(({ text }) => text)].filter(text => text !== '').join(' ')
}

function textOf(tokens: readonly SqlToken[]): string {
  return tokens.map(({ gap, text }, at) => (at === 0 || gap === '' ? text : ` ${text}`)).join('')
}

const CLAUSES = new Map<string, Clause['kind']>(
  Object.entries({
    primary: 'primary',
    not: 'not null',
    null: 'null',
    unique: 'unique',
    check: 'check',
    default: 'default',
    collate: 'collate',
    references: 'references',
    generated: 'generated',
    as: 'generated',
  }),
)

function readColumn(part: readonly SqlToken[]): ColumnText {
  const [first, ...rest] = part as [SqlToken, ...SqlToken[]]
  const begin = rest.findIndex(token => word(token) === 'constraint' || CLAUSES.has(word(token)))
  const type = begin < 0 ? rest : rest.slice(0, begin)
  const clauses: Clause[] = []
  for (let at = begin < 0 ? rest.length : begin; at < rest.length;) {
    const key = word(rest[at]) === 'constraint' ? at + 2 : at
    const kind = CLAUSES.get(word(rest[key]))
    if (kind === undefined) throw new Error(`"${rest[at]!.text}" in the column ${first.text} is not understood`)
    const end = skipClause(rest, key, kind)
    clauses.push({ kind, text: textOf(rest.slice(at, end)), content: readContent(rest, key, end) })
    at = end
  }
  return { name: unquote(first.text), written: first.text, type: textOf(type), clauses }
}

function readContent(tokens: readonly SqlToken[], key: number, end: number): string {
  const open = tokens.findIndex((token, at) => at > key && at < end && word(token) === '(')
  if (word(tokens[key]) === 'default') return textOf(tokens.slice(key + 1, end))
  return open < 0 ? '' : textOf(tokens.slice(open + 1, findPartner(tokens, open)))
}

/**
 * @param key the place of the keyword
 * @returns the place behind the clause
 */
function skipClause(tokens: readonly SqlToken[], key: number, kind: Clause['kind']): number {
  const is = (at: number, ...words: readonly string[]): boolean => words.includes(word(tokens[at]))
  const bracket = (at: number): number => (is(at, '(') ? findPartner(tokens, at) + 1 : at)
  const conflict = (at: number): number => (is(at, 'on') && is(at + 1, 'conflict') ? at + 3 : at)
  switch (kind) {
    case 'primary': {
      const at = conflict(is(key + 2, 'asc', 'desc') ? key + 3 : key + 2)
      return is(at, 'autoincrement') ? at + 1 : at
    }
    case 'not null':
      return conflict(key + 2)
    case 'null':
    case 'unique':
      return conflict(key + 1)
    case 'check':
      return bracket(key + 1)
    case 'default':
      return is(key + 1, '(') ? bracket(key + 1) : is(key + 1, '+', '-') ? key + 3 : key + 2
    case 'collate':
      return key + 2
    case 'generated': {
      const at = bracket(is(key, 'generated') ? key + 3 : key + 1)
      return is(at, 'stored', 'virtual') ? at + 1 : at
    }
    case 'references':
      return skipReference(tokens, key)
  }
}

function skipReference(tokens: readonly SqlToken[], key: number): number {
  const is = (at: number, ...words: readonly string[]): boolean => words.includes(word(tokens[at]))
  let at = is(key + 2, '(') ? findPartner(tokens, key + 2) + 1 : key + 2
  for (;;) {
    if (is(at, 'on')) at += is(at + 2, 'set', 'no') ? 4 : 3
    else if (is(at, 'match')) at += 2
    else if (is(at, 'deferrable') || (is(at, 'not') && is(at + 1, 'deferrable'))) {
      at += is(at, 'not') ? 2 : 1
      if (is(at, 'initially')) at += 2
    } else return at
  }
}

function findConstraint(token: SqlToken | undefined): ConstraintText['kind'] | undefined {
  return CONSTRAINTS.find(kind => kind === word(token))
}

function readConstraints(part: readonly SqlToken[]): ConstraintText[] {
  const found: ConstraintText[] = []
  for (let at = 0; at < part.length;) {
    const isNamed = word(part[at]) === 'constraint'
    const key = isNamed ? at + 2 : at
    const kind = findConstraint(part[key])
    const open = part.findIndex((token, place) => place > key && word(token) === '(')
    if (kind === undefined || open < 0) throw new Error(`the constraint "${part[key]?.text ?? ''}" is not understood`)
    const close = findPartner(part, open)
    let end = close + 1
    if (kind === 'foreign') end = skipReference(part, end)
    else if (word(part[end]) === 'on') end += 3
    const inside = part.slice(open + 1, close)
    found.push({
      kind,
      name: isNamed ? unquote(part[at + 1]!.text) : undefined,
      text: textOf(part.slice(at, end)),
      columns: kind === 'check' ? listNames(inside) : splitParts(inside).map(([first]) => unquote(first!.text)),
      content: textOf(inside),
    })
    at = end
  }
  return found
}

/** Leaves out blanks, comments, case, quotes of names, and some marks. */
export function foldSql(sql: string, marks: readonly string[] = []): string {
  const tokens = tokenize(sql, 'sqlite').filter(token => !marks.includes(word(token)))
  return tokens.map(({ kind, text }) => (kind === 'text' ? text : unquote(text).toLowerCase())).join('')
}

export function listMentioned(sql: string): string[] {
  return listNames(tokenize(sql, 'sqlite'))
}
