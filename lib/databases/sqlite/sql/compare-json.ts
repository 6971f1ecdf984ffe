/** Compare JSON: values inside JSON values are compared as what they are. */
import type { ValueForm } from '../../../records/database/value-form.ts'
import type { Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import type { OrderOperator } from '../../../records/request/operators.ts'
import { filterValue } from '../../sql/filter-value.ts'
import { compileList } from './filter-list.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { sql } from '../../sql/sql.ts'
import type { Sql } from '../../sql/sql.ts'
import { within } from './stored-value.ts'
import { JSON_TEXT, JSON_VALUE, NUMBER } from './value-forms.ts'

/**
 * A value inside a JSON value is compared as what it is: a text with the text that was given, a number with the number that the text is, if
 * it is one.
 */
export function compareWithin(operand: Operand, operator: '=' | OrderOperator, ref: ValueRef, scope: ColumnScope): Sql {
  const { attribute } = operand
  if (attribute.source.kind !== 'within') throw new Error(`"${attribute.name}" is not inside a JSON value.`)
  const { value, type } = within(attribute.source.json, attribute.source.names, scope.through(operand.hops))
  const given = filterValue(ref, attribute)
  const number = filterValue(ref, attribute, NUMBER)
  if (operator === '=') {
    // An object or array equals the one that the text is; a text, the one that the text in quotes is.
    const same = sql`mikro_json(${value}) = ${filterValue(ref, attribute, JSON_VALUE)}`
    return sql`case ${type} when 'text' then ${value} in (${given}, ${filterValue(ref, attribute, JSON_TEXT)}) when 'object' then ${same} when 'array' then ${same} when 'true' then ${given} = 'true' when 'false' then ${given} = 'false' when 'integer' then ${value} = ${number} when 'real' then ${value} = ${number} end`
  }
  // Numbers are compared with numbers, texts with what is not a number.
  return sql`case ${type} when 'text' then case when ${number} is null then ${value} ${operator} ${given} end when 'integer' then ${value} ${operator} ${number} when 'real' then ${value} ${operator} ${number} end`
}

/** The same comparison as `compareWithin` makes with `=`, with any value of a list. */
export function isOneOfWithin(operand: Operand, ref: ValueRef, scope: ColumnScope): Sql {
  const { attribute } = operand
  if (attribute.source.kind !== 'within') throw new Error(`"${attribute.name}" is not inside a JSON value.`)
  const { value, type } = within(attribute.source.json, attribute.source.names, scope.through(operand.hops))
  const list = (...forms: ValueForm[]): Sql => compileList(ref, attribute, forms)
  const same = sql`mikro_json(${value}) in ${list(JSON_VALUE)}`
  const number = sql`${value} in ${list(NUMBER)}`
  return sql`case ${type} when 'text' then ${value} in ${list('value', JSON_TEXT)} when 'object' then ${same} when 'array' then ${same} when 'true' then 'true' in ${list('value')} when 'false' then 'false' in ${list('value')} when 'integer' then ${number} when 'real' then ${number} end`
}
