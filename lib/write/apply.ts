/**
 * Apply: a RecordInput becomes work for MikroORM's unit of work, inside the transaction it is given. Life-cycle hooks, onCreate and onUpdate,
 * cascades and orphan removal all happen there. Nothing is rendered here: the answer is read by the reading stages.
 * Refuses with owner_required, version_conflict and record_not_found.
 */
import { Reference, ScalarReference, helper } from '@mikro-orm/core'
import type { Collection, EntityManager, EntityMetadata } from '@mikro-orm/core'
import { chain } from '../base/awaitable.ts'
import type { Awaitable } from '../base/awaitable.ts'
import { recordName } from './check-database.ts'
import type { Connection } from '../database/dialect.ts'
import { findFirst, loadList, loading } from '../model/metadata/eager-cycles.ts'
import { restError } from '../base/errors.ts'
import type { FieldError } from '../base/errors.ts'
import type { FieldErrors } from '../base/body-errors.ts'
import { keyToSegment, sameKey } from '../model/key.ts'
import type { KeyValues } from '../model/key.ts'
import { owningLinks, rootOf, tableColumns } from '../model/model.ts'
import type {
  Attribute,
  PolymorphicTarget,
  EmbeddedAttribute,
  RelationAttribute,
  Resource,
  ScalarAttribute,
  ToManyAttribute,
  ToOneAttribute,
  ToOneOfAttribute,
} from '../model/model.ts'
import { classOf, keyOfEntity, keyOfProperty, toPrimaryKey } from '../model/entity-key.ts'
import type { Entity } from '../model/entity-key.ts'
import { byAccessor, toProperties } from './entity-data.ts'
import { readRows } from '../read/run-read.ts'
import { owningAttribute, requireEmbedded } from './validate-record.ts'
import type { Visibility } from '../plan/visibility.ts'
import { fromProperty, toProperty } from '../values/scalar-type.ts'
import type { EmbeddedValue, LinkInput, ListInput, RecordInput, RecordRef, ValueInput } from './write-plan.ts'

/** The unit of work of one request. */
export interface Work {
  readonly em: EntityManager
  readonly connection: Connection
  /** Whether the record exists for the caller. */
  readonly exists: (resource: Resource, key: KeyValues) => Awaitable<boolean>
  /** Whether the caller may know of the resource's records, so that they may be told of. */
  readonly tells: (resource: Resource) => Awaitable<boolean>
  /** Whether the record meets the condition of a list, beside its link. */
  readonly meets: (list: ToManyAttribute, key: KeyValues) => Awaitable<boolean>
  /** Records that the body puts into lists with a condition, which they must meet once they are written. */
  readonly listed: Listed[]
  /** Refuses what the caller may not do to records of the resource. */
  readonly authorize: (resource: Resource, action: 'update' | 'delete') => Awaitable<void>
  /** Whether the record is still in what the application's scope lets the caller see, filters of its entity aside. */
  readonly stays: (resource: Resource, key: KeyValues) => Awaitable<boolean>
  /** Records that were made or linked otherwise on the way; those that were there before, with their keys. */
  readonly touched: { readonly resource: Resource; readonly entity: Entity; readonly key?: KeyValues }[]
  /** What the body links, by names of records and of their links: no list of it may remove the ones, nor unlink the others. */
  readonly named: Set<string>
}

/** A record in a list of a body. */
export interface Listed {
  readonly list: ToManyAttribute
  readonly entity: Entity
  readonly path: string
}

type EntityName = Parameters<EntityManager['findOne']>[0]

function nameOf(resource: Resource): EntityName {
  return resource.entity as EntityName
}

/** The entity of a key, not loaded: it can be linked. */
export function reference(resource: Resource, key: KeyValues, em: EntityManager): Entity {
  return em.getReference(nameOf(resource), toPrimaryKey(resource, key) as never) as unknown as Entity
}

/** The entity of a key, loaded; undefined when there is none. */
export function load(resource: Resource, key: KeyValues, { em, connection }: Work): Awaitable<Entity | undefined> {
  return connection.load(nameOf(resource), toPrimaryKey(resource, key), em) as Awaitable<Entity | undefined>
}

/** Whether a record exists when it can be loaded, since it is one row of one table. */
export function loadsAlone(resource: Resource, { connection }: Work): boolean {
  return connection.loadsAlone(nameOf(resource))
}

/** Whether a record can be removed by its key alone. */
export function removesAlone(resource: Resource, { connection }: Work): boolean {
  return connection.removesAlone(nameOf(resource))
}

/** Creates a record with all that is nested in it. `implied` is what its owner sets. */
export function create(change: RecordInput, work: Work, implied: Entity = {}): Awaitable<Entity> {
  const data: Entity = { ...withEmbedded(toProperties(change.values), change.resource.attributes), ...implied }
  return isPlain(change) ? make(change, data, work) : createWith(change, data, work)
}

