/**
 * Corrects the metadata of a new MikroORM instance where MikroORM would read or write wrongly. Notes properties that the API leaves out or
 * takes for texts.
 */
import { type EntityMetadata, type EntityProperty, type MikroORM, ReferenceKind, JsonType, isRaw } from '@mikro-orm/core'
import type { Notes } from '../../foundation/errors/notes.ts'
import { unreadableIn } from '../../model/metadata/getters.ts'
import { isGetter, isUnnamed, scalarType } from '../../model/metadata/property-type.ts'
import { isMixedList } from '../../model/metadata/read-common.ts'
import { literal } from '../sql/sql.ts'
import { safeKey } from './corrected-comparator.ts'
import { skipUpdateOfCreated } from './on-update.ts'
import { confinePrototypes } from './shared-classes.ts'
import { correctTargetKeys } from './target-keys.ts'

/** @param takesJsonAlone a JSON column refuses other texts */
export function correctMetadata(orm: MikroORM, takesJsonAlone: boolean, notes: Notes): void {
  confinePrototypes(orm)
  // In generated code, MikroORM takes `größe` for `grüße`.
  Object.assign(orm.config.getHydrator(orm.getMetadata()), { safeKey })
  correctTargetKeys(orm.getMetadata(), orm.config.getComparator(orm.getMetadata()))
  nameDates(orm)
  nameTexts(orm)
  readLazyLinks(orm.getMetadata())
  findPivots(orm)
  leaveInherited(orm)
  findReferrers(orm)
  correctPolymorphicLinks(orm.getMetadata())
  correctSiblingColumns(orm.getMetadata())
  readDateLinks(orm)
  quoteJsonDefaults(orm, takesJsonAlone)
  quoteTextDefaults(orm)
  noteModel(orm, notes)
  skipUpdateOfCreated(orm)
}

/**
 * MikroORM compares dates by time only for the type name `Date`. Under a column's name, such as `datetime`, each loaded record would be
 * changed where the database holds a number.
 */
function nameDates(orm: MikroORM): void {
  for (const { props } of orm.getMetadata())
    for (const prop of props) if (prop.kind === 'scalar' && prop.runtimeType === 'Date' && prop.customType === undefined) prop.type = 'Date'
}

/** The compiler emits no type of `string | null`: MikroORM makes a text of it for SQLite, and `varchar(255)` for PostgreSQL. */
function nameTexts(orm: MikroORM): void {
  for (const { props } of orm.getMetadata())
    for (const prop of props)
      if (prop.kind === 'scalar' && prop.type === 'any' && prop.columnTypes?.[0] === 'varchar(255)' && prop.length === undefined)
        prop.columnTypes = ['text']
}

function noteModel(orm: MikroORM, notes: Notes): void {
  for (const meta of orm.getMetadata()) {
    const { className, props, primaryKeys, properties } = meta
    const hidden = primaryKeys.filter(key => properties[key]!['hidden'] === true)
    if (hidden.length > 0 && !meta.embeddable && meta.pivotTable !== true)
      notes.add(
        `${className}: its key ${hidden.map(key => `"${key}"`).join(', ')} is hidden: ` +
          'records are shown without it; paths and the IDs of relations have it all the same.',
      )
    for (const prop of props) {
      const read = isGetter(prop) && !meta.embeddable && prop.embedded === undefined ? unreadableIn(meta, prop) : undefined
      if (read !== undefined)
        notes.add(`${className}.${prop.name}: the getter is left out, since it reads "${read}", which a record does not have loaded.`)
      if (isMixedList(prop)) {
        const several = prop.polymorphTargets!.map(target => target.className).join(', ')
        notes.add(
          `${className}.${prop.name}: the list is left out, since its members are of several entities (${several}); ` +
            'their own sides of it are served.',
        )
      }
      if (prop.kind !== 'scalar' || prop.embedded !== undefined || !isUnnamed(prop) || scalarType(prop)?.kind !== 'text') continue
      notes.add(
        `${className}.${prop.name}: its type${describeName(prop.type)} is not known, so it is served as a string, like its column. ` +
          'Give the property a "type".',
      )
    }
  }
}

function describeName(type: string): string {
  return type === 'any' || type === 'unknown' ? ' (for "string | null" the compiler emits none)' : ` "${type}"`
}

