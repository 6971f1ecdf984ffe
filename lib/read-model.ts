/**
 * Read the model: the only reader of MikroORM's metadata. Takes a discovered MikroORM instance, gives the frozen Model.
 * Refuses, when the engine is created, whatever cannot be served: by entity, property and reason.
 */
import {
  ArrayType,
  BigIntType,
  BlobType,
  DateType,
  DecimalType,
  DoubleType,
  EnumArrayType,
  JsonType,
  TimeType,
  Uint8ArrayType,
  UuidType,
  isRaw,
} from '@mikro-orm/core'
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import { defaultNames } from './names.ts'
import type { ResourceNames } from './names.ts'
import type {
  Attribute,
  DeleteRule,
  EmbeddedAttribute,
  KeyPart,
  Model,
  Resource,
  ScalarAttribute,
  Source,
  SqlText,
  ToManyAttribute,
  ToOneAttribute,
} from './model.ts'
import type { ScalarType } from './scalars.ts'

type Meta = EntityMetadata
type Property = EntityProperty

/** Keys of the envelopes, which a resource name must not take. */
const ENVELOPE_KEYS = new Set(
  'success timestamp status resource sort offset limit filter count previous next attribute value code title detail errors'.split(' '),
)

/** Kinds that can identify a record in a path. */
const KEY_KINDS = new Set(['integer', 'bigint', 'text', 'uuid', 'date'])

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function unsupported(meta: Meta, property: string | undefined, reason: string): Error {
  return new Error(`${meta.className}${property === undefined ? '' : `.${property}`} cannot be served: ${reason}.`)
}

/** The names of every resource, by entity; the default ones unless `rename` gives others. */
export type Rename = (className: string) => Partial<Pick<ResourceNames, 'plural' | 'singular'>> | undefined

/**
 * @throws Error when an entity or a property cannot be served, or when two resources would have one name.
 */
export function readModel(orm: MikroORM, rename: Rename = () => undefined): Model {
  const metas = [...orm.getMetadata()].filter(meta => !meta.embeddable && !meta.abstract && !isGeneratedPivot(meta))
  const drafts = new Map<Meta, Mutable<Resource>>()
  for (const meta of metas) {
    refuseUnsupported(meta)
    const names = resourceNames(meta, rename(meta.className))
    drafts.set(meta, {
      entity: meta.class,
      className: meta.className,
      table: meta.tableName,
      plural: names.plural,
      singular: names.singular,
      accepted: names.accepted,
      attributes: [],
      byName: new Map(),
      key: [],
      keyNames: [],
      generatedKey: false,
      uniques: [],
      referrers: [],
    })
  }
  for (const [meta, draft] of drafts) draft.key = keyParts(meta)
  const byClass = new Map<object, Resource>([...drafts].map(([meta, draft]) => [meta.class, draft]))
  for (const [meta, draft] of drafts) fill(meta, draft, byClass)
  for (const draft of drafts.values()) {
    for (const attribute of draft.attributes) {
      if (attribute.kind === 'toOne' && attribute.owner) {
        ;(attribute.target.referrers as Mutable<Resource['referrers']> as { resource: Resource; attribute: ToOneAttribute }[]).push({
          resource: draft,
          attribute,
        })
      }
    }
  }
  for (const draft of drafts.values()) Object.freeze(draft)
  return freezeModel([...drafts.values()])
}

function freezeModel(resources: readonly Resource[]): Model {
  const byName = new Map<string, Resource>()
  for (const resource of resources) {
    for (const name of resource.accepted) {
      const other = byName.get(name)
      if (other !== undefined && other !== resource) {
        throw new Error(
          `${other.className} and ${resource.className} would both answer to "${name}": give one another name with resource(${resource.className}, { name, singular }).`,
        )
      }
      byName.set(name, resource)
    }
  }
  return Object.freeze({ resources, byName, byEntity: new Map(resources.map(resource => [resource.entity, resource])) })
}

/** A pivot table that MikroORM made up for a many-to-many relation; one the deployer wrote is an entity like any other. */
function isGeneratedPivot(meta: Meta): boolean {
  return meta.pivotTable === true && meta.relations.length === 2 && meta.relations.every(prop => /_(owner|inverse)$/.test(prop.name))
}

