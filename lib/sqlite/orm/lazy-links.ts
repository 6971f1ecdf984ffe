/**
 * Lazy links: to-ones that are `lazy` and `ref`. MikroORM 7.2 takes the link for one that is not loaded as long as the record behind it is not, and so
 * writes no change of it, and cannot seed it. The key of the record is in the row all the same: it is read with the others here.
 *
 * The other side of a one-to-one between composite keys: MikroORM reads the key of the record that links with the record that is linked, and makes an entity
 * of it that lacks a part of its own key or that it writes again. It is left out; what is linked so is looked up when it is needed.
 */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'

/** To be done once MikroORM has discovered the entities. */
export function readLazyLinks(metadata: Iterable<EntityMetadata>): void {
  for (const { relations } of metadata) {
    for (const prop of relations) {
      const isOwner = prop.kind === 'm:1' || prop.owner
      if (prop.lazy === true && prop.ref === true && isOwner) prop.lazy = false
      if (prop.kind === '1:1' && !isOwner && isComposite(prop)) prop.lazy = true
    }
  }
}

/** Whether the foreign key of a one-to-one, seen from its other side, has several parts. */
function isComposite({ targetMeta, mappedBy }: EntityProperty): boolean {
  return (targetMeta!.properties[mappedBy as never] as EntityProperty).fieldNames.length > 1
}
