/**
 * Writes entities as plain data, without code of the application, and makes entities of such data. A file may come from anybody, and names
 * become parts of generated code and SQL: names are checked.
 */
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import { isObject } from '../../foundation/json/json.ts'

type RecordedProperty = Readonly<Record<string, unknown>> & { readonly name: string; readonly kind: string }

/** An entity, or an embeddable class. */
export interface RecordedEntity {
  readonly name: string
  readonly table: string
  readonly embeddable: boolean
  readonly properties: readonly RecordedProperty[]
  readonly uniques: readonly (readonly string[])[]
}

/** Types of MikroORM: a name is enough. */
const TYPES = [
  'ArrayType',
  'BigIntType',
  'BlobType',
  'BooleanType',
  'DateTimeType',
  'DateType',
  'DecimalType',
  'DoubleType',
  'EnumArrayType',
  'FloatType',
  'IntegerType',
  'JsonType',
  'SmallIntType',
  'StringType',
  'TextType',
  'TimeType',
  'TinyIntType',
  'Uint8ArrayType',
  'UuidType',
] as const

const PLAIN_TYPES = [
  'integer',
  'number',
  'string',
  'text',
  'boolean',
  'Date',
  'datetime',
  'date',
  'time',
  'float',
  'double',
  'bigint',
  'json',
  'uuid',
  'blob',
]

const PLAIN = [
  'nullable',
  'primary',
  'unique',
  'autoincrement',
  'defaultRaw',
  'length',
  'precision',
  'scale',
  'hidden',
  'lazy',
  'version',
  'mappedBy',
  'inversedBy',
  'owner',
  'pivotTable',
  'joinColumns',
  'inverseJoinColumns',
  'referencedColumnNames',
  'deleteRule',
  'updateRule',
  'object',
  'array',
  'prefix',
  'prefixMode',
  'items',
  'enum',
  'orphanRemoval',
  'fixedOrder',
  'fixedOrderColumn',
] as const