/** Whether nothing is to be made or looked at beside the record itself. */
function isPlain({ links, lists }: RecordInput): boolean {
  return links.length === 0 && lists.length === 0
}

function make(change: RecordInput, data: Entity, work: Work): Entity {
  const from = Date.now()
  const entity = work.em.create(nameOf(change.resource), byAccessor(data, metaOf(change.resource, work)) as never) as unknown as Entity
  work.connection.retime(entity, data, from)
  work.touched.push({ resource: change.resource, entity })
  return entity
}

async function createWith(change: RecordInput, data: Entity, work: Work): Promise<Entity> {
  for (const { attribute, within, link } of change.links) {
    if (attribute.owner)
      holderIn(data, within)[attribute.property] =
        link === null ? null : await linkValue(attribute, await linked(link, attribute, work), work)
  }
  const entity = make(change, data, work)
  for (const { attribute, link } of change.links) {
    if (!attribute.owner && link !== null) await adopt(link, attribute, entity, work)
  }
  for (const list of change.lists) await fillList(entity, list, work)
  return entity
}

function metaOf(resource: Resource, { em }: Work): EntityMetadata {
  return em.getMetadata().get(nameOf(resource))
}

/** The embedded object that a link is in, or the entity itself. */
function holderIn(entity: Entity, within: readonly EmbeddedAttribute[] = []): Entity {
  return within.reduce((holder, { property }) => holder[property] as Entity, entity)
}

/**
 * Sets a link: also inside an embedded object, which `em.assign` would take for an object to be made anew, and as a reference where the property holds
 * one, which MikroORM does itself for links by the primary key alone.
 */
export function setLink(
  entity: Entity,
  attribute: ToOneAttribute,
  within: readonly EmbeddedAttribute[] | undefined,
  value: unknown,
  em: EntityManager,
): void {
  const holder = holderIn(entity, within)
  const { properties } = em.getMetadata().get(holder.constructor as never)
  const isLink = isEntity(value) && !attribute.holdsKey
  holder[attribute.property] = isLink ? Reference.wrapReference(value, properties[attribute.property as never] as never) : value
}

/** Adds the embedded objects that a new record cannot be without: one may be left out when all that is in it may be. */
function withEmbedded(data: Entity, attributes: readonly Attribute[]): Entity {
  for (const attribute of attributes) {
    if (attribute.kind !== 'embedded' || !(attribute.needed || isEntity(data[attribute.property]))) continue
    data[attribute.property] = withEmbedded((data[attribute.property] ?? {}) as Entity, attribute.attributes)
  }
  return data
}

function isEntity(value: unknown): value is Entity {
  return typeof value === 'object' && value !== null
}

/** The entity that a reference in a body means: a bare reference, or a new one. */
async function referred(ref: RecordRef, target: Resource, work: Work, implied?: Entity): Promise<Entity> {
  return ref.kind === 'existing' ? reference(target, ref.key, work.em) : create(ref.record, work, implied)
}

/** The entity that a to-one is to link. One that is linked by another key than the primary one is loaded, since that key is written. */
async function linked(ref: RecordRef, { target, targetKey }: ToOneAttribute, work: Work): Promise<Entity> {
  return ref.kind === 'existing' && targetKey !== undefined ? (await load(target, ref.key, work))! : referred(ref, target, work)
}

/** Whether an entity has its key; a new one may have to be written first. */
export function hasKey(entity: Entity): boolean {
  return helper(entity).hasPrimaryKey()
}

/** What a property holds that links an entity: the entity, or its key. */
export function linkedValue(attribute: ToOneAttribute, entity: Entity): unknown {
  return attribute.holdsKey ? toPrimaryKey(attribute.target, keyOfEntity(attribute.target, entity)) : entity
}

async function linkValue(attribute: ToOneAttribute, entity: Entity, { em, connection }: Work): Promise<unknown> {
  const { targetKey } = attribute
  if (targetKey !== undefined) {
    // A default of the database's is there once the record is written.
    const isNew = em.getUnitOfWork().getOriginalEntityData(entity) === undefined
    if (isNew && (entity[targetKey.property] ?? null) === null) await connection.flush(em)
    requireTargetKey(attribute, entity)
  }
  if (attribute.holdsKey && !hasKey(entity)) await connection.flush(em)
  return linkedValue(attribute, entity)
}

/** Refuses to link a record that lacks what the foreign key would hold. */
export function requireTargetKey({ name, target, targetKey }: ToOneAttribute, entity: Entity): void {
  if (targetKey === undefined || (entity[targetKey.property] ?? null) !== null) return
  const detail = `"${name}" links a ${target.singular} by its "${targetKey.name}", and this one has none.`
  throw restError('validation_failed', detail, { errors: [{ code: 'conflict', detail, attribute: name }] })
}