function resourceNames(meta: Meta, renamed: Partial<Pick<ResourceNames, 'plural' | 'singular'>> | undefined): ResourceNames {
  const standard = defaultNames(meta.className)
  const plural = renamed?.plural ?? standard.plural
  const singular = renamed?.singular ?? (renamed?.plural === undefined ? standard.singular : renamed.plural)
  for (const name of [plural, singular]) {
    if (ENVELOPE_KEYS.has(name)) {
      throw new Error(
        `${meta.className} cannot be served as "${name}": that is a key of the answers. Give it another name with resource(${meta.className}, { name, singular }).`,
      )
    }
  }
  const accepted = renamed === undefined ? standard.accepted : [...new Set([plural, singular])]
  return { plural, singular, accepted }
}

function refuseUnsupported(meta: Meta): void {
  if (meta.inheritanceType !== undefined || meta.root.inheritanceType !== undefined) {
    throw unsupported(meta, undefined, 'entity inheritance (single-table or table-per-type) is not supported yet')
  }
  if (meta.virtual === true || meta.view === true || meta.expression !== undefined) {
    throw unsupported(meta, undefined, 'virtual and view entities are not supported yet')
  }
  if (meta.primaryKeys.length === 0) throw unsupported(meta, undefined, 'it has no primary key')
  for (const prop of meta.props) {
    const reason = unsupportedReason(prop)
    if (reason !== undefined) throw unsupported(meta, prop.name, reason)
  }
}

function unsupportedReason(prop: Property): string | undefined {
  if (prop.polymorphic === true) return 'polymorphic relations are not supported yet'
  if (prop.targetKey !== undefined) return 'relations by another key than the primary one (targetKey) are not supported yet'
  if ('through' in prop && prop.through !== undefined) return 'relations through another entity are not supported yet'
  if (prop.mapToPk === true) return 'mapToPk relations are not supported yet'
  if (prop.kind === 'embedded' && prop.array === true) return 'arrays of embedded objects are not supported yet'
  if (prop.kind === 'embedded' && prop.targetMeta?.polymorphs !== undefined) return 'polymorphic embedded objects are not supported yet'
  if (prop.getter === true || prop.getterName !== undefined) return 'getters are not supported yet'
  if (prop.serializer !== undefined) return 'custom serializers are not supported yet'
  if (prop.kind !== 'scalar') return undefined
  if (prop.customType instanceof EnumArrayType || prop.customType instanceof ArrayType || prop.array === true) {
    return 'arrays are not supported yet'
  }
  return scalarType(prop) === undefined ? `the type ${prop.customType?.constructor.name ?? prop.type} is not supported yet` : undefined
}

function scalarType(prop: Property): ScalarType | undefined {
  const items = prop.items === undefined ? {} : { items: Object.freeze([...prop.items]) as readonly (string | number)[] }
  const type = prop.customType
  const runtime = prop.runtimeType
  if (type instanceof BigIntType) return { kind: 'bigint', asNumber: type.mode === 'number', asText: type.mode === 'string' }
  if (type instanceof DecimalType) {
    return {
      kind: 'decimal',
      asNumber: type.mode === 'number',
      ...(prop.precision === undefined ? {} : { precision: prop.precision }),
      ...(prop.scale === undefined ? {} : { scale: prop.scale }),
    }
  }
  if (type instanceof JsonType) return { kind: 'json' }
  if (type instanceof UuidType) return { kind: 'uuid' }
  if (type instanceof DateType) return { kind: 'date' }
  if (type instanceof TimeType) return { kind: 'time' }
  if (type instanceof DoubleType) return { kind: 'float', ...items }
  if (type instanceof BlobType || type instanceof Uint8ArrayType) return { kind: 'blob' }
  if (type !== undefined) return undefined
  if (runtime === 'Date') return { kind: 'datetime' }
  if (runtime === 'boolean') return { kind: 'boolean' }
  if (runtime === 'number') {
    const column = prop.columnTypes?.[0] ?? prop.type
    return /^(real|double|float|numeric|decimal)/i.test(column) ? { kind: 'float', ...items } : { kind: 'integer', ...items }
  }
  if (runtime === 'string') {
    if (/^time\b/i.test(prop.columnTypes?.[0] ?? '')) return { kind: 'time' }
    return { kind: 'text', ...(prop.length === undefined || prop.items !== undefined ? {} : { length: prop.length }), ...items }
  }
  return undefined
}

