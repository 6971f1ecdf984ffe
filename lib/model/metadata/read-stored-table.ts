/**
 * Makes the `StoredTable` of an entity, by which the engine's own statements write rows. Not for code of the application on entities,
 * classes in several tables, values converted by SQL: the unit of work writes those.
 */
import { BigIntType, Cascade, Collection, DecimalType, JsonType, UuidType, isRaw } from '@mikro-orm/core'
import type { EntityMetadata, EntityProperty, MikroORM, Platform, Type } from '@mikro-orm/core'
import type { Computed, StoredColumn, StoredProperty, StoredTable } from '../stored-table.ts'
import { DescribedType } from './described-type.ts'
import { hasRelatedKey, isOwning, readForeignColumns } from './foreign-key.ts'
import { scalarType } from './property-type.ts'
import { readDocument } from './read-stored-document.ts'
import { findTableName } from '../table-name.ts'

const REMOVING = new Set<Cascade>([Cascade.REMOVE, Cascade.ALL, Cascade.SCHEDULE_ORPHAN_REMOVAL])

/** Kinds with one stored form for each value. */
const KEY_KINDS: ReadonlySet<string> = new Set(['integer', 'bigint', 'text', 'uuid'])

/** Undefined: the unit of work writes everything. */
export function readStoredTable(meta: EntityMetadata, orm: MikroORM): StoredTable | undefined {
  const keys = listKeyParts(meta)
  if (keys === undefined || !isOneTable(meta) || looksAtEntities(meta)) return undefined
  const platform = orm.em.getPlatform()
  const shared = findShared(meta)
  const properties = new Map<string, StoredProperty>()
  for (const prop of meta.props) {
    if (!isStored(prop) || prop.fieldNames.some(column => shared.has(column))) continue
    const property = readProperty(meta, prop, platform)
    if (property !== undefined) properties.set(prop.name, property)
  }
  const inside = readInside(meta, shared, platform)
  for (const property of inside.values()) properties.set(property.property, property)
  const keyProperties = meta.getPrimaryProps().map(({ name }) => properties.get(name))
  const discriminator = readDiscriminator(meta, properties)
  if (!keyProperties.every(property => property !== undefined) || discriminator === null) return undefined
  const key = keys.map(({ prop, column }): StoredColumn =>
    Object.freeze({ column, type: scalarType(prop), toColumn: findConversion(prop, platform) }),
  )
  const counter = keys.findIndex(({ prop }) => prop.autoincrement === true && meta.props.includes(prop))
  const unplanned = meta.props.filter(prop => isStored(prop) && !properties.has(prop.name) && !isWithin(prop, inside))
  const made = probe(meta)
  return Object.freeze({
    table: findTableName(meta),
    key,
    counter: counter < 0 ? undefined : key[counter],
    keyProperties,
    discriminator,
    properties,
    inside,
    inserts: canInsert(meta, unplanned, orm) && made !== undefined && isPlainMade(made, properties, meta) && !makesNull(meta, properties),
    // MikroORM takes a converted NULL for a change, in every update.
    updates: canUpdate(meta, unplanned) && ![...properties.values()].some(property => property.convertsNull),
    deletes: !meta.relations.some(({ orphanRemoval, cascade }) => orphanRemoval === true || cascade?.some(kind => REMOVING.has(kind))),
    refusesTaken: meta.uniques.every(isWholeUnique),
    keepsUnique: !hasConstructor(meta) && meta.props.every(callsNothing) && meta.uniques.every(isWholeUnique),
    uniques: listUniques(meta, properties),
    rawDefaults: meta.props.flatMap(({ persist, defaultRaw }) => (persist === false || defaultRaw === undefined ? [] : [defaultRaw])),
    required: Object.freeze(
      meta.props.filter(prop => isNeededDocument(prop) || (orm.config.get('validateRequired') && isRequired(prop))).map(({ name }) => name),
    ),
    constructed: new Set(Object.keys(made ?? {}).filter(name => (made![name] ?? null) !== null)),
    construct: hasConstructor(meta) ? () => construct(meta) : undefined,
    version: meta.versionProperty === undefined ? undefined : properties.get(meta.versionProperty),
    asksTwice: orm.config.get('processOnCreateHooksEarly'),
  })
}

interface StoredKeyPart {
  readonly prop: EntityProperty
  readonly column: string
}

/** In key order. Undefined: some part is no plain value. */
function listKeyParts(meta: EntityMetadata): StoredKeyPart[] | undefined {
  const parts: StoredKeyPart[] = []
  for (const prop of meta.getPrimaryProps()) {
    const propParts = prop.kind === 'scalar' ? [{ prop, column: prop.fieldNames[0]! }] : listLinkParts(meta, prop)
    if (propParts === undefined || !propParts.every(part => isPlainKey(part.prop))) return undefined
    parts.push(...propParts)
  }
  // MikroORM loads no record by such a key.
  return parts.length === 0 || hasRelatedKey(meta) ? undefined : parts
}

