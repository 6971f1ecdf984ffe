/**
 * Compiles the conditions of a plan. `/users/7/posts?draft=true` asks for posts of user 7 (the anchor), in the caller's scopes, filtered.
 */
import { idParts } from '../../model/key.ts'
import type { Anchor, Condition, ReadPlan } from '../../records/plan/read-plan.ts'
import { condition } from './condition.ts'
import type { Flavour } from './flavour.ts'
import { FromClause, conjunction, discriminatorCondition, formatTable } from './from-clause.ts'
import { existing, isKey } from './select.ts'
import { name, sql, tableName, tuple, withLiterals, type Sql } from './sql.ts'

/** `?tags.name=red` asks every record for list members. Any other filter may leave few records to ask. */
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

export function asksAll({ anchor, where }: ReadPlan, { resource, tables }: FromClause): boolean {
  return anchor.kind === 'collection' && !tables.isScoped(resource) && where.every(isAboutList)
}

export function compileWhere(plan: ReadPlan, root: FromClause): Sql[] {
  const { anchor } = plan
  const { flavour } = root.tables
  const scoped = existing(root)
  const isOfAll = asksAll(plan, root)
  const filters = [...scoped, ...plan.where.map(part => condition(part, root, isOfAll))]
  if (anchor.kind === 'collection') return filters
  if (anchor.kind === 'record') return [isRecord(root, anchor, flavour), ...filters]
  if (anchor.kind === 'keys') {
    const [columns, parts] = anchor.shown === undefined ? [root.key, plan.resource.key] : [root.id, idParts(plan.resource)]
    return [flavour.isInLinks(columns, parts), ...filters]
  }
  const { relation, owner } = anchor
  const listed = relation.kind === 'toMany' ? root.tables.meets(relation, root.alias) : undefined
  if (listed !== undefined) filters.push(listed)
  const links = new FromClause(owner, root.tables, root.tables.next())
  if (relation.kind === 'toMany' && relation.via.kind === 'pivot') {
    const { table, ownerColumns, targetColumns, discriminator } = relation.via
    const isOwner = conjunction(
      isOwnerKey(links.columns(ownerColumns), anchor, root),
      discriminatorCondition(discriminator, column => links.column(column)),
    )
    const related = sql`select ${links.columns(targetColumns).join(', ')} from ${tableName(table)} as ${links.alias} where ${isOwner}`
    return [sql`${tuple(root.key)} in (${related})`, ...filters]
  }
  if (relation.kind === 'toOne' && relation.owner) {
    const isOwner = conjunction(
      isRecord(links, anchor, flavour),
      discriminatorCondition(relation.discriminator, column => links.column(column)),
    )
    const held =
      relation.formula === undefined
        ? links.columns(relation.columns)
        : [`(${withLiterals(relation.formula(links.alias, name), flavour.formatBoolean)})`]
    const related = sql`select ${held.join(', ')} from ${formatTable(owner)} as ${links.alias} where ${isOwner}`
    return [sql`${tuple(root.referred(relation.targetKey))} in (${related})`, ...filters]
  }
  const { columns, targetKey, discriminator } =
    relation.kind === 'toMany' ? (relation.via as typeof relation.via & { kind: 'foreign' }) : relation
  const isMeant = discriminatorCondition(discriminator, column => root.column(column))
  if (isMeant !== undefined) filters.push(isMeant)
  if (targetKey === undefined) return [isOwnerKey(root.columns(columns), anchor, root), ...filters]
  const isNamed = isRecord(links, anchor, flavour)
  const referred = sql`select ${links.referred(targetKey)[0]!} from ${formatTable(owner)} as ${links.alias} where ${isNamed}`
  return [sql`${root.column(columns[0]!)} in (${referred})`, ...filters]
}

function isRecord(scope: FromClause, { shown }: { readonly shown?: true }, flavour: Flavour): Sql {
  return shown === undefined ? isKey(scope.key, scope.resource.key, flavour) : isKey(scope.id, idParts(scope.resource), flavour)
}

function isOwnerKey(columns: readonly string[], { owner, shown }: Anchor & { kind: 'related' }, { tables }: FromClause): Sql {
  if (shown === undefined) return isKey(columns, owner.key, tables.flavour)
  const there = new FromClause(owner, tables, tables.next())
  const isNamed = isRecord(there, { shown }, tables.flavour)
  const named = sql`select ${there.key.join(', ')} from ${formatTable(owner)} as ${there.alias} where ${isNamed}`
  return sql`${tuple(columns)} = (${named})`
}
