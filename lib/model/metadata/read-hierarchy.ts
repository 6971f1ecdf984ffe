/**
 * Links resources of classes with inheritance, in one table (STI) or several (TPT): `GET /v1/animals` shows dogs with attributes of dogs.
 * Reads the SQL of virtual entities.
 */
import { indexAttributes } from '../ids-name.ts'
import { isRaw, type EntityManager, type EntityMetadata, type EntityProperty, type MikroORM } from '@mikro-orm/core'
import { isValue, tableColumns, listTargets, type Attribute, type Hierarchy, type Resource, type TableSource } from '../model.ts'
import { unsupported } from './unsupported.ts'
import { findTableName } from '../table-name.ts'

export type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Drafts = ReadonlyMap<EntityMetadata, Mutable<Resource>>

/** Says the class, in the query of joined tables. */
const TYPE_COLUMN = '__tpt_type'

function isInherited(meta: EntityMetadata): boolean {
  return meta.inheritanceType !== undefined || meta.root.inheritanceType !== undefined
}

/** An abstract class has the rows of classes below. */
export function isConcrete(meta: EntityMetadata): boolean {
  return !meta.abstract || isInherited(meta)
}

function findExtended(meta: EntityMetadata): EntityMetadata | undefined {
  return meta.tptParent ?? findParent(meta)
}

function findParent(meta: EntityMetadata): EntityMetadata | undefined {
  const { extends: declared } = meta as { extends?: unknown }
  const named = hierarchies.get(meta.root)?.find(({ className, class: entity }) => {
    const { meta: schema } = Object(declared) as { meta?: { class?: unknown } }
    return declared !== undefined && (declared === className || declared === entity || schema?.class === entity)
  })
  if (named !== undefined) return named
  let prototype: unknown = Object.getPrototypeOf(meta.class)
  while (typeof prototype === 'function' && prototype !== Function.prototype) {
    const found = hierarchies.get(meta.root)?.find(other => other.class === prototype)
    if (found !== undefined) return found
    prototype = Object.getPrototypeOf(prototype)
  }
  return undefined
}

/** By root. */
const hierarchies = new WeakMap<EntityMetadata, readonly EntityMetadata[]>()

function descendsFrom(meta: EntityMetadata, ancestor: EntityMetadata): boolean {
  for (let at: EntityMetadata | undefined = meta; at !== undefined; at = findExtended(at)) if (at === ancestor) return true
  return false
}

/** Runs before attributes are read. */
export function linkHierarchies(drafts: Drafts): void {
  const all = [...drafts.keys()].filter(isInherited)
  for (const meta of all) hierarchies.set(meta.root, [...(hierarchies.get(meta.root)?.filter(other => other !== meta) ?? []), meta])
  for (const meta of all) drafts.get(meta)!.hierarchy = readHierarchyOfTables(meta, all, drafts)
  for (const [meta, draft] of drafts) if (meta.inheritanceType === 'tpt') draft.source = joinedTables(meta, all)
}

function readHierarchyOfTables(meta: EntityMetadata, all: readonly EntityMetadata[], drafts: Drafts): Hierarchy {
  const { root } = meta
  const map = Object.entries(root.discriminatorMap as Record<string, unknown>)
  const byValue = new Map<string, Resource>()
  for (const [value, entity] of map) {
    const member = all.find(other => other.class === entity)
    if (member !== undefined && descendsFrom(member, meta)) byValue.set(value, drafts.get(member)!)
  }
  const isShared = root.inheritanceType === 'sti'
  const column: EntityProperty | undefined = isShared ? root.properties[root.discriminatorColumn!] : undefined
  return {
    root: drafts.get(root)!,
    column: column?.fieldNames[0] ?? TYPE_COLUMN,
    attribute: undefined,
    classValue: map.find(([, entity]) => entity === meta.class)?.[0],
    byValue,
    isShared: isShared && meta !== root,
  }
}

