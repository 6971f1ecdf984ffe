/**
 * Ordered lists: MikroORM must not write a new member's row twice: once for each side, where only one side's list is loaded. Nothing keeps
 * the rows of an ordered list unique.
 */
import type { Collection, EntityManager, EntityProperty } from '@mikro-orm/core'
import type { Entity } from '../../model/entity-key.ts'
import type { ToManyAttribute } from '../../model/model.ts'

/** The side with the loaded list writes the rows. */
export function writeOneSide(parent: Entity, { property }: ToManyAttribute, members: readonly Entity[], em: EntityManager): void {
  const { fixedOrder, mappedBy, inversedBy, targetMeta } = readProperty(parent, property, em)
  const name: string | undefined = mappedBy ?? inversedBy
  const other = name === undefined ? undefined : targetMeta?.properties[name]
  if (fixedOrder !== true && other?.fixedOrder !== true) return
  const list = parent[property] as Collection<object>
  for (const member of members) {
    const back = name === undefined ? undefined : (member[name] as Collection<object> | undefined)
    if (back?.isDirty() !== true || back.isInitialized() === list.isInitialized()) continue
    ;(list.isInitialized() ? back : list).setDirty(false)
  }
}

function readProperty(parent: Entity, property: string, em: EntityManager): EntityProperty {
  return em.getMetadata().get(parent.constructor).properties[property] as EntityProperty
}
