/**
 * Removes records, with all that the model removes with them. MikroORM cascades to loaded relations only, so those are loaded first.
 * Refuses with owner_required.
 */
import { chain, runCoroutine, wait, type Awaitable, type Coroutine } from '../../foundation/base/awaitable.ts'
import { restError } from '../../foundation/base/errors.ts'
import type { Row } from '../database/dialect.ts'
import type { ReadingConnection } from '../database/connection.ts'
import { findClass, keyOfEntity, type Entity } from '../../model/entity-key.ts'
import type { KeyValues } from '../../model/key.ts'
import { findAll } from '../../model/metadata/eager-cycles.ts'
import { findHierarchyRoot } from '../../model/model.ts'
import { owningLinks } from '../../model/owning-links.ts'
import type { Attribute, RelationAttribute, Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import { isOpen } from '../plan/visibility.ts'
import { readRows } from '../read/run-read.ts'
import { isEntity } from './entity-links.ts'
import { findLinkedBranch, keepOnly, linkOneOf, loadCollection, loadRelated } from './load-related.ts'
import { lookForReferrers, lookForReferrersOfAll } from './look-ups.ts'
import { load, entityName, type Work } from './unit-of-work.ts'

/** Removes records with all that the model removes with them. */
export function remove(resource: Resource, entities: readonly Entity[], work: Work): Awaitable<void> {
  const [entity] = entities
  if (entity === undefined || entities.length > 1 || cascadesOrUnlinks(findClass(resource, entity)))
    return removeAll(resource, entities, work)
  const removed = new Map([[entity, findClass(resource, entity)]])
  return chain(mayRemove(removed, work), () =>
    chain(refuseReferred(removed, work), () => {
      work.em.remove(entity)
    }),
  )
}

/** Whether removing a record of the resource removes others, or unlinks some that no foreign key protects. */
export function cascadesOrUnlinks({ attributes, referrers }: Resource): boolean {
  return (
    attributes.some(cascades) ||
    attributes.some(isShared) ||
    referrers.some(({ attribute }) => attribute.discriminator !== undefined && attribute.onDelete === 'unlink')
  )
}

/** Whether the attribute is a list whose pivot table several entities share, so that it has no foreign key. */
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
  for (const entity of entities) await collectCascade(findClass(resource, entity), entity, removed, work)
  await mayRemove(removed, work)
  await refuseReferred(removed, work)
  await removeWithLinks(removed, work)
}

/** Refuses a removal of records that the caller may not write, or that takes such with it. */
export function mayRemove(removed: ReadonlyMap<Entity, Resource>, { writing, connection }: Work): Awaitable<void> {
  if (writing === undefined) return
  const rows = [...removed].map(([entity, resource]) => ({ resource, key: keyOfEntity(resource, entity) }))
  return runCoroutine(writing.remove(rows, connection))
}

export async function removeWithLinks(removed: ReadonlyMap<Entity, Resource>, work: Work): Promise<void> {
  await unlinkReferrers(removed, work)
  await leaveSharedLists(removed, work)
  for (const entity of removed.keys()) work.em.remove(entity)
}

/** Collects a record and all that is removed with it. */
export async function collectCascade(resource: Resource, entity: Entity, removed: Map<Entity, Resource>, work: Work): Promise<void> {
  if (removed.has(entity)) return
  removed.set(entity, resource)
  for (const attribute of resource.attributes) {
    for (const { relation, holder } of listRelations(attribute, entity)) {
      if (!relation.cascadeRemove) continue
      for (const related of await loadRelated(holder, relation, resource, work))
        await collectCascade(findClass(relation.target, related), related, removed, work)
    }
  }
}

/** Lists the relations of an attribute, each with its holder: the entity, or the embedded object that the relation is in. */
function listRelations(attribute: Attribute, entity: Entity): { relation: RelationAttribute; holder: Entity }[] {
  if (attribute.kind === 'scalar') return []
  if (attribute.kind === 'toOneOf') {
    const branch = findLinkedBranch(attribute, entity)
    return branch === undefined ? [] : [{ relation: branch, holder: entity }]
  }
  if (attribute.kind !== 'embedded') return [{ relation: attribute, holder: entity }]
  return owningLinks([attribute]).flatMap(({ attribute: relation, within }) => {
    let holder: unknown = entity
    for (const { property } of within) holder = isEntity(holder) ? holder[property] : undefined
    return isEntity(holder) ? [{ relation, holder }] : []
  })
}

