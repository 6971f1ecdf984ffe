/** The SQL of SQLite for the compiler of `databases/sql/`. */
import type { KeyPart, Resource } from '../../../model/model.ts'
import type { ValueForm } from '../../../records/database/value-form.ts'
import type { Flavour } from '../../sql/flavour.ts'
import { filterValue } from '../../sql/filter-value.ts'
import { bind, join, literal, sql, text, tuple, type Sql } from '../../sql/sql.ts'
import { compareValue, isOneOfValues } from './compare-value.ts'
import { compileShown, findDecoder, readValue } from './decode.ts'
import { inDocument } from './stored-value.ts'
import { compileText, matchLike, matchText } from './match-text.ts'
import { compileOperand, compileStoredValue, within } from './stored-value.ts'
import { buildStatement, mark } from './time-checks.ts'
import { UPPER } from './value-forms.ts'

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
