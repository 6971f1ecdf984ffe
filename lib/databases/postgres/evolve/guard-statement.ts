/**
 * A last look at each statement of MikroORM's generator. Additions may run, and changes of columns with checked rows. Any other drop or
 * change is a fault, and nothing runs.
 */
import type { SchemaDifference, TableDifference } from '@mikro-orm/postgresql'
import { formatTokens, splitParts, tokenize } from '../../sql/sql-tokens.ts'
import { isComputed } from '../schema/unchanged.ts'

/** Apart from `alter table`. */
const HARMLESS = [
  /^create\b/i,
  /^comment on\b/i,
  /^alter type \S+ add value\b/i,
  /^drop (?:index|trigger|policy|function|procedure|view|materialized view)\b(?!.*\bcascade$)/is,
  /^alter policy\b/i,
  /^select setval\(/i,
]

/** Parts of `alter table` without a loss. */
const PARTS = [
  /^add\b/i,
  /^alter column (?:"(?:[^"]|"")+") (?:set|drop) (?:not null|default)\b/i,
  /^drop constraint\b/i,
  /^(?:enable|force) row level security$/i,
]

const TABLE = /^alter table (?:if exists )?(?:only )?((?:"(?:[^"]|"")+"\.?)+) (.+)$/is
const COLUMN = /^(?:drop column (?:if exists )?|alter column )("(?:[^"]|"")+")( type\b)?/is

/** @returns what would be lost, a sentence without its point; undefined where nothing would */
export function findLoss(statement: string, { changedTables }: SchemaDifference): string | undefined {
  if (HARMLESS.some(pattern => pattern.test(statement))) return undefined
  const [, quoted, rest] = TABLE.exec(statement) ?? []
  if (quoted === undefined || rest === undefined) return say('The database', statement)
  const table = Object.values(changedTables).find(({ toTable }) => toTable.getQuotedName() === quoted)
  for (const tokens of splitParts(tokenize(rest, 'postgres'))) {
    const part = formatTokens(tokens).trim()
    if (PARTS.some(pattern => pattern.test(part))) continue
    const [, column, type] = COLUMN.exec(part) ?? []
    const columnName = column?.slice(1, -1).replaceAll('""', '"') ?? ''
    const isAsked = /^drop/i.test(part) ? mayDrop(table, columnName) : type !== undefined && hasType(table, columnName)
    if (!isAsked) return say(`${unquoteAll(quoted)}${columnName === '' ? '' : `.${columnName}`}`, statement)
  }
  return undefined
}

function say(place: string, statement: string): string {
  return `${place} would lose what it holds, which nobody asked for: "${statement.split('\n')[0]!}" is not run`
}

/** A computed column gets another expression. */
function mayDrop(table: TableDifference | undefined, column: string): boolean {
  const [found, wanted] = [table?.fromTable.getColumn(column), table?.toTable.getColumn(column)]
  return found !== undefined && wanted !== undefined && isComputed(found) && isComputed(wanted)
}

function hasType(table: TableDifference | undefined, column: string): boolean {
  return table?.changedColumns[column]?.changedProperties.has('type') === true
}

function unquoteAll(quoted: string): string {
  return quoted.replaceAll(/"((?:[^"]|"")+)"/g, '$1')
}
