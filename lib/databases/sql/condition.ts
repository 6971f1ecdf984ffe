/**
 * Compiles a condition of a plan, such as `age > 30`. `not` holds for NULL, too; all else has SQL's three-valued logic. `$not` of the
 * application has become plain conditions (ternary-condition.ts).
 */
import { findTargetKey } from '../../model/model.ts'
import type { ClassCheck, Condition } from '../../records/plan/read-plan.ts'
import { keyIn } from './filter-value.ts'
import { startList, type FromClause } from './from-clause.ts'
import { join, joinEvenly, literal, sql, text, tuple, type Sql } from './sql.ts'

/** @param isOfAll all records are asked: `in` finds the owners of list members once, instead of `exists` for each record */
export function condition(node: Condition, scope: FromClause, isOfAll = false): Sql {
  const { flavour } = scope.tables
  switch (node.kind) {
    case 'all':
    case 'any':
      if (node.of.length === 0) return text(node.kind === 'all' ? 'true' : 'false')
      return sql`(${joinEvenly(
        node.of.map(part => condition(part, scope, isOfAll)),
        node.kind === 'all' ? ' and ' : ' or ',
      )})`
    case 'not':
      return sql`(${condition(node.of, scope, isOfAll)}) is not true`
    case 'null':
      return flavour.isNull(node.operand, scope)
    case 'in':
      return flavour.isOneOf(node.operand, node.values, scope)
    case 'compare':
      return flavour.compare(node, scope)
    case 'match':
      return flavour.matches(node, scope)
    case 'matchAny':
      return flavour.matchesAny(node, scope)
    case 'like':
      return flavour.like(node, scope)
    case 'expression':
      return flavour.expression(node, scope)
    case 'contains':
      return flavour.contains(node, scope)
    case 'unlinked':
      return sql`(${join(
        // Where the other side holds the key, the joined row decides: no row, no link.
        scope
          .through(node.hops)
          .toOne(node.relation)
          .id.map(column => text(`${column} is null`)),
        ' or ',
      )})`
    case 'linked':
      return keyIn(scope.through(node.hops).toOne(node.relation).key, node.keys, scope.tables)
    case 'some':
      return compileSome(node, scope, isOfAll)
    case 'class':
      return text(isOfClass(node, scope.through(node.hops)))
    case 'key':
      return keyIn(scope.key, node.keys, scope.tables)
  }
}

export function isOfClass({ column, values }: ClassCheck, scope: FromClause): string {
  return `${scope.column(column)} in (${values.map(literal).join(', ')})`
}

/** Some list member meets `where`; without `where`, there is a member. */
function compileSome({ hops, relation, where }: Condition & { kind: 'some' }, scope: FromClause, isOfAll: boolean): Sql {
  const owner = scope.through(hops)
  const joins: Sql[] = []
  // Members known by key have few owners.
  const isOnce = where !== undefined && (isOfAll || where.kind === 'key')
  const list = startList(relation, isOnce ? undefined : owner, scope.tables, joins, where !== undefined)
  if (where !== undefined && isOnce) {
    const meets = join([...(list.existing === undefined ? [] : [list.existing]), condition(where, list.scope, isOfAll)], ' and ')
    const owners = sql`select ${list.links.join(', ')} from ${list.from} ${join([...joins, text('')], ' ')}where ${list.mark}${meets}`
    return sql`${tuple(owner.referred(findTargetKey(relation)))} in (${owners})`
  }
  const meets = where === undefined ? list.on : sql`${list.on} and ${condition(where, list.scope)}`
  return sql`exists (select 1 from ${list.from} ${join([...joins, text('')], ' ')}where ${meets})`
}
