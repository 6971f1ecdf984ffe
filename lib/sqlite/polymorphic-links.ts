/**
 * Polymorphic links: MikroORM 7.2 looks for the other side of a relation to one of several entities in the first of them alone, and a record with such a
 * relation could not be removed where only another one has it.
 */
import type { EntityMetadata } from '@mikro-orm/core'

/** To be done once MikroORM has discovered the entities. */
export function correctPolymorphicLinks(metadata: Iterable<EntityMetadata>): void {
  for (const meta of metadata) {
    meta.bidirectionalRelations = meta.bidirectionalRelations.filter(
      ({ polymorphTargets, targetMeta, mappedBy, inversedBy }) =>
        polymorphTargets === undefined || targetMeta?.properties[(mappedBy || inversedBy) as never] !== undefined,
    )
  }
}
