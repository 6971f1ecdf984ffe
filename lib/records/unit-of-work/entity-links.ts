/** Reads and sets links of entities. A property holds the linked entity, a Reference of MikroORM, or a key (`mapToPk`). */
import { Reference, type EntityManager, type EntityName } from '@mikro-orm/core'
import { restError } from '../../foundation/errors/errors.ts'
import { keyOfEntity, keyOfProperty, toPrimaryKey, type Entity, unwrap } from '../../model/entity-key.ts'
import { sameKey } from '../../model/key.ts'
import type { EmbeddedAttribute, Resource, ToOneAttribute } from '../../model/model.ts'

export function findHolder(entity: Entity, within: readonly EmbeddedAttribute[] = []): Entity {
  return within.reduce((holder, { property }) => holder[property] as Entity, entity)
}

export function isEntity(value: unknown): value is Entity {
  return typeof value === 'object' && value !== null
}

/**
 * Whether a new record needs a key before a link: the property holds the key (`mapToPk`), or several links make up the key. Of such keys,
 * MikroORM carries over only the generated parts.
 */
export function needsKey({ holdsKey, target }: ToOneAttribute): boolean {
  return holdsKey || target.keyNames.filter(name => target.byName.get(name)?.kind === 'toOne').length > 1
}

export function isInherited({ property }: ToOneAttribute, { entity }: Resource, em: EntityManager): boolean {
  return em.getMetadata().get(entity as EntityName).tptParent?.properties[property] !== undefined
}

export function linkedValue(attribute: ToOneAttribute, entity: Entity): unknown {
  return attribute.holdsKey ? toPrimaryKey(attribute.target, keyOfEntity(attribute.target, entity)) : entity
}

/** Also inside an embedded object, which `em.assign` would replace. MikroORM sets references itself only for links by the primary key. */
export function setLink(
  entity: Entity,
  attribute: ToOneAttribute,
  within: readonly EmbeddedAttribute[] | undefined,
  value: unknown,
  em: EntityManager,
): void {
  const holder = findHolder(entity, within)
  const { properties } = em.getMetadata().get(holder.constructor)
  const isLink = isEntity(value) && !attribute.holdsKey
  holder[attribute.property] = isLink ? Reference.wrapReference(value, properties[attribute.property]!) : value
}

export function holdsLink(entity: Entity, { property, holdsKey, target }: ToOneAttribute, value: unknown): boolean {
  const current = entity[property] ?? null
  if (current === null || value === null) return false
  return holdsKey ? sameKey(keyOfProperty(target, current), keyOfProperty(target, value)) : unwrap(current) === unwrap(value as object)
}

export function requireTargetKey({ name, target, targetKey }: ToOneAttribute, entity: Entity): void {
  if (targetKey === undefined || (entity[targetKey.property] ?? null) !== null) return
  const detail = `"${name}" links a ${target.singular} by its "${targetKey.name}", and this one has none.`
  throw restError('validation_failed', detail, { errors: [{ code: 'conflict', detail, attribute: name }] })
}
