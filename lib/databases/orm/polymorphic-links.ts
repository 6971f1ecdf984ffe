/**
 * Corrects polymorphic relations and embedded objects. MikroORM 7.2 looks for the inverse side of a polymorphic relation only in its
 * first target, so a record could not be removed where only another target has it.
 */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'

/** Applies the corrections after MikroORM has discovered the entities. */
export function correctPolymorphicLinks(metadata: Iterable<EntityMetadata>): void {
  for (const meta of metadata) {
    for (const prop of meta.props) if (prop.kind === 'embedded') mergeTypes(prop)
    meta.bidirectionalRelations = meta.bidirectionalRelations.filter(
      ({ polymorphTargets, targetMeta, mappedBy, inversedBy }) =>
        polymorphTargets === undefined || targetMeta?.properties[mappedBy || inversedBy] !== undefined,
    )
  }
}

/**
 * Merges the types of a property that several classes of a polymorphic embedded object declare differently, so that no value is converted
 * to the type of another class.
 */
function mergeTypes({ embeddedProps, targetMeta }: EntityProperty): void {
  for (const [name, child] of Object.entries(embeddedProps ?? {})) {
    if (child.kind === 'embedded') mergeTypes(child)
    const own = (targetMeta?.polymorphs ?? []).flatMap(({ properties }) => (properties[name] as EntityProperty | undefined) ?? [])
    const types = [...new Set(own.map(({ type }) => type))]
    const isPlain = own.every(({ kind, customType }) => kind === 'scalar' && customType === undefined)
    const differ = new Set(own.map(({ runtimeType }) => runtimeType)).size > 1
    if (isPlain && differ && !own.some(({ runtimeType }) => runtimeType === 'Date'))
      Object.assign(child, { type: types.join(' | '), runtimeType: 'any' })
  }
}
