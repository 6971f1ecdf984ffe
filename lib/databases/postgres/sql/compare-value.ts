/** Compare value: compares an attribute with filter values; date-times in milliseconds. */
import { thresholds } from '../../../foundation/base/thresholds.ts'
import type { ScalarAttribute } from '../../../model/model.ts'
import type { Condition, Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import { areOfOneFilter, compileIsOneOf, filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { bind, joinEvenly, sql, text, type Sql } from '../../sql/sql.ts'
import { compareStoredWithin, compareWithin } from './compare-json.ts'
import { compileBareOperand, compileOperand, isOwnInDocument } from './stored-value.ts'
import { TIME_NEXT } from './value-forms.ts'

/**
 * See `Flavour.isOneOf`.
 *
 * @param enums enum types, as the server writes them
 */
export function isOneOfValues(operand: Operand, values: readonly ValueRef[], columns: ColumnScope, enums: ReadonlySet<string>): Sql {
  const { attribute } = operand
  const compare = attribute.source.kind === 'within' ? compareWithin : isOwnInDocument(attribute) ? compareStoredWithin : undefined
  if (compare !== undefined)
    return sql`(${joinEvenly(
      values.map(value => compare(operand, '=', value, columns)),
      ' or ',
    )})`
  const [first] = values as [ValueRef]
  const label = findEnum(attribute, enums)
  if (label !== undefined && values.length <= thresholds.listedValues) {
    // Looks labels up once, and can use an index on the column. A text that is no label matches no row. PostgreSQL compares no domains over
    // enums, so the column is cast.
    const meant = compileIsOneOf(
      text('l::text'),
      values.map(value => filterValue(value, attribute)),
    )
    const labels = sql`select l from unnest(enum_range(null::${label.type})) as l where ${meant}`
    return sql`${columns.through(operand.hops).column(label.column)}::${label.type} = any(array(${labels}))`
  }
  const stored = compileBareOperand(operand, columns)
  if (values.length > thresholds.listedValues && areOfOneFilter(values) && first.from === 'filter' && attribute.type.codec === undefined) {
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

function findEnum(
  { source, type }: ScalarAttribute,
  enums: ReadonlySet<string>,
): { readonly column: string; readonly type: string } | undefined {
  const { kind, column } = type
  if (kind !== 'text' || column === undefined || source.kind !== 'column' || !enums.has(column)) return undefined
  return { column: source.column, type: column }
}

/** See `Flavour.compare`. */
export function compareValue({ operand, operator, value }: Condition & { kind: 'compare' }, columns: ColumnScope): Sql {
  const { attribute } = operand
  if (attribute.source.kind === 'within') return compareWithin(operand, operator, value, columns)
  if (isOwnInDocument(attribute)) return compareStoredWithin(operand, operator, value, columns)
  const stored = compileOperand(operand, columns)
  // A column may hold finer times than shown: the whole millisecond is equal.
  if (attribute.type.kind === 'datetime' && operator === '>') return sql`${stored} >= ${filterValue(value, attribute, TIME_NEXT)}`
  if (attribute.type.kind === 'datetime' && operator === '<=') return sql`${stored} < ${filterValue(value, attribute, TIME_NEXT)}`
  return sql`${stored} ${operator} ${filterValue(value, attribute)}`
}
