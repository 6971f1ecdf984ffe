/** Compares and sorts values inside `jsonb` by their own types: numbers as numbers, texts as texts. */
import type { ScalarAttribute } from '../../../model/model.ts'
import type { Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import { filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { literal, name, sql, text, type Sql } from '../../sql/sql.ts'
import { JSON_VALUE, NUMBER, STORED_NUMBER } from './value-forms.ts'

/** An index, or a key of digits. */
const PLACE = /^(?:0|[1-9]\d*)$/

function compileWithin(json: ScalarAttribute, names: readonly string[], columns: ColumnScope): Sql {
  const { source } = json
  const step = (value: Sql, key: string): Sql =>
    PLACE.test(key) ? sql`(${value} #> array[${literal(key)}])` : sql`(${value} -> ${literal(key)})`
  if (source.kind === 'column') return names.reduce(step, sql`(${columns.column(source.column)})::jsonb`)
  if (source.kind === 'document')
    return names.reduce(
      step,
      source.keys.reduce((value, key) => sql`(${value} -> ${literal(key)})`, sql`(${columns.column(source.column)})::jsonb`),
    )
  if (source.kind !== 'formula') throw new Error(`"${json.name}" holds no JSON value.`)
  const formula = source.sql(columns.alias, name)
  const bindings = formula.values.map(value => ({ from: 'literal', value }) as const)
  return names.reduce(step, { text: `((${formula.sql})::jsonb)`, bindings })
}

function compileOperandWithin({ hops, attribute }: Operand, columns: ColumnScope): Sql {
  if (attribute.source.kind !== 'within') throw new Error(`"${attribute.name}" is not inside a JSON value.`)
  return compileWithin(attribute.source.json, attribute.source.names, columns.through(hops))
}

/** A missing value counts as null. */
export function isNullWithin(operand: Operand, columns: ColumnScope): Sql {
  return sql`coalesce(jsonb_typeof(${compileOperandWithin(operand, columns)}), 'null') = 'null'`
}

/** NULL unless the value is a text. */
export function compileTextWithin(operand: Operand, columns: ColumnScope): Sql {
  const value = compileOperandWithin(operand, columns)
  return sql`(case jsonb_typeof(${value}) when 'string' then ${value} #>> '{}' end) collate "C"`
}

/** Compares texts with the given text, other values (for `<`, only numbers) as JSON. */
export function compareWithin(operand: Operand, operator: '=' | '<' | '<=' | '>' | '>=', ref: ValueRef, columns: ColumnScope): Sql {
  const { attribute } = operand
  const value = compileOperandWithin(operand, columns)
  const given = filterValue(ref, attribute)
  if (operator === '=') {
    const same = sql`${value} = ${filterValue(ref, attribute, JSON_VALUE)}::jsonb`
    // A given text in quotes also equals the text inside.
    return sql`(case jsonb_typeof(${value}) when 'string' then (${value} #>> '{}') = ${given} or coalesce(${same}, false) else ${same} end)`
  }
  // Where the given text is a number, texts are not compared.
  const number = sql`${filterValue(ref, attribute, NUMBER)}::numeric`
  const texts = sql`case when ${number} is null then (${value} #>> '{}') collate "C" ${operator} ${given} end`
  return sql`(case jsonb_typeof(${value}) when 'string' then ${texts} when 'number' then (${value})::numeric ${operator} ${number} end)`
}

/** For custom types: numbers and texts in a document. Numbers come first. */
export function compareStoredWithin(
  { hops, attribute }: Operand,
  operator: '=' | '<' | '<=' | '>' | '>=',
  ref: ValueRef,
  columns: ColumnScope,
): Sql {
  const value = compileWithin(attribute, [], columns.through(hops))
  const number = sql`${filterValue(ref, attribute, STORED_NUMBER)}::numeric`
  const compareNumber = (stored: Sql): Sql => sql`coalesce(${stored} ${operator} ${number}, ${text(String(operator.startsWith('<')))})`
  const words = sql`(${value} #>> '{}') collate "C" ${operator} ${filterValue(ref, attribute)}`
  const compareText = sql`case when ${number} is null then ${words} else ${text(String(operator.startsWith('>')))} end`
  return caseOfType(value, {
    number: compareNumber(sql`(${value})::numeric`),
    boolean: compareNumber(sql`((${value})::boolean)::int::numeric`),
    string: compareText,
  })
}

/** Numbers, and booleans as numbers, come before texts. Objects and arrays are NULL. */
export function compileSortedWithin(json: ScalarAttribute, names: readonly string[], columns: ColumnScope): Sql {
  const value = compileWithin(json, names, columns)
  const row = (number: Sql, words: Sql): Sql => sql`row(${number}, ${words})`
  const none = text('null::numeric')
  const noText = text(`null::text collate "C"`)
  return caseOfType(value, {
    number: row(sql`(${value})::numeric`, noText),
    boolean: row(sql`((${value})::boolean)::int::numeric`, noText),
    string: row(none, sql`(${value} #>> '{}') collate "C"`),
  })
}

function caseOfType(value: Sql, { number, boolean, string }: Readonly<Record<'number' | 'boolean' | 'string', Sql>>): Sql {
  return sql`(case jsonb_typeof(${value}) when 'number' then ${number} when 'boolean' then ${boolean} when 'string' then ${string} end)`
}
