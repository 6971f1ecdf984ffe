/**
 * Create text: splits the text of a CREATE TABLE statement into its columns and constraints, with the words of each as its author wrote
 * them, so that one part can be replaced and all others stay (https://www.sqlite.org/lang_createtable.html). Throws for a text that it
 * cannot split.
 */
import { findPartner, splitParts, tokenize, unquote, type CreateToken } from '../database/create-tokens.ts'

/** A constraint of a column, or its default, collation or expression. */
export interface Clause {
  readonly kind: 'primary' | 'not null' | 'null' | 'unique' | 'check' | 'default' | 'collate' | 'references' | 'generated'
  readonly text: string
  /** What stands in the brackets of a check or expression, or behind DEFAULT. */
  readonly content: string
}

export interface ColumnText {
  readonly name: string
  /** The name, as it is written. */
  readonly written: string
  readonly type: string
  readonly clauses: readonly Clause[]
}

export interface ConstraintText {
  readonly kind: 'primary' | 'unique' | 'check' | 'foreign'
  /** The name behind CONSTRAINT. */
  readonly name: string | undefined
  readonly text: string
  /** The columns of a key; for a check all names in it. */
  readonly columns: readonly string[]
  readonly content: string
}

export interface CreateText {
  readonly columns: readonly ColumnText[]
  readonly constraints: readonly ConstraintText[]
  /** What stands behind the list: WITHOUT ROWID, STRICT. */
  readonly options: string
}

const CONSTRAINTS = new Set(['CONSTRAINT', 'PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN'])

/** @throws Error for a statement of another form. */
export function parseCreate(sql: string): CreateText {
  const tokens = tokenize(sql)
  const open = tokens.findIndex(({ word }) => word === '(')
  const close = open < 0 ? -1 : findPartner(tokens, open)
  if (close < 0) throw new Error('it has no list of columns')
  const columns: ColumnText[] = []
  const constraints: ConstraintText[] = []
  for (const part of splitParts(tokens.slice(open + 1, close))) {
    if (CONSTRAINTS.has(part[0]?.word ?? '')) constraints.push(...readConstraints(sql, part))
    else columns.push(readColumn(sql, part))
  }
  return { columns, constraints, options: sql.slice(tokens[close]!.end).trim() }
}

/** Formats a statement for a table of another name. */
export function formatCreate(table: string, { columns, constraints, options }: CreateText): string {
  const parts = [...columns.map(formatColumn), ...constraints.map(({ text }) => text)]
  return `create table ${table} (\n  ${parts.join(',\n  ')}\n)${options === '' ? '' : ` ${options}`}`
}

function formatColumn({ written, type, clauses }: ColumnText): string {
  return [written, type, ...clauses.map(({ text }) => text)].filter(text => text !== '').join(' ')
}

/** Returns the words of some tokens, without comments between them. */
function textOf(sql: string, tokens: readonly CreateToken[]): string {
  let text = ''
  for (const [at, { start, end }] of tokens.entries()) {
    const before = at === 0 ? start : tokens[at - 1]!.end
    text += (before === start ? '' : ' ') + sql.slice(start, end)
  }
  return text
}

const CLAUSES: Readonly<Record<string, Clause['kind']>> = {
  PRIMARY: 'primary',
  NOT: 'not null',
  NULL: 'null',
  UNIQUE: 'unique',
  CHECK: 'check',
  DEFAULT: 'default',
  COLLATE: 'collate',
  REFERENCES: 'references',
  GENERATED: 'generated',
  AS: 'generated',
}

function readColumn(sql: string, part: readonly CreateToken[]): ColumnText {
  const [first, ...rest] = part as [CreateToken, ...CreateToken[]]
  const begin = rest.findIndex(({ word }) => word === 'CONSTRAINT' || Object.hasOwn(CLAUSES, word))
  const type = begin < 0 ? rest : rest.slice(0, begin)
  const clauses: Clause[] = []
  for (let at = begin < 0 ? rest.length : begin; at < rest.length;) {
    const key = rest[at]!.word === 'CONSTRAINT' ? at + 2 : at
    const kind = CLAUSES[rest[key]?.word ?? '']
    if (kind === undefined) throw new Error(`"${rest[at]!.text}" in the column ${first.text} is not understood`)
    const end = skipClause(rest, key, kind)
    clauses.push({ kind, text: textOf(sql, rest.slice(at, end)), content: readContent(sql, rest, key, end) })
    at = end
  }
  return { name: unquote(first.text), written: first.text, type: textOf(sql, type), clauses }
}