function keyParts(meta: Meta): KeyPart[] {
  return meta.getPrimaryProps().flatMap(prop => {
    if (prop.kind === 'scalar') {
      const type = scalarType(prop)!
      if (!KEY_KINDS.has(type.kind)) throw unsupported(meta, prop.name, `a ${type.kind} cannot be a key`)
      return [{ column: prop.fieldNames[0]!, type }]
    }
    return keyParts(prop.targetMeta!).map((part, index) => ({ column: ownColumns(meta, prop)[index]!, type: part.type }))
  })
}

/** The columns of an owning to-one, in the order of the target's key. */
function ownColumns(meta: Meta, prop: Property): string[] {
  return inKeyOrder(meta, prop, prop.targetMeta!, prop.joinColumns, prop.referencedColumnNames)
}

function inKeyOrder(meta: Meta, prop: Property, target: Meta, columns: readonly string[], referenced: readonly string[]): string[] {
  const targetColumns = target.getPrimaryProps().flatMap(key => key.fieldNames)
  if (columns.length !== targetColumns.length) throw unsupported(meta, prop.name, 'its foreign key does not hold the whole primary key')
  return targetColumns.map(column => {
    const index = referenced.indexOf(column)
    if (index < 0) throw unsupported(meta, prop.name, 'its foreign key refers to another column than the primary key')
    return columns[index]!
  })
}

function deleteRule(prop: Property): DeleteRule {
  return prop.deleteRule === 'cascade' ? 'cascade' : prop.deleteRule === 'set null' ? 'unlink' : 'refuse'
}

function cascadesRemove(prop: Property): boolean {
  return prop.orphanRemoval === true || prop.cascade.some(cascade => cascade === 'remove' || cascade === 'all')
}

/** Fills a draft with its attributes, once every draft has its key. */
function fill(meta: Meta, draft: Mutable<Resource>, drafts: ReadonlyMap<object, Resource>): void {
  const paths = new Map<string, string>()
  const attributes = meta.props
    .filter(prop => prop.embedded === undefined && !isHiddenInverse(prop))
    .map(prop => readAttribute(meta, prop, drafts, paths))
  const byName = new Map<string, Attribute>()
  for (const attribute of attributes) {
    if (byName.has(attribute.name)) throw unsupported(meta, attribute.property, `the name "${attribute.name}" is taken by another property`)
    byName.set(attribute.name, attribute)
  }
  draft.attributes = Object.freeze(attributes)
  draft.byName = byName
  draft.keyNames = meta.getPrimaryProps().map(prop => publicName(prop))
  const [only, ...others] = meta.getPrimaryProps()
  draft.generatedKey = others.length === 0 && only!.autoincrement === true
  draft.uniques = Object.freeze(readUniques(meta).map(names => Object.freeze(names.map(name => paths.get(name) ?? name))))
}

/** The other side that MikroORM adds to a unidirectional many-to-many. */
function isHiddenInverse(prop: Property): boolean {
  return prop.kind === 'm:n' && prop.name.endsWith('__inverse') && prop.hydrate === false
}

function readUniques(meta: Meta): string[][] {
  const single = meta.props
    .filter(prop => prop.unique !== undefined && prop.unique !== false && prop.primary !== true)
    .map(prop => [prop.name])
  const several = meta.uniques.flatMap(unique => {
    if (unique.properties === undefined) return []
    return [Array.isArray(unique.properties) ? unique.properties.map(String) : [String(unique.properties)]]
  })
  const key = meta.primaryKeys.join()
  return [...single, ...several].filter(names => names.join() !== key)
}

function publicName(prop: Property): string {
  return prop.serializedName ?? prop.name
}

function base(prop: Property, name: string, declared: Property = prop) {
  const readOnly = prop.generated !== undefined || prop.formula !== undefined
  return {
    name,
    property: declared.name,
    nullable: declared.nullable === true,
    hidden: prop.hidden === true,
    readOnly,
    required:
      declared.nullable !== true &&
      declared.default === undefined &&
      declared.defaultRaw === undefined &&
      declared.onCreate === undefined &&
      !(prop.primary === true && prop.autoincrement === true) &&
      prop.version !== true &&
      prop.persist !== false &&
      !readOnly,
  }
}

