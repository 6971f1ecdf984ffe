/**
 * Insert order: sorts the tables of one unit of work so that records come after those that they require. MikroORM's own order can put a
 * required relation last where a nullable one leads back, directly or by a third table, and then refuses the record.
 */
import type { EntityManager, EntityMetadata, EntityProperty } from '@mikro-orm/core'

/** Makes the unit of work of an entity manager insert in that order. */
export function orderInserts(em: EntityManager): void {
  // MikroORM declares the method private.
  const work = em.getUnitOfWork() as unknown as { getCommitOrder(): EntityMetadata[] }
  const order = work.getCommitOrder.bind(work)
  work.getCommitOrder = () => sortTables(order(), [...em.getMetadata()])
}

/**
 * Returns MikroORM's order, changed only where a table must come before another. MikroORM may have several objects for the metadata of one
 * class.
 */
function sortTables(tables: readonly EntityMetadata[], all: readonly EntityMetadata[]): EntityMetadata[] {
  const ordered = new Set<EntityMetadata>()
  const open = new Set<EntityMetadata>()
  const visit = (table: EntityMetadata): void => {
    if (open.has(table) || ordered.has(table)) return
    open.add(table)
    for (const needed of listNeeded(table, all)) {
      const found = tables.find(
        other => other.class === needed.class || (other.inheritanceType !== 'tpt' && other.class === needed.root.class),
      )
      if (found !== undefined) visit(found)
    }
    ordered.add(table)
  }
  for (const table of tables) visit(table)
  return [...ordered]
}

function listNeeded(table: EntityMetadata, all: readonly EntityMetadata[]): EntityMetadata[] {
  if (table.inheritanceType === 'tpt') {
    const own = table.tptParent === undefined ? table.relations : (table.ownProps ?? [])
    return [...(table.tptParent === undefined ? [] : [table.tptParent]), ...own.flatMap(needed)]
  }
  // In a table of several classes the columns of one class may be null.
  return all.filter(({ root }) => root.class === table.class).flatMap(({ relations }) => relations.flatMap(needed))
}

function needed(prop: EntityProperty): EntityMetadata[] {
  const isOwner = prop.kind === 'm:1' || (prop.kind === '1:1' && prop.owner)
  return isOwner && prop.nullable !== true && prop.persist !== false && prop.targetMeta !== undefined ? [prop.targetMeta] : []
}
