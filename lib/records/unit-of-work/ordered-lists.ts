/**
 * Keeps MikroORM from writing a new member's pivot row twice, once for each side of an ordered list, where only one side is loaded. Nothing
 * keeps such rows unique.
 */
import type { Collection, EntityManager, EntityProperty } from '@mikro-orm/core'
import type { Entity } from '../../model/entity-key.ts'
import type { ToManyAttribute } from '../../model/model.ts'

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
