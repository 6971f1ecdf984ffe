/** Condition: a condition of a plan as SQL. Three-valued logic is left as it is; `not` makes the exact complement. */
import { findTargetKey, type ToOneAttribute } from '../../model/model.ts'
import type { ClassCheck, Condition } from '../../records/plan/read-plan.ts'
import { keyIn } from './filter-value.ts'
import { startList, type FromClause } from './from-clause.ts'
import { join, joinEvenly, literal, sql, text, tuple, type Sql } from './sql.ts'

/**
 * A condition as SQL. `wide` says that all records are asked: then the owners of the list's records that meet a condition are found once,
 * for all of them (`in`), and else record by record (`exists`), by the index on the link.
 */
export function condition(node: Condition, scope: FromClause, wide = false): Sql {
  const { flavour } = scope.tables
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
    case 'unlinked':
      return sql`(${join(
        // A link to nothing, as a file may have one, is shown as none where it is shown by another key.
        scope
          .through(node.hops)
          .toOne(node.relation)
          .id.map(column => text(`${column} is null`)),
        ' or ',
      )})`
    case 'linked':
      return keyIn(compileLink(node.hops, node.relation, scope), node.keys, scope.tables)
    case 'some':
      return compileSome(node, scope, wide)
    case 'class':
      return text(isOfClass(node, scope.through(node.hops)))
    case 'key':
      return keyIn(scope.key, node.keys, scope.tables)
  }
}

/** Whether a row is of one of some classes. */
export function isOfClass({ column, values }: ClassCheck, scope: FromClause): string {
  return `${scope.column(column)} in (${values.map(literal).join(', ')})`
}

/** The columns that are NULL when a to-one is empty, and else hold the key of the record it links. */
function compileLink(hops: readonly ToOneAttribute[], relation: ToOneAttribute, scope: FromClause): readonly string[] {
  return scope.through(hops).toOne(relation).key
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
    return sql`${tuple(owner.referred(findTargetKey(relation)))} in (${owners})`
  }
  const meets = where === undefined ? list.on : sql`${list.on} and ${condition(where, list.scope)}`
  return sql`exists (select 1 from ${list.from} ${join([...joins, text('')], ' ')}where ${meets})`
}
