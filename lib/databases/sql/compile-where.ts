/** Where: the conditions of a plan as SQL: which records it starts from, which exist for the caller, and what its filters say. */
import type { Condition, ReadPlan } from '../../records/plan/read-plan.ts'
import { condition } from './condition.ts'
import { conjunction, discriminatorCondition, formatTable } from './from-clause.ts'
import type { FromClause } from './from-clause.ts'
import { existing, isKey } from './select.ts'
import { name, sql, tableName, tuple, withLiterals } from './sql.ts'
import type { Sql } from './sql.ts'

/**
 * Whether a condition is about the records of a list. With such filters alone all records are asked. Another filter may leave few, and whether it does
 * only the data knows: then to ask each of those is the safe way.
 */
function isAboutList(part: Condition): boolean {
  switch (part.kind) {
    case 'some':
      return true
    case 'not':
      return isAboutList(part.of)
    case 'any':
      return part.of.some(isAboutList)
    case 'all':
      return part.of.length > 0 && part.of.every(isAboutList)
    default:
      return false
  }
}

/** Whether nothing but lists narrows the records. */
export function asksAll({ anchor, where }: ReadPlan, { resource, tables }: FromClause): boolean {
  return anchor.kind === 'collection' && !tables.isScoped(resource) && where.every(isAboutList)
}

export function compileWhere(plan: ReadPlan, root: FromClause): Sql[] {
  const { anchor } = plan
  const { flavour } = root.tables
  const scoped = existing(root)
  const wide = asksAll(plan, root)
  const filters = [...scoped, ...plan.where.map(part => condition(part, root, wide))]
  if (anchor.kind === 'collection') return filters
  if (anchor.kind === 'record') return [isKey(root.key, plan.resource.key, flavour), ...filters]
  if (anchor.kind === 'keys') return [flavour.isInLinks(root.key, plan.resource.key), ...filters]
  const { relation, owner } = anchor
  const listed = relation.kind === 'toMany' ? root.tables.meets(relation, root.alias) : undefined
  if (listed !== undefined) filters.push(listed)
  const alias = root.tables.next()
  const own = (columns: readonly string[]): string[] => columns.map(column => `${alias}.${name(column)}`)
  if (relation.kind === 'toMany' && relation.via.kind === 'pivot') {
    const { table, ownerColumns, targetColumns, discriminator } = relation.via
    const isOwner = conjunction(
      isKey(own(ownerColumns), owner.key, flavour),
      discriminatorCondition(discriminator, column => own([column])[0]!),
    )
    const related = sql`select ${own(targetColumns).join(', ')} from ${tableName(table)} as ${alias} where ${isOwner}`
    return [sql`${tuple(root.key)} in (${related})`, ...filters]
  }
  if (relation.kind === 'toOne' && relation.owner) {
    const key = own(owner.key.map(part => part.column))
    const isOwner = conjunction(
      isKey(key, owner.key, flavour),
      discriminatorCondition(relation.discriminator, column => own([column])[0]!),
    )
    const held =
      relation.formula === undefined ? own(relation.columns) : [`(${withLiterals(relation.formula(alias, name), flavour.formatBoolean)})`]
    const related = sql`select ${held.join(', ')} from ${formatTable(owner)} as ${alias} where ${isOwner}`
    return [sql`${tuple(root.referred(relation.targetKey))} in (${related})`, ...filters]
  }
  const { columns, targetKey, discriminator } =
    relation.kind === 'toMany' ? (relation.via as typeof relation.via & { kind: 'foreign' }) : relation
  const isMeant = discriminatorCondition(discriminator, column => root.column(column))
  if (isMeant !== undefined) filters.push(isMeant)
  if (targetKey === undefined) return [isKey(root.columns(columns), owner.key, flavour), ...filters]
  const key = own(owner.key.map(part => part.column))
  const referred = sql`select ${own([targetKey.part.column])[0]!} from ${formatTable(owner)} as ${alias} where ${isKey(key, owner.key, flavour)}`
  return [sql`${root.column(columns[0]!)} in (${referred})`, ...filters]
}
