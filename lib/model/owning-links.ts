/** Lists to-one attributes with a foreign key. By these links, finds the referrers of each resource. */
import { findHierarchyRoot, type Attribute, type EmbeddedAttribute, type Resource, type ToOneAttribute } from './model.ts'

/** Includes polymorphic links, and links in embedded objects. */
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
 * Adds each link to the `referrers` of its target, and of the target's whole hierarchy, where keys are shared. Not of virtual entities: the
 * queried tables have foreign keys.
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

/** Whether a class above has the property: rows of this class are rows there. */
function isInheritedFrom(resource: Resource, property: string): boolean {
  const { hierarchy } = resource
  if (hierarchy === undefined || hierarchy.root === resource) return false
  const above = [hierarchy.root, ...(hierarchy.root.hierarchy?.byValue.values() ?? [])].filter(
    other => other !== resource && [...(other.hierarchy?.byValue.values() ?? [])].includes(resource),
  )
  return above.some(({ attributes }) => attributes.some(attribute => attribute.property === property))
}