/** Returns what stands in the brackets of a clause, or behind its first word. */
function readContent(sql: string, tokens: readonly CreateToken[], key: number, end: number): string {
  const open = tokens.findIndex(({ word }, at) => at > key && at < end && word === '(')
  if (tokens[key]!.word === 'DEFAULT') return textOf(sql, tokens.slice(key + 1, end))
  return open < 0 ? '' : textOf(sql, tokens.slice(open + 1, findPartner(tokens, open)))
}

/** Returns the place behind a clause that begins with its first keyword at `key`. */
function skipClause(tokens: readonly CreateToken[], key: number, kind: Clause['kind']): number {
  const is = (at: number, ...words: readonly string[]): boolean => words.includes(tokens[at]?.word ?? '')
  const bracket = (at: number): number => (is(at, '(') ? findPartner(tokens, at) + 1 : at)
  const conflict = (at: number): number => (is(at, 'ON') && is(at + 1, 'CONFLICT') ? at + 3 : at)
  switch (kind) {
    case 'primary': {
      const at = conflict(is(key + 2, 'ASC', 'DESC') ? key + 3 : key + 2)
      return is(at, 'AUTOINCREMENT') ? at + 1 : at
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
      const at = bracket(is(key, 'GENERATED') ? key + 3 : key + 1)
      return is(at, 'STORED', 'VIRTUAL') ? at + 1 : at
    }
    case 'references':
      return skipReference(tokens, key)
  }
}

function skipReference(tokens: readonly CreateToken[], key: number): number {
  const is = (at: number, ...words: readonly string[]): boolean => words.includes(tokens[at]?.word ?? '')
  let at = is(key + 2, '(') ? findPartner(tokens, key + 2) + 1 : key + 2
  for (;;) {
    if (is(at, 'ON')) at += is(at + 2, 'SET', 'NO') ? 4 : 3
    else if (is(at, 'MATCH')) at += 2
    else if (is(at, 'DEFERRABLE') || (is(at, 'NOT') && is(at + 1, 'DEFERRABLE'))) {
      at += is(at, 'NOT') ? 2 : 1
      if (is(at, 'INITIALLY')) at += 2
    } else return at
  }
}

/** Reads the constraints of a part, which need no comma between them. */
function readConstraints(sql: string, part: readonly CreateToken[]): ConstraintText[] {
  const found: ConstraintText[] = []
  for (let at = 0; at < part.length;) {
    const isNamed = part[at]!.word === 'CONSTRAINT'
    const key = isNamed ? at + 2 : at
    const kind = ({ PRIMARY: 'primary', UNIQUE: 'unique', CHECK: 'check', FOREIGN: 'foreign' } as const)[part[key]?.word ?? '']
    const open = part.findIndex(({ word }, place) => place > key && word === '(')
    if (kind === undefined || open < 0) throw new Error(`the constraint "${part[key]?.text ?? ''}" is not understood`)
    const close = findPartner(part, open)
    let end = close + 1
    if (kind === 'foreign') end = skipReference(part, end)
    else if (part[end]?.word === 'ON') end += 3
    const inside = part.slice(open + 1, close)
    found.push({
      kind,
      name: isNamed ? unquote(part[at + 1]!.text) : undefined,
      text: textOf(sql, part.slice(at, end)),
      columns: kind === 'check' ? listNames(inside) : splitParts(inside).map(([first]) => unquote(first!.text)),
      content: textOf(sql, inside),
    })
    at = end
  }
  return found
}

function listNames(tokens: readonly CreateToken[]): string[] {
  return tokens.filter(({ text }) => /^["`[\p{L}_]/u.test(text)).map(({ text }) => unquote(text))
}

/** Lists the names in an expression, or in a whole statement. */
export function listMentioned(sql: string): string[] {
  return listNames(tokenize(sql))
}
