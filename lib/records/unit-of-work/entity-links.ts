/**
 * Reads and sets links as the properties of entities hold them: an entity, a reference to one, or its key; also inside embedded objects.
 */
import { Reference, helper, type EntityManager, type EntityName } from '@mikro-orm/core'
import { restError } from '../../foundation/errors/errors.ts'
import { keyOfEntity, keyOfProperty, toPrimaryKey, type Entity } from '../../model/entity-key.ts'
import { sameKey } from '../../model/key.ts'
import type { EmbeddedAttribute, Resource, ToOneAttribute } from '../../model/model.ts'

/** Returns the embedded object that a link is in, or the entity itself. */
export function findHolder(entity: Entity, within: readonly EmbeddedAttribute[] = []): Entity {
  return within.reduce((holder, { property }) => holder[property] as Entity, entity)
}

export function isEntity(value: unknown): value is Entity {
  return typeof value === 'object' && value !== null
}

export function unwrap(link: object): Entity {
  return ('unwrap' in link && typeof link.unwrap === 'function' ? link.unwrap() : link) as Entity
}

/** Whether an entity has its key; a new one may have to be written first. */
export function hasKey(entity: Entity): boolean {
  return helper(entity).hasPrimaryKey()
}

/**
 * Whether a new record can be linked only when it has its key: the property holds the key (`mapToPk`), or the key consists of several
 * links. Of those, MikroORM carries over to the foreign key only the parts that the database generates, and loses the given ones.
 */
export function needsKey({ holdsKey, target }: ToOneAttribute): boolean {
  return holdsKey || target.keyNames.filter(name => target.byName.get(name)?.kind === 'toOne').length > 1
}

/** Whether a class with a table of its own has the link from a class above, in whose table the foreign key is. */
export function isInherited({ property }: ToOneAttribute, { entity }: Resource, em: EntityManager): boolean {
  return em.getMetadata().get(entity as EntityName).tptParent?.properties[property] !== undefined
}

/** Returns the value of a property that links an entity: the entity, or its key. */
export function linkedValue(attribute: ToOneAttribute, entity: Entity): unknown {
  return attribute.holdsKey ? toPrimaryKey(attribute.target, keyOfEntity(attribute.target, entity)) : entity
}

/**
 * Sets a link, also inside an embedded object, which `em.assign` would replace. Sets a reference where the property holds one: MikroORM
 * does that itself for links by the primary key only.
 */
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

/** Whether a record has this link already. */
export function holdsLink(entity: Entity, { property, holdsKey, target }: ToOneAttribute, value: unknown): boolean {
  const current = entity[property] ?? null
  if (current === null || value === null) return false
  return holdsKey ? sameKey(keyOfProperty(target, current), keyOfProperty(target, value)) : unwrap(current) === unwrap(value as object)
}

/** Refuses to link a record that has no value for the foreign key to hold. */
export function requireTargetKey({ name, target, targetKey }: ToOneAttribute, entity: Entity): void {
  if (targetKey === undefined || (entity[targetKey.property] ?? null) !== null) return
  const detail = `"${name}" links a ${target.singular} by its "${targetKey.name}", and this one has none.`
  throw restError('validation_failed', detail, { errors: [{ code: 'conflict', detail, attribute: name }] })
}