/** Links a record by its own foreign key to the owner: the inverse side of a one-to-one, or a member of a one-to-many list. */
async function adopt(ref: RecordRef, relation: RelationAttribute, owner: Entity, work: Work): Promise<Entity> {
  const other = owningAttribute(relation)!
  const value = await linkValue(other, owner, work)
  if (ref.kind === 'new') {
    refuseShared(relation, ref, undefined, owner)
    return create(ref.record, work, { [other.property]: value })
  }
  const entity = (await load(relation.target, ref.key, work))!
  refuseShared(relation, ref, entity, owner)
  // What has the link already is not moved.
  if (!holdsLink(entity, other, value)) {
    await work.authorize(relation.target, 'update')
    await keepRights(entity, other, relation.target, work, () => {
      setLink(entity, other, undefined, value, work.em)
    })
  }
  work.touched.push({ resource: relation.target, entity, key: ref.key })
  return entity
}

/** Remembers what a body puts into a list with a condition. */
function putInto(list: ToManyAttribute, ref: RecordRef, entity: Entity, { listed }: Work): Entity {
  if (list.where !== undefined) listed.push({ list, entity, path: ref.kind === 'new' ? ref.record.path : ref.path })
  return entity
}

/** Fills the list of a new record. */
async function fillList(entity: Entity, { attribute, items }: ListInput, work: Work): Promise<void> {
  if (attribute.via.kind === 'foreign') {
    for (const item of items) putInto(attribute, item, await adopt(item, attribute, entity, work), work)
    return
  }
  const members: Entity[] = []
  for (const item of items) members.push(putInto(attribute, item, await referred(item, attribute.target, work), work))
  ;(entity[attribute.property] as Collection<object>).add(members)
}

/** Changes a record that is loaded. */
export function update(entity: Entity, change: RecordInput, work: Work): Awaitable<void> {
  checkVersion(entity, change)
  const lists = change.lists.filter(({ attribute }) => attribute.via.kind === 'pivot')
  return chain(lists.length === 0 ? undefined : loadAll(entity, lists, work), () => changeLoaded(entity, change, work))
}

/** Loading the members of a list loads them anew: what has been set of one of them would be lost, be it the record itself. */
async function loadAll(entity: Entity, lists: readonly ListInput[], work: Work): Promise<void> {
  for (const { attribute } of lists) await loadMembers(entity, attribute, work.em)
}

function changeLoaded(entity: Entity, change: RecordInput, work: Work): Awaitable<void> {
  const { em } = work
  const values = change.values.filter(({ attribute }) => !(attribute.kind === 'scalar' && attribute.version))
  assignValues(entity, values, em)
  // What comes to link the record by another key than the primary one would be inserted before that has changed.
  const isReferred = values.some(({ attribute }) => isReferredBy(attribute, change.resource))
  return chain(isReferred ? work.connection.flush(em) : undefined, () =>
    isPlain(change) ? undefined : changeRelations(entity, change, work),
  )
}

async function changeRelations(entity: Entity, change: RecordInput, work: Work): Promise<void> {
  const { resource, lists } = change
  const own = recordName(resource, keyOfEntity(resource, entity))
  for (const { attribute } of change.links) if (attribute.owner) work.named.add(linkName(attribute, own))
  for (const name of named(change)) work.named.add(name)
  // Before anything is changed: loading a record anew would undo what has been set of it and not been written yet.
  const before = new Map<ListInput | LinkInput, readonly Entity[]>()
  for (const link of change.links) before.set(link, await linkedBefore(entity, link, resource, work))
  for (const list of lists)
    if (list.attribute.via.kind === 'foreign') before.set(list, await members(entity, list.attribute, resource, work))
  for (const link of change.links) await changeLinkFrom(before.get(link)!, entity, link, resource, work)
  for (const list of lists) await replaceList(before.get(list) ?? [], entity, list, work)
}

/** One name for the link of a record by its own foreign key. */
function linkName({ name }: ToOneAttribute, record: string): string {
  return `${record}\0${name}`
}

/** The names of the records that a change links, and of the links of these that it sets. */
function* named({ links, lists }: RecordInput): Generator<string> {
  const refs = [
    ...links.map(({ attribute, link }) => ({ attribute, ref: link })),
    ...lists.flatMap(({ attribute, items }) => items.map(ref => ({ attribute, ref }))),
  ]
  for (const { attribute, ref } of refs) {
    if (ref?.kind === 'new') yield* named(ref.record)
    if (ref?.kind !== 'existing') continue
    const record = recordName(attribute.target, ref.key)
    yield record
    const other = owningAttribute(attribute)
    if (other !== undefined) yield linkName(other, record)
  }
}

/** Whether other records hold the value of the attribute as their link to the record. */
function isReferredBy({ property }: Attribute, { referrers }: Resource): boolean {
  return referrers.some(({ attribute }) => attribute.targetKey?.property === property)
}

/**
 * Sets the plain values of an entity, or of an embedded object. Not by `em.assign`, which takes the objects of custom types for mistakes. An embedded
 * object keeps what the change does not give; a list of them is replaced, and so is one that may now be of another class.
 */
