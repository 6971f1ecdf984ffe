/** Compare value: the value of an attribute with those of a filter. Date-times are compared as they are shown, in milliseconds. */
import type { Condition, Operand, ValueRef } from '../../plan/read-plan.ts'
import { MANY, areOfOneFilter, compileIsOneOf, filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { bind, joinEvenly, sql } from '../../sql/sql.ts'
import type { Sql } from '../../sql/sql.ts'
import { compareWithin } from './compare-json.ts'
import { compileBareOperand, compileOperand } from './stored-value.ts'
import { TIME_NEXT } from './value-forms.ts'

/** See `Flavour.isOneOf`. */
export function isOneOfValues(operand: Operand, values: readonly ValueRef[], columns: ColumnScope): Sql {
  const { attribute } = operand
  if (attribute.source.kind === 'within')
    return sql`(${joinEvenly(
      values.map(value => compareWithin(operand, '=', value, columns)),
      ' or ',
    )})`
  const [first] = values as [ValueRef]
  const stored = compileBareOperand(operand, columns)
  if (values.length > MANY && areOfOneFilter(values) && first.from === 'filter' && attribute.type.codec === undefined) {
    const { filter, type } = first
    const list = bind({ from: 'filterList', filter, type, forms: ['value'], inDocument: attribute.source.kind === 'document' })
    return sql`${type.kind === 'datetime' ? sql`date_trunc('milliseconds', ${stored})` : stored} = any(${list})`
  }
  if (attribute.type.kind === 'datetime') {
    const equals = (value: ValueRef): Sql =>
      sql`(${stored} >= ${filterValue(value, attribute)} and ${stored} < ${filterValue(value, attribute, TIME_NEXT)})`
    return sql`(${joinEvenly(values.map(equals), ' or ')})`
  }
  return compileIsOneOf(
    stored,
    values.map(value => filterValue(value, attribute)),
  )
}

/** See `Flavour.compare`. */
export function compareValue({ operand, operator, value }: Condition & { kind: 'compare' }, columns: ColumnScope): Sql {
  const { attribute } = operand
  if (attribute.source.kind === 'within') return compareWithin(operand, operator, value, columns)
  const stored = compileOperand(operand, columns)
  // A column may hold finer times than are shown: those of the given millisecond are equal to it.
  if (attribute.type.kind === 'datetime' && operator === '>') return sql`${stored} >= ${filterValue(value, attribute, TIME_NEXT)}`
  if (attribute.type.kind === 'datetime' && operator === '<=') return sql`${stored} < ${filterValue(value, attribute, TIME_NEXT)}`
  return sql`${stored} ${operator} ${filterValue(value, attribute)}`
}
