/** Makes the other side of a relation read-only, too, if bodies may not name the relation (`readOnly`, `fill`). */
import { findHierarchyRoot, type Attribute, type RelationAttribute, type Resource, type ToManyAttribute } from '../model.ts'
import { owningLinks } from '../owning-links.ts'

type PivotVia = Extract<ToManyAttribute['via'], { readonly kind: 'pivot' }>

/**
 * A read-only `Person.org` locks `Org.members`. A read-only `Org.members` leaves `Person.org` writable: else nobody could create a person.
 * A read-only many-to-many list locks the other list.
 *
 * @param isOpen whether the application has declared the attribute `readOnly: false`
 */
export function lockOtherSides(
  all: readonly Resource[],
  isOpen: (resource: Resource, attribute: Attribute) => boolean,
): ReadonlyMap<Resource, readonly Attribute[]> {
  const locked = new Map<Resource, readonly Attribute[]>()
  for (const resource of all) {
    const attributes = resource.attributes.map(attribute => {
      if ((attribute.kind !== 'toOne' && attribute.kind !== 'toMany') || attribute.readOnly || isOpen(resource, attribute)) return attribute
      return isLocked(attribute, all) ? Object.freeze({ ...attribute, readOnly: true, required: false }) : attribute
    })
    if (attributes.some((attribute, index) => attribute !== resource.attributes[index])) locked.set(resource, Object.freeze(attributes))
  }
  return locked
}

function isLocked(relation: RelationAttribute, all: readonly Resource[]): boolean {
  if (relation.kind === 'toMany' && relation.via.kind === 'pivot') return isPivotLocked(relation.via, all)
  if (relation.kind === 'toOne' && relation.owner) return false
  const columns = relation.kind === 'toOne' ? relation.columns : (relation.via as { readonly columns: readonly string[] }).columns
  const root = findHierarchyRoot(relation.target)
  return all.some(resource => findHierarchyRoot(resource) === root && holdsLocked(resource, columns))
}

/** Whether the other list is read-only, or a link of the entity behind the pivot. */
function isPivotLocked({ table, ownerColumns, targetColumns }: PivotVia, all: readonly Resource[]): boolean {
  const isOther = (attribute: Attribute): boolean =>
    attribute.kind === 'toMany' &&
    attribute.readOnly &&
    attribute.via.kind === 'pivot' &&
    attribute.via.table === table &&
    isSame(attribute.via.ownerColumns, targetColumns)
  return all.some(
    resource =>
      resource.attributes.some(isOther) ||
      (resource.table === table && (holdsLocked(resource, ownerColumns) || holdsLocked(resource, targetColumns))),
  )
}

function holdsLocked({ attributes }: Resource, columns: readonly string[]): boolean {
  return owningLinks(attributes).some(({ attribute }) => attribute.readOnly && isSame(attribute.columns, columns))
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every(column => others.includes(column))
}