function assignValues(holder: Entity, changes: readonly ValueInput[], em: EntityManager): void {
  for (const { attribute, value } of changes) {
    const { property } = attribute
    if (attribute.kind === 'scalar') {
      setScalar(holder, property, attribute.links === undefined ? toProperty(value, attribute.type) : linkOf(value, attribute, em))
      continue
    }
    const given = value as EmbeddedValue
    if (given === null) {
      holder[property] = null
    } else if ('members' in given) {
      holder[property] = given.members.map(member => newObject(attribute, member, em))
    } else if (attribute.variants !== undefined || (holder[property] ?? null) === null) {
      holder[property] = newObject(attribute, given, em)
    } else {
      assignValues(holder[property] as Entity, given, em)
    }
  }
}

/** What the property of a link in a list of embedded objects holds for a key. */
function linkOf(value: unknown, { links, type }: ScalarAttribute, em: EntityManager): unknown {
  if (value === null) return null
  return em.getReference(links!.entity as EntityName, toProperty(value, type) as never, { wrapped: links!.wrapped as never })
}

/** A property with `ref: true` holds a reference to its value. */
function setScalar(holder: Entity, property: string, value: unknown): void {
  const current = holder[property]
  if (current instanceof ScalarReference) current.set(value)
  else holder[property] = value
}

function newObject(attribute: EmbeddedAttribute, changes: readonly ValueInput[], em: EntityManager): Entity {
  const object = em
    .getEntityFactory()
    .createEmbeddable(attribute.entity as never, toProperties(changes) as never, { newEntity: true }) as Entity
  assignValues(object, changes, em)
  // MikroORM does it for new records only.
  em.getEntityFactory().assignDefaultValues(object, em.getMetadata(object.constructor as never) as never)
  return object
}

/** An embedded object that a change makes where there was none. */
interface NewEmbedded {
  readonly attribute: EmbeddedAttribute
  readonly path: string
  readonly value: readonly ValueInput[]
}

function* newEmbedded(holder: Entity, changes: readonly ValueInput[]): Generator<NewEmbedded> {
  for (const { attribute, path, value } of changes) {
    // A list, and an object of one of several classes, is given as a whole.
    if (attribute.kind !== 'embedded' || value === null || attribute.array || attribute.variants !== undefined) continue
    const current = holder[attribute.property] ?? null
    const inner = value as readonly ValueInput[]
    if (current === null) yield { attribute, path, value: inner }
    yield* newEmbedded((current ?? {}) as Entity, inner)
  }
}

/** The faults of what new embedded objects lack. The change of one that is there need not give everything, so that validation cannot tell. */
export function requireNewEmbedded(entity: Entity, change: RecordInput, visibility: Visibility): readonly FieldError[] {
  return [...newEmbedded(entity, change.values)].flatMap(({ attribute, path, value }) =>
    requireEmbedded(attribute, value, change.links, path, visibility),
  )
}

/** The faults of links whose foreign keys share columns with another attribute, which then cannot say something else. */
export function checkShared(change: RecordInput, entity: Entity | undefined, faults: FieldErrors): void {
  const { attributes } = change.resource
  for (const { attribute, within, link, path } of change.links) {
    if (link?.kind !== 'existing' || !attribute.owner) continue
    for (const other of attributes) {
      const columns = other === attribute || other === within?.[0] ? [] : tableColumns(other)
      // Of two keys that share a column, the longer one is told of.
      if (columns.length > attribute.columns.length || !columns.some(column => attribute.columns.includes(column))) continue
      const values = columnValues(other, change, entity)
      const differs = attribute.columns.some((column, part) => values.has(column) && values.get(column) !== link.key[part])
      if (!differs) continue
      const detail = `"${path}" contradicts "${other.name}", with which it shares a part of its key.`
      faults.push({ code: 'conflict', detail, attribute: path, value: link.given })
    }
  }
}

/** Refuses to link a record by its own foreign key where that shares a column with another attribute of it, its key perhaps, that says something else. */
function refuseShared(relation: RelationAttribute, ref: RecordRef, entity: Entity | undefined, owner: Entity): void {
  const other = owningAttribute(relation)!
  if (other.targetKey !== undefined || other.columns.length < 2 || !hasKey(owner)) return
  const { links, values, resource } = ref.kind === 'new' ? ref.record : { links: [], values: [], resource: relation.target }
  const key = keyOfEntity(other.target, owner)
  for (const attribute of resource.attributes) {
    if (attribute === other || !tableColumns(attribute).some(column => other.columns.includes(column))) continue
    const known = columnValues(attribute, { links, values }, entity)
    if (!other.columns.some((column, part) => known.has(column) && known.get(column) !== key[part])) continue
    const path = ref.kind === 'new' ? ref.record.path : ref.path
    const detail = `"${path}" cannot be linked: its "${attribute.name}" shares a part of the key with "${other.name}", and is another one.`
    throw restError('validation_failed', detail, { errors: [{ code: 'conflict', detail, attribute: path }] })
  }
}

