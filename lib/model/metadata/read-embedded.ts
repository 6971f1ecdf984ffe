/** Makes the attribute of an embedded object (`address`) or a list of objects, with inner attributes and classes. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import type { EmbeddedAttribute, InnerAttribute, Renderer, Resource, ScalarAttribute, ToOneAttribute, Variants } from '../model.ts'
import { cascadesRemove, orderByKey, readDeleteRule } from './foreign-key.ts'
import { getterRender } from './getters.ts'
import { isGetter, publicName, scalarType } from './property-type.ts'
import { isRequiredInside, readCommon, type DocumentPath, type PropertyContext, type ResourcesByClass } from './read-common.ts'
import { findTarget } from './read-relation.ts'
import { readGetter, readScalarAttribute, readUnstored } from './read-scalar.ts'
import { unsupported, unsupportedReason } from './unsupported.ts'

interface EmbeddedContext {
  /** Receives the public paths of inner properties, by MikroORM's names. */
  readonly paths: Map<string, string>
  readonly resources: ResourcesByClass
  readonly path: string
  readonly listed?: boolean
}

export function readEmbedded(context: PropertyContext, place: EmbeddedContext): EmbeddedAttribute {
  const { prop, declared, document } = context
  const isList = prop.array === true
  const ownDocument = document ?? (prop.object === true || isList ? { column: prop.fieldNames[0]!, keys: [] } : undefined)
  const attributes = Object.keys(prop.embeddedProps).map(childName => {
    const attribute = Object.freeze(readChild(context, childName, ownDocument, place))
    return isList ? withoutConditions(attribute) : attribute
  })
  const common = readCommon(context)
  const { polymorphs, discriminatorMap } = prop.targetMeta ?? {}
  // Without a map, the entity's class decides.
  const variants = polymorphs === undefined || discriminatorMap === undefined ? undefined : readVariants(prop, attributes)
  const needed = document === undefined ? common.required : isRequiredInside(declared)
  return Object.freeze({
    kind: 'embedded',
    entity: prop.targetMeta?.class,
    ...common,
    // The engine makes a left-out object of optional attributes.
    required: needed && (isList || variants !== undefined || attributes.some(attribute => attribute.required)),
    needed,
    document: ownDocument,
    array: isList,
    variants,
    attributes: Object.freeze(attributes),
    byName: new Map(attributes.map(attribute => [attribute.name, attribute])),
  } satisfies EmbeddedAttribute)
}

function readChild(
  { meta, prop }: PropertyContext,
  childName: string,
  within: DocumentPath | undefined,
  place: EmbeddedContext,
): InnerAttribute {
  const child = prop.embeddedProps[childName]!
  const declared = findDeclaration(prop, childName) ?? child
  rejectUnsupported(meta, prop, childName, within)
  const name = declared.serializedName ?? childName
  const path = `${place.path}.${name}`
  place.paths.set(child.name, path)
  const keys = Object.freeze([...(within?.keys ?? []), child.fieldNames?.[0] ?? childName])
  const document = within === undefined ? undefined : { column: within.column, keys }
  const context: PropertyContext = { meta, prop: child, name, declared, document }
  const listed = prop.array === true || place.listed === true
  if (child.kind === 'embedded')
    return declared.persist === false ? readUnstored(context) : readEmbedded(context, { ...place, listed, path })
  if (child.kind !== 'scalar') return listed ? readKeyInside(context) : readLinkInside(context, findTarget(meta, child, place.resources))
  return isGetter(child) ? readGetter(context, getterInside(prop, childName)) : readScalarAttribute(context)
}

function rejectUnsupported(meta: EntityMetadata, prop: EntityProperty, childName: string, within: DocumentPath | undefined): void {
  const child = prop.embeddedProps[childName]!
  const reason =
    unsupportedReason(child) ??
    unsupportedInside(child, within) ??
    (prop.array === true && childName in Array.prototype
      ? 'MikroORM takes this name, in a list of objects, for the method of arrays'
      : undefined)
  if (reason !== undefined) throw unsupported(meta, `${prop.name}.${childName}`, reason)
}

/** Kinds of keys alike in JSON and columns. */
const LINKED_IN_JSON = new Set(['integer', 'text', 'uuid'])

function unsupportedInside(child: EntityProperty, document: DocumentPath | undefined): string | undefined {
  if (child.getterName !== undefined && document !== undefined)
    return 'MikroORM takes a method (getterName), in an object that is stored as JSON, for the value; a getter is none'
  if (child.kind === 'scalar' || child.kind === 'embedded') return undefined
  if (child.kind === '1:m' || child.kind === 'm:n' || !child.owner)
    return (
      'of relations inside embedded objects only those are supported that hold a foreign key: ' +
      'many-to-one, and the owning side of one-to-one'
    )
  if (child.polymorphic === true)
    return (
      'a relation to one of several entities (polymorphic) is not supported inside embedded objects; ' +
      'relate each by a relation of its own'
    )
  if (child.targetKey !== undefined)
    return 'a relation by another key than the primary one (targetKey) is not supported inside embedded objects'
  if (document === undefined) return undefined
  if (child.kind === '1:1') return 'in an object that is stored as JSON nothing keeps a one-to-one relation unique; make it many-to-one'
  const [key, ...others] = child.targetMeta!.getPrimaryProps()
  const kind = key!.kind === 'scalar' && others.length === 0 ? scalarType(key!)?.kind : undefined
  return LINKED_IN_JSON.has(kind!)
    ? undefined
    : 'a relation in an object that is stored as JSON must be to an entity whose key is an integer, a string or a UUID'
}

