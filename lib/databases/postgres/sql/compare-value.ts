/** Compare value: compares an attribute with filter values; date-times in milliseconds. */
import { thresholds } from '../../../foundation/base/thresholds.ts'
import type { ScalarAttribute } from '../../../model/model.ts'
import type { ValueForm } from '../../../records/database/value-form.ts'
import type { Condition, Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import { areOfOneFilter, compileIsOneOf, filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { bind, joinEvenly, sql, type Sql } from '../../sql/sql.ts'
import { compareStoredWithin, compareWithin } from './compare-json.ts'
import { findOwnType, type OwnTypes } from './own-types.ts'
import { compileBareOperand, compileOperand, isOwnInDocument } from './stored-value.ts'
import { OWN_TYPE, TIME_LAST } from './value-forms.ts'

/**
 * See `Flavour.isOneOf`.
 *
 * @param own the types that have an order of their own
 */
export function isOneOfValues(operand: Operand, values: readonly ValueRef[], columns: ColumnScope, own: OwnTypes): Sql {
  const { attribute } = operand
  const compare = attribute.source.kind === 'within' ? compareWithin : isOwnInDocument(attribute) ? compareStoredWithin : undefined
  if (compare !== undefined)
    return sql`(${joinEvenly(
      values.map(value => compare(operand, '=', value, columns)),
      ' or ',
    )})`
  const [first] = values as [ValueRef]
  const form = findForm(attribute, own)
  const stored = form === 'value' ? compileBareOperand(operand, columns) : compileOperand(operand, columns, own)
  if (values.length > thresholds.listedValues && areOfOneFilter(values) && first.from === 'filter' && attribute.type.codec === undefined) {
    const { filter, type } = first
    const list = bind({ from: 'filterList', filter, type, forms: [form], inDocument: attribute.source.kind === 'document' })
    return sql`${type.kind === 'datetime' ? sql`date_trunc('milliseconds', ${stored})` : stored} = any(${list})`
  }
  if (attribute.type.kind === 'datetime') {
    const equals = (value: ValueRef): Sql =>
      sql`(${stored} >= ${filterValue(value, attribute)} and ${stored} <= ${filterValue(value, attribute, TIME_LAST)})`
    return sql`(${joinEvenly(values.map(equals), ' or ')})`
  }
  return compileIsOneOf(
    stored,
    values.map(value => filterValue(value, attribute, form)),
  )
}

/** The form in which an attribute is compared with a value: that of its own type, where it has an order of its own. */
function findForm({ source, type }: ScalarAttribute, own: OwnTypes): ValueForm {
  return source.kind === 'column' && findOwnType(type, own) !== undefined ? OWN_TYPE : 'value'
}

/** See `Flavour.compare`. */
export function compareValue({ operand, operator, value }: Condition & { kind: 'compare' }, columns: ColumnScope, own: OwnTypes): Sql {
  const { attribute } = operand
  if (attribute.source.kind === 'within') return compareWithin(operand, operator, value, columns)
  if (isOwnInDocument(attribute)) return compareStoredWithin(operand, operator, value, columns)
  const stored = compileOperand(operand, columns, own)
  // A column may hold finer times than are shown: those of the given millisecond are equal to it.
  if (attribute.type.kind === 'datetime' && operator === '>') return sql`${stored} > ${filterValue(value, attribute, TIME_LAST)}`
  if (attribute.type.kind === 'datetime' && operator === '<=') return sql`${stored} <= ${filterValue(value, attribute, TIME_LAST)}`
  return sql`${stored} ${operator} ${filterValue(value, attribute, findForm(attribute, own))}`
}
