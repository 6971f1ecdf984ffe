/**
 * Ordered lists: keeps MikroORM from writing the row of a new member twice. It does so where it has loaded the list of one side and not
 * that of the other, by a statement for each; nothing keeps the rows of a list with an order of its own unique.
 */
import type { Collection, EntityManager, EntityProperty } from '@mikro-orm/core'
import type { Entity } from '../../model/entity-key.ts'
import type { ToManyAttribute } from '../../model/model.ts'

/** Leaves the rows of members that have been put into a list to the side whose list is loaded. */
export function writeOneSide(owner: Entity, { property }: ToManyAttribute, members: readonly Entity[], em: EntityManager): void {
  const { fixedOrder, mappedBy, inversedBy, targetMeta } = readProperty(owner, property, em)
  const name: string | undefined = mappedBy ?? inversedBy
  const other = name === undefined ? undefined : targetMeta?.properties[name]
  if (fixedOrder !== true && other?.fixedOrder !== true) return
  const list = owner[property] as Collection<object>
  for (const member of members) {
    const back = name === undefined ? undefined : (member[name] as Collection<object> | undefined)
    if (back?.isDirty() !== true || back.isInitialized() === list.isInitialized()) continue
    ;(list.isInitialized() ? back : list).setDirty(false)
  }
}

function readProperty(owner: Entity, property: string, em: EntityManager): EntityProperty {
  return em.getMetadata().get(owner.constructor).properties[property] as EntityProperty
}