/** Safe in code that MikroORM generates. */
const SAFE_NAME = /^[\p{L}_$][\p{L}\p{M}\p{N}_$]{0,99}$/u
/** Safe as a quoted table or column. */
const SAFE_COLUMN = /^[^\p{Cc}"'`\\]{1,200}$/u
const OF_OBJECTS = new Set([...Object.getOwnPropertyNames(Object.prototype), 'then', 'toJSON'])

function isSafe(name: unknown): name is string {
  return typeof name === 'string' && SAFE_NAME.test(name) && !OF_OBJECTS.has(name)
}

function isColumn(name: unknown): name is string {
  return typeof name === 'string' && SAFE_COLUMN.test(name)
}

export function describeEntities(orm: MikroORM, note: (sentence: string) => void): RecordedEntity[] {
  const found = [...orm.getMetadata()].filter(meta => {
    if (meta.pivotTable || meta.virtual === true || meta.expression !== undefined) return false
    if (meta.root !== meta) {
      note(`${meta.className} shares its records with ${meta.root.className}, as which they are recorded.`)
      return false
    }
    const isFit = isSafe(meta.className) && (meta.embeddable || isColumn(meta.tableName))
    if (!isFit) note(`${meta.className} is left out: its name, or that of its table, has characters that a recording does not take.`)
    return isFit
  })
  const names = new Set(found.map(({ className }) => className))
  return joinSides(found.map(meta => describeEntity(meta, names, note)))
}

/** Drops other sides that are not recorded, and sides made by MikroORM. */
function joinSides(entities: readonly RecordedEntity[]): RecordedEntity[] {
  const known = new Map(entities.map(({ name, properties }) => [name, new Set(properties.map(each => each.name))]))
  const isKnown = ({ entity }: RecordedProperty, side: unknown): boolean => known.get(entity as string)?.has(side as string) === true
  return entities.map(entity => ({
    ...entity,
    properties: entity.properties.flatMap(property => {
      const { inversedBy, mappedBy, ...others } = property
      if (mappedBy !== undefined) return isKnown(property, mappedBy) ? [property] : []
      return [inversedBy === undefined || isKnown(property, inversedBy) ? property : others]
    }),
  }))
}

function describeEntity(meta: EntityMetadata, names: ReadonlySet<string>, note: (sentence: string) => void): RecordedEntity {
  const properties = Object.values(meta.properties).flatMap((property: EntityProperty) => {
    // The class of an embedded object describes the columns.
    if (Array.isArray(property.embedded) || property.persist === false || property.formula !== undefined) return []
    const described = describeProperty(property, names)
    if (typeof described !== 'string') return [described]
    note(`${meta.className}.${property.name} is left out: ${described}.`)
    return []
  })
  const uniques = meta.uniques.flatMap(({ properties: of }) => (of === undefined ? [] : [[of].flat().map(String)]))
  return { name: meta.className, table: meta.tableName, embeddable: meta.embeddable, properties, uniques }
}

/** @returns a reason where recording is impossible */
function describeProperty(property: EntityProperty, names: ReadonlySet<string>): RecordedProperty | string {
  const { name, kind, columnTypes } = property
  // A list has no columns.
  const fieldNames = (property.fieldNames as readonly string[] | undefined) ?? []
  if (!isSafe(name) || !fieldNames.every(isColumn)) return 'its name has characters that a recording does not take'
  const plain = Object.fromEntries(
    PLAIN.flatMap(key => (isPlain(property[key as keyof EntityProperty]) ? [[key, property[key as keyof EntityProperty]]] : [])),
  )
  const made = { ...(property.onCreate && { onCreate: true }), ...(property.onUpdate && { onUpdate: true }) }
  if (kind === 'scalar') return { ...plain, ...made, name, kind, ...describeType(property), fieldNames, columnTypes }
  const target = (property.targetMeta ?? property.embeddable) as { readonly className?: string; readonly name?: string } | undefined
  const entity = property.targetMeta?.className ?? target?.name ?? property.type
  if (!names.has(entity)) return `${entity} is not recorded`
  if (property.polymorphic === true) return 'it links records of several entities'
  return { ...plain, name, kind, entity, ...(kind === 'm:1' || (kind === '1:1' && property.owner) ? { fieldNames } : {}) }
}

/** By MikroORM's type class, or the type of the column. */
function describeType({ customType, type, columnTypes }: EntityProperty): object {
  const custom = customType?.constructor.name
  if (custom !== undefined && (TYPES as readonly string[]).includes(custom)) {
    const { mode } = customType as { readonly mode?: unknown }
    return { customType: custom, ...(typeof mode === 'string' ? { mode } : {}) }
  }
  if (custom === undefined && PLAIN_TYPES.includes(type)) return { type }
  return { type: typeOfColumn(columnTypes[0] ?? '') }
}

function typeOfColumn(column: string): string {
  if (/int/i.test(column)) return 'integer'
  if (/real|floa|doub|numeric|decimal/i.test(column)) return 'float'
  if (/blob/i.test(column)) return 'blob'
  if (/json/i.test(column)) return 'json'
  return 'string'
}

function isPlain(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    typeof value !== 'function' &&
    JSON.stringify(value) !== undefined &&
    (typeof value !== 'object' || Array.isArray(value))
  )
}

/**
 * @returns the entities by name
 * @throws TypeError with a clause
 */
export async function rebuildEntities(recorded: unknown): Promise<ReadonlyMap<string, object>> {
  const core = await import('@mikro-orm/core')
  if (!Array.isArray(recorded) || recorded.length === 0 || recorded.length > 5000) throw new TypeError('it has no list of entities')
  const schemas = new Map<string, object>()
  const find = (name: string) => (): object => schemas.get(name)!
  const checked = recorded.map(checkEntity)
  const names = new Set(checked.map(({ name }) => name))
  for (const { name, table, embeddable, properties, uniques } of checked) {
    if (schemas.has(name)) throw new TypeError(`the entity ${name} comes twice`)
    // MikroORM declares no index of types by name.
    const rebuilt = Object.fromEntries(properties.map(property => [property.name, rebuildProperty(property, names, find, core as never)]))
    const options = embeddable ? { name, embeddable: true } : { name, tableName: table, uniques: uniques.map(of => ({ properties: of })) }
    schemas.set(name, new core.EntitySchema({ ...options, properties: rebuilt } as never))
  }
  return schemas
}

