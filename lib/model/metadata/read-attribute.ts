/** Reads an attribute from a MikroORM property, by the kind of property. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import type { Attribute } from '../model.ts'
import { relationRender } from './getters.ts'
import { publicName } from './property-type.ts'
import { readEmbedded } from './read-embedded.ts'
import { readPolymorphicToOne } from './read-polymorphic.ts'
import { readRelation } from './read-relation.ts'
import type { PropertyContext, ResourcesByClass } from './read-common.ts'
import { isInitialised, readScalarAttribute, readUnstored } from './read-scalar.ts'

/**
 * @param paths public paths by MikroORM's names; receives the property and inner properties
 * @throws Error with entity, property and reason, for a property that cannot be served
 */
export function readAttribute(
  meta: EntityMetadata,
  prop: EntityProperty,
  resources: ResourcesByClass,
  paths: Map<string, string>,
): Attribute {
  const name = publicName(prop)
  paths.set(prop.name, name)
  const attribute = readByKind({ meta, prop, name, declared: prop, document: undefined }, resources, paths)
  if (prop.kind === 'scalar' || prop.serializer === undefined) return attribute
  return Object.freeze({ ...attribute, render: relationRender(meta, prop) })
}

function readByKind(context: PropertyContext, resources: ResourcesByClass, paths: Map<string, string>): Attribute {
  const { meta, prop, name } = context
  if (prop.kind === 'scalar') {
    const attribute = readScalarAttribute(context)
    return Object.freeze({ ...attribute, required: attribute.required && !isInitialised(meta, prop) })
  }
  if (prop.kind === 'embedded')
    return prop.persist === false ? readUnstored(context) : readEmbedded(context, { paths, resources, path: name })
  const isOneOf = prop.polymorphic === true && prop.kind !== 'm:n' && prop.mappedBy === undefined
  return isOneOf ? readPolymorphicToOne(context, resources) : readRelation(context, resources)
}