function listLinkParts(meta: EntityMetadata, prop: EntityProperty): StoredKeyPart[] | undefined {
  const isOdd = prop.polymorphic === true || prop.targetKey !== undefined || prop.onCreate !== undefined || !isOwning(prop)
  const parts = isOdd ? undefined : listKeyParts(prop.targetMeta!)
  if (parts?.length !== prop.joinColumns.length) return undefined
  const columns = readForeignColumns(meta, prop)
  return parts.map((part, index) => ({ prop: part.prop, column: columns[index]! }))
}

/** Whether each record is one row, and no class inherits from the entity. Other classes may share the table. */
export function isOneTable(meta: EntityMetadata): boolean {
  const inheritance = meta.root.inheritanceType
  return (
    (inheritance === 'sti' ? isLeaf(meta) : meta.root === meta && !inheritance) &&
    !meta.virtual &&
    !meta.view &&
    !meta.pivotTable &&
    !meta.schema &&
    meta.readonly !== true &&
    meta.expression === undefined &&
    meta.serializedPrimaryKey === undefined
  )
}

function isLeaf({ class: entity, root, abstract, discriminatorValue }: EntityMetadata): boolean {
  const classes = Object.values(root.discriminatorMap as Record<string, unknown>) as (new () => object)[]
  return (
    !abstract &&
    discriminatorValue !== undefined &&
    !classes.some(other => other !== (entity as unknown) && other.prototype instanceof (entity as new () => object))
  )
}

/** Undefined: the table has one class. Null: no plain column says the class. */
function readDiscriminator(
  { root, discriminatorValue }: EntityMetadata,
  properties: ReadonlyMap<string, StoredProperty>,
): StoredTable['discriminator'] | null {
  if (root.inheritanceType !== 'sti') return undefined
  const [column, ...others] = properties.get(root.discriminatorColumn!)?.columns ?? []
  return column === undefined || others.length > 0 ? null : Object.freeze({ column, value: discriminatorValue })
}

/** Whether hooks, accessors or functions of the application see entities. */
function looksAtEntities(meta: EntityMetadata): boolean {
  return (
    Object.values(meta.hooks).some(list => list.length > 0) ||
    meta.props.some(
      ({ onCreate, onUpdate, accessor, getter, setter, persist }) =>
        (onCreate?.length ?? 0) > 0 ||
        (onUpdate?.length ?? 0) > 0 ||
        (persist !== false && (accessor !== undefined || getter === true || setter === true)),
    )
  )
}

export function isPlainKey(key: EntityProperty): boolean {
  if (key.kind !== 'scalar' || key.runtimeType === 'Date') return false
  const { customType } = key
  const isKnown =
    customType === undefined ||
    customType instanceof BigIntType ||
    customType instanceof UuidType ||
    // A file's column holds the key unconverted.
    customType instanceof DescribedType
  return isKnown && KEY_KINDS.has(scalarType(key)?.kind ?? '')
}

/** Inner properties count with their embedded object. */
function isStored({ persist, formula, generated, embedded, kind, owner }: EntityProperty): boolean {
  if (persist === false || formula !== undefined || generated !== undefined || embedded !== undefined) return false
  return kind === 'scalar' || kind === 'embedded' || kind === 'm:1' || (kind === '1:1' && owner)
}

function findShared(meta: EntityMetadata): ReadonlySet<string> {
  const all = meta.props.filter(prop => isStored(prop)).flatMap(({ fieldNames }) => fieldNames ?? [])
  return new Set(all.filter((column, index) => all.indexOf(column) < index))
}

/** Reads properties of embedded objects in columns, by column. Not of objects made by code of the application. */
function readInside(meta: EntityMetadata, shared: ReadonlySet<string>, platform: Platform): Map<string, StoredProperty> {
  const inside = new Map<string, StoredProperty>()
  for (const prop of meta.props) {
    const target = prop.targetMeta
    const isPlain = prop.kind === 'embedded' && prop.embedded === undefined && prop.object !== true && prop.array !== true && isStored(prop)
    if (!isPlain || target === undefined || target.polymorphs !== undefined || hasConstructor(target) || looksAtEntities(target)) continue
    for (const child of Object.values(prop.embeddedProps)) {
      const { embedded: _, ...unnested } = child
      const isSet = child.default !== undefined || child.onCreate !== undefined || child.onUpdate !== undefined
      if (isSet || child.kind !== 'scalar' || !isStored(unnested as EntityProperty) || child.fieldNames.some(column => shared.has(column)))
        continue
      const property = readProperty(meta, child, platform)
      if (property !== undefined) inside.set(property.columns[0]!.column, property)
    }
  }
  return inside
}

