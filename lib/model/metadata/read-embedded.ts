/** Reads an embedded object, or a list of them: the attributes inside, the classes that it may be of, and the relations that it holds. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import type { EmbeddedAttribute, InnerAttribute, Renderer, Resource, ScalarAttribute, ToOneAttribute, Variants } from '../model.ts'
import { cascadesRemove, orderByKey, readDeleteRule } from './foreign-key.ts'
import { getterRender } from './getters.ts'
import { isGetter, publicName, scalarType } from './property-type.ts'
import { isRequiredInside, readCommon, type DocumentPath, type PropertyContext, type ResourcesByClass } from './read-common.ts'
import { findTarget } from './read-relation.ts'
import { readGetter, readScalarAttribute, readUnstored } from './read-scalar.ts'
import { unsupported, unsupportedReason } from './unsupported.ts'

/** The place of an embedded object in its entity. */
interface EmbeddedContext {
  /** Public paths by MikroORM's names; those inside are added. */
  readonly paths: Map<string, string>
  readonly resources: ResourcesByClass
  /** The public path of the object. */
  readonly path: string
  /** Whether the object is inside a list of objects. */
  readonly listed?: boolean
}

/** Reads an embedded object with all that is inside. */
export function readEmbedded(context: PropertyContext, place: EmbeddedContext): EmbeddedAttribute {
  const { prop, declared, document } = context
  const isList = prop.array === true
  const within = document ?? (prop.object === true || isList ? { column: prop.fieldNames[0]!, keys: [] } : undefined)
  const attributes = Object.keys(prop.embeddedProps).map(childName => {
    const attribute = Object.freeze(readChild(context, childName, within, place))
    return isList ? withoutConditions(attribute) : attribute
  })
  const common = readCommon(context)
  const { polymorphs, discriminatorMap } = prop.targetMeta ?? {}
  // Without a map the class of the entity determines which of the embeddables its object is of.
  const variants = polymorphs === undefined || discriminatorMap === undefined ? undefined : readVariants(prop, attributes)
  const needed = document === undefined ? common.required : isRequiredInside(declared)
  return Object.freeze({
    kind: 'embedded',
    entity: prop.targetMeta?.class,
    ...common,
    // An object may be left out when all of its attributes may: it is created then.
    required: needed && (isList || variants !== undefined || attributes.some(attribute => attribute.required)),
    needed,
    document: within,
    array: isList,
    variants,
    attributes: Object.freeze(attributes),
    byName: new Map(attributes.map(attribute => [attribute.name, attribute])),
  } satisfies EmbeddedAttribute)
}

/** Reads an attribute inside an embedded object. */
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

/** The key types whose values JSON holds in the form in which columns hold them. */
const LINKED_IN_JSON = new Set(['integer', 'text', 'uuid'])

/** Returns why a relation or a getter inside an embedded object cannot be served. */
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

/** Reads a to-one inside a list of embedded objects as the key that it holds: nothing inside a list can be joined to. */
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

/** Reads a to-one inside an embedded object. */
function readLinkInside(context: PropertyContext, target: Resource): ToOneAttribute {
  const { meta, prop, declared, document } = context
  const common = readCommon(context)
  const required = document === undefined ? common.required : isRequiredInside(declared)
  const rule = document === undefined ? readDeleteRule(prop) : 'refuse'
  // `fieldNames` and not `joinColumns`, which does not have the prefix of the object everywhere.
  const columns = orderByKey(meta, prop, prop.fieldNames)
  // Inside a nullable object the column may be NULL, but an object that is there needs what it declares.
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

/** Returns the renderer of a getter of an embeddable; of several classes, that of the class that the object is of. */
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

/** Returns the declaration of a property of an embeddable; of several classes, that of the first that has it. */
function findDeclaration(prop: EntityProperty, name: string): EntityProperty | undefined {
  const target = prop.targetMeta
  const holders = target?.polymorphs ?? (target === undefined ? [] : [target])
  for (const holder of holders) {
    const own = holder.properties[name] as EntityProperty | undefined
    if (own !== undefined) return own
  }
  return undefined
}

/** Returns an attribute inside a list without filters and sort: it has no one value to compare. */
function withoutConditions(attribute: InnerAttribute): InnerAttribute {
  const shut = { ...attribute, filterable: false, sortable: false }
  if (shut.kind !== 'embedded') return Object.freeze(shut)
  const attributes = shut.attributes.map(withoutConditions)
  return Object.freeze({ ...shut, attributes: Object.freeze(attributes), byName: new Map(attributes.map(child => [child.name, child])) })
}

/** Returns an attribute as one class has it, where other classes have it by another type. */
function narrowToClass(attribute: InnerAttribute, declared: EntityProperty): InnerAttribute {
  if (attribute.kind === 'scalar' && declared.kind === 'scalar')
    return attribute.type.kind === 'json' ? { ...attribute, type: Object.freeze(scalarType(declared) ?? attribute.type) } : attribute
  const own = declared.targetMeta?.properties
  if (attribute.kind !== 'embedded' || own === undefined || declared.targetMeta!.polymorphs !== undefined) return attribute
  const attributes = attribute.attributes.flatMap((child): InnerAttribute[] => {
    const property = own[child.property] as EntityProperty | undefined
    if (property === undefined) return []
    const { nullable, required } = readCommon({ prop: property, name: child.name, declared: property })
    return [Object.freeze({ ...narrowToClass(child, property), nullable, required })]
  })
  return { ...attribute, attributes: Object.freeze(attributes), byName: new Map(attributes.map(child => [child.name, child])) }
}

/** Returns the classes that a polymorphic object may be of. */
function readVariants(prop: EntityProperty, attributes: readonly InnerAttribute[]): Variants {
  const target = prop.targetMeta!
  const column = target.discriminatorColumn as string
  const discriminator = attributes.find(attribute => attribute.property === column)!
  const byValue = new Map<string, readonly InnerAttribute[]>()
  for (const [value, entity] of Object.entries(target.discriminatorMap as Record<string, unknown>)) {
    const variant = target.polymorphs!.find(polymorph => polymorph.class === entity)!
    const own = variant.props.flatMap((declared: EntityProperty) => {
      const attribute = attributes.find(({ property }) => property === declared.name)
      if (attribute === undefined) return []
      const { nullable, required } = readCommon({ prop: declared, name: attribute.name, declared })
      return [Object.freeze({ ...narrowToClass(attribute, declared), nullable, required: attribute === discriminator || required })]
    })
    byValue.set(value, Object.freeze(own))
  }
  return Object.freeze({ discriminator: discriminator.name, byValue })
}
