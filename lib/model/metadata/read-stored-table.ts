/**
 * Reads how the records of an entity are stored, for statements that write them without MikroORM's unit of work. Whatever of an entity such statements cannot
 * say is left out, and the unit of work writes it: code of the application that looks at entities, hierarchies, composite keys, values that SQL converts.
 */
import { BigIntType, Cascade, Collection, DecimalType, UuidType, isRaw } from '@mikro-orm/core'
import type { MikroORM, Platform } from '@mikro-orm/core'
import type { Computed, StoredColumn, StoredTable } from '../stored-table.ts'
import { scalarType } from './property-type.ts'
import type { Meta, Property } from './unsupported.ts'

const REMOVING = new Set<Cascade>([Cascade.REMOVE, Cascade.ALL, Cascade.SCHEDULE_ORPHAN_REMOVAL])

/** Kinds of keys whose values have one stored form. */
const KEY_KINDS: ReadonlySet<string> = new Set(['integer', 'bigint', 'text', 'uuid'])

/** Reads the table of an entity; undefined where the unit of work writes all of it. */
export function readStoredTable(meta: Meta, orm: MikroORM): StoredTable | undefined {
  const [key, ...others] = meta.getPrimaryProps()
  if (key === undefined || others.length > 0 || !isOneTable(meta) || looksAtEntities(meta) || !isPlainKey(key)) return undefined
  const platform = orm.em.getPlatform()
  const shared = findShared(meta)
  const columns = new Map<string, StoredColumn>()
  for (const prop of meta.props) {
    if (!isStored(prop) || prop.fieldNames.some(column => shared.has(column))) continue
    const column = readColumn(prop, platform)
    if (column !== undefined) columns.set(prop.name, column)
  }
  const stored = columns.get(key.name)
  if (stored === undefined) return undefined
  const left = meta.props.filter(prop => isStored(prop) && !columns.has(prop.name))
  const made = probe(meta)
  return Object.freeze({
    table: meta.tableName,
    key: stored,
    columns,
    inserts: canInsert(meta, left, orm) && made !== undefined && isPlainMade(made, columns, meta),
    // MikroORM takes a NULL that a type makes something of for a change, whatever else changes.
    updates: canUpdate(meta, left) && ![...columns.values()].some(column => column.convertsNull),
    deletes: !meta.relations.some(({ orphanRemoval, cascade }) => orphanRemoval === true || cascade?.some(kind => REMOVING.has(kind))),
    keepsUnique: !hasConstructor(meta) && meta.props.every(isPlainUnique) && meta.uniques.every(isWholeUnique),
    required: Object.freeze(orm.config.get('validateRequired') ? meta.props.filter(prop => isRequired(prop)).map(({ name }) => name) : []),
    construct: hasConstructor(meta) ? () => construct(meta) : undefined,
    version: meta.versionProperty === undefined ? undefined : columns.get(meta.versionProperty)?.column,
    asksTwice: orm.config.get('processOnCreateHooksEarly'),
  })
}

/** Whether a record of the entity is one row of one table. */
function isOneTable(meta: Meta): boolean {
  return (
    meta.root === meta &&
    !meta.inheritanceType &&
    !meta.virtual &&
    !meta.view &&
    !meta.pivotTable &&
    !meta.schema &&
    meta.readonly !== true &&
    meta.expression === undefined &&
    meta.serializedPrimaryKey === undefined
  )
}

