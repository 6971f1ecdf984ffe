/**
 * Applies a valid body (RecordInput) to entities of MikroORM, in an open transaction. Refuses with version_conflict, unique_conflict,
 * owner_required, forbidden, token_missing and validation_failed.
 *
 * ```
 * PUT /v1/users/3 { "name": "Ann", "posts": [4, { "title": "x" }] }
 *
 * user.name = 'Ann'
 * post4.user = user
 * em.create(Post, { title: 'x', user })
 * ```
 */
import type { Collection, EntityManager, EntityMetadata } from '@mikro-orm/core'
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { keyOfEntity, type Entity, hasKey } from '../../model/entity-key.ts'
import { sameKey, type KeyValues } from '../../model/key.ts'
import type { RelationAttribute, Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import { addNeededEmbedded, assignValues, callClass } from './assign-values.ts'
import { recordName } from '../validate/check-database.ts'
import { findHolder, holdsLink, isInherited, linkedValue, needsKey, requireTargetKey, setLink } from './entity-links.ts'
import { isListed, keepOnly, loadInverse, loadCollection, loadShownMembers } from './load-related.ts'
import { writeOneSide } from './ordered-lists.ts'
import { load, entityName, requireWritable, reference, type Work } from './unit-of-work.ts'
import { changeOwnLink, nameLink, refuseRemovedParent, unlinkFromParent } from './unlink.ts'
import { owningAttribute } from '../validate/relation-sides.ts'
import { isHeldByOtherRows } from '../validate/write-rules.ts'
import { linksItself, listReferences } from '../validate/linked-records.ts'
import type { LinkInput, ListInput, RecordInput, RecordRef, ValueInput } from '../validate/record-input.ts'
import { toProperties } from '../validate/property-values.ts'
import { refuseShared } from '../validate/shared-columns.ts'
import { checkVersion } from '../validate/precondition.ts'

/** @param implied values that the parent gives: `{ user }` for a new post in a user's list */
export function create(change: RecordInput, work: Work, implied: Entity = {}): Awaitable<Entity> {
  const data: Entity = { ...addNeededEmbedded(toProperties(change.values), change.resource.attributes), ...implied }
  return isPlain(change) ? createEntity(change, data, work) : createWithRelations(change, data, work)
}

function isPlain({ links, lists }: RecordInput): boolean {
  return links.length === 0 && lists.length === 0
}

const PERSISTED = { persist: true } as const

function createEntity(change: RecordInput, data: Entity, work: Work): Entity {
  // `retime` replaces times read from the system by the constructor.
  const from = Date.now()
  const values = nameByAccessor(data, entityMeta(change.resource, work))
  // `persistOnCreate` may be off.
  const create = (): unknown => work.em.create(entityName(change.resource), values, PERSISTED)
  const entity = callClass(change.resource.className, change.path, create) as Entity
  work.connection.retime(entity, data, from)
  work.touched.push({ resource: change.resource, entity })
  return entity
}

async function createWithRelations(change: RecordInput, data: Entity, work: Work): Promise<Entity> {
  for (const { attribute, within, link } of change.links) {
    if (attribute.owner && !linksItself(link))
      findHolder(data, within)[attribute.property] =
        link === null ? null : await computeLinkValue(attribute, await resolveLink(link, attribute, work), work, change.resource)
  }
  const entity = createEntity(change, data, work)
  if (listReferences(change).some(({ ref }) => linksItself(ref))) await (await import('./link-itself.ts')).linkItself(entity, change, work)
  for (const { attribute, link } of change.links) {
    if (!attribute.owner && link !== null && !linksItself(link)) await linkToParent(link, attribute, entity, work)
  }
  for (const list of change.lists) await fillList(entity, list, work)
  return entity
}

function entityMeta(resource: Resource, { em }: Work): EntityMetadata {
  return em.getMetadata().get(entityName(resource))
}

async function resolveRecord(ref: RecordRef, target: Resource, work: Work, implied?: Entity): Promise<Entity> {
  return ref.kind === 'existing' ? reference(target, ref.key, work.em) : create(ref.record, work, implied)
}

/** A link storing another unique value than the primary key needs the entity loaded. */
export async function resolveLink(ref: RecordRef, { target, targetKey }: ToOneAttribute, work: Work): Promise<Entity> {
  return ref.kind === 'existing' && targetKey !== undefined ? (await load(target, ref.key, work))! : resolveRecord(ref, target, work)
}

/**
 * The entity, or its key. Flushes a new entity first, if the database makes the key.
 *
 * @param linking the resource of the record that gets the link, if that record is new
 */
async function computeLinkValue(attribute: ToOneAttribute, entity: Entity, { em }: Work, linking?: Resource): Promise<unknown> {
  const { targetKey } = attribute
  const isNew = em.getUnitOfWork().getOriginalEntityData(entity) === undefined
  // Where a parent class's table has the link's column, MikroORM loses a link to an entity not stored yet.
  if (isNew && linking !== undefined && isInherited(attribute, linking, em)) await em.flush()
  if (targetKey !== undefined) {
    // The column may have a default in the database.
    if (isNew && (entity[targetKey.property] ?? null) === null) await em.flush()
    requireTargetKey(attribute, entity)
  }
  if (needsKey(attribute) && !hasKey(entity)) await em.flush()
  return linkedValue(attribute, entity)
}

/**
 * `post.user = user`.
 *
 * @param parent the record that has the list, or the inverse link
 */
async function linkToParent(ref: RecordRef, relation: RelationAttribute, parent: Entity, work: Work): Promise<Entity> {
  const other = owningAttribute(relation)!
  const value = await computeLinkValue(other, parent, work, ref.kind === 'new' ? ref.record.resource : undefined)
  if (ref.kind === 'new') {
    refuseShared(relation, ref, undefined, parent)
    return create(ref.record, work, { [other.property]: value })
  }
  const entity = (await load(relation.target, ref.key, work))!
  refuseShared(relation, ref, entity, parent)
  if (!holdsLink(entity, other, value)) {
    await work.authorize(relation.target, 'update')
    await requireWritable(relation.target, [ref.key], work)
    await changeOwnLink(entity, other, relation.target, work, () => {
      setLink(entity, other, undefined, value, work.em)
    })
  }
  work.touched.push({ resource: relation.target, entity, key: ref.key })
  return entity
}

/** Notes a member of a list with a condition (`where`), to be checked after the flush. */
function rememberMember(list: ToManyAttribute, ref: RecordRef, entity: Entity, { conditional }: Work): Entity {
  if (list.where !== undefined) conditional.push({ list, entity, path: ref.kind === 'new' ? ref.record.path : ref.path })
  return entity
}

async function fillList(entity: Entity, { attribute, items }: ListInput, work: Work): Promise<void> {
  if (attribute.via.kind === 'foreign') {
    for (const item of items)
      rememberMember(attribute, item, linksItself(item) ? entity : await linkToParent(item, attribute, entity, work), work)
    return
  }
  if (isHeldByOtherRows(attribute)) await requireWritable(attribute.target, findKeys(items), work)
  const members: Entity[] = []
  for (const item of items)
    members.push(rememberMember(attribute, item, linksItself(item) ? entity : await resolveRecord(item, attribute.target, work), work))
  work.newMembers.push({ attribute, items })
  ;(entity[attribute.property] as Collection<object>).add(members)
  writeOneSide(entity, attribute, members, work.em)
}

export function update(entity: Entity, change: RecordInput, work: Work): Awaitable<void> {
  checkVersion(entity, change)
  const lists = change.lists.filter(({ attribute }) => attribute.via.kind === 'pivot')
  return chain(lists.length === 0 ? undefined : loadLists(entity, lists, work), () => changeLoaded(entity, change, work))
}

/** Loads before values are set: the record may be in its own list, and loading again undoes set values. */
async function loadLists(entity: Entity, lists: readonly ListInput[], work: Work): Promise<void> {
  for (const { attribute } of lists) await loadCollection(entity, attribute, work.em)
}

function changeLoaded(entity: Entity, change: RecordInput, work: Work): Awaitable<void> {
  const { em } = work
  const values = change.values.filter(({ attribute }) => !(attribute.kind === 'scalar' && attribute.version))
  assignValues(entity, values, em)
  if (work.connection.mayHoldMisfits) forgetReadValues(entity, values, em)
  // MikroORM inserts before it updates: a new record that links the changed key would find the old key.
  const changesLinkedKey = change.resource.referrers.some(({ attribute: { targetKey } }) =>
    values.some(({ attribute: { property } }) => targetKey?.property === property),
  )
  return chain(changesLinkedKey ? em.flush() : undefined, () => (isPlain(change) ? undefined : changeRelations(entity, change, work)))
}

/** Makes MikroORM write values that seem unchanged: a stored 2 is read as `true`, and would stay where the body says `true`. */
function forgetReadValues(entity: Entity, values: readonly ValueInput[], em: EntityManager): void {
  const loaded = em.getUnitOfWork().getOriginalEntityData(entity)
  for (const { attribute } of values)
    if (attribute.kind === 'scalar' && !attribute.hidden && attribute.lazy !== true) delete loaded?.[attribute.property]
}

async function changeRelations(entity: Entity, change: RecordInput, work: Work): Promise<void> {
  const { resource, lists } = change
  const ownName = recordName(resource, keyOfEntity(resource, entity))
  for (const { attribute } of change.links) if (attribute.owner) work.setByBody.add(nameLink(attribute, ownName))
  for (const name of listLinkedNames(change)) work.setByBody.add(name)
  const before = new Map<ListInput | LinkInput, readonly Entity[]>()
  for (const link of change.links) before.set(link, await findLinked(entity, link, resource, work))
  for (const list of lists)
    if (list.attribute.via.kind === 'foreign') before.set(list, await loadShownMembers(entity, list.attribute, resource, work))
  for (const link of change.links) await replaceLink(before.get(link)!, entity, link, resource, work)
  for (const list of lists) await replaceList(before.get(list) ?? [], entity, list, work)
}

/** Names records that the body links (`Post 4`), and their links back (`user` of `Post 4`): `setByBody` keeps both from being unlinked. */
export function* listLinkedNames(change: RecordInput): Generator<string> {
  for (const { relation, ref } of listReferences(change)) {
    if (ref.kind === 'new') {
      yield* listLinkedNames(ref.record)
      continue
    }
    const record = recordName(relation.target, ref.key)
    yield record
    const other = owningAttribute(relation)
    if (other !== undefined) yield nameLink(other, record)
  }
}

export async function changeLink(entity: Entity, link: LinkInput, resource: Resource, work: Work): Promise<void> {
  await replaceLink(await findLinked(entity, link, resource, work), entity, link, resource, work)
}

async function findLinked(entity: Entity, { attribute }: LinkInput, resource: Resource, work: Work): Promise<readonly Entity[]> {
  const current = attribute.owner ? undefined : await loadInverse(entity, attribute, resource, work)
  return current === undefined ? [] : [current]
}

async function replaceLink(
  [current]: readonly Entity[],
  entity: Entity,
  { attribute, within, link, path }: LinkInput,
  resource: Resource,
  work: Work,
): Promise<void> {
  if (attribute.owner) {
    const target = link === null ? null : await computeLinkValue(attribute, await resolveLink(link, attribute, work), work)
    await changeOwnLink(findHolder(entity, within), attribute, resource, work, () => {
      // `em.assign` replaces embedded objects, and misreads some keys.
      if (within !== undefined) setLink(entity, attribute, within, target, work.em)
      else if (attribute.holdsKey) entity[attribute.property] = target
      else work.em.assign(entity, { [attribute.property]: target })
    })
    return
  }
  if (link?.kind === 'existing' && current !== undefined && sameKey(keyOfEntity(attribute.target, current), link.key)) return
  if (current !== undefined) {
    // For the caller, the link is empty.
    if (!(await work.isVisible(attribute.target, keyOfEntity(attribute.target, current)))) {
      if (link === null) return
      throw restError('unique_conflict', `"${path}" cannot be linked: another record has the link already.`)
    }
    await unlinkFromParent(current, attribute, path, work)
    // The old link first: both at once would break the foreign key's uniqueness.
    await work.em.flush()
    if (link !== null) refuseRemovedParent(entity, path, work)
  }
  if (link !== null) await linkToParent(link, attribute, entity, work)
}

async function replaceList(
  current: readonly Entity[],
  entity: Entity,
  { attribute, items, path, removed }: ListInput,
  work: Work,
): Promise<void> {
  const isRemoved = (member: Entity): boolean => {
    const key = keyOfEntity(attribute.target, member)
    return removed?.some(other => sameKey(other.key, key)) === true
  }
  if (attribute.via.kind === 'pivot') {
    const members: Entity[] = []
    for (const item of items) members.push(rememberMember(attribute, item, await resolveRecord(item, attribute.target, work), work))
    const collection = await loadCollection(entity, attribute, work.em)
    const before = collection.getItems() as Entity[]
    work.newMembers.push({ attribute, items: items.filter((_, index) => !before.includes(members[index]!)) })
    // Members hidden from the caller stay.
    const hidden = await keepOnly(before, async member => !(await isListed(member, attribute, work)))
    const coming = members.filter(member => !before.includes(member))
    const after =
      removed === undefined
        ? [...members, ...hidden]
        : [...before.filter(member => hidden.includes(member) || !isRemoved(member)), ...coming]
    if (isHeldByOtherRows(attribute)) await requireWritable(attribute.target, findMovedKeys(collection, after, attribute), work)
    collection.set(after)
    writeOneSide(entity, attribute, removed === undefined ? members : coming, work.em)
    return
  }
  const kept = items.filter(item => item.kind === 'existing').map(item => item.key)
  const isKept = (member: Entity): boolean => {
    const key = keyOfEntity(attribute.target, member)
    return kept.some(other => sameKey(other, key))
  }
  const released = current.filter(member => (removed === undefined ? !isKept(member) : isRemoved(member)))
  for (const member of released) await unlinkFromParent(member, attribute, path, work)
  // Old members first: new members may take over a unique value.
  if (released.length > 0) {
    await work.em.flush()
    if (items.length > 0) refuseRemovedParent(entity, path, work)
  }
  for (const item of items) rememberMember(attribute, item, await linkToParent(item, attribute, entity, work), work)
}

export async function append(parent: Entity, attribute: ToManyAttribute, change: RecordInput, work: Work): Promise<Entity> {
  const item = { kind: 'new', record: change } as const
  if (attribute.via.kind === 'foreign') return rememberMember(attribute, item, await linkToParent(item, attribute, parent, work), work)
  const entity = rememberMember(attribute, item, await create(change, work), work)
  work.newMembers.push({ attribute, items: [item] })
  ;(parent[attribute.property] as Collection<object>).add(entity)
  writeOneSide(parent, attribute, [entity], work.em)
  return entity
}

function findKeys(items: readonly RecordRef[]): readonly KeyValues[] {
  return items.flatMap(item => (item.kind === 'existing' && item.isItself !== true ? [item.key] : []))
}

/** Keys of stored records that join or leave the list. */
function findMovedKeys(collection: Collection<object>, after: readonly Entity[], { target }: ToManyAttribute): readonly KeyValues[] {
  const before = collection.getItems() as Entity[]
  const moved = [...before.filter(member => !after.includes(member)), ...after.filter(member => !before.includes(member))]
  return moved.filter(hasKey).map(member => keyOfEntity(target, member))
}

const accessors = new WeakMap<EntityMetadata, ReadonlyMap<string, string>>()

function findAccessors(meta: EntityMetadata): ReadonlyMap<string, string> {
  let known = accessors.get(meta)
  if (known === undefined) {
    known = new Map(meta.props.flatMap(({ name, accessor }) => (accessor === undefined || accessor === name ? [] : [[name, accessor]])))
    accessors.set(meta, known)
  }
  return known
}

/** `em.create` takes names of accessors: `name` for `@Property({ accessor: 'name' }) _name`. */
function nameByAccessor(data: Entity, meta: EntityMetadata): Entity {
  const names = findAccessors(meta)
  if (names.size === 0) return data
  return Object.fromEntries(Object.entries(data).map(([property, value]) => [names.get(property) ?? property, value]))
}