function readAttribute(meta: Meta, prop: Property, drafts: ReadonlyMap<object, Resource>, paths: Map<string, string>): Attribute {
  const name = publicName(prop)
  paths.set(prop.name, name)
  if (prop.kind === 'scalar') return Object.freeze(readScalar(meta, prop, name, prop, undefined))
  if (prop.kind === 'embedded') return readEmbedded(meta, prop, name, prop, undefined, paths, name)
  const target = drafts.get(prop.targetMeta!.class)
  if (target === undefined) throw unsupported(meta, prop.name, 'its target is not served')
  const relation = { ...base(prop, name), target, orphanRemoval: prop.orphanRemoval === true, cascadeRemove: cascadesRemove(prop) }
  if (prop.kind === 'm:1' || prop.kind === '1:1') {
    const owner = prop.kind === 'm:1' || prop.owner
    const mapped = owner ? undefined : (prop.targetMeta!.properties[prop.mappedBy as never] as Property)
    const otherSide = owner ? prop.inversedBy : prop.mappedBy
    return Object.freeze({
      kind: 'toOne',
      ...relation,
      nullable: owner ? relation.nullable : true,
      required: owner && relation.required,
      owner,
      columns: Object.freeze(mapped === undefined ? ownColumns(meta, prop) : ownColumns(prop.targetMeta!, mapped)),
      primary: prop.primary === true,
      unique: prop.kind === '1:1',
      otherSide: otherSideName(prop, otherSide),
      onDelete: owner ? deleteRule(prop) : 'refuse',
    } satisfies ToOneAttribute)
  }
  return Object.freeze({
    kind: 'toMany',
    ...relation,
    nullable: false,
    required: false,
    via: prop.kind === '1:m' ? readForeign(prop) : readPivot(meta, prop),
    otherSide: otherSideName(prop, prop.mappedBy ?? prop.inversedBy),
    orderBy: Object.freeze(readOrderBy(prop)),
  } satisfies ToManyAttribute)
}

function otherSideName(prop: Property, other: string | undefined): string | undefined {
  const property = other === undefined ? undefined : (prop.targetMeta!.properties[other as never] as Property | undefined)
  return property === undefined || isHiddenInverse(property) ? undefined : publicName(property)
}

function readForeign(prop: Property): ToManyAttribute['via'] {
  const mapped = prop.targetMeta!.properties[prop.mappedBy as never] as Property
  return { kind: 'foreign', columns: Object.freeze(ownColumns(prop.targetMeta!, mapped)), attribute: publicName(mapped) }
}

function readPivot(meta: Meta, prop: Property): ToManyAttribute['via'] {
  const pivot = prop.pivotTable
  const [own, target] = [meta, prop.targetMeta!].map(side => side.getPrimaryProps().flatMap(key => key.fieldNames))
  if (prop.joinColumns.length !== own!.length || prop.inverseJoinColumns.length !== target!.length) {
    throw unsupported(meta, prop.name, 'its pivot table does not hold both primary keys')
  }
  return {
    kind: 'pivot',
    table: pivot,
    ownerColumns: Object.freeze([...prop.joinColumns]),
    targetColumns: Object.freeze([...prop.inverseJoinColumns]),
    orderColumn: prop.fixedOrder === true ? prop.fixedOrderColumn : undefined,
  }
}

/** The order of a list: the relation's own, else the target entity's. Nested objects become dotted paths. */
function readOrderBy(prop: Property): { path: string; descending: boolean }[] {
  const declared: unknown = prop.orderBy ?? prop.targetMeta?.orderBy
  const list: unknown[] = declared === undefined ? [] : Array.isArray(declared) ? (declared as unknown[]) : [declared]
  const walk = (value: unknown, target: Meta | undefined, prefix: string): { path: string; descending: boolean }[] =>
    Object.entries(value as Record<string, unknown>).flatMap(([name, direction]) => {
      const property = target?.properties[name as never] as Property | undefined
      const path = `${prefix}${property === undefined ? name : publicName(property)}`
      return typeof direction === 'object' && direction !== null
        ? walk(direction, property?.targetMeta, `${path}.`)
        : [{ path, descending: /^(desc|-1)/i.test(String(direction)) }]
    })
  return list.flatMap(entry => walk(entry, prop.targetMeta, ''))
}

