/** Compares date-times in milliseconds, however stored. */
import type { ScalarAttribute } from '../../../model/model.ts'
import type { Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import type { OrderOperator } from '../../../records/request/operators.ts'
import { filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { literal, sql, text, type Sql } from '../../sql/sql.ts'
import { findForm } from './stored-time.ts'
import { findOperandColumn } from './stored-value.ts'
import { TIME_HIGH, TIME_LOW, TIME_NEXT } from './value-forms.ts'

/** A file may store the time in several forms. */
export function isLooseTime({ type, source }: ScalarAttribute): boolean {
  return type.kind === 'datetime' && type.loose === true && source.kind === 'column'
}

/** MikroORM writes milliseconds, and other programs perhaps texts. */
export function mayBeText({ type, source }: ScalarAttribute): boolean {
  return type.kind === 'datetime' && type.loose !== true && source.kind === 'column' && !source.rawDefault
}

/** Finds milliseconds, with or without SQLite's fraction, and texts shown as the same time. */
export function equalsTime(operand: Operand, ref: ValueRef, scope: ColumnScope): Sql {
  const column = findOperandColumn(operand, scope)
  const [value, next] = [filterValue(ref, operand.attribute), filterValue(ref, operand.attribute, TIME_NEXT)]
  const [low, high] = [filterValue(ref, operand.attribute, TIME_LOW), filterValue(ref, operand.attribute, TIME_HIGH)]
  const text = sql`${column} >= ${low} and ${column} <= ${high} and mikro_moment(${column}, 'text') = ${value}`
  return sql`(${column} = ${value} or (${column} > ${value} and ${column} < ${next}) or (${text}))`
}

/** Texts sort after numbers, so an index finds both. */
export function compareTimeOrText(operand: Operand, operator: OrderOperator, ref: ValueRef, scope: ColumnScope): Sql {
  const column = findOperandColumn(operand, scope)
  const bound = filterValue(ref, operand.attribute, operator === '>' || operator === '<=' ? TIME_NEXT : 'value')
  const text = sql`mikro_moment(${column}, 'text') ${operator} ${filterValue(ref, operand.attribute)}`
  if (operator.startsWith('>')) return sql`(${column} >= ${bound} and (typeof(${column}) <> 'text' or ${text}))`
  return sql`(${column} < ${bound} or (${column} >= '' and ${column} <= ${filterValue(ref, operand.attribute, TIME_HIGH)} and ${text}))`
}

export function compileMoment({ hops, attribute }: Operand, scope: ColumnScope): Sql {
  const { column } = attribute.source as typeof attribute.source & { kind: 'column' }
  return text(`mikro_moment(${scope.through(hops).column(column)}, ${literal(findForm(attribute.type)!.unit)})`)
}

/** Far times are compared as stored, by an index. Near times, perhaps finer or in other forms, are converted row by row. */
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
