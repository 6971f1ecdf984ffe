/**
 * Inserts a new entity with a link to itself. MikroORM would insert without the link, which fails where required, and then update, to
 * another version than statements give. Refuses a key that comes too late with validation_failed.
 */
import type { ChangeSet, EntityManager, EntityProperty } from '@mikro-orm/core'
import { restError } from '../../foundation/errors/errors.ts'
import { type Entity, hasKey, unwrap } from '../../model/entity-key.ts'
import type { ToOneAttribute } from '../../model/model.ts'
import { isEntity, linkedValue, requireTargetKey, setLink } from './entity-links.ts'
import type { Work } from './unit-of-work.ts'
import { joinPath } from '../validate/validation-context.ts'
import { linksItself, listReferences } from '../validate/linked-records.ts'
import type { LinkInput, RecordInput } from '../validate/record-input.ts'

export async function linkItself(entity: Entity, change: RecordInput, { em, touched }: Work): Promise<void> {
  for (const link of change.links) if (link.attribute.owner && linksItself(link.link)) await setOwnLink(entity, link, change, em)
  // Another class may have other rules of access.
  for (const { relation, ref } of listReferences(change))
    if (linksItself(ref) && relation.target !== change.resource) touched.push({ resource: relation.target, entity })
}

async function setOwnLink(entity: Entity, { attribute, within }: LinkInput, change: RecordInput, em: EntityManager): Promise<void> {
  const { targetKey, holdsKey } = attribute
  insertOwnLink(entity, attribute, change, em)
  // The database sets a default, or counts the key.
  const lacks = targetKey === undefined ? holdsKey && !hasKey(entity) : (entity[targetKey.property] ?? null) === null
  if (lacks) await em.flush()
  requireTargetKey(attribute, entity)
  setLink(entity, attribute, within, linkedValue(attribute, entity), em)
}

interface DeferringWork {
  findExtraUpdates(changeSet: ChangeSet<Entity>, properties: readonly EntityProperty[]): void
}

const prepared = new WeakSet<object>()

export function insertOwnLink(entity: Entity, attribute: ToOneAttribute, change: RecordInput, em: EntityManager): void {
  requireKey(entity, attribute, change, em)
  const work = em.getUnitOfWork() as unknown as DeferringWork
  if (prepared.has(work)) return
  prepared.add(work)
  const defer = work.findExtraUpdates.bind(work)
  work.findExtraUpdates = (changeSet, properties) =>
    defer(
      changeSet,
      properties.filter(property => !isInserted(changeSet, property)),
    )
}

/** Refuses a new record with a required link to itself, and a key made by the database. */
function requireKey(entity: Entity, { name, nullable }: ToOneAttribute, { resource, path }: RecordInput, em: EntityManager): void {
  if (nullable || hasKey(entity)) return
  const parts = em.getMetadata().get(entity.constructor).getPrimaryProps()
  if (parts.some(({ onCreate }) => onCreate !== undefined)) return
  const attribute = joinPath(path, resource.keyNames[0]!)
  const detail = `"${attribute}" must be given: the ${resource.singular} needs its "${name}", which leads to itself, when it is inserted.`
  throw restError('validation_failed', detail, { errors: [{ code: 'required', detail, attribute }] })
}

function isInserted({ entity }: ChangeSet<Entity>, { name }: EntityProperty): boolean {
  const link = entity[name]
  return isEntity(link) && unwrap(link) === entity && hasKey(entity)
}