function readScalar(meta: Meta, prop: Property, name: string, declared: Property, document: Document | undefined): ScalarAttribute {
  const type = Object.freeze(scalarType(prop)!)
  if (document !== undefined && type.kind === 'blob')
    throw unsupported(meta, prop.name, 'a blob inside a JSON document is not supported yet')
  const common = base(prop, name, declared)
  return {
    kind: 'scalar',
    ...common,
    required:
      document === undefined ? common.required : !common.nullable && declared.default === undefined && declared.onCreate === undefined,
    type,
    source: readSource(meta, prop, document),
    primary: prop.primary === true,
    version: prop.version === true,
  }
}

interface Document {
  readonly column: string
  readonly keys: readonly string[]
}

function readSource(meta: Meta, prop: Property, document: Document | undefined): Source {
  if (document !== undefined) return { kind: 'document', ...document }
  if (prop.formula !== undefined) return { kind: 'formula', sql: formulaOf(meta, prop) }
  if (prop.persist === false) return { kind: 'none' }
  return { kind: 'column', column: prop.fieldNames[0]!, rawDefault: prop.default === undefined && prop.defaultRaw !== undefined }
}

/** A MikroORM formula as SQL text with bound values: `??` marks an identifier, `?` a value. */
function formulaOf(meta: Meta, prop: Property): (alias: string) => SqlText {
  const formula = prop.formula as unknown as (columns: object, table: object) => unknown
  return alias => {
    const table = { alias, name: meta.tableName, schema: meta.schema, qualifiedName: meta.tableName, toString: () => alias }
    const result: unknown = formula(meta.createColumnMappingObject(alias), table)
    if (!isRaw(result)) return { sql: String(result), values: [] }
    const params = [...(result.params as unknown[])]
    const values: unknown[] = []
    const sql = result.sql.replaceAll(/\?\??/g, mark => {
      const value = params.shift()
      if (mark === '?') {
        values.push(value)
        return '?'
      }
      return String(value)
        .split('.')
        .map(part => `"${part.replaceAll('"', '""')}"`)
        .join('.')
    })
    return { sql, values }
  }
}

function readEmbedded(
  meta: Meta,
  prop: Property,
  name: string,
  declared: Property,
  document: Document | undefined,
  paths: Map<string, string>,
  path: string,
): EmbeddedAttribute {
  const within: Document | undefined = document ?? (prop.object === true ? { column: prop.fieldNames[0]!, keys: [] } : undefined)
  const attributes = Object.entries(prop.embeddedProps).map(([childName, child]) => {
    // The embeddable's own declaration: inside a nullable object MikroORM marks every child as nullable.
    const own = (prop.targetMeta?.properties[childName as never] as Property | undefined) ?? child
    const reason = unsupportedReason(child)
    if (reason !== undefined) throw unsupported(meta, `${prop.name}.${childName}`, reason)
    if (child.kind !== 'scalar' && child.kind !== 'embedded') {
      throw unsupported(meta, `${prop.name}.${childName}`, 'relations inside embedded objects are not supported yet')
    }
    const publicChild = own.serializedName ?? childName
    const inside = within === undefined ? undefined : { column: within.column, keys: Object.freeze([...within.keys, childName]) }
    paths.set(child.name, `${path}.${publicChild}`)
    return child.kind === 'embedded'
      ? readEmbedded(meta, child, publicChild, own, inside, paths, `${path}.${publicChild}`)
      : Object.freeze(readScalar(meta, child, publicChild, own, inside))
  })
  const common = base(prop, name, declared)
  return Object.freeze({
    kind: 'embedded',
    ...common,
    // An object all of whose attributes may be left out may be left out itself.
    required: common.required && attributes.some(attribute => attribute.required),
    document: within,
    attributes: Object.freeze(attributes),
    byName: new Map(attributes.map(attribute => [attribute.name, attribute])),
  } satisfies EmbeddedAttribute)
}