/** Unlinks removed records where no foreign key does: in relations to one of several entities. */
async function unlinkReferrers(removed: ReadonlyMap<Entity, Resource>, { em }: Work): Promise<void> {
  for (const [entity, resource] of removed) {
    for (const { resource: other, attribute } of resource.referrers) {
      if (attribute.discriminator === undefined || attribute.onDelete !== 'unlink') continue
      const where = linkOneOf(attribute.property, attribute.discriminator, entity, resource)
      const linking = (await findAll(entityName(other), where, em)) as Entity[]
      for (const record of linking) if (!removed.has(record)) record[attribute.property] = null
    }
  }
}

/** Takes removed records out of lists that have no foreign key. */
async function leaveSharedLists(removed: ReadonlyMap<Entity, Resource>, work: Work): Promise<void> {
  let isLeaving = false
  for (const [entity, resource] of removed) {
    const lists = resource.attributes.filter(isShared)
    if (lists.length === 0) continue
    // A record that can be removed without loading it has no lists.
    const loaded = await load(resource, keyOfEntity(resource, entity), work)
    for (const attribute of loaded === undefined ? [] : lists) (await loadCollection(loaded!, attribute, work.em)).removeAll()
    isLeaving = true
  }
  // MikroORM does not write the lists of records that it removes.
  if (isLeaving) await work.em.flush()
}

/** A record that is removed. */
export interface Removed {
  readonly resource: Resource
  readonly key: KeyValues
}

/** Refuses a removal after which other records would lack a link that they require. */
function refuseReferred(removed: ReadonlyMap<Entity, Resource>, work: Work): Awaitable<void> {
  if (![...removed.values()].some(resource => hasRefusing(resource) || takesNeeded(resource))) return
  return runCoroutine(
    checkReferrers(
      [...removed].map(([entity, resource]) => ({ resource, key: keyOfEntity(resource, entity) })),
      work,
    ),
  )
}

function hasRefusing({ referrers }: Resource): boolean {
  return referrers.some(({ attribute }) => attribute.onDelete === 'refuse')
}

/** Whether a link is a foreign key of the database, and neither a link to one of several entities nor one in a JSON column. */
function isForeignKey({ discriminator, document }: ToOneAttribute): boolean {
  return discriminator === undefined && document === undefined
}

const takingNeeded = new WeakMap<Resource, boolean>()

/** Whether the database removes records with one of the resource that others may need. */
function takesNeeded(resource: Resource): boolean {
  const known = takingNeeded.get(resource)
  if (known !== undefined) return known
  const reached = new Set([resource])
  for (const { referrers } of reached)
    for (const { resource: other, attribute } of referrers)
      if (attribute.onDelete === 'cascade' && isForeignKey(attribute)) reached.add(other)
  const takes = [...reached].some(
    other => other !== resource && other.referrers.some(({ attribute }) => attribute.onDelete === 'refuse' && isForeignKey(attribute)),
  )
  takingNeeded.set(resource, takes)
  return takes
}

/** The rows that the database removes by itself are looked at up to so many; of more it says itself that one is needed. */
const MAX_CASCADED = 1000

/** Lists the records that the database removes with others; none where there are too many. */
function* listCascaded(removed: readonly Removed[], connection: ReadingConnection): Coroutine<readonly Removed[]> {
  const { dialect } = connection
  const all = removed.filter(({ resource }) => takesNeeded(resource))
  const nameOf = ({ resource, key }: Removed): string => `${findHierarchyRoot(resource).className}\0${key.map(String).join('\0')}`
  const known = new Set(removed.map(nameOf))
  const found: Removed[] = []
  // The list grows while it is walked through.
  for (const { resource, key } of all) {
    for (const { resource: other, attribute } of resource.referrers) {
      if (attribute.onDelete !== 'cascade' || !isForeignKey(attribute)) continue
      const statement = lookForReferrers(other, attribute, dialect)
      const rows = yield* wait(connection.read(() => readRows(statement, { filters: [], limit: 1, offset: 0, key }, dialect)))
      if (found.length + rows.length > MAX_CASCADED) return []
      for (const row of rows) {
        const cascaded = { resource: other, key: row as KeyValues }
        if (known.has(nameOf(cascaded))) continue
        known.add(nameOf(cascaded))
        found.push(cascaded)
        all.push(cascaded)
      }
    }
  }
  return found
}