function isWithin({ kind, embeddedProps }: EntityProperty, inside: ReadonlyMap<string, StoredProperty>): boolean {
  return (
    kind === 'embedded' &&
    Object.values(embeddedProps).every(({ fieldNames, persist }) => persist !== false && inside.has(fieldNames?.[0] ?? ''))
  )
}

function readProperty(meta: EntityMetadata, prop: EntityProperty, platform: Platform): StoredProperty | undefined {
  if (prop.lazy === true || prop.stiFieldNames !== undefined) return undefined
  if (prop.kind === 'embedded') return makeDocument(prop, platform)
  if (prop.kind !== 'scalar') {
    const parts = listLinkParts(meta, prop)
    return parts === undefined ? undefined : makeProperty(prop, parts, platform)
  }
  return prop.fieldNames.length === 1 ? makeProperty(prop, [{ prop, column: prop.fieldNames[0]! }], platform) : undefined
}

function makeDocument(prop: EntityProperty, platform: Platform): StoredProperty | undefined {
  const isPlain = (meta: EntityMetadata): boolean => !hasConstructor(meta) && !looksAtEntities(meta)
  const isSet = prop.default !== undefined || prop.onCreate !== undefined || prop.onUpdate !== undefined
  const document = isSet || (prop.object !== true && prop.array !== true) ? undefined : readDocument(prop, platform, isPlain)
  if (document === undefined) return undefined
  return Object.freeze({
    property: prop.name,
    columns: [
      Object.freeze({ column: prop.fieldNames[0]!, type: { kind: 'json' } as const, toColumn: (value: unknown) => JSON.stringify(value) }),
    ],
    convertsNull: false,
    comparable: true,
    default: undefined,
    document,
    onCreate: undefined,
    onUpdate: undefined,
  })
}

/** @param parts for a link: the properties of the referred key */
function makeProperty(prop: EntityProperty, parts: readonly StoredKeyPart[], platform: Platform): StoredProperty | undefined {
  const types = parts.flatMap(({ prop: { customType } }) => customType ?? [])
  if (types.some(isConvertedBySql)) return undefined
  const conversions = parts.map(part => findConversion(part.prop, platform))
  const isLink = prop.kind !== 'scalar'
  return Object.freeze({
    property: prop.name,
    columns: parts.map((part, index) =>
      Object.freeze({ column: part.column, type: scalarType(part.prop), toColumn: takePart(conversions[index], index, parts.length) }),
    ),
    convertsNull: conversions.some(toColumn => toColumn !== undefined && convertsNull(toColumn)),
    comparable: types.every(type => type.compareValues === undefined || type instanceof BigIntType || type instanceof DecimalType),
    default: isLink || prop.default === null || isRaw(prop.default) ? undefined : prop.default,
    onCreate: prop.onCreate === undefined ? undefined : call(prop, 'onCreate'),
    onUpdate: prop.onUpdate === undefined ? undefined : call(prop, 'onUpdate'),
  })
}

/** JsonType's SQL leaves the column as is. */
function isConvertedBySql(type: Type): boolean {
  return type.constructor !== JsonType && ('convertToDatabaseValueSQL' in type || 'convertToJSValueSQL' in type)
}

/** A link by several columns has a list of values. */
function takePart(toColumn: StoredColumn['toColumn'], index: number, count: number): StoredColumn['toColumn'] {
  if (count === 1) return toColumn
  return value => {
    const part = (value as readonly unknown[])[index]
    return toColumn === undefined ? part : toColumn(part)
  }
}

/** Applications may replace the function. */
function call(prop: EntityProperty, name: 'onCreate' | 'onUpdate'): Computed {
  return (entity, em) => (prop[name] as Computed)(entity, em)
}

function findConversion(prop: EntityProperty, platform: Platform): StoredColumn['toColumn'] {
  const { customType: type } = prop
  if (prop.array !== true && /^(?:number|string|boolean)$/i.test(prop.type)) return undefined
  if (type !== undefined) return value => type.convertToDatabaseValue(value, platform, { mode: 'serialization' })
  return prop.runtimeType === 'Date' ? value => platform.processDateProperty(value) : undefined
}

function convertsNull(toColumn: (value: unknown) => unknown): boolean {
  try {
    return (toColumn(null) ?? null) !== null
  } catch {
    // Left to the unit of work.
    return true
  }
}

