/**
 * Makes MikroORM insert required records first. MikroORM's own order can put a required relation last where a nullable relation leads back,
 * directly or by a third table, and then refuses the record. Within a table, records keep the order of a list.
 */
import { ChangeSetType, type ChangeSet, type EntityManager, type EntityMetadata, type EntityProperty } from '@mikro-orm/core'
import { type Entity, hasKey } from '../../model/entity-key.ts'

type ChangeSets = ChangeSet<Entity>[]

interface OrderedWork {
  getCommitOrder(): EntityMetadata[]
  getChangeSetGroups(): Record<ChangeSetType, Map<unknown, ChangeSets>>
}

/** @param placeOf in the list */
export function orderInserts(em: EntityManager, placeOf: (entity: Entity) => number): void {
  const work = em.getUnitOfWork() as unknown as OrderedWork
  const order = work.getCommitOrder.bind(work)
  const group = work.getChangeSetGroups.bind(work)
  work.getCommitOrder = () => sortTables(order(), [...em.getMetadata()])
  work.getChangeSetGroups = () => {
    const groups = group()
    for (const inserts of groups[ChangeSetType.CREATE].values())
      inserts.sort((a, b) => rank(a) - rank(b) || placeOf(a.entity) - placeOf(b.entity))
    return groups
  }
}

/** A counted key could equal a later given key. */
function rank({ entity }: ChangeSet<Entity>): number {
  return hasKey(entity) ? 0 : 1
}

/** Keeps MikroORM's order, unless a table must come before another. A class may have several metadata objects. */
function sortTables(tables: readonly EntityMetadata[], all: readonly EntityMetadata[]): EntityMetadata[] {
  const ordered = new Set<EntityMetadata>()
  const open = new Set<EntityMetadata>()
  const placeAfterNeeded = (table: EntityMetadata): void => {
    if (open.has(table) || ordered.has(table)) return
    open.add(table)
    for (const needed of listNeeded(table, all)) {
      const found = tables.find(
        other => other.class === needed.class || (other.inheritanceType !== 'tpt' && other.class === needed.root.class),
      )
      if (found !== undefined) placeAfterNeeded(found)
    }
    ordered.add(table)
  }
  for (const table of tables) placeAfterNeeded(table)
  return [...ordered]
}

function listNeeded(table: EntityMetadata, all: readonly EntityMetadata[]): EntityMetadata[] {
  if (table.inheritanceType === 'tpt') {
    const relations = table.tptParent === undefined ? table.relations : (table.ownProps ?? [])
    return [...(table.tptParent === undefined ? [] : [table.tptParent]), ...relations.flatMap(needed)]
  }
  // In a table of several classes, columns may be null.
  return all.filter(({ root }) => root.class === table.class).flatMap(({ relations }) => relations.flatMap(needed))
}

function needed(prop: EntityProperty): EntityMetadata[] {
  const isOwner = prop.kind === 'm:1' || (prop.kind === '1:1' && prop.owner)
  return isOwner && prop.nullable !== true && prop.persist !== false && prop.targetMeta !== undefined ? [prop.targetMeta] : []
}
