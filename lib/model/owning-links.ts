/** Owning links: to-one attributes with a foreign key, anywhere in a resource. */
import { findHierarchyRoot, type Attribute, type EmbeddedAttribute, type Resource, type ToOneAttribute } from './model.ts'

/** Includes polymorphic links and links inside embedded objects. */
export function owningLinks(attributes: readonly Attribute[], within: readonly EmbeddedAttribute[] = []): OwningLink[] {
  return attributes.flatMap(attribute => {
    if (attribute.kind === 'embedded') return owningLinks(attribute.attributes, [...within, attribute])
    if (attribute.kind === 'toOneOf') return attribute.branches.map(branch => ({ attribute: branch, within }))
    return attribute.kind === 'toOne' && attribute.owner && attribute.formula === undefined ? [{ attribute, within }] : []
  })
}

interface OwningLink {
  readonly attribute: ToOneAttribute
  /** The embedded objects around the link, outermost first. */
  readonly within: readonly EmbeddedAttribute[]
}

export function formatPath({ attribute, within }: OwningLink): string {
  return [...within, attribute].map(({ name }) => name).join('.')
}

/**
 * Records links on their targets. A link to one class may reach any class of the hierarchy, since keys are shared. A query's links do not
 * count: nobody writes a query, and the tables below keep their own foreign keys.
 */
export function addReferrers(all: readonly Resource[]): void {
  const byRoot = Map.groupBy(all, findHierarchyRoot)
  for (const resource of all.filter(({ source }) => source.kind !== 'query')) {
    for (const link of owningLinks(resource.attributes)) {
      const { attribute, within } = link
      if (isInheritedFrom(resource, (within[0] ?? attribute).property)) continue
      for (const target of byRoot.get(findHierarchyRoot(attribute.target)) ?? [])
        (target.referrers as Resource['referrers'][number][]).push({ resource, attribute, path: formatPath(link) })
    }
  }
}

/** Whether a class above, whose rows include this class's, has the property. */
function isInheritedFrom(resource: Resource, property: string): boolean {
  const { hierarchy } = resource
  if (hierarchy === undefined || hierarchy.root === resource) return false
  const above = [hierarchy.root, ...(hierarchy.root.hierarchy?.byValue.values() ?? [])].filter(
    other => other !== resource && [...(other.hierarchy?.byValue.values() ?? [])].includes(resource),
  )
  return above.some(({ attributes }) => attributes.some(attribute => attribute.property === property))
}
