/**
 * Outlines a version for the workbench, at a tenth of the size of an OpenAPI document. Leaves out hidden attributes, as the document does.
 */
import { shownName } from '../../model/ids-name.ts'
import { idNames } from '../../model/key.ts'
import { isRelation, listTargets, type Attribute, type Model, type Resource } from '../../model/model.ts'
import { isCreatable } from '../../records/access/resolve-path.ts'
import { existsFor, hasVisibleTarget, isNamable, type Visibility } from '../../records/plan/visibility.ts'
import { describedVisibility } from '../openapi/source.ts'
import type { OutlinedAttribute, OutlinedDeletion, OutlinedResource } from './outline-parts.ts'

export function outlineResources(model: Model, isReadOnly: boolean): OutlinedResource[] {
  const visibility = describedVisibility(model)
  return model.resources.filter(resource => isNamable(resource)).map(resource => outlineResource(resource, visibility, isReadOnly))
}

function outlineResource(resource: Resource, visibility: Visibility, isReadOnly: boolean): OutlinedResource {
  const { access } = resource.rules
  const writes = !isReadOnly && !resource.readOnly
  const label = findLabel(resource, visibility)
  const written = resource.attributes.filter(attribute => isWriteOnly(attribute, visibility))
  const deletions = outlineDeletions(resource, visibility)
  return {
    name: resource.plural,
    singular: resource.singular,
    key: idNames(resource),
    ...(resource.rules.single === undefined ? {} : { single: true }),
    ...(writes && resource.open !== undefined && (!resource.open.once || resource.open.learned.length === 0) ? { open: true } : {}),
    ...(resource.version === undefined ? {} : { version: resource.version.name }),
    ...(label === undefined ? {} : { label }),
    creates: writes && isCreatable(resource) && access.create !== false,
    updates: writes && access.update !== false,
    deletes: writes && access.delete !== false,
    attributes: outlineAttributes(
      resource.attributes.filter(attribute => existsFor(attribute, visibility)),
      resource,
      visibility,
    ),
    ...(written.length === 0 || !writes ? {} : { writeOnly: outlineAttributes(written, resource, visibility) }),
    ...(deletions.length === 0 ? {} : { whenDeleted: deletions }),
  }
}

/** Only in bodies: a password, or a value for entity hooks. */
function isWriteOnly(attribute: Attribute, visibility: Visibility): boolean {
  const isStored = attribute.kind !== 'scalar' || attribute.source.kind !== 'none'
  return !attribute.readOnly && (attribute.hidden || !isStored) && attribute.closed !== true && hasVisibleTarget(attribute, visibility)
}

function outlineDeletions(resource: Resource, visibility: Visibility): OutlinedDeletion[] {
  const cascading = resource.attributes.filter(
    attribute => isRelation(attribute) && attribute.cascadeRemove && existsFor(attribute, visibility),
  )
  const referring = resource.referrers
    .filter(({ resource: other, attribute }) => isNamable(other) && other.served && existsFor(attribute, visibility))
    .map(({ resource: other, attribute, path }) => {
      const isCascading = cascading.some(list => isRelation(list) && list.target === other && list.otherSide === path)
      const rule = isCascading || attribute.onDelete === 'cascade' ? 'delete' : attribute.onDelete
      return { resource: other.plural, by: path, rule } as const
    })
  const linked = cascading.flatMap(attribute => {
    if (!isRelation(attribute) || !isNamable(attribute.target)) return []
    const { plural } = attribute.target
    const isKnown = referring.some(other => other.resource === plural && other.by === attribute.otherSide)
    return isKnown ? [] : [{ resource: plural, attribute: attribute.name, rule: 'delete' } as const]
  })
  return [...referring, ...linked]
}

function outlineAttributes(attributes: readonly Attribute[], resource: Resource, visibility: Visibility): OutlinedAttribute[] {
  const unique = new Set(resource.uniques.flatMap(names => (names.length === 1 ? names : [])))
  return attributes.map(attribute => {
    const { name, nullable, required, readOnly, filterable, sortable, flag } = attribute
    const shown = shownName(attribute)
    return {
      name,
      ...(shown === name ? {} : { ids: shown }),
      kind: attribute.kind,
      nullable,
      required,
      readOnly,
      unique: unique.has(name),
      filterable,
      sortable,
      ...(flag === undefined ? {} : { flag }),
      ...outlineType(attribute, resource, visibility),
    }
  })
}

type TypeOfAttribute = Pick<OutlinedAttribute, 'type' | 'items' | 'target' | 'otherSide' | 'attributes'>

function outlineType(attribute: Attribute, resource: Resource, visibility: Visibility): TypeOfAttribute {
  switch (attribute.kind) {
    case 'scalar': {
      const { kind, items } = attribute.type
      if (attribute.render !== undefined) return { type: 'any' }
      if (kind === 'jsonValue') return { type: 'value' }
      return items === undefined || kind === 'array' ? { type: kind === 'array' ? 'list' : kind } : { type: 'enum', items }
    }
    case 'embedded':
      return {
        type: attribute.array ? 'list of objects' : 'object',
        attributes: outlineAttributes(
          attribute.attributes.filter(inner => existsFor(inner, visibility)),
          resource,
          visibility,
        ),
      }
    case 'toOneOf':
      return {
        type: listTargets(attribute)
          .map(({ plural }) => plural)
          .join(', '),
      }
    default: {
      const { target, otherSide } = attribute
      return { type: target.plural, target: target.plural, ...(otherSide === undefined ? {} : { otherSide }) }
    }
  }
}

const LABELS = ['name', 'title', 'label', 'email']

function findLabel(resource: Resource, visibility: Visibility): string | undefined {
  const texts = resource.attributes.filter(
    attribute =>
      attribute.kind === 'scalar' &&
      attribute.type.kind === 'text' &&
      attribute.flag === undefined &&
      attribute.render === undefined &&
      existsFor(attribute, visibility),
  )
  const named = LABELS.flatMap(name => texts.filter(text => text.name === name))
  return (named[0] ?? texts.find(({ required }) => required))?.name
}
