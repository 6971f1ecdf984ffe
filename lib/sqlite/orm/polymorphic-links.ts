/**
 * Polymorphic links, and polymorphic embedded objects: MikroORM 7.2 looks for the other side of a relation to one of several entities in the first of them alone, and a record with such a
 * relation could not be removed where only another one has it.
 */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'

/** To be done once MikroORM has discovered the entities. */
export function correctPolymorphicLinks(metadata: Iterable<EntityMetadata>): void {
  for (const meta of metadata) {
    for (const prop of meta.props) if (prop.kind === 'embedded') mergeTypes(prop)
    meta.bidirectionalRelations = meta.bidirectionalRelations.filter(
      ({ polymorphTargets, targetMeta, mappedBy, inversedBy }) =>
        polymorphTargets === undefined || targetMeta?.properties[(mappedBy || inversedBy) as never] !== undefined,
    )
  }
}

/** Classes of a polymorphic embedded object may have one name by several types: what one of them holds is not to be converted to the type of another. */
function mergeTypes({ embeddedProps, targetMeta }: EntityProperty): void {
  for (const [name, child] of Object.entries(embeddedProps ?? {})) {
    if (child.kind === 'embedded') mergeTypes(child)
    const own = (targetMeta?.polymorphs ?? []).flatMap(({ properties }) => (properties[name as never] as EntityProperty | undefined) ?? [])
    const types = [...new Set(own.map(({ type }) => type))]
    const isPlain = own.every(({ kind, customType }) => kind === 'scalar' && customType === undefined)
    const differ = new Set(own.map(({ runtimeType }) => runtimeType)).size > 1
    if (isPlain && differ && !own.some(({ runtimeType }) => runtimeType === 'Date'))
      Object.assign(child, { type: types.join(' | '), runtimeType: 'any' })
  }
}
