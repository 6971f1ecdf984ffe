/** Compare number: those that are shown with fewer digits than may be stored, and those of columns that hold texts, too. */
import type { Condition, Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import type { ScalarAttribute } from '../../../model/model.ts'
import { mayHoldAny } from '../../../foundation/values/scalar-type.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import type { OrderOperator } from '../../../records/request/operators.ts'
import { filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { sql } from '../../sql/sql.ts'
import type { Sql } from '../../sql/sql.ts'
import { compileOperand, findOperandColumn } from './stored-value.ts'
import { NUMBER, ROUND_HIGH, ROUND_LOW } from './value-forms.ts'

/** Whether values are shown with fewer digits than may be stored. */
export function isRounded({ kind, scale, asNumber, loose }: ScalarType): boolean {
  return kind === 'decimal' && scale !== undefined && asNumber !== true && loose !== true
}

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean'])

/** Whether a column of numbers may hold texts and bytes as well: that of a file, which other programs write. */
export function mayHoldTexts({ source, type }: ScalarAttribute): boolean {
  return source.kind === 'column' && mayHoldAny(type) && NUMBERS.has(type.kind)
}

/**
 * A text is not a number, and more than each of them in SQLite. The `+` keeps the condition out of the search for an index, where it would
 * count as a bound.
 */
export function isNumber(operand: Operand, scope: ColumnScope): Sql {
  return sql`+${findOperandColumn(operand, scope)} < ''`
}

/** Decimals are compared as they are shown, rounded to their scale: by the numbers between which all are shown so. */
export function compareRounded(operand: Operand, operator: '=' | OrderOperator, ref: ValueRef, scope: ColumnScope): Sql {
  const column = compileOperand(operand, scope)
  const [low, high] = [filterValue(ref, operand.attribute, ROUND_LOW), filterValue(ref, operand.attribute, ROUND_HIGH)]
  switch (operator) {
    case '=':
      // A text that is not a number is compared as it is.
      return sql`(${column} = ${filterValue(ref, operand.attribute)} or (${column} >= ${low} and ${column} <= ${high}))`
    case '>':
      return sql`${column} > ${high}`
    case '>=':
      return sql`${column} >= ${low}`
    case '<':
      return sql`${column} < ${low}`
    case '<=':
      return sql`${column} <= ${high}`
  }
}

/** Numbers are compared with numbers, texts with what is not a number. */
export function compareAny({ operand, operator, value }: Condition & { kind: 'compare' }, scope: ColumnScope): Sql {
  const stored = compileOperand(operand, scope)
  const number = filterValue(value, operand.attribute, NUMBER)
  const isText = sql`typeof(${stored}) = 'text' and ${stored} ${operator} ${filterValue(value, operand.attribute)}`
  return sql`case when ${number} is null then ${isText} else typeof(${stored}) in ('integer', 'real') and ${stored} ${operator} ${number} end`
}