/** The values that the columns of an attribute will have, as far as they are known. */
function columnValues(
  attribute: Attribute,
  change: Pick<RecordInput, 'links' | 'values'>,
  entity: Entity | undefined,
): ReadonlyMap<string, unknown> {
  const columns = tableColumns(attribute)
  const linked = change.links.find(link => link.attribute === attribute)?.link
  if (linked !== undefined) return new Map(linked?.kind === 'existing' ? columns.map((column, part) => [column, linked.key[part]]) : [])
  const given = change.values.find(value => value.attribute === attribute)
  if (given !== undefined) return new Map(columns.map(column => [column, given.value]))
  const current = entity?.[attribute.property] ?? null
  if (current === null || attribute.kind === 'toMany' || attribute.kind === 'toOneOf' || attribute.kind === 'embedded') return new Map()
  if (attribute.kind === 'scalar') return new Map([[columns[0]!, fromProperty(current, attribute.type)]])
  // A link that may be empty gives way: it has its own columns beside the shared ones.
  if (attribute.nullable) return new Map()
  const key = attribute.holdsKey ? keyOfProperty(attribute.target, current) : keyOfEntity(attribute.target, unwrap(current))
  return new Map(columns.map((column, part) => [column, key[part]]))
}

/** An old value of the version property tells that the client has seen an older state (optimistic locking). */
function checkVersion(entity: Entity, change: RecordInput): void {
  for (const { attribute, value } of change.values) {
    if (attribute.kind !== 'scalar' || !attribute.version) continue
    const current = entity[attribute.property]
    const now = current instanceof Date ? current.getTime() : current
    if (now !== value) {
      throw restError(
        'version_conflict',
        `The ${change.resource.singular} has changed meanwhile: its "${attribute.name}" is no longer ${String(value)}.`,
      )
    }
  }
}

/** Links, unlinks or replaces what a to-one of a loaded record refers to. */
export async function changeLink(entity: Entity, link: LinkInput, resource: Resource, work: Work): Promise<void> {
  await changeLinkFrom(await linkedBefore(entity, link, resource, work), entity, link, resource, work)
}

/** The record that links the entity as the other side of a one-to-one, if there is one, loaded. */
async function linkedBefore(entity: Entity, { attribute }: LinkInput, resource: Resource, work: Work): Promise<readonly Entity[]> {
  const current = attribute.owner ? undefined : await loadInverse(entity, attribute, resource, work)
  return current === undefined ? [] : [current]
}

async function changeLinkFrom(
  [current]: readonly Entity[],
  entity: Entity,
  { attribute, within, link, path }: LinkInput,
  resource: Resource,
  work: Work,
): Promise<void> {
  if (attribute.owner) {
    const target = link === null ? null : await linkValue(attribute, await linked(link, attribute, work), work)
    await keepRights(holderIn(entity, within), attribute, resource, work, () => {
      if (within !== undefined) setLink(entity, attribute, within, target, work.em)
      else if (attribute.holdsKey) entity[attribute.property] = target
      else work.em.assign(entity as never, { [attribute.property]: target } as never)
    })
    return
  }
  if (link?.kind === 'existing' && current !== undefined && sameKey(keyOfEntity(attribute.target, current), link.key)) return
  if (current !== undefined) {
    if (!(await work.exists(attribute.target, keyOfEntity(attribute.target, current)))) {
      // What does not exist for the caller is no link of his to change.
      if (link === null) return
      throw restError('unique_conflict', `"${path}" cannot be linked: another record has the link already.`)
    }
    await release(current, attribute, path, work)
    // First the old link goes, then the new one comes: both at once would break the uniqueness of the foreign key.
    await work.connection.flush(work.em)
    if (link !== null) refuseGone(entity, path, work)
  }
  if (link !== null) await adopt(link, attribute, entity, work)
}

/** The condition that the records meet whose foreign key links the owner of an inverse relation; undefined when there can be none. */
function linksTo(owner: Entity, relation: RelationAttribute, resource: Resource): object | undefined {
  const { property, targetKey, discriminator } = owningAttribute(relation)!
  // Of several entities the owner itself tells which one is meant.
  if (discriminator !== undefined) return { [property]: owner }
  if (targetKey === undefined) {
    const key = toPrimaryKey(resource, keyOfEntity(resource, owner))
    // Of a key that lies in another MikroORM counts the outer parts only.
    return { [property]: Array.isArray(key) ? key.flat(Infinity) : key }
  }
  const value = owner[targetKey.property] ?? null
  return value === null ? undefined : { [property]: value }
}

async function loadInverse(entity: Entity, attribute: ToOneAttribute, resource: Resource, work: Work): Promise<Entity | undefined> {
  const where = linksTo(entity, attribute, resource)
  if (where === undefined) return undefined
  return (await findFirst(nameOf(attribute.target), where, work.em)) as Entity | undefined
}