/** Whether code of the application looks at entities while they are written: hooks, accessors, functions that take the entity. */
function looksAtEntities(meta: Meta): boolean {
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

function isPlainKey(key: Property): boolean {
  if (key.kind !== 'scalar' || key.runtimeType === 'Date') return false
  const { customType } = key
  const isKnown = customType === undefined || customType instanceof BigIntType || customType instanceof UuidType
  return isKnown && KEY_KINDS.has(scalarType(key)?.kind ?? '')
}

/** Whether the property has a place in the table, apart from the attributes of embedded objects, which go with those. */
function isStored({ persist, formula, generated, embedded, kind, owner }: Property): boolean {
  if (persist === false || formula !== undefined || generated !== undefined || embedded !== undefined) return false
  return kind === 'scalar' || kind === 'embedded' || kind === 'm:1' || (kind === '1:1' && owner)
}

/** Finds the columns that several properties have. */
function findShared(meta: Meta): ReadonlySet<string> {
  const all = meta.props.filter(prop => isStored(prop)).flatMap(({ fieldNames }) => fieldNames ?? [])
  return new Set(all.filter((column, index) => all.indexOf(column) < index))
}

function readColumn(prop: Property, platform: Platform): StoredColumn | undefined {
  if (prop.kind === 'embedded' || prop.fieldNames.length !== 1) return undefined
  if (prop.kind === 'scalar') return prop.lazy === true ? undefined : makeColumn(prop, prop, platform)
  const [key, ...others] = prop.targetMeta!.getPrimaryProps()
  const isOdd = prop.polymorphic === true || prop.targetKey !== undefined || prop.primary === true || prop.onCreate !== undefined
  if (isOdd || key === undefined || others.length > 0 || !isPlainKey(key) || prop.targetMeta!.root.inheritanceType) return undefined
  return makeColumn(prop, key, platform)
}

/** @param valued the property whose values are stored: of a link the key that it refers to */
function makeColumn(prop: Property, valued: Property, platform: Platform): StoredColumn | undefined {
  const { customType: type } = valued
  if (type !== undefined && ('convertToDatabaseValueSQL' in type || 'convertToJSValueSQL' in type)) return undefined
  const toColumn = findConversion(valued, platform)
  const isLink = prop !== valued
  return Object.freeze({
    property: prop.name,
    column: prop.fieldNames[0]!,
    toColumn,
    convertsNull: toColumn !== undefined && convertsNull(toColumn),
    comparable: type?.compareValues === undefined || type instanceof BigIntType || type instanceof DecimalType,
    default: isLink || prop.default === null || isRaw(prop.default) ? undefined : prop.default,
    onCreate: prop.onCreate === undefined ? undefined : call(prop, 'onCreate'),
    onUpdate: prop.onUpdate === undefined ? undefined : call(prop, 'onUpdate'),
  })
}

/** Calls a function of a property, which may still be replaced by another one. */
function call(prop: Property, name: 'onCreate' | 'onUpdate'): Computed {
  return (entity, em) => (prop[name] as Computed)(entity, em)
}

/** Finds what MikroORM makes of the value of a property when it takes the state of an entity. */
function findConversion(prop: Property, platform: Platform): StoredColumn['toColumn'] {
  const { customType: type } = prop
  if (prop.array !== true && /^(?:number|string|boolean)$/i.test(prop.type)) return undefined
  if (type !== undefined) return value => type.convertToDatabaseValue(value, platform, { mode: 'serialization' })
  return prop.runtimeType === 'Date' ? value => platform.processDateProperty(value) : undefined
}

function convertsNull(toColumn: (value: unknown) => unknown): boolean {
  try {
    return (toColumn(null) ?? null) !== null
  } catch {
    // The unit of work finds out what the type says of null.
    return true
  }
}

/** @param left the stored properties that have no `StoredColumn` */
function canInsert(meta: Meta, left: readonly Property[], orm: MikroORM): boolean {
  const isSet = (prop: Property): boolean =>
    prop.onCreate !== undefined ||
    (prop.kind === 'scalar' && prop.default !== undefined && prop.default !== null && !isRaw(prop.default)) ||
    (prop.kind === 'embedded' && prop.nullable !== true)
  const [key] = meta.getPrimaryProps()
  const isCounted = key!.autoincrement !== true || /^(?:integer|bigint)$/.test(scalarType(key!)!.kind)
  return isCounted && !orm.config.get('initNullableProperties') && !left.some(isSet)
}

function canUpdate(meta: Meta, left: readonly Property[]): boolean {
  const { versionProperty } = meta
  const version = versionProperty === undefined ? undefined : (meta.properties[versionProperty as never] as Property)
  return meta.concurrencyCheckKeys.size === 0 && version?.runtimeType !== 'Date' && !left.some(hasOnUpdate)
}

function hasOnUpdate({ onUpdate, embeddedProps }: Property): boolean {
  return onUpdate !== undefined || Object.values(embeddedProps ?? {}).some(inner => hasOnUpdate(inner))
}

/** Whether no function of the model computes the property. */
function isPlainUnique({ onCreate, onUpdate }: Property): boolean {
  return onCreate === undefined && onUpdate === undefined
}

/** Whether a set of unique properties is unique in all rows. */
function isWholeUnique({ properties, expression, where, ...others }: Meta['uniques'][number]): boolean {
  return (
    properties !== undefined &&
    expression === undefined &&
    where === undefined &&
    !('deferMode' in others && others.deferMode !== undefined)
  )
}

/** Whether MikroORM refuses a new record without the property. */
function isRequired(prop: Property): boolean {
  if (prop.nullable === true || prop.autoincrement === true || prop.persist === false || prop.embedded !== undefined) return false
  const isSet = Boolean(prop.default) || Boolean(prop.defaultRaw) || prop.onCreate !== undefined || prop.generated !== undefined
  return !isSet && prop.kind !== '1:m' && prop.kind !== 'm:n' && prop.kind !== 'embedded'
}

/** Whether a class, or one that it extends, is more than the empty one that MikroORM makes of a definition. */
function hasConstructor(meta: Meta): boolean {
  for (let at: unknown = meta.class; typeof at === 'function' && at !== Function.prototype; at = Object.getPrototypeOf(at)) {
    if (!/^class[^{]*\{\s*\}$/.test(Function.prototype.toString.call(at))) return true
  }
  return false
}

function construct(meta: Meta): Record<string, unknown> {
  return new (meta.class as unknown as new (data: object) => Record<string, unknown>)({})
}

/** Returns what the constructor makes; undefined where it needs arguments. */
function probe(meta: Meta): Record<string, unknown> | undefined {
  if (!hasConstructor(meta)) return {}
  if ((meta.constructorParams?.length ?? 0) > 0) return undefined
  try {
    return construct(meta)
  } catch {
    return undefined
  }
}

/** Whether a constructor gives values to nothing but columns. Lists are empty in a new record. */
function isPlainMade(made: Record<string, unknown>, columns: ReadonlyMap<string, StoredColumn>, meta: Meta): boolean {
  return Object.keys(made).every(name => {
    const value = made[name]
    const prop = meta.properties[name as never] as Property | undefined
    if (value === undefined || prop === undefined || value instanceof Collection || prop.persist === false) return true
    return columns.has(name) && prop.kind === 'scalar'
  })
}
