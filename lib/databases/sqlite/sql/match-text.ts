/** Compares a text with a pattern (`?name=*ann*`), by SQLite's own operators where right and quick, else by `mikro_match`. */
import type { OwnPatternForm, ValueForm } from '../../../records/database/value-form.ts'
import type { Condition, Operand } from '../../../records/plan/read-plan.ts'
import { filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { sql, type Sql } from '../../sql/sql.ts'
import { compileOperand, within } from './stored-value.ts'
import { CONTAINED, GLOB, IS_ASCII, LIKE, LIKE_GLOB, PIECES, PREFIX_HIGH, PREFIX_LOW } from './value-forms.ts'

/** The text to match. Other values, inside JSON or in a column without a type, are NULL. */
export function compileText(operand: Operand, scope: ColumnScope): Sql {
  const { source, type: declared } = operand.attribute
  if (source.kind !== 'within') {
    const stored = compileOperand(operand, scope)
    return declared.kind === 'any' ? sql`case typeof(${stored}) when 'text' then ${stored} end` : stored
  }
  const { value, type } = within(source.json, source.names, scope.through(operand.hops))
  return sql`case ${type} when 'text' then ${value} end`
}

export function matchText(node: Condition & { kind: 'match' }, scope: ColumnScope): Sql {
  const value = compileText(node.operand, scope)
  const parameter = (form: OwnPatternForm): Sql => filterValue(node.value, node.operand.attribute, form)
  if (node.form === 'any') return sql`${value} is not null`
  // LIKE folds ASCII only, LIKE and GLOB end at a NUL, and both, like `instr`, are slow on long texts.
  const isMatch = (fold: string): Sql => sql`mikro_match(${value}, ${parameter(PIECES)}, ${fold})`
  if (node.fold > 0) {
    const isAscii = sql`${parameter(IS_ASCII)} and octet_length(${value}) = length(${value})`
    const isLike = sql`${value} like ${parameter(LIKE)} escape '\\'`
    const isShort = sql`octet_length(${value}) <= ${MAX_COMPARED}`
    return sql`case when ${isAscii} and ${isShort} then ${isLike} else ${isMatch(String(node.fold))} end`
  }
  switch (node.form) {
    case 'prefix':
      return sql`(${value} >= ${parameter(PREFIX_LOW)} and ${value} < ${parameter(PREFIX_HIGH)})`
    case 'contains':
      return eitherWay(sql`octet_length(${value}) > ${MAX_SEARCHED}`, isMatch('0'), sql`instr(${value}, ${parameter(CONTAINED)}) > 0`)
    case 'general':
      return eitherWay(isLong(value), isMatch('0'), sql`${value} glob ${parameter(GLOB)}`)
  }
}

export function matchLike({ operand, value: pattern, fold }: Condition & { kind: 'like' }, scope: ColumnScope): Sql {
  const value = compileText(operand, scope)
  const parameter = (form: ValueForm): Sql => filterValue(pattern, operand.attribute, form)
  if (fold) return sql`mikro_like(${value}, ${parameter('value')}, 1)`
  return eitherWay(isLong(value), sql`mikro_like(${value}, ${parameter('value')}, 0)`, sql`${value} glob ${parameter(LIKE_GLOB)}`)
}

function isLong(value: Sql): Sql {
  return sql`octet_length(${value}) > ${MAX_COMPARED} or instr(${value}, char(0))`
}

function eitherWay(condition: Sql, one: Sql, other: Sql): Sql {
  return sql`case when ${condition} then ${one} else ${other} end`
}

/** In bytes: for LIKE and GLOB, and for `instr`. */
const MAX_COMPARED = '1000'
const MAX_SEARCHED = '10000'