/** Refuses to link records to one that has gone with those that were linked before: MikroORM would insert it again. */
function refuseGone(owner: Entity, path: string, { em }: Work): void {
  if (em.getUnitOfWork().getOriginalEntityData(owner) !== undefined) return
  throw restError(
    'owner_required',
    `"${path}": what is linked no longer is removed, and the record itself with it, so nothing can be linked to it.`,
  )
}

/** Whether a record has the very link already. */
function holdsLink(entity: Entity, { property, holdsKey, target }: ToOneAttribute, value: unknown): boolean {
  const current = entity[property] ?? null
  if (current === null || value === null) return false
  return holdsKey ? sameKey(keyOfProperty(target, current), keyOfProperty(target, value)) : unwrap(current) === unwrap(value as object)
}

/**
 * Changes a link that a record holds. Where the model removes what is linked no longer, the caller must be allowed to delete that; what does not exist
 * for them stays.
 *
 * @param holder the record, or the embedded object in it that has the link
 * @param resource that the record is of
 */
async function keepRights(holder: Entity, attribute: ToOneAttribute, resource: Resource, work: Work, change: () => void): Promise<void> {
  const link = attribute.orphanRemoval ? (holder[attribute.property] ?? null) : null
  change()
  const now = holder[attribute.property] ?? null
  if (link === null || attribute.holdsKey || (now !== null && unwrap(now) === unwrap(link))) return
  const orphan = unwrap(link)
  const named = resource.byName.get(attribute.name)
  const branch =
    named?.kind === 'toOneOf' ? named.branches.find(({ target }) => orphan instanceof (target.entity as new () => object)) : undefined
  const { target } = branch ?? attribute
  if (await work.exists(target, keyOfEntity(target, orphan))) {
    await work.authorize(target, 'delete')
    await removeOrphan(target, orphan, work)
  } else work.em.getUnitOfWork().cancelOrphanRemoval(orphan)
}

/** Removes all that goes with what is linked no longer: MikroORM, which removes that itself, cascades to loaded relations only. */
async function removeOrphan(target: Resource, orphan: Entity, work: Work): Promise<void> {
  const resource = classOf(target, orphan)
  if (!goesWithOthers(resource)) return
  // A link knows no more than the key.
  const loaded = await load(resource, keyOfEntity(resource, orphan), work)
  const removed = new Map<Entity, Resource>()
  if (loaded !== undefined) await cascade(classOf(resource, loaded), loaded, removed, work)
  await removeWithLinks(removed, work)
}

/** Takes the link to its owner from a record: an orphan is removed where the model says so, and cannot be where an owner is required. */
async function release(member: Entity, relation: RelationAttribute, path: string, work: Work): Promise<void> {
  const other = owningAttribute(relation)!
  const record = recordName(relation.target, keyOfEntity(relation.target, member))
  // The body links it to another owner.
  if (work.named.has(linkName(other, record))) return
  await work.authorize(relation.target, relation.orphanRemoval ? 'delete' : 'update')
  if (relation.orphanRemoval) {
    if (work.named.has(record)) {
      const id = keyToSegment(keyOfEntity(relation.target, member), relation.target)
      const detail = `"${path}" would remove the ${relation.target.singular} ${id}, which the body links elsewhere.`
      throw restError('validation_failed', detail, { errors: [{ code: 'conflict', detail, attribute: path }] })
    }
    await removeOrphan(relation.target, member, work)
    work.em.remove(member as never)
  } else if (other.nullable) {
    await keepRights(member, other, relation.target, work, () => {
      member[other.property] = null
    })
    work.touched.push({ resource: relation.target, entity: member, key: keyOfEntity(relation.target, member) })
  } else {
    const id = keyToSegment(keyOfEntity(relation.target, member), relation.target)
    throw restError(
      'owner_required',
      `"${path}": the ${relation.target.singular} ${id} would be left without its "${other.name}", which it needs.`,
    )
  }
}

async function loadMembers(entity: Entity, { property }: ToManyAttribute, em: EntityManager): Promise<Collection<object>> {
  const collection = entity[property] as Collection<object>
  if (!collection.isInitialized()) await loadList(collection, em)
  return collection
}

/** Replaces the members of a list of a loaded record. */
async function replaceList(current: readonly Entity[], entity: Entity, { attribute, items, path }: ListInput, work: Work): Promise<void> {
  if (attribute.via.kind === 'pivot') {
    const members: Entity[] = []
    for (const item of items) members.push(putInto(attribute, item, await referred(item, attribute.target, work), work))
    const collection = await loadMembers(entity, attribute, work.em)
    // What is not in the list for the caller cannot be taken out by them.
    const unseen = await keepOnly(collection.getItems() as Entity[], async member => !(await isListed(member, attribute, work)))
    collection.set([...members, ...unseen])
    return
  }
  const kept = items.filter(item => item.kind === 'existing').map(item => item.key)
  const released = current.filter(member => {
    const key = keyOfEntity(attribute.target, member)
    return !kept.some(other => sameKey(other, key))
  })
  for (const member of released) await release(member, attribute, path, work)
  // First the old members go, then the new ones come: they may take what was unique to those.
  if (released.length > 0) {
    await work.connection.flush(work.em)
    if (items.length > 0) refuseGone(entity, path, work)
  }
  for (const item of items) putInto(attribute, item, await adopt(item, attribute, entity, work), work)
}