function listColumns(prop: EntityProperty): readonly string[] {
  const stored =
    prop.persist !== false &&
    prop.formula === undefined &&
    (prop.kind === 'scalar' ||
      prop.kind === 'm:1' ||
      (prop.kind === '1:1' && prop.owner) ||
      (prop.kind === 'embedded' && prop.object === true))
  return stored ? (prop.fieldNames ?? []) : []
}

/** Joins the tables of ancestors, and of descendants, with rows for some records only. */
function joinedTables(meta: EntityMetadata, all: readonly EntityMetadata[]): TableSource {
  const key = (of: EntityMetadata): string[] => of.getPrimaryProps().flatMap(prop => prop.fieldNames)
  const listOwnColumns = (of: EntityMetadata): string[] => {
    const props = of.tptParent === undefined ? of.props : (of.ownProps ?? [])
    return [...new Set(props.flatMap(prop => listColumns(prop)))]
  }
  const ancestors: EntityMetadata[] = []
  for (let at: EntityMetadata | undefined = meta; at !== undefined; at = at.tptParent) ancestors.push(at)
  const taken = new Set<string>()
  const takeFree = (columns: readonly string[]): string[] =>
    columns.filter(column => {
      if (taken.has(column)) return false
      taken.add(column)
      return true
    })
  const tables = ancestors.map(of => ({ table: findTableName(of), key: key(of), columns: takeFree([...key(of), ...listOwnColumns(of)]) }))
  const below = all.filter(other => other !== meta && descendsFrom(other, meta)).toSorted((a, b) => countAncestors(b) - countAncestors(a))
  const optional = below.map(of => ({
    table: findTableName(of),
    key: key(of),
    columns: takeFree(listOwnColumns(of)),
    value: of.discriminatorValue as string | undefined,
  }))
  return { kind: 'joined', tables, optional, typeColumn: TYPE_COLUMN, classValue: (meta.discriminatorValue as string | undefined) ?? '' }
}

function countAncestors(meta: EntityMetadata): number {
  return meta.tptParent === undefined ? 0 : countAncestors(meta.tptParent) + 1
}

export function buildQuery(meta: EntityMetadata, orm: MikroORM): TableSource {
  const { expression } = meta as { expression: string | ((em: EntityManager, where: object, options: object) => unknown) }
  const given = typeof expression === 'string' ? expression : expression(orm.em.fork(), {}, {})
  if (typeof given === 'string') return { kind: 'query', sql: given }
  const platform = orm.em.getPlatform()
  if (isRaw(given)) return { kind: 'query', sql: platform.formatQuery(given.sql, given.params) }
  if (typeof given === 'object' && given !== null) {
    if ('getFormattedQuery' in given && typeof given.getFormattedQuery === 'function') {
      return { kind: 'query', sql: String((given.getFormattedQuery as () => unknown)()) }
    }
    if ('compile' in given && typeof given.compile === 'function') {
      const { sql, parameters } = (given.compile as () => { sql: string; parameters: unknown[] })()
      return { kind: 'query', sql: platform.formatQuery(sql, parameters) }
    }
  }
  throw unsupported(meta, undefined, 'its expression gives neither SQL nor a query, so that it cannot be filtered and paged')
}

export function addInherited(drafts: Drafts): void {
  const attributesByResource = new Map<Resource, readonly Attribute[]>([...drafts.values()].map(draft => [draft, draft.attributes]))
  for (const [meta, draft] of drafts) {
    if (draft.hierarchy === undefined) continue
    const attribute = meta.root.inheritanceType === 'sti' ? findDiscriminator(meta, draft) : undefined
    draft.hierarchy = { ...draft.hierarchy, attribute: attribute?.name }
    const attributes = attributesByResource.get(draft)!.map(each => (each.name === attribute?.name ? attribute : each))
    draft.attributes = Object.freeze([...attributes, ...attributesBelow(draft, attributes, attributesByResource)])
    draft.byName = indexAttributes(draft.attributes)
  }
}

