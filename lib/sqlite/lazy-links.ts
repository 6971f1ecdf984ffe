/**
 * Lazy links: to-ones that are `lazy` and `ref`. MikroORM 7.2 takes the link for one that is not loaded as long as the record behind it is not, and so
 * writes no change of it, and cannot seed it. The key of the record is in the row all the same: it is read with the others here.
 */
import type { EntityMetadata } from '@mikro-orm/core'

/** To be done once MikroORM has discovered the entities. */
export function readLazyLinks(metadata: Iterable<EntityMetadata>): void {
  for (const { relations } of metadata) {
    for (const prop of relations) if (prop.lazy === true && prop.ref === true && (prop.kind === 'm:1' || prop.owner)) prop.lazy = false
  }
}