/** Whether a linked record is shown in a list: it exists for the caller, and meets the list's own condition. */
async function isListed(member: Entity, list: ToManyAttribute, work: Work): Promise<boolean> {
  const key = keyOfEntity(list.target, member)
  return (list.where === undefined || (await work.meets(list, key))) && (await work.exists(list.target, key))
}

/** The members of a one-to-many list that the caller is shown, loaded. */
async function members(entity: Entity, attribute: ToManyAttribute, resource: Resource, work: Work): Promise<Entity[]> {
  const all = await allMembers(entity, attribute, resource, work)
  return keepOnly(all, member => isListed(member, attribute, work))
}

async function allMembers(entity: Entity, attribute: ToManyAttribute, resource: Resource, work: Work): Promise<Entity[]> {
  const where = linksTo(entity, attribute, resource)
  if (where === undefined) return []
  return work.em.find(nameOf(attribute.target), where, loading(nameOf(attribute.target), work.em))
}

async function keepOnly<T>(items: readonly T[], test: (item: T) => Awaitable<boolean>): Promise<T[]> {
  const kept: T[] = []
  for (const item of items) if (await test(item)) kept.push(item)
  return kept
}

/** Creates a record and appends it to a list of an existing one. */
export async function append(owner: Entity, attribute: ToManyAttribute, change: RecordInput, work: Work): Promise<Entity> {
  const item = { kind: 'new', record: change } as const
  if (attribute.via.kind === 'foreign') return putInto(attribute, item, await adopt(item, attribute, owner, work), work)
  const entity = putInto(attribute, item, await create(change, work), work)
  ;(owner[attribute.property] as Collection<object>).add(entity)
  return entity
}

/** Removes records with all that the model removes with them. */
export function remove(resource: Resource, entities: readonly Entity[], work: Work): Awaitable<void> {
  const [entity] = entities
  if (entity === undefined || entities.length > 1 || goesWithOthers(classOf(resource, entity))) return removeAll(resource, entities, work)
  return chain(refuseOrphans(new Map([[entity, classOf(resource, entity)]]), work), () => {
    work.em.remove(entity as never)
  })
}

/** Whether other records go with one of the resource, or lose a link that no foreign key keeps. */
function goesWithOthers({ attributes, referrers }: Resource): boolean {
  return (
    attributes.some(cascades) ||
    attributes.some(isShared) ||
    referrers.some(({ attribute }) => attribute.discriminator !== undefined && attribute.onDelete === 'unlink')
  )
}

/** A list in a table that several entities share, which has no foreign key. */
function isShared(attribute: Attribute): attribute is ToManyAttribute {
  return attribute.kind === 'toMany' && attribute.via.kind === 'pivot' && attribute.via.discriminator !== undefined
}

function cascades(attribute: Attribute): boolean {
  if (attribute.kind === 'embedded') return attribute.attributes.some(cascades)
  if (attribute.kind === 'toOneOf') return attribute.branches.some(cascades)
  return attribute.kind !== 'scalar' && attribute.cascadeRemove
}

async function removeAll(resource: Resource, entities: readonly Entity[], work: Work): Promise<void> {
  const removed = new Map<Entity, Resource>()
  for (const entity of entities) await cascade(classOf(resource, entity), entity, removed, work)
  await refuseOrphans(removed, work)
  await removeWithLinks(removed, work)
}

async function removeWithLinks(removed: ReadonlyMap<Entity, Resource>, work: Work): Promise<void> {
  await unlinkFrom(removed, work)
  await leaveShared(removed, work)
  for (const entity of removed.keys()) work.em.remove(entity as never)
}

/** Collects a record and all that goes with it: MikroORM cascades to loaded relations only. */
async function cascade(resource: Resource, entity: Entity, removed: Map<Entity, Resource>, work: Work): Promise<void> {
  if (removed.has(entity)) return
  removed.set(entity, resource)
  for (const attribute of resource.attributes) {
    for (const { relation, holder } of relationsIn(attribute, entity)) {
      if (!relation.cascadeRemove) continue
      for (const related of await relatedTo(holder, relation, resource, work))
        await cascade(classOf(relation.target, related), related, removed, work)
    }
  }
}

