/** Compares an attribute with the values of a filter (`age > 30`), in each stored form: times as numbers or texts, UUIDs in either case. */
import { thresholds } from '../../../foundation/base/thresholds.ts'
import type { Condition, Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import { areOfOneFilter, compileIsOneOf, filterValue } from '../../sql/filter-value.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { bind, join, joinEvenly, literal, sql, type Sql, text } from '../../sql/sql.ts'
import { compileOperand, findOperandColumn, within } from './stored-value.ts'
import {
  JSON_TEXT,
  JSON_VALUE,
  MINUTES,
  MISFIT,
  NUMBER,
  ROUND_HIGH,
  ROUND_LOW,
  TIME_HIGH,
  TIME_LOW,
  TIME_NEXT,
  UPPER,
  WORD,
} from './value-forms.ts'
import type { ValueForm } from '../../../records/database/binding.ts'
import type { OrderOperator } from '../../../records/request/operators.ts'
import type { ScalarAttribute } from '../../../model/model.ts'
import { mayHoldAny, type ScalarType } from '../../../foundation/values/scalar-type.ts'
import { findForm } from './stored-time.ts'

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

/** By JSON type: a text with the given text, a number with the number in the text. */
function compareWithin(operand: Operand, operator: '=' | OrderOperator, ref: ValueRef, scope: ColumnScope): Sql {
  const { attribute } = operand
  if (attribute.source.kind !== 'within') throw new Error(`"${attribute.name}" is not inside a JSON value.`)
  const { value, type } = within(attribute.source.json, attribute.source.names, scope.through(operand.hops))
  const given = filterValue(ref, attribute)
  const number = filterValue(ref, attribute, NUMBER)
  if (operator === '=') {
    // An object or array equals the given text as JSON; the given `"Ann"` also finds the text `Ann`.
    const same = sql`mikro_json(${value}) = ${filterValue(ref, attribute, JSON_VALUE)}`
    return caseOfType(type, {
      text: sql`${value} in (${given}, ${filterValue(ref, attribute, JSON_TEXT)})`,
      object: same,
      array: same,
      true: sql`${given} = 'true'`,
      false: sql`${given} = 'false'`,
      integer: sql`${value} = ${number}`,
      real: sql`${value} = ${number}`,
    })
  }
  // Where the given text is a number, texts are not compared.
  return caseOfType(type, {
    text: sql`case when ${number} is null then ${value} ${operator} ${given} end`,
    integer: sql`${value} ${operator} ${number}`,
    real: sql`${value} ${operator} ${number}`,
  })
}

/** By JSON type, with any value of a list. */
function isOneOfWithin(operand: Operand, ref: ValueRef, scope: ColumnScope): Sql {
  const { attribute } = operand
  if (attribute.source.kind !== 'within') throw new Error(`"${attribute.name}" is not inside a JSON value.`)
  const { value, type } = within(attribute.source.json, attribute.source.names, scope.through(operand.hops))
  const list = (...forms: ValueForm[]): Sql => compileList(ref, attribute, forms)
  const same = sql`mikro_json(${value}) in ${list(JSON_VALUE)}`
  const number = sql`${value} in ${list(NUMBER)}`
  return caseOfType(type, {
    text: sql`${value} in ${list('value', JSON_TEXT)}`,
    object: same,
    array: same,
    true: sql`'true' in ${list('value')}`,
    false: sql`'false' in ${list('value')}`,
    integer: number,
    real: number,
  })
}

function caseOfType(type: Sql, cases: Readonly<Record<string, Sql>>): Sql {
  const each = Object.entries(cases).map(([name, then]) => sql`when ${literal(name)} then ${then}`)
  return sql`case ${type} ${join(each, ' ')} end`
}

/** Answers may show fewer digits than the column. */
function isRounded({ kind, scale, asNumber, loose }: ScalarType): boolean {
  return kind === 'decimal' && scale !== undefined && asNumber !== true && loose !== true
}

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean'])

/** In a file, a column of numbers may hold texts. */
function mayHoldTexts({ source, type }: ScalarAttribute): boolean {
  return source.kind === 'column' && mayHoldAny(type) && NUMBERS.has(type.kind)
}

/** Texts sort above all numbers. With the `+`, SQLite takes no index for the condition. */
function isNumber(operand: Operand, scope: ColumnScope): Sql {
  return sql`+${findOperandColumn(operand, scope)} < ''`
}

function compareRounded(operand: Operand, operator: '=' | OrderOperator, ref: ValueRef, scope: ColumnScope): Sql {
  const column = compileOperand(operand, scope)
  const [low, high] = [filterValue(ref, operand.attribute, ROUND_LOW), filterValue(ref, operand.attribute, ROUND_HIGH)]
  switch (operator) {
    case '=':
      // Finds misfits, too.
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

function compareAny({ operand, operator, value }: Condition & { kind: 'compare' }, scope: ColumnScope): Sql {
  const stored = compileOperand(operand, scope)
  const number = filterValue(value, operand.attribute, NUMBER)
  const isText = sql`typeof(${stored}) = 'text' and ${stored} ${operator} ${filterValue(value, operand.attribute)}`
  const isNumber = sql`typeof(${stored}) in ('integer', 'real') and ${stored} ${operator} ${number}`
  return sql`case when ${number} is null then ${isText} else ${isNumber} end`
}

/** Files and documents may hold a UUID in upper case, `true` as a text, a time without seconds. */
function listForms({ kind }: ScalarType, { type, source }: ScalarAttribute): readonly ValueForm[] {
  if (kind === 'boolean') return source.kind === 'column' && !mayHoldAny(type) ? ['value'] : ['value', WORD]
  if (kind === 'time') return ['value', MINUTES]
  return kind === 'any' ? ['value', NUMBER] : kind === 'uuid' ? ['value', UPPER] : ['value']
}

function compileList(ref: ValueRef, { source }: ScalarAttribute, forms: readonly ValueForm[]): Sql {
  if (ref.from !== 'filter') throw new Error('compileList: only filters have lists.')
  const { filter, type } = ref
  return sql`(select value from json_each(${bind({ from: 'filterList', filter, type, forms, inDocument: source.kind === 'document' })}))`
}

/** A file may store the time in several forms. */
function isLooseTime({ type, source }: ScalarAttribute): boolean {
  return type.kind === 'datetime' && type.loose === true && source.kind === 'column'
}

/** MikroORM writes milliseconds, and other programs perhaps texts. */
function mayBeText({ type, source }: ScalarAttribute): boolean {
  return type.kind === 'datetime' && type.loose !== true && source.kind === 'column' && !source.rawDefault
}

/** Finds milliseconds, also with a fraction, and texts of the same time. */
function equalsTime(operand: Operand, ref: ValueRef, scope: ColumnScope): Sql {
  const column = findOperandColumn(operand, scope)
  const [value, next] = [filterValue(ref, operand.attribute), filterValue(ref, operand.attribute, TIME_NEXT)]
  const [low, high] = [filterValue(ref, operand.attribute, TIME_LOW), filterValue(ref, operand.attribute, TIME_HIGH)]
  const text = sql`${column} >= ${low} and ${column} <= ${high} and mikro_moment(${column}, 'text') = ${value}`
  return sql`(${column} = ${value} or (${column} > ${value} and ${column} < ${next}) or (${text}))`
}

/** Texts sort after numbers, so an index finds both. */
function compareTimeOrText(operand: Operand, operator: OrderOperator, ref: ValueRef, scope: ColumnScope): Sql {
  const column = findOperandColumn(operand, scope)
  const bound = filterValue(ref, operand.attribute, operator === '>' || operator === '<=' ? TIME_NEXT : 'value')
  const text = sql`mikro_moment(${column}, 'text') ${operator} ${filterValue(ref, operand.attribute)}`
  if (operator.startsWith('>')) return sql`(${column} >= ${bound} and (typeof(${column}) <> 'text' or ${text}))`
  return sql`(${column} < ${bound} or (${column} >= '' and ${column} <= ${filterValue(ref, operand.attribute, TIME_HIGH)} and ${text}))`
}

function compileMoment({ hops, attribute }: Operand, scope: ColumnScope): Sql {
  const { column } = attribute.source as typeof attribute.source & { kind: 'column' }
  return text(`mikro_moment(${scope.through(hops).column(column)}, ${literal(findForm(attribute.type)!.unit)})`)
}

/** In a uniform column, compares as stored, by an index. Converts only near times, perhaps finer. */
function compareTime({ hops, attribute }: Operand, operator: '=' | OrderOperator, ref: ValueRef, scope: ColumnScope): Sql {
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
