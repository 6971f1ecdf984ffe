/** Condition: a condition of a plan as SQL. Three-valued logic is left as it is; `not` makes the exact complement. */
import { targetKeyOf } from '../model/model.ts'
import type { ToOneAttribute } from '../model/model.ts'
import type { Condition, Operand, ValueRef } from '../plan/read-plan.ts'
import { compareWithin, isOneOfWithin } from './compare-json.ts'
import { compareAny, compareRounded, isRounded } from './compare-number.ts'
import { compareTime, compareTimeOrText, equalsTime, isLooseTime, mayBeText, compileMoment } from './compare-time.ts'
import { MANY, areOfOneFilter, filterValue, listForms, compileIsOneOf, keyIn, compileList } from './filter-value.ts'
import { startList } from './from-clause.ts'
import type { FromClause } from './from-clause.ts'
import { matchText, compileText } from './match-text.ts'
import { bind, join, joinEvenly, sql, text, tuple } from './sql.ts'
import type { Sql } from './sql.ts'
import { findOperandColumn, compileOperand, within } from './stored-value.ts'

/**
 * A condition as SQL. `wide` says that all records are asked: then the owners of the list's records that meet a condition are found once, for all of them
 * (`in`), and else record by record (`exists`), by the index on the link.
 */
export function condition(node: Condition, scope: FromClause, wide = false): Sql {
  switch (node.kind) {
    case 'all':
    case 'any':
      if (node.of.length === 0) return text(node.kind === 'all' ? 'true' : 'false')
      return sql`(${joinEvenly(
        node.of.map(part => condition(part, scope, wide)),
        node.kind === 'all' ? ' and ' : ' or ',
      )})`
    case 'not':
      return sql`(${condition(node.of, scope, wide)}) is not true`
    case 'null':
      if (node.operand.attribute.source.kind === 'within') {
        const { json, names } = node.operand.attribute.source
        return sql`ifnull(${within(json, names, scope.through(node.operand.hops)).type}, 'null') = 'null'`
      }
      return sql`${compileOperand(node.operand, scope)} is null`
    case 'in':
      return isOneOfValues(node, scope)
    case 'compare':
      return compareValue(node, scope)
    case 'match':
      return matchText(node, scope)
    case 'matchAny': {
      const patterns = bind({ from: 'filterPatterns', filter: node.filter })
      return sql`mikro_match(${compileText(node.operand, scope)}, ${patterns}, ${node.fold ? '1' : '0'})`
    }
    case 'like':
      return sql`${compileOperand(node.operand, scope)} like ${filterValue(node.value, node.operand.attribute)}`
    case 'unlinked':
      return sql`(${join(
        compileLink(node.hops, node.relation, scope).map(column => text(`${column} is null`)),
        ' or ',
      )})`
    case 'linked':
      return keyIn(compileLink(node.hops, node.relation, scope), node.keys)
    case 'some':
      return compileSome(node, scope, wide)
    case 'key':
      return keyIn(scope.key, node.keys)
  }
}

/** The columns that are NULL when a to-one is empty, and else hold the key of the record it links. */
function compileLink(hops: readonly ToOneAttribute[], relation: ToOneAttribute, scope: FromClause): readonly string[] {
  return scope.through(hops).toOne(relation).key
}

/** A value is one of those of a filter. */
function isOneOfValues({ operand, values }: Condition & { kind: 'in' }, scope: FromClause): Sql {
  const { attribute } = operand
  const isList = areOfOneFilter(values)
  if (attribute.source.kind === 'within') {
    if (values.length > 1 && isList) return isOneOfWithin(operand, values[0]!, scope)
    return compileAny(values, value => compareWithin(operand, '=', value, scope))
  }
  if (values.length > MANY && isList && attribute.type.codec === undefined) return isInList(operand, values[0]!, scope)
  if (isRounded(attribute.type)) return compileAny(values, value => compareRounded(operand, '=', value, scope))
  if (mayBeText(attribute)) return compileAny(values, value => equalsTime(operand, value, scope))
  if (isLooseTime(attribute)) {
    return compileAny(values, value => {
      const misfit = filterValue(value, attribute, 'misfit')
      return sql`(${compareTime(operand, '=', value, scope)} or ${findOperandColumn(operand, scope)} = ${misfit})`
    })
  }
  return compileIsOneOf(
    compileOperand(operand, scope),
    values.flatMap(value => listForms(value.type).map(form => filterValue(value, attribute, form))),
  )
}

function compileAny(values: readonly ValueRef[], compare: (value: ValueRef) => Sql): Sql {
  return sql`(${joinEvenly(values.map(compare), ' or ')})`
}

/** One of many values of a filter. */
function isInList(operand: Operand, ref: ValueRef, scope: FromClause): Sql {
  const { attribute } = operand
  const list = compileList(ref, attribute, listForms(ref.type))
  if (isLooseTime(attribute)) return sql`${compileMoment(operand, scope)} in ${list}`
  const value = compileOperand(operand, scope)
  if (mayBeText(attribute)) return sql`(${value} in ${list} or (${value} >= '' and mikro_moment(${value}, 'text') in ${list}))`
  if (isRounded(attribute.type))
    return sql`mikro_rounded(${value}, ${String(attribute.type.scale)}) in ${compileList(ref, attribute, ['number'])}`
  return sql`${value} in ${list}`
}

/** A value is before or behind that of a filter. */
function compareValue(node: Condition & { kind: 'compare' }, scope: FromClause): Sql {
  const { operand, operator, value } = node
  const { attribute } = operand
  if (isLooseTime(attribute)) return compareTime(operand, operator, value, scope)
  if (mayBeText(attribute)) return compareTimeOrText(operand, operator, value, scope)
  if (isRounded(attribute.type)) return compareRounded(operand, operator, value, scope)
  if (attribute.source.kind === 'within') return compareWithin(operand, operator, value, scope)
  if (value.type.kind === 'any') return compareAny(node, scope)
  return sql`${compileOperand(operand, scope)} ${operator} ${filterValue(value, attribute)}`
}

/** A list has a record that meets a condition, or any record. */
function compileSome({ hops, relation, where }: Condition & { kind: 'some' }, scope: FromClause, wide: boolean): Sql {
  const owner = scope.through(hops)
  const joins: Sql[] = []
  // The owners of known records are few, whoever asks.
  const isOnce = where !== undefined && (wide || where.kind === 'key')
  const list = startList(relation, isOnce ? undefined : owner, scope.tables, joins, where !== undefined)
  if (where !== undefined && isOnce) {
    const meets = join([...(list.existing === undefined ? [] : [list.existing]), condition(where, list.scope, wide)], ' and ')
    const owners = sql`select ${list.links.join(', ')} from ${list.from} ${join([...joins, text('')], ' ')}where ${list.mark}${meets}`
    return sql`${tuple(owner.referred(targetKeyOf(relation)))} in (${owners})`
  }
  const meets = where === undefined ? list.on : sql`${list.on} and ${condition(where, list.scope)}`
  return sql`exists (select 1 from ${list.from} ${join([...joins, text('')], ' ')}where ${meets})`
}