/** The relations of an attribute, with what holds them: those inside embedded objects are held by these. */
function relationsIn(attribute: Attribute, entity: Entity): { relation: RelationAttribute; holder: Entity }[] {
  if (attribute.kind === 'scalar') return []
  if (attribute.kind === 'toOneOf') {
    const branch = linkedBranch(attribute, entity)
    return branch === undefined ? [] : [{ relation: branch, holder: entity }]
  }
  if (attribute.kind !== 'embedded') return [{ relation: attribute, holder: entity }]
  return owningLinks([attribute]).flatMap(({ attribute: relation, within }) => {
    let holder: unknown = entity
    for (const { property } of within) holder = isEntity(holder) ? holder[property] : undefined
    return isEntity(holder) ? [{ relation, holder }] : []
  })
}

async function relatedTo(entity: Entity, attribute: RelationAttribute, resource: Resource, work: Work): Promise<Entity[]> {
  if (attribute.kind === 'toMany') {
    if (attribute.via.kind === 'foreign') return allMembers(entity, attribute, resource, work)
    const collection = await loadMembers(entity, attribute, work.em)
    return collection.getItems() as unknown as Entity[]
  }
  if (!attribute.owner) {
    const related = await loadInverse(entity, attribute, resource, work)
    return related === undefined ? [] : [related]
  }
  const link = entity[attribute.property] ?? null
  if (link === null) return []
  const key = attribute.holdsKey ? keyOfProperty(attribute.target, link) : keyOfEntity(attribute.target, unwrap(link))
  const related = await load(attribute.target, key, work)
  return related === undefined ? [] : [related]
}

/** Which of several entities a record links. */
function linkedBranch({ branches, property }: ToOneOfAttribute, entity: Entity): PolymorphicTarget | undefined {
  const link = entity[property] ?? null
  if (link === null) return undefined
  const linked = unwrap(link)
  return branches.find(({ target }) => linked instanceof (target.entity as new () => object))
}

function unwrap(link: object): Entity {
  return ('unwrap' in link && typeof link.unwrap === 'function' ? link.unwrap() : link) as Entity
}

/** Takes away the links to records that go, where no foreign key does: those of relations to one of several entities. */
async function unlinkFrom(removed: ReadonlyMap<Entity, Resource>, { em }: Work): Promise<void> {
  for (const [entity, { referrers }] of removed) {
    for (const { resource: other, attribute } of referrers) {
      if (attribute.discriminator === undefined || attribute.onDelete !== 'unlink') continue
      const linking = (await em.find(nameOf(other), { [attribute.property]: entity }, loading(nameOf(other), em))) as unknown as Entity[]
      for (const record of linking) if (!removed.has(record)) record[attribute.property] = null
    }
  }
}

/** Takes the records that go out of the lists that no foreign key keeps. */
async function leaveShared(removed: ReadonlyMap<Entity, Resource>, work: Work): Promise<void> {
  let isLeaving = false
  for (const [entity, resource] of removed) {
    const lists = resource.attributes.filter(isShared)
    if (lists.length === 0) continue
    // A record that need not be loaded to be removed has no lists.
    const loaded = await load(resource, keyOfEntity(resource, entity), work)
    for (const attribute of loaded === undefined ? [] : lists) (await loadMembers(loaded!, attribute, work.em)).removeAll()
    isLeaving = true
  }
  // MikroORM writes no lists of what it removes.
  if (isLeaving) await work.connection.flush(work.em)
}

/** Refuses a removal after which records would link what is no longer there, and cannot go without. */
function refuseOrphans(removed: ReadonlyMap<Entity, Resource>, work: Work): Awaitable<void> {
  const resources = [...removed.values()]
  if (resources.some(({ referrers }) => referrers.some(({ attribute }) => attribute.onDelete === 'refuse'))) {
    return refuseReferred(removed, work)
  }
}

async function refuseReferred(removed: ReadonlyMap<Entity, Resource>, { connection, exists, tells }: Work): Promise<void> {
  const { dialect } = connection
  let isNeeded = false
  const left: string[] = []
  for (const [entity, resource] of removed) {
    for (const { resource: other, attribute, path } of resource.referrers) {
      if (attribute.onDelete !== 'refuse') continue
      const statement = dialect.referrers(other, attribute)
      const key = keyOfEntity(resource, entity)
      const rows = await connection.read(() => readRows(statement, { filters: [], limit: 1, offset: 0, key }, dialect))
      const going = [...removed]
        .filter(([, kind]) => rootOf(kind) === rootOf(other))
        .map(([one]) => keyOfEntity(other, one).map(String).join('\0'))
      const staying = rows.filter(row => !going.includes(row.map(String).join('\0')))
      if (staying.length === 0) continue
      isNeeded = true
      if (attribute.hidden || !(await tells(other))) continue
      const known = await keepOnly(staying, row => exists(other, row as KeyValues))
      if (known.length > 0) left.push(`${known.length} ${known.length === 1 ? other.singular : other.plural} by "${path}"`)
    }
  }
  // Of records that do not exist for the caller nothing is told but that there are some.
  if (isNeeded)
    throw restError('owner_required', `It cannot be deleted, since others refer to it${left.length > 0 ? `: ${left.join(', ')}` : ''}.`)
}
