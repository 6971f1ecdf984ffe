/**
 * Takes a link from a record, as when a body empties a user's `posts`, and removes orphans (`orphanRemoval`). Refuses with owner_required,
 * validation_failed and forbidden.
 */
import { restError } from '../../foundation/errors/errors.ts'
import { findClass, idOfEntity, keyOfEntity, type Entity, unwrap } from '../../model/entity-key.ts'
import { idToSegment } from '../../model/key.ts'
import type { RelationAttribute, Resource, ToOneAttribute } from '../../model/model.ts'
import { recordName } from '../validate/check-database.ts'
import { collectCascade, requireRemovable, removeWithLinks } from './remove.ts'
import { load, requireWritable, type Work } from './unit-of-work.ts'
import { owningAttribute } from '../validate/relation-sides.ts'
import { cascadesOrUnlinks, leftWithout } from '../validate/referrers.ts'

/**
 * For an orphan, the caller needs permission to delete; a hidden orphan stays.
 *
 * @param holder the record, or the object with the link
 * @param resource of the record
 */
export async function changeOwnLink(
  holder: Entity,
  attribute: ToOneAttribute,
  resource: Resource,
  work: Work,
  change: () => void,
): Promise<void> {
  const link = attribute.orphanRemoval ? (holder[attribute.property] ?? null) : null
  change()
  const now = holder[attribute.property] ?? null
  if (link === null || attribute.holdsKey || (now !== null && unwrap(now) === unwrap(link))) return
  const orphan = unwrap(link)
  const named = resource.byName.get(attribute.name)
  const branch =
    named?.kind === 'toOneOf' ? named.branches.find(({ target }) => orphan instanceof (target.entity as new () => object)) : undefined
  const { target } = branch ?? attribute
  if (await work.isVisible(target, keyOfEntity(target, orphan))) {
    await work.authorize(target, 'delete')
    await removeOrphan(target, orphan, work)
  } else work.em.getUnitOfWork().cancelOrphanRemoval(orphan)
}

/** MikroORM removes the orphan itself, but cascades only to loaded relations. */
async function removeOrphan(target: Resource, orphan: Entity, work: Work): Promise<void> {
  const resource = findClass(target, orphan)
  await requireRemovable(new Map([[orphan, resource]]), work)
  if (!cascadesOrUnlinks(resource)) return
  // A linked entity may have nothing but a key.
  const loaded = await load(resource, keyOfEntity(resource, orphan), work)
  const removed = new Map<Entity, Resource>()
  if (loaded !== undefined) await collectCascade(findClass(resource, loaded), loaded, removed, work)
  await requireRemovable(removed, work)
  await removeWithLinks(removed, work)
}

/** Clears the foreign key, or removes an orphan. Refuses where the member needs a parent. */
export async function unlinkFromParent(member: Entity, relation: RelationAttribute, path: string, work: Work): Promise<void> {
  const other = owningAttribute(relation)!
  const record = recordName(relation.target, keyOfEntity(relation.target, member))
  // The body itself sets another parent.
  if (work.setByBody.has(nameLink(other, record))) return
  await work.authorize(relation.target, relation.orphanRemoval ? 'delete' : 'update')
  if (relation.orphanRemoval) {
    if (work.setByBody.has(record)) {
      const id = idToSegment(idOfEntity(relation.target, member), relation.target)
      const detail = `"${path}" would remove the ${relation.target.singular} ${id}, which the body links elsewhere.`
      throw restError('validation_failed', detail, { errors: [{ code: 'conflict', detail, attribute: path }] })
    }
    await removeOrphan(relation.target, member, work)
    work.em.remove(member)
  } else if (other.nullable) {
    await requireWritable(relation.target, [keyOfEntity(relation.target, member)], work)
    await changeOwnLink(member, other, relation.target, work, () => {
      member[other.property] = null
    })
    work.touched.push({ resource: relation.target, entity: member, key: keyOfEntity(relation.target, member) })
  } else throw leftWithout(other, relation.target, idOfEntity(relation.target, member), path)
}

/** MikroORM would insert the parent again, where former members have taken the parent along. */
export function refuseRemovedParent(parent: Entity, path: string, { em }: Work): void {
  if (em.getUnitOfWork().getOriginalEntityData(parent) !== undefined) return
  throw restError('owner_required', `"${path}": removing what was linked before removes the record itself, so nothing can be linked to it.`)
}

export function nameLink({ name }: ToOneAttribute, record: string): string {
  return `${record}\0${name}`
}