/** SQL cannot join from inside a list: the link is a plain key. */
function readKeyInside(context: PropertyContext): ScalarAttribute {
  const { prop, declared, document } = context
  const [key] = prop.targetMeta!.getPrimaryProps()
  const required = isRequiredInside(declared)
  return {
    kind: 'scalar',
    ...readCommon(context),
    required,
    needed: required,
    type: Object.freeze(scalarType(key!)!),
    source: { kind: 'document', ...document! },
    primary: false,
    version: false,
    ...(prop.mapToPk === true ? {} : { links: Object.freeze({ entity: prop.targetMeta!.class, wrapped: prop.ref === true }) }),
  }
}

function readLinkInside(context: PropertyContext, target: Resource): ToOneAttribute {
  const { meta, prop, declared, document } = context
  const common = readCommon(context)
  const required = document === undefined ? common.required : isRequiredInside(declared)
  const rule = document === undefined ? readDeleteRule(prop) : 'refuse'
  const columns = orderByKey(meta, prop, prop.fieldNames)
  // The column is nullable only for the sake of the object: an existing object needs its link.
  const isKept = rule === 'unlink' && declared.nullable !== true && declared.deleteRule === undefined
  return {
    kind: 'toOne',
    ...common,
    required,
    needed: required,
    target,
    orphanRemoval: prop.orphanRemoval === true,
    cascadeRemove: cascadesRemove(prop),
    owner: true,
    columns: Object.freeze(document === undefined ? columns : [document.column]),
    targetKey: undefined,
    discriminator: undefined,
    document,
    primary: false,
    unique: prop.kind === '1:1',
    holdsKey: prop.mapToPk === true,
    otherSide: undefined,
    onDelete: isKept ? 'refuse' : rule,
  }
}

function getterInside(prop: EntityProperty, name: string): Renderer {
  const { polymorphs, discriminatorMap, discriminatorColumn } = prop.targetMeta!
  const createRenderer = (meta: EntityMetadata): Renderer => getterRender(meta, meta.properties[name] as EntityProperty)
  if (polymorphs === undefined) return createRenderer(prop.targetMeta!)
  const byValue = new Map<string, Renderer>()
  for (const [value, entity] of Object.entries(discriminatorMap as Record<string, unknown>)) {
    const holder = polymorphs.find(polymorph => polymorph.class === entity)
    if (holder !== undefined && name in holder.properties) byValue.set(value, createRenderer(holder))
  }
  const discriminator = publicName(findDeclaration(prop, discriminatorColumn as string)!)
  return (value, object, ctx) => byValue.get(String(object[discriminator]))?.(value, object, ctx)
}

function findDeclaration(prop: EntityProperty, name: string): EntityProperty | undefined {
  const target = prop.targetMeta
  const holders = target?.polymorphs ?? (target === undefined ? [] : [target])
  for (const holder of holders) {
    const property = holder.properties[name] as EntityProperty | undefined
    if (property !== undefined) return property
  }
  return undefined
}

/** A list has many values: nothing to filter or sort by. */
function withoutConditions(attribute: InnerAttribute): InnerAttribute {
  const withoutBoth = { ...attribute, filterable: false, sortable: false }
  if (withoutBoth.kind !== 'embedded') return Object.freeze(withoutBoth)
  const attributes = withoutBoth.attributes.map(withoutConditions)
  return Object.freeze({
    ...withoutBoth,
    attributes: Object.freeze(attributes),
    byName: new Map(attributes.map(child => [child.name, child])),
  })
}

function narrowToClass(attribute: InnerAttribute, declared: EntityProperty): InnerAttribute {
  if (attribute.kind === 'scalar' && declared.kind === 'scalar')
    return attribute.type.kind === 'json' ? { ...attribute, type: Object.freeze(scalarType(declared) ?? attribute.type) } : attribute
  const properties = declared.targetMeta?.properties
  if (attribute.kind !== 'embedded' || properties === undefined || declared.targetMeta!.polymorphs !== undefined) return attribute
  const attributes = attribute.attributes.flatMap((child): InnerAttribute[] => {
    const property = properties[child.property] as EntityProperty | undefined
    if (property === undefined) return []
    const { nullable, required } = readCommon({ prop: property, name: child.name, declared: property })
    return [Object.freeze({ ...narrowToClass(child, property), nullable, required })]
  })
  return { ...attribute, attributes: Object.freeze(attributes), byName: new Map(attributes.map(child => [child.name, child])) }
}

function readVariants(prop: EntityProperty, attributes: readonly InnerAttribute[]): Variants {
  const target = prop.targetMeta!
  const column = target.discriminatorColumn as string
  const discriminator = attributes.find(attribute => attribute.property === column)!
  const byValue = new Map<string, readonly InnerAttribute[]>()
  for (const [value, entity] of Object.entries(target.discriminatorMap as Record<string, unknown>)) {
    const variant = target.polymorphs!.find(polymorph => polymorph.class === entity)!
    const attributesOfClass = variant.props.flatMap((declared: EntityProperty) => {
      const attribute = attributes.find(({ property }) => property === declared.name)
      if (attribute === undefined) return []
      const { nullable, required } = readCommon({ prop: declared, name: attribute.name, declared })
      return [Object.freeze({ ...narrowToClass(attribute, declared), nullable, required: attribute === discriminator || required })]
    })
    byValue.set(value, Object.freeze(attributesOfClass))
  }
  return Object.freeze({ discriminator: discriminator.name, byValue })
}