/** MikroORM misses the order column of inherited lists, and takes the pivot table of another list with the same name. */
function findPivots(orm: MikroORM): void {
  const lists = [...orm.getMetadata()].flatMap(({ properties }) => Object.values(properties).filter(({ kind }) => kind === 'm:n'))
  for (const prop of lists.filter(({ fixedOrder, fixedOrderColumn }) => fixedOrder === true && fixedOrderColumn === undefined)) {
    const column = orm
      .getMetadata()
      .find(prop.pivotEntity)
      ?.props.find(({ autoincrement }) => autoincrement === true)?.name
    if (column !== undefined) prop.fixedOrderColumn = column
  }
  for (const prop of lists) {
    if (typeof prop.mappedBy !== 'string') continue
    const owner = prop.targetMeta?.properties[prop.mappedBy]
    if (owner === undefined) continue
    const { pivotEntity, pivotTable, fixedOrder, fixedOrderColumn } = owner
    Object.assign(prop, { pivotEntity, pivotTable, fixedOrder, fixedOrderColumn })
  }
  // A join would drop members of a subclass in the same table.
  for (const prop of new Set(lists.flatMap(({ pivotEntity }) => orm.getMetadata().find(pivotEntity)?.relations ?? []))) {
    const { targetMeta } = prop
    if (targetMeta?.root.inheritanceType !== 'sti') continue
    prop.targetMeta = Object.create(targetMeta, { discriminatorValue: { value: undefined } }) as NonNullable<typeof targetMeta>
  }
}

/**
 * MikroORM removes a deleted record from loaded entities, or the next flush would insert the record again. With inheritance, MikroORM
 * misses links to the superclass.
 */
function findReferrers(orm: MikroORM): void {
  const all = [...orm.getMetadata()]
  const byRoot = Map.groupBy(all, ({ root }) => root)
  for (const family of byRoot.values()) {
    const links = new Map(
      family
        .flatMap(({ referencingProperties }) => referencingProperties)
        .map(({ meta, prop }) => [`${meta.root.className}.${prop.name}`, { meta: meta.root, prop }]),
    )
    for (const meta of family) meta.referencingProperties = [...links.values()]
  }
}

/** For classes with a table each, MikroORM would index an inherited composite foreign key in tables without it. */
function leaveInherited(orm: MikroORM): void {
  for (const meta of orm.getMetadata()) {
    if (meta.tptParent === undefined) continue
    const ownNames = new Set([...meta.primaryKeys, ...(meta.ownProps ?? []).map(({ name }) => name)] as string[])
    const isOwn = ({ properties }: { properties?: unknown }): boolean =>
      [properties ?? []].flat().every(name => ownNames.has(name as string))
    meta.indexes = meta.indexes.filter(isOwn)
    meta.uniques = meta.uniques.filter(isOwn)
    // MikroORM would look for an inherited formula's columns in the wrong table. Writing reads no lazy formula.
    for (const prop of meta.props) if (prop.formula !== undefined && !ownNames.has(prop.name)) prop.lazy = true
  }
}

/**
 * Reads the key of a `lazy` `ref` to-one with the record. MikroORM 7.2 takes the link for unloaded until the target is loaded, and neither
 * seeds nor changes the link.
 *
 * The inverse side of a 1:1 between composite keys becomes lazy: MikroORM would make an entity without a part of the key, or write the
 * entity again.
 */
function readLazyLinks(metadata: Iterable<EntityMetadata>): void {
  for (const { relations } of metadata) {
    for (const prop of relations) {
      const isOwner = prop.kind === 'm:1' || prop.owner
      if (prop.lazy === true && prop.ref === true && isOwner) prop.lazy = false
      if (prop.kind === '1:1' && !isOwner && isComposite(prop)) prop.lazy = true
    }
  }
}

function isComposite({ targetMeta, mappedBy }: EntityProperty): boolean {
  return (targetMeta!.properties[mappedBy] as EntityProperty).fieldNames.length > 1
}

/** MikroORM 7.2 looks for a polymorphic relation's inverse side only in the first target, and could not remove records of other targets. */
function correctPolymorphicLinks(metadata: Iterable<EntityMetadata>): void {
  for (const meta of metadata) {
    for (const prop of meta.props) if (prop.kind === 'embedded') mergeTypes(prop)
    meta.bidirectionalRelations = meta.bidirectionalRelations.filter(
      ({ polymorphTargets, targetMeta, mappedBy, inversedBy }) =>
        polymorphTargets === undefined || targetMeta?.properties[mappedBy || inversedBy] !== undefined,
    )
  }
}