function checkEntity(entity: unknown): RecordedEntity {
  if (!isObject(entity)) throw new TypeError('an entity is not an object')
  const { name, table, embeddable, properties, uniques } = entity
  if (!isSafe(name)) throw new TypeError('an entity has no name, or one that is not taken')
  if (embeddable !== true && !isColumn(table)) throw new TypeError(`the entity ${name} has no table, or one that is not taken`)
  if (!Array.isArray(properties) || properties.length > 2000) throw new TypeError(`the entity ${name} has no list of properties`)
  const known = new Set<string>()
  for (const property of properties as readonly unknown[]) {
    if (!isObject(property) || !isSafe(property['name']) || known.has(property['name']))
      throw new TypeError(`the entity ${name} has a property without a name of its own`)
    known.add(property['name'])
  }
  if (!Array.isArray(uniques) || !uniques.every(of => Array.isArray(of) && of.every(each => known.has(each as string))))
    throw new TypeError(`the entity ${name} has unique properties that it does not have`)
  return { name, table: isColumn(table) ? table : '', embeddable: embeddable === true, properties, uniques }
}

type TypeClasses = Readonly<Record<string, new (...args: unknown[]) => object>>

function rebuildProperty(
  property: RecordedProperty,
  names: ReadonlySet<string>,
  find: (name: string) => () => object,
  classes: TypeClasses,
): object {
  const { kind, entity, type, customType, mode, fieldNames, columnTypes, onCreate, onUpdate } = property
  const plain = Object.fromEntries(PLAIN.flatMap(key => (key in property ? [[key, checkPlain(property[key], property.name)]] : [])))
  for (const key of ['joinColumns', 'inverseJoinColumns', 'referencedColumnNames', 'pivotTable', 'fixedOrderColumn'])
    if (key in plain) checkColumns([plain[key]].flat(), property.name)
  for (const key of ['mappedBy', 'inversedBy'])
    if (key in plain && !isSafe(plain[key])) throw new TypeError(`the property ${property.name} has another side that is not taken`)
  const columns = fieldNames === undefined ? [] : checkColumns(fieldNames, property.name)
  if (kind !== 'scalar') {
    if (typeof entity !== 'string' || !names.has(entity)) throw new TypeError(`the property ${property.name} leads to no entity`)
    if (!['m:1', '1:1', '1:m', 'm:n', 'embedded'].includes(kind))
      throw new TypeError(`the property ${property.name} is of no kind that there is`)
    return { ...plain, kind, entity: find(entity), ...(columns.length > 0 && kind !== 'embedded' ? { fieldNames: columns } : {}) }
  }
  if (columns.length !== 1) throw new TypeError(`the property ${property.name} has no column`)
  const [column] = Array.isArray(columnTypes) ? (columnTypes as readonly unknown[]) : []
  if (column !== undefined && !(typeof column === 'string' && /^[\w (),[\]]{1,100}$/.test(column)))
    throw new TypeError(`the column of ${property.name} has a type that is not taken`)
  const isOwn = (TYPES as readonly unknown[]).includes(customType)
  if (!isOwn && !PLAIN_TYPES.includes(type as string)) throw new TypeError(`the property ${property.name} has a type that is not taken`)
  const { enum: isEnum, items, ...rest } = plain
  const made = isOwn ? new classes[customType as string]!(...(typeof mode === 'string' ? [mode] : [])) : type
  return {
    ...rest,
    ...(isEnum === true && Array.isArray(items) ? { enum: true, items } : {}),
    type: made,
    fieldName: columns[0],
    // A boolean with the column type `integer` would become a number.
    ...(column === undefined || type === 'boolean' ? {} : { columnType: column }),
    ...(onCreate === true ? { onCreate: makeValue(type, customType) } : {}),
    ...(onUpdate === true ? { onUpdate: makeValue(type, customType) } : {}),
  }
}

/** Stands for a function of the application. */
function makeValue(type: unknown, customType: unknown): () => unknown {
  if (type === 'Date' || type === 'datetime' || customType === 'DateTimeType') return () => new Date()
  if (customType === 'UuidType' || type === 'uuid') return () => crypto.randomUUID()
  if (customType === 'DateType') return () => new Date().toISOString().slice(0, 10)
  return type === 'integer' || type === 'number' || type === 'float' ? () => 0 : () => ''
}

function checkColumns(columns: unknown, of: string): readonly string[] {
  if (!Array.isArray(columns) || !columns.every(isColumn)) throw new TypeError(`the property ${of} has columns that are not taken`)
  return columns
}

function checkPlain(value: unknown, of: string): unknown {
  const isGood = (each: unknown): boolean =>
    typeof each === 'boolean' || typeof each === 'number' || (typeof each === 'string' && each.length <= 1000 && !/[\p{Cc}\\`]/u.test(each))
  if (Array.isArray(value) ? value.length <= 1000 && value.every(isGood) : isGood(value)) return value
  throw new TypeError(`the property ${of} has a member that is not taken`)
}
