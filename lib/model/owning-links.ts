/** Owning links: the to-one attributes of a resource that hold their foreign key, wherever they stand in it. */
import { findHierarchyRoot, type Attribute, type EmbeddedAttribute, type Resource, type ToOneAttribute } from './model.ts'

/**
 * The to-one attributes that hold their foreign key, those to one of several resources and those inside embedded objects too, with the
 * objects that they are in.
 */
export function owningLinks(attributes: readonly Attribute[], within: readonly EmbeddedAttribute[] = []): OwningLink[] {
  return attributes.flatMap(attribute => {
    if (attribute.kind === 'embedded') return owningLinks(attribute.attributes, [...within, attribute])
    if (attribute.kind === 'toOneOf') return attribute.branches.map(branch => ({ attribute: branch, within }))
    return attribute.kind === 'toOne' && attribute.owner && attribute.formula === undefined ? [{ attribute, within }] : []
  })
}

/** A to-one attribute and its place. */
interface OwningLink {
  readonly attribute: ToOneAttribute
  /** The embedded objects that it is in, from the outside. */
  readonly within: readonly EmbeddedAttribute[]
}

/** Returns the dotted path of a link. */
export function formatPath({ attribute, within }: OwningLink): string {
  return [...within, attribute].map(({ name }) => name).join('.')
}

/**
 * Adds to each resource the links that may refer to its records. A link to a class may refer to any class of its hierarchy: they share one
 * set of keys. Links of a query are no reference: nothing of a query is written, and its tables keep their own foreign keys.
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

/** Whether a class has a property from one above it, whose table or rows include its own. */
function isInheritedFrom(resource: Resource, property: string): boolean {
  const { hierarchy } = resource
  if (hierarchy === undefined || hierarchy.root === resource) return false
  const above = [hierarchy.root, ...(hierarchy.root.hierarchy?.byValue.values() ?? [])].filter(
    other => other !== resource && [...(other.hierarchy?.byValue.values() ?? [])].includes(resource),
  )
  return above.some(({ attributes }) => attributes.some(attribute => attribute.property === property))
}