/** In a polymorphic embedded object, no value may be converted to another class's type. */
function mergeTypes({ embeddedProps, targetMeta }: EntityProperty): void {
  for (const [name, child] of Object.entries(embeddedProps ?? {})) {
    if (child.kind === 'embedded') mergeTypes(child)
    const variants = (targetMeta?.polymorphs ?? []).flatMap(({ properties }) => (properties[name] as EntityProperty | undefined) ?? [])
    const types = [...new Set(variants.map(({ type }) => type))]
    const isPlain = variants.every(({ kind, customType }) => kind === 'scalar' && customType === undefined)
    const differ = new Set(variants.map(({ runtimeType }) => runtimeType)).size > 1
    if (isPlain && differ && !variants.some(({ runtimeType }) => runtimeType === 'Date'))
      Object.assign(child, { type: types.join(' | '), runtimeType: 'any' })
  }
}

interface SiblingColumns {
  stiFieldNames?: string[]
  stiFieldNameMap?: Record<string, string>
}

/**
 * Classes of one table may share a property name, with different types or columns. MikroORM lists shared columns twice and misses columns
 * of some classes: inserts fail or lose values.
 */
function correctSiblingColumns(metadata: Iterable<EntityMetadata>): void {
  const all = [...metadata]
  for (const root of all) {
    for (const prop of root.props as (EntityProperty & SiblingColumns)[]) {
      if (prop.stiFieldNames === undefined) continue
      const columns = [...new Set(prop.stiFieldNames)]
      if (columns.length === 1) {
        delete prop.stiFieldNames
        delete prop.stiFieldNameMap
        continue
      }
      prop.stiFieldNames = columns
      prop.stiFieldNameMap = Object.fromEntries(
        Object.entries(root.discriminatorMap as Record<string, unknown>).flatMap(([value, entity]) => {
          const member = all.find(meta => meta.class === entity)
          const column = member?.properties[prop.name]?.fieldNames?.[0]
          return column === undefined ? [] : [[value, column]]
        }),
      )
    }
  }
}

/**
 * Reads links to records with a time as key as dates. MikroORM would keep a text or number, find each link changed, and write the record at
 * each flush.
 */
function readDateLinks(orm: MikroORM): void {
  for (const meta of orm.getMetadata()) {
    if (meta.pivotTable === true) continue
    for (const prop of meta.relations) if (isPlainLink(prop) && refersToDate(prop)) prop.runtimeType = 'Date'
  }
}

function isPlainLink({ kind, mappedBy, polymorphic, targetKey, fieldNames }: EntityProperty): boolean {
  const isOwning = kind === ReferenceKind.MANY_TO_ONE || (kind === ReferenceKind.ONE_TO_ONE && mappedBy === undefined)
  return isOwning && polymorphic !== true && targetKey === undefined && fieldNames.length === 1
}

function refersToDate({ targetMeta }: EntityProperty): boolean {
  const [key] = targetMeta!.getPrimaryProps() as [EntityProperty]
  return key.kind === ReferenceKind.SCALAR ? key.runtimeType === 'Date' : key.targetMeta !== targetMeta && refersToDate(key)
}

/** Leaves `defaultRaw` alone. */
function quoteTextDefaults(orm: MikroORM): void {
  for (const { props } of orm.getMetadata())
    for (const prop of props)
      if (typeof prop.default === 'string' && prop.default.includes("'") && prop.defaultRaw === `'${prop.default}'`)
        prop.defaultRaw = literal(prop.default)
}

/**
 * Leaves `defaultRaw` alone.
 *
 * @param takesJsonAlone a JSON column refuses other texts; else numbers and plain texts are stored as given
 */
function quoteJsonDefaults(orm: MikroORM, takesJsonAlone: boolean): void {
  for (const meta of orm.getMetadata()) {
    for (const prop of meta.props) {
      if (!(prop.customType instanceof JsonType) || prop.defaultRaw !== writtenByMikroOrm(prop.default)) continue
      const text = findJson(prop.default, takesJsonAlone)
      if (text !== undefined) prop.defaultRaw = literal(text)
    }
  }
}

function writtenByMikroOrm(value: unknown): string | undefined {
  if (Array.isArray(value)) return `'${JSON.stringify(value)}'`
  if (typeof value === 'string') return `'${value}'`
  if (value === null || value === undefined || typeof value === 'symbol' || isRaw(value)) return undefined
  // eslint-disable-next-line typescript/no-base-to-string -- that is what MikroORM does
  return String(value)
}

/** @returns undefined for a value without quotes */
function findJson(value: unknown, takesJsonAlone: boolean): string | undefined {
  // MikroORM takes a string for JSON text.
  if (typeof value === 'string') return takesJsonAlone && !isJsonText(value) ? JSON.stringify(value) : value
  return typeof value === 'object' || takesJsonAlone ? JSON.stringify(value) : undefined
}

export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
