/**
 * Removes entities, with all that the model removes along. MikroORM cascades only to loaded relations, so related records are loaded first.
 */
import { chain, runCoroutine, type Awaitable } from '../../foundation/async/awaitable.ts'
import { findClass, keyOfEntity, type Entity } from '../../model/entity-key.ts'
import { findAll } from '../../model/metadata/eager-cycles.ts'
import { owningLinks } from '../../model/owning-links.ts'
import type { Attribute, RelationAttribute, Resource } from '../../model/model.ts'
import { isEntity } from './entity-links.ts'
import { findLinkedBranch, linkOneOf, loadCollection, loadRelated } from './load-related.ts'
import { load, entityName, type Work } from './unit-of-work.ts'
import { cascadesOrUnlinks, hasRefusing, checkReferrers, isShared, takesNeeded } from '../validate/referrers.ts'

export function remove(resource: Resource, entities: readonly Entity[], work: Work): Awaitable<void> {
  const [entity] = entities
  if (entity === undefined || entities.length > 1 || cascadesOrUnlinks(findClass(resource, entity)))
    return removeAll(resource, entities, work)
  const removed = new Map([[entity, findClass(resource, entity)]])
  return chain(requireRemovable(removed, work), () =>
    chain(refuseReferred(removed, work), () => {
      work.em.remove(entity)
    }),
  )
}

async function removeAll(resource: Resource, entities: readonly Entity[], work: Work): Promise<void> {
  const removed = new Map<Entity, Resource>()
  for (const entity of entities) await collectCascade(findClass(resource, entity), entity, removed, work)
  await requireRemovable(removed, work)
  await refuseReferred(removed, work)
  await removeWithLinks(removed, work)
}

export function requireRemovable(removed: ReadonlyMap<Entity, Resource>, { writing, connection }: Work): Awaitable<void> {
  if (writing === undefined) return
  const rows = [...removed].map(([entity, resource]) => ({ resource, key: keyOfEntity(resource, entity) }))
  return runCoroutine(writing.requireRemovable(rows, connection))
}

export async function removeWithLinks(removed: ReadonlyMap<Entity, Resource>, work: Work): Promise<void> {
  await unlinkReferrers(removed, work)
  await leaveSharedLists(removed, work)
  for (const entity of removed.keys()) work.em.remove(entity)
}

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

/** Links to several entities have no foreign key. */
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

async function leaveSharedLists(removed: ReadonlyMap<Entity, Resource>, work: Work): Promise<void> {
  let isLeaving = false
  for (const [entity, resource] of removed) {
    const lists = resource.attributes.filter(isShared)
    if (lists.length === 0) continue
    // A record to be removed unread is only a reference so far.
    const loaded = await load(resource, keyOfEntity(resource, entity), work)
    for (const attribute of loaded === undefined ? [] : lists) (await loadCollection(loaded!, attribute, work.em)).removeAll()
    isLeaving = true
  }
  // MikroORM does not write the lists of removed records.
  if (isLeaving) await work.em.flush()
}

function refuseReferred(removed: ReadonlyMap<Entity, Resource>, work: Work): Awaitable<void> {
  if (![...removed.values()].some(resource => hasRefusing(resource) || takesNeeded(resource))) return
  return runCoroutine(
    checkReferrers(
      [...removed].map(([entity, resource]) => ({ resource, key: keyOfEntity(resource, entity) })),
      work,
    ),
  )
}