/** Only bodies for an abstract class must say the class. */
function findDiscriminator(meta: EntityMetadata, draft: Resource): Attribute | undefined {
  const attribute = draft.attributes.find(({ property }) => property === meta.root.discriminatorColumn)
  if (attribute?.kind !== 'scalar') return undefined
  const { classValue, byValue } = draft.hierarchy!
  const items = [...byValue.keys()].map(value => (attribute.type.kind === 'integer' ? Number(value) : value))
  const needed = classValue === undefined
  return Object.freeze({ ...attribute, required: needed, needed, type: Object.freeze({ ...attribute.type, items }) })
}

function attributesBelow(
  draft: Resource,
  attributes: readonly Attribute[],
  attributesByResource: ReadonlyMap<Resource, readonly Attribute[]>,
): Attribute[] {
  const result: { attribute: Attribute; classValues: Set<string> }[] = []
  const { source } = draft
  for (const [value, member] of draft.hierarchy!.byValue) {
    // Attributes of a class with access rules show only at its own resource.
    if (member === draft || !member.served || member.rules.access.get !== true || member.rules.access.list !== true) continue
    for (const attribute of attributesByResource.get(member)!) {
      if (attributes.some(({ property }) => property === attribute.property)) continue
      if (source.kind === 'joined' && !hasColumns(attribute, member, source)) continue
      const same = result.find(other => isSame(other.attribute, attribute))
      if (same === undefined) result.push({ attribute, classValues: new Set([value]) })
      else same.classValues.add(value)
    }
  }
  const all = [...draft.hierarchy!.byValue].flatMap(([value, member]) =>
    attributesByResource.get(member)!.map(attribute => ({ value, attribute })),
  )
  return result.map(({ attribute, classValues }) => {
    const byClass = isDecidedByClass(
      attribute,
      result.filter(other => other.attribute.name === attribute.name).length,
      all.filter(({ value }) => !classValues.has(value)).map(other => other.attribute),
    )
    return Object.freeze({ ...attribute, classValues, byClass, nullable: true, required: false })
  })
}

/**
 * Whether only a row's class tells if the attribute exists. A column of one class alone is NULL in other rows.
 *
 * @param namesakes number of attributes with the same name
 * @param others attributes of classes without this attribute
 */
function isDecidedByClass(attribute: Attribute, namesakes: number, others: readonly Attribute[]): boolean {
  const columns = tableColumns(attribute)
  return namesakes > 1 || columns.length === 0 || others.some(other => tableColumns(other).some(column => columns.includes(column)))
}

function isSame(a: Attribute, b: Attribute): boolean {
  return (
    a.name === b.name &&
    a.kind === b.kind &&
    a.hidden === b.hidden &&
    a.render === b.render &&
    formatType(a) === formatType(b) &&
    tableColumns(a).join() === tableColumns(b).join() &&
    formatLinks(a) === formatLinks(b)
  )
}

function formatLinks(attribute: Attribute): string {
  if (attribute.kind === 'toMany') return JSON.stringify([attribute.via, attribute.where])
  return attribute.kind === 'toOne' && !attribute.owner ? attribute.columns.join() : ''
}

function formatType(attribute: Attribute): string {
  if (isValue(attribute)) return attribute.kind === 'scalar' ? attribute.type.kind : ''
  return listTargets(attribute)
    .map(({ className }) => className)
    .join()
}

/** Of a column name in two classes, the query of joined tables has only the first. */
function hasColumns(attribute: Attribute, member: Resource, source: TableSource & { kind: 'joined' }): boolean {
  const tables = member.source.kind === 'joined' ? member.source.tables.map(({ table }) => table) : []
  const queriedColumns = source.optional.filter(({ table }) => tables.includes(table)).flatMap(({ columns }) => columns)
  return tableColumns(attribute).every(column => queriedColumns.includes(column))
}
