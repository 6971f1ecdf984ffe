/** The SQL of SQLite for the compiler of `databases/sql/`. */
import type { KeyPart, Resource } from '../../../model/model.ts'
import type { ValueForm, OwnPatternForm } from '../../../records/database/binding.ts'
import type { Condition, Operand } from '../../../records/plan/read-plan.ts'
import { filterValue } from '../../sql/filter-value.ts'
import type { Flavour, ColumnScope } from '../../sql/flavour.ts'
import { bind, join, literal, sql, text, tuple, type Sql } from '../../sql/sql.ts'
import { compareValue, isOneOfValues } from './compare-value.ts'
import { compileShown, findDecoder, readValue } from './decode.ts'
import { inDocument, compileOperand, compileStoredValue, within } from './stored-value.ts'
import { buildStatement, mark } from './time-checks.ts'
import { UPPER, CONTAINED, GLOB, IS_ASCII, LIKE, LIKE_GLOB, PIECES, PREFIX_HIGH, PREFIX_LOW } from './value-forms.ts'

export const SQLITE_FLAVOUR: Flavour = {
  finish: buildStatement,
  mark,
  formatBoolean: value => String(Number(value)),

  document: inDocument,
  stored: compileStoredValue,
  shown: compileShown,
  exactText: value => sql`cast(${value} as text)`,

  isNull(operand, columns) {
    const { source } = operand.attribute
    if (source.kind !== 'within') return sql`${compileOperand(operand, columns)} is null`
    return sql`ifnull(${within(source.json, source.names, columns.through(operand.hops)).type}, 'null') = 'null'`
  },
  isOneOf: isOneOfValues,
  compare: compareValue,
  matches: matchText,
  matchesAny({ operand, filter, fold }, columns) {
    return sql`mikro_match(${compileText(operand, columns)}, ${bind({ from: 'filterPatterns', filter })}, ${String(fold)})`
  },
  like: matchLike,
  expression: ({ operand, value, fold }, columns) =>
    sql`mikro_expression(${compileText(operand, columns)}, ${filterValue(value, operand.attribute)}, ${fold ? '1' : '0'})`,
  contains({ how, operand, value }, columns) {
    const form = `${operand.attribute.type.kind === 'array' ? 'list' : 'json'} ${how}`
    return sql`mikro_contains(${compileOperand(operand, columns)}, ${literal(form)}, ${filterValue(value, operand.attribute)})`
  },

  differs: (column, parameter) => sql`${column} collate binary is not ${parameter}`,

  compared: column => column,
  keyForms: ({ kind }) => (kind === 'uuid' ? UUID_FORMS : PLAIN_FORM),
  isInKeys: (column, list) => sql`${column} in (select value from json_each(${bind(list)}))`,
  isInLinks,

  order: (value, { descending, nulls }, mayBeNull) =>
    sql`${value}${descending ? ' desc' : ''}${nulls === undefined || !mayBeNull ? '' : ` nulls ${nulls}`}`,
  cursor: value =>
    sql`(select case typeof(v) when 'integer' then 'i' || v when 'text' then 't' || v else v end from (select ${value} as v))`,
  keyOrder: column => text(column),
  // For a bare `limit ?`, SQLite would prepare again for each value.
  rowLimit: parameter => sql`+${parameter}`,
  sortedFormula: value => sql`ifnull(${value}, null)`,
  truth: condition => `(${condition})`,
  extreme: (which, value) => sql`${which}(${value})`,
  extremeOfAll(which, values) {
    const [first, ...others] = values.map(value => sql`select ${value}`) as [Sql, ...Sql[]]
    const all = others.reduce((union, value) => sql`${union} union all ${value}`, sql`${first} as v`)
    return sql`(select ${which}(v) from (${all}))`
  },
  countDistinct: (key, isThere) => `count(distinct case when ${isThere} then json_array(${key.join(', ')}) end)`,
  // Functions of database/count-reachable.ts.
  reach: {
    key: numberable,
    links: (from, to) => `mikro_links(${from}, ${to})`,
    count: (from, steps) => sql`mikro_reach(${from}, ${join(steps, ', ')})`,
  },

  readsBare: true,
  findDecoder,
  readValue,
}

const UUID_FORMS: readonly ValueForm[] = ['value', UPPER]
const PLAIN_FORM: readonly ValueForm[] = ['value']

/** Keys are a single JSON text: the number of keys does not change the statement. */
function isInLinks(columns: readonly string[], parts: readonly KeyPart[]): Sql {
  const links = bind({ from: 'links', parts })
  if (columns.length === 1) return sql`${columns[0]!} in (select value from json_each(${links}))`
  const values = columns.map((_, index) => `json_extract(value, '$[${index}]')`)
  return sql`${tuple(columns)} in (select ${values.join(', ')} from json_each(${links}))`
}

/** The key as a number or text; NULL where a part is missing. */
function numberable(columns: readonly string[], { key }: Resource): string {
  // Beyond 2^53 a JavaScript number is not exact.
  const parts = columns.map((column, part) => (key[part]!.type.kind === 'bigint' ? `cast(${column} as text)` : column))
  if (parts.length === 1) return parts[0]!
  return `case when ${columns.map(column => `${column} is not null`).join(' and ')} then json_array(${parts.join(', ')}) end`
}

/** The text to match. Other values, inside JSON or in a column without a type, are NULL. */
function compileText(operand: Operand, scope: ColumnScope): Sql {
  const { source, type: declared } = operand.attribute
  if (source.kind !== 'within') {
    const stored = compileOperand(operand, scope)
    return declared.kind === 'any' ? sql`case typeof(${stored}) when 'text' then ${stored} end` : stored
  }
  const { value, type } = within(source.json, source.names, scope.through(operand.hops))
  return sql`case ${type} when 'text' then ${value} end`
}

function matchText(node: Condition & { kind: 'match' }, scope: ColumnScope): Sql {
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

function matchLike({ operand, value: pattern, fold }: Condition & { kind: 'like' }, scope: ColumnScope): Sql {
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