/** Finds the links by which no record that stays refers to those that go, with one statement for each, however many go. */
function* findFree(removed: readonly Removed[], connection: ReadingConnection): Coroutine<ReadonlySet<ToOneAttribute>> {
  const { dialect } = connection
  const keys = new Map<ToOneAttribute, { readonly other: Resource; readonly rows: (readonly string[])[] }>()
  for (const { resource, key } of removed) {
    for (const { resource: other, attribute } of resource.referrers) {
      if (attribute.onDelete !== 'refuse') continue
      if (!keys.has(attribute)) keys.set(attribute, { other, rows: [] })
      keys.get(attribute)!.rows.push(key.map(String))
    }
  }
  const free = new Set<ToOneAttribute>()
  for (const [attribute, { other, rows }] of keys) {
    const statement = lookForReferrersOfAll(other, attribute, dialect)
    if (statement === undefined) continue
    const { parameter } = dialect.encodeLinks(rows, { from: [0], parts: attribute.target.key })
    const given = { filters: [], limit: 1, offset: 0, key: [], links: parameter }
    const found = yield* wait(connection.read(() => readRows(statement, given, dialect)))
    if (findStaying(found, other, removed).length === 0) free.add(attribute)
  }
  return free
}

/** Returns the rows of records that are not removed themselves. */
function findStaying(rows: readonly Row[], resource: Resource, removed: readonly Removed[]): readonly Row[] {
  const going = new Set(
    removed.flatMap(one => (findHierarchyRoot(one.resource) === findHierarchyRoot(resource) ? [one.key.map(String).join('\0')] : [])),
  )
  return rows.filter(row => !going.has(row.map(String).join('\0')))
}

/** Refuses the removal of records that others refer to and need, or with which the database removes such. */
export function* checkReferrers(given: readonly Removed[], work: Pick<Work, 'connection' | 'exists' | 'mayMention'>): Coroutine<void> {
  const { connection } = work
  const { dialect } = connection
  const cascaded = yield* listCascaded(given, connection)
  const removed = [...given, ...cascaded]
  const free = removed.length > 1 ? yield* findFree(removed, connection) : undefined
  let isNeeded = false
  const left = new Map<string, { readonly count: number; readonly text: string }>()
  let within = false
  for (const [index, { resource, key }] of removed.entries()) {
    for (const { resource: other, attribute, path } of resource.referrers) {
      if (attribute.onDelete !== 'refuse' || free?.has(attribute) === true) continue
      // The database removes records although a link to one of several entities, which it does not know, refers to them.
      if (index >= given.length && !isForeignKey(attribute)) continue
      const statement = lookForReferrers(other, attribute, dialect)
      const rows = yield* wait(connection.read(() => readRows(statement, { filters: [], limit: 1, offset: 0, key }, dialect)))
      if (rows.length === 0) continue
      const staying = findStaying(rows, other, removed)
      if (staying.length === 0) continue
      isNeeded = true
      const isWithin = index >= given.length
      within ||= isWithin
      if (attribute.hidden || (isWithin && !(yield* wait(work.mayMention(resource)))) || !(yield* wait(work.mayMention(other)))) continue
      const known = yield* wait(keepOnly(staying, row => work.exists(other, row as KeyValues)))
      if (known.length === 0) continue
      const link = `by "${path}"${isWithin ? ` of ${resource.plural}` : ''}`
      const count = (left.get(`${other.plural} ${link}`)?.count ?? 0) + known.length
      left.set(`${other.plural} ${link}`, { count, text: `${count} ${count === 1 ? other.singular : other.plural} ${link}` })
    }
  }
  if (!isNeeded) return
  const why = within ? 'others need it, or what is deleted with it' : 'records that need it refer to it'
  // Of records that do not exist for the caller the error says only that there are some.
  const what = left.size === 0 ? '' : `: ${[...left.values()].map(({ text }) => text).join(', ')}`
  const { resource } = removed[0]!
  throw restError('owner_required', `The ${isOpen(resource) ? resource.singular : 'record'} cannot be deleted, since ${why}${what}.`)
}