/** @param unplanned stored properties without a `StoredProperty` */
function canInsert(meta: EntityMetadata, unplanned: readonly EntityProperty[], orm: MikroORM): boolean {
  const isSet = (prop: EntityProperty): boolean =>
    prop.onCreate !== undefined ||
    (prop.kind === 'scalar' && prop.default !== undefined && prop.default !== null && !isRaw(prop.default)) ||
    (prop.kind === 'embedded' && prop.nullable !== true)
  const isCounted = meta.getPrimaryProps().every(key => key.autoincrement !== true || /^(?:integer|bigint)$/.test(scalarType(key)!.kind))
  return isCounted && !orm.config.get('initNullableProperties') && !unplanned.some(isSet)
}

function canUpdate(meta: EntityMetadata, unplanned: readonly EntityProperty[]): boolean {
  const { versionProperty } = meta
  const version = versionProperty === undefined ? undefined : (meta.properties[versionProperty] as EntityProperty)
  return meta.concurrencyCheckKeys.size === 0 && version?.runtimeType !== 'Date' && !unplanned.some(hasOnUpdate)
}

function hasOnUpdate({ onUpdate, embeddedProps }: EntityProperty): boolean {
  return onUpdate !== undefined || Object.values(embeddedProps ?? {}).some(inner => hasOnUpdate(inner))
}

function callsNothing({ onCreate, onUpdate }: EntityProperty): boolean {
  return onCreate === undefined && onUpdate === undefined
}

/** Whether the constraint holds for all rows, at once. */
function isWholeUnique({ properties, expression, where, ...others }: EntityMetadata['uniques'][number]): boolean {
  return (
    properties !== undefined &&
    expression === undefined &&
    where === undefined &&
    !('deferMode' in others && others.deferMode !== undefined)
  )
}

function listUniques(meta: EntityMetadata, properties: ReadonlyMap<string, StoredProperty>): (readonly StoredColumn[])[] {
  const single = meta.props.filter(({ unique, primary }) => Boolean(unique) && primary !== true).map(({ name }) => [name])
  const several = meta.uniques.flatMap(unique => (isWholeUnique(unique) ? [[unique.properties!].flat()] : []))
  return [...single, ...several].flatMap(names => {
    const found = names.map(name => properties.get(name)?.columns)
    return found.every(columns => columns !== undefined) ? [found.flat()] : []
  })
}

/** Whether MikroORM refuses a new record without the property. */
function isRequired(prop: EntityProperty): boolean {
  if (prop.nullable === true || prop.autoincrement === true || prop.persist === false || prop.embedded !== undefined) return false
  const isSet = Boolean(prop.default) || Boolean(prop.defaultRaw) || prop.onCreate !== undefined || prop.generated !== undefined
  return !isSet && prop.kind !== '1:m' && prop.kind !== 'm:n' && prop.kind !== 'embedded'
}

/** Whether MikroORM makes a JSON object of nothing. */
function isNeededDocument({ kind, object, array, embedded, nullable, persist }: EntityProperty): boolean {
  return kind === 'embedded' && (object === true || array === true) && embedded === undefined && nullable !== true && persist !== false
}

/** Whether the model's code may make a null for a converting type. */
function makesNull(meta: EntityMetadata, properties: ReadonlyMap<string, StoredProperty>): boolean {
  const mayMake = hasConstructor(meta)
  return [...properties.values()].some(({ convertsNull, onCreate }) => convertsNull && (mayMake || onCreate !== undefined))
}

/** Whether the class, or a class above, has a body. */
function hasConstructor(meta: EntityMetadata): boolean {
  for (let at: unknown = meta.class; typeof at === 'function' && at !== Function.prototype; at = Object.getPrototypeOf(at)) {
    if (!/^class[^{]*\{\s*\}$/.test(Function.prototype.toString.call(at))) return true
  }
  return false
}

function construct(meta: EntityMetadata): Record<string, unknown> {
  return new (meta.class as new (data: object) => Record<string, unknown>)({})
}

/** Undefined: the constructor needs arguments. */
function probe(meta: EntityMetadata): Record<string, unknown> | undefined {
  if (!hasConstructor(meta)) return {}
  if ((meta.constructorParams?.length ?? 0) > 0) return undefined
  try {
    return construct(meta)
  } catch {
    return undefined
  }
}

/** Whether the constructor sets only plain columns, and empty lists. */
function isPlainMade(made: Record<string, unknown>, properties: ReadonlyMap<string, StoredProperty>, meta: EntityMetadata): boolean {
  return Object.keys(made).every(name => {
    const value = made[name]
    const prop = meta.properties[name] as EntityProperty | undefined
    if (value === undefined || prop === undefined || value instanceof Collection || prop.persist === false) return true
    return properties.has(name) && prop.kind === 'scalar'
  })
}
