/** Compare value: the value of an attribute with those of a filter, in the forms in which SQLite may hold it. */
import { thresholds } from '../../../foundation/base/thresholds.ts'
import type { Condition, Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import { areOfOneFilter, compileIsOneOf, filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { joinEvenly, sql } from '../../sql/sql.ts'
import type { Sql } from '../../sql/sql.ts'
import { compareWithin, isOneOfWithin } from './compare-json.ts'
import { compareAny, compareRounded, isNumber, isRounded, mayHoldTexts } from './compare-number.ts'
import { compareTime, compareTimeOrText, compileMoment, equalsTime, isLooseTime, mayBeText } from './compare-time.ts'
import { compileList, listForms } from './filter-list.ts'
import { compileOperand, findOperandColumn } from './stored-value.ts'
import { MISFIT, NUMBER } from './value-forms.ts'

/** A value is one of those of a filter. */
export function isOneOfValues(operand: Operand, values: readonly ValueRef[], scope: ColumnScope): Sql {
  const { attribute } = operand
  const isList = areOfOneFilter(values)
  if (attribute.source.kind === 'within') {
    if (values.length > 1 && isList) return isOneOfWithin(operand, values[0]!, scope)
    return compileAny(values, value => compareWithin(operand, '=', value, scope))
  }
  if (values.length > thresholds.listedValues && isList && attribute.type.codec === undefined) return isInList(operand, values[0]!, scope)
  if (isRounded(attribute.type)) return compileAny(values, value => compareRounded(operand, '=', value, scope))
  if (mayBeText(attribute)) return compileAny(values, value => equalsTime(operand, value, scope))
  if (isLooseTime(attribute)) {
    return compileAny(values, value => {
      const misfit = filterValue(value, attribute, MISFIT)
      return sql`(${compareTime(operand, '=', value, scope)} or ${findOperandColumn(operand, scope)} = ${misfit})`
    })
  }
  return compileIsOneOf(
    compileOperand(operand, scope),
    values.flatMap(value => listForms(value.type, attribute).map(form => filterValue(value, attribute, form))),
  )
}

function compileAny(values: readonly ValueRef[], compare: (value: ValueRef) => Sql): Sql {
  return sql`(${joinEvenly(values.map(compare), ' or ')})`
}

/** One of many values of a filter. */
function isInList(operand: Operand, ref: ValueRef, scope: ColumnScope): Sql {
  const { attribute } = operand
  const list = compileList(ref, attribute, listForms(ref.type, attribute))
  if (isLooseTime(attribute)) return sql`${compileMoment(operand, scope)} in ${list}`
  const value = compileOperand(operand, scope)
  if (mayBeText(attribute)) return sql`(${value} in ${list} or (${value} >= '' and mikro_moment(${value}, 'text') in ${list}))`
  if (isRounded(attribute.type))
    return sql`mikro_rounded(${value}, ${String(attribute.type.scale)}) in ${compileList(ref, attribute, [NUMBER])}`
  return sql`${value} in ${list}`
}

/** A value is before or behind that of a filter. */
export function compareValue(node: Condition & { kind: 'compare' }, scope: ColumnScope): Sql {
  const { operand, operator, value } = node
  const { attribute } = operand
  if (isLooseTime(attribute)) return compareTime(operand, operator, value, scope)
  if (mayBeText(attribute)) return compareTimeOrText(operand, operator, value, scope)
  if (attribute.source.kind === 'within') return compareWithin(operand, operator, value, scope)
  if (value.type.kind === 'any') return compareAny(node, scope)
  const compared = isRounded(attribute.type)
    ? compareRounded(operand, operator, value, scope)
    : sql`${compileOperand(operand, scope)} ${operator} ${filterValue(value, attribute)}`
  return operator.startsWith('>') && mayHoldTexts(attribute) ? sql`(${compared} and ${isNumber(operand, scope)})` : compared
}
