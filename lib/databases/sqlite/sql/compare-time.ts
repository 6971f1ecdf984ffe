/** Compare time: date-times are compared as they are shown, in milliseconds, whatever a column holds. */
import type { ScalarAttribute } from '../../../model/model.ts'
import type { Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import type { OrderOperator } from '../../../records/request/operators.ts'
import { filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { literal, sql, text, type Sql } from '../../sql/sql.ts'
import { findForm } from './stored-time.ts'
import { findOperandColumn } from './stored-value.ts'
import { TIME_HIGH, TIME_LOW, TIME_NEXT } from './value-forms.ts'

/** Whether it is a date-time of a file, which may be stored in several forms. */
export function isLooseTime({ type, source }: ScalarAttribute): boolean {
  return type.kind === 'datetime' && type.loose === true && source.kind === 'column'
}

/** Whether it is a date-time that MikroORM writes in milliseconds, and others may have written as text. */
export function mayBeText({ type, source }: ScalarAttribute): boolean {
  return type.kind === 'datetime' && type.loose !== true && source.kind === 'column' && !source.rawDefault
}

/** A date-time is found in milliseconds, of which SQLite's own functions make fractions, and in a text that is shown as the same. */
export function equalsTime(operand: Operand, ref: ValueRef, scope: ColumnScope): Sql {
  const column = findOperandColumn(operand, scope)
  const [value, next] = [filterValue(ref, operand.attribute), filterValue(ref, operand.attribute, TIME_NEXT)]
  const [low, high] = [filterValue(ref, operand.attribute, TIME_LOW), filterValue(ref, operand.attribute, TIME_HIGH)]
  const text = sql`${column} >= ${low} and ${column} <= ${high} and mikro_moment(${column}, 'text') = ${value}`
  return sql`(${column} = ${value} or (${column} > ${value} and ${column} < ${next}) or (${text}))`
}

/** The same for an order. Texts sort after all numbers, so an index finds either. */
export function compareTimeOrText(operand: Operand, operator: OrderOperator, ref: ValueRef, scope: ColumnScope): Sql {
  const column = findOperandColumn(operand, scope)
  const bound = filterValue(ref, operand.attribute, operator === '>' || operator === '<=' ? TIME_NEXT : 'value')
  const text = sql`mikro_moment(${column}, 'text') ${operator} ${filterValue(ref, operand.attribute)}`
  if (operator.startsWith('>')) return sql`(${column} >= ${bound} and (typeof(${column}) <> 'text' or ${text}))`
  return sql`(${column} < ${bound} or (${column} >= '' and ${column} <= ${filterValue(ref, operand.attribute, TIME_HIGH)} and ${text}))`
}

/** Milliseconds since 1970 of a date-time of a file, however it is stored; NULL for what is not a time. */
export function compileMoment({ hops, attribute }: Operand, scope: ColumnScope): Sql {
  const { column } = attribute.source as typeof attribute.source & { kind: 'column' }
  return text(`mikro_moment(${scope.through(hops).column(column)}, ${literal(findForm(attribute.type)!.unit)})`)
}

/**
 * Date-times of a file are compared as they are shown, in milliseconds: a column may hold finer ones, and several forms of one. Times that
 * are far from the given one are compared by their stored values, which an index can do; near ones are converted one by one.
 */
export function compareTime({ hops, attribute }: Operand, operator: '=' | OrderOperator, ref: ValueRef, scope: ColumnScope): Sql {
  const { type, source } = attribute
  const { uniform } = findForm(type)!
  const column = scope.through(hops).column((source as typeof source & { kind: 'column' }).column)
  const exact = sql`${compileMoment({ hops, attribute }, scope)} ${operator} ${filterValue(ref, attribute)}`
  if (!uniform) return exact
  const [low, high] = [filterValue(ref, attribute, TIME_LOW), filterValue(ref, attribute, TIME_HIGH)]
  if (operator === '=') return sql`(${column} >= ${low} and ${column} <= ${high} and ${exact})`
  return operator.startsWith('>')
    ? sql`(${column} >= ${low} and (${column} > ${high} or ${exact}))`
    : sql`(${column} <= ${high} and (${column} < ${low} or ${exact}))`
}
