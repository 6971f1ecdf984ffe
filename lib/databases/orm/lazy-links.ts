/**
 * Reads the keys of to-one relations that are `lazy` and `ref` together with the record. MikroORM 7.2 takes such a link for not loaded
 * while its target is not loaded. So it writes no change of the link, and cannot seed it.
 *
 * Leaves out the inverse side of a one-to-one between composite keys. MikroORM reads the key of the linking record with the linked one,
 * and makes an entity of it that lacks a part of its own key or is written again. Such a record is looked up when it is needed.
 */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'

/** Applies the changes after MikroORM has discovered the entities. */
export function readLazyLinks(metadata: Iterable<EntityMetadata>): void {
  for (const { relations } of metadata) {
    for (const prop of relations) {
      const isOwner = prop.kind === 'm:1' || prop.owner
      if (prop.lazy === true && prop.ref === true && isOwner) prop.lazy = false
      if (prop.kind === '1:1' && !isOwner && isComposite(prop)) prop.lazy = true
    }
  }
}

/** Whether the foreign key of a one-to-one has several columns, seen from its inverse side. */
function isComposite({ targetMeta, mappedBy }: EntityProperty): boolean {
  return (targetMeta!.properties[mappedBy] as EntityProperty).fieldNames.length > 1
}
