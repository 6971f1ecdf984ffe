/** Makes the attribute of one MikroORM property: a scalar, an embedded object, a relation. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import type { Attribute, PolymorphicTarget, Resource, ScalarAttribute, ToOneOfAttribute } from '../model.ts'
import { relationRender } from './getters.ts'
import { publicName } from './property-type.ts'
import { readEmbedded } from './read-embedded.ts'
import { readRelation } from './read-relation.ts'
import { type PropertyContext, type ResourcesByClass, readCommon } from './read-common.ts'
import { isInitialised, readScalarAttribute, readUnstored } from './read-scalar.ts'
import { cascadesRemove, findDiscriminator, hasRelatedKey, isOwning } from './foreign-key.ts'
import { unsupported } from './unsupported.ts'

/**
 * @param paths receives the public path of the property, and of inner properties, by MikroORM's name
 * @throws Error with entity, property and reason
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

function readPolymorphicToOne(context: PropertyContext, resources: ResourcesByClass): ToOneOfAttribute {
  const { meta, prop } = context
  const targets = prop.polymorphTargets!.map(of => ({ of, target: findBranchTarget(meta, prop, of, resources) }))
  const typeName = findTypeName(meta, prop)
  const common = readCommon(context)
  const items = Object.freeze(targets.map(({ target }) => target.singular))
  const shared = {
    ...common,
    owner: true,
    columns: Object.freeze([...prop.joinColumns]),
    targetKey: undefined,
    document: undefined,
    primary: false,
    holdsKey: false,
    unique: prop.kind === '1:1',
    orphanRemoval: prop.orphanRemoval === true,
    cascadeRemove: cascadesRemove(prop),
    onDelete: common.nullable ? ('unlink' as const) : ('refuse' as const),
  }
  const branches = targets.map(({ of, target }): PolymorphicTarget => {
    const otherSide = prop.inversedBy === undefined ? undefined : (of.properties[prop.inversedBy] as EntityProperty | undefined)
    return Object.freeze({
      kind: 'toOne',
      ...shared,
      target,
      discriminator: findDiscriminator(of, prop)!,
      type: readTypeAttribute({ ...common, name: typeName, property: typeName }, target, items),
      otherSide: otherSide === undefined ? undefined : publicName(otherSide),
    } satisfies PolymorphicTarget)
  })
  return Object.freeze({
    kind: 'toOneOf',
    ...common,
    branches: Object.freeze(branches),
    typeName,
    columns: Object.freeze([prop.discriminatorColumn as string, ...prop.joinColumns]),
    unique: shared.unique,
  } satisfies ToOneOfAttribute)
}

function findBranchTarget(meta: EntityMetadata, prop: EntityProperty, of: EntityMetadata, resources: ResourcesByClass): Resource {
  const target = resources.get(of.class)
  if (target === undefined) throw unsupported(meta, prop.name, `its target ${of.className} is not served`)
  if (target.key.length !== prop.joinColumns.length)
    throw unsupported(meta, prop.name, 'its foreign key does not hold the whole primary key')
  if (isOwning(prop) && hasRelatedKey(of)) {
    const why = `the whole key of ${target.className} is a relation to a key of several parts, and MikroORM loads no link to that`
    throw unsupported(meta, prop.name, why)
  }
  return target
}

function findTypeName(meta: EntityMetadata, prop: EntityProperty): string {
  const taken = new Set(prop.polymorphTargets!.flatMap(({ props }) => props.map(publicName)))
  const name = ['type', 'resource'].find(each => !taken.has(each))
  if (name !== undefined) return name
  const why =
    'its targets have attributes "type" and "resource", so that no name is left for the attribute that shows which of them is linked'
  throw unsupported(meta, prop.name, why)
}

function readTypeAttribute(common: ReturnType<typeof readCommon>, target: Resource, items: readonly string[]): ScalarAttribute {
  return Object.freeze({
    kind: 'scalar',
    ...common,
    nullable: true,
    hidden: false,
    readOnly: true,
    required: false,
    needed: false,
    type: Object.freeze({ kind: 'text', items }),
    source: { kind: 'tag', column: target.key[0]!.column, value: target.singular },
    primary: false,
    version: false,
  } satisfies ScalarAttribute)
}
