/**
 * Correct metadata: what MikroORM has discovered of the entities, corrected where MikroORM would write or read it wrongly, whatever the
 * database; and the notes on properties that are taken for texts or left out.
 */
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import type { Notes } from '../../foundation/base/notes.ts'
import { unreadableIn } from '../../model/metadata/getters.ts'
import { isGetter, isUnnamed, scalarType } from '../../model/metadata/property-type.ts'
import { isMixedList } from '../../model/metadata/read-common.ts'
import { safeKey } from './corrected-comparator.ts'
import { confinePrototypes } from './shared-classes.ts'
import { correctTargetKeys } from './target-keys.ts'
import { readDateLinks } from './date-links.ts'
import { quoteJsonDefaults } from './json-defaults.ts'
import { skipUpdateOfCreated } from './on-update.ts'

/**
 * Corrects the metadata of an instance, before it is first used.
 *
 * @param takesJsonAlone see `quoteJsonDefaults`
 */
export function correctMetadata(orm: MikroORM, takesJsonAlone: boolean, notes: Notes): void {
  confinePrototypes(orm)
  // Names of one length beyond ASCII would be the same to MikroORM.
  Object.assign(orm.config.getHydrator(orm.getMetadata()), { safeKey })
  correctTargetKeys(orm.getMetadata(), orm.config.getComparator(orm.getMetadata()))
  nameDates(orm)
  readLazyLinks(orm.getMetadata())
  findPivots(orm)
  leaveInherited(orm)
  findReferrers(orm)
  correctPolymorphicLinks(orm.getMetadata())
  correctSiblingColumns(orm.getMetadata())
  readDateLinks(orm)
  quoteJsonDefaults(orm, takesJsonAlone)
  noteModel(orm, notes)
  skipUpdateOfCreated(orm)
}

/**
 * MikroORM compares a Date by its time only where the type of its property is called so. One that is named by its column (`datetime`,
 * `timestamptz`) would be a change of each record that is loaded, where the database holds a number.
 */
function nameDates(orm: MikroORM): void {
  for (const { props } of orm.getMetadata())
    for (const prop of props) if (prop.kind === 'scalar' && prop.runtimeType === 'Date' && prop.customType === undefined) prop.type = 'Date'
}

/** Says which properties are texts because nothing says what they are, and which have no place in the API. */
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

/** The name that is not known; for `string | null` the compiler emits none. */
function describeName(type: string): string {
  return type === 'any' || type === 'unknown' ? ' (for "string | null" the compiler emits none)' : ` "${type}"`
}

/**
 * What MikroORM does not find out of pivot tables: the column of the order, for the classes that inherit a list; and it gives the other
 * side of a list the table of any list to the same entity whose property has the same name; and that members may be of a class below.
 */
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
  // Members of a list to a class of one table may be of a class below, which the join of the list would leave out: whom it links is right
  // in any case.
  for (const prop of new Set(lists.flatMap(({ pivotEntity }) => orm.getMetadata().find(pivotEntity)?.relations ?? []))) {
    const { targetMeta } = prop
    if (targetMeta?.root.inheritanceType !== 'sti') continue
    prop.targetMeta = Object.create(targetMeta, { discriminatorValue: { value: undefined } }) as NonNullable<typeof targetMeta>
  }
}

/**
 * Once a record is deleted, MikroORM takes it out of the loaded entities that link it: the next flush would insert it again. Of a class
 * that inherits it finds neither the links to a class above, nor entities that link it, which it keeps under the class at the top.
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

/** Of classes with a table each, MikroORM would index an inherited composite foreign key in the tables that do not have it too. */
function leaveInherited(orm: MikroORM): void {
  for (const meta of orm.getMetadata()) {
    if (meta.tptParent === undefined) continue
    const own = new Set([...meta.primaryKeys, ...(meta.ownProps ?? []).map(({ name }) => name)] as string[])
    const isOwn = ({ properties }: { properties?: unknown }): boolean => [properties ?? []].flat().every(name => own.has(name as string))
    meta.indexes = meta.indexes.filter(isOwn)
    meta.uniques = meta.uniques.filter(isOwn)
    // It would also look for the columns of an inherited formula in the wrong table. Loaded only when asked for, it is in no way of
    // writing.
    for (const prop of meta.props) if (prop.formula !== undefined && !own.has(prop.name)) prop.lazy = true
  }
}

/**
 * Reads the keys of to-one relations that are `lazy` and `ref` together with the record. MikroORM 7.2 takes such a link for not loaded
 * while its target is not loaded. So it writes no change of the link, and cannot seed it.
 *
 * Leaves out the inverse side of a one-to-one between composite keys. MikroORM reads the key of the linking record with the linked one,
 * and makes an entity of it that lacks a part of its own key or is written again. Such a record is looked up when it is needed.
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

/** Whether the foreign key of a one-to-one has several columns, seen from its inverse side. */
function isComposite({ targetMeta, mappedBy }: EntityProperty): boolean {
  return (targetMeta!.properties[mappedBy] as EntityProperty).fieldNames.length > 1
}

/**
 * Corrects polymorphic relations and embedded objects. MikroORM 7.2 looks for the inverse side of a polymorphic relation only in its
 * first target, so a record could not be removed where only another target has it.
 */
function correctPolymorphicLinks(metadata: Iterable<EntityMetadata>): void {
  for (const meta of metadata) {
    for (const prop of meta.props) if (prop.kind === 'embedded') mergeTypes(prop)
    meta.bidirectionalRelations = meta.bidirectionalRelations.filter(
      ({ polymorphTargets, targetMeta, mappedBy, inversedBy }) =>
        polymorphTargets === undefined || targetMeta?.properties[mappedBy || inversedBy] !== undefined,
    )
  }
}

/**
 * Merges the types of a property that several classes of a polymorphic embedded object declare differently, so that no value is converted
 * to the type of another class.
 */
function mergeTypes({ embeddedProps, targetMeta }: EntityProperty): void {
  for (const [name, child] of Object.entries(embeddedProps ?? {})) {
    if (child.kind === 'embedded') mergeTypes(child)
    const own = (targetMeta?.polymorphs ?? []).flatMap(({ properties }) => (properties[name] as EntityProperty | undefined) ?? [])
    const types = [...new Set(own.map(({ type }) => type))]
    const isPlain = own.every(({ kind, customType }) => kind === 'scalar' && customType === undefined)
    const differ = new Set(own.map(({ runtimeType }) => runtimeType)).size > 1
    if (isPlain && differ && !own.some(({ runtimeType }) => runtimeType === 'Date'))
      Object.assign(child, { type: types.join(' | '), runtimeType: 'any' })
  }
}

/** The columns that MikroORM keeps at the property of the root. */
interface SiblingColumns {
  stiFieldNames?: string[]
  stiFieldNameMap?: Record<string, string>
}

/**
 * Classes of one table may have one property name each with a type or a column of its own. MikroORM lists a column twice where siblings
 * share it, and does not know the column of every class, so that its inserts fail or lose the value. Lists each column of such a property
 * once, with the column of each class; without more than one column there is nothing to choose.
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
