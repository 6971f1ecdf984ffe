/**
 * Noted links: what MikroORM holds to be stored of a link of an entity. It takes a link that it has noted in another form than that of the
 * property for changed.
 */
import { Reference, ReferenceKind, Utils, type EntityManager, type EntityProperty } from '@mikro-orm/core'

type Noted = Record<string, unknown>

/**
 * Corrects what MikroORM notes of the links of a loaded record, and of those to it, so that the next flush does not write a record that
 * nobody has changed.
 */
export function correctNotedLinks(entity: object, em: EntityManager): void {
  for (const property of em.getMetadata(entity.constructor).relations) {
    if (property.kind === ReferenceKind.ONE_TO_ONE && !property.owner) correctOtherSide(entity, property, em)
    else correctDates(entity, property, em)
  }
}

/**
 * Corrects the record that links a loaded one by a one-to-one. MikroORM makes an entity of it, too, and notes its key and its link as the
 * properties hold them, not as they are stored, such as a bigint or a date-time.
 */
function correctOtherSide(entity: object, { name, mappedBy, targetMeta }: EntityProperty, em: EntityManager): void {
  const other: unknown = Reference.unwrapReference((entity as Record<string, object | undefined>)[name] as object)
  if (!Utils.isEntity<object>(other)) return
  const noted = em.getUnitOfWork().getOriginalEntityData(other) as Noted | undefined
  // A link that is noted otherwise was loaded with its record, which may have changed since.
  if (noted === undefined || !Utils.equals(noted[mappedBy], Utils.getPrimaryKeyValues(entity, em.getMetadata(entity.constructor), true)))
    return
  const held = em.getComparator().prepareEntity(other) as Noted
  for (const property of [...targetMeta!.primaryKeys, mappedBy]) noted[property] = held[property]
}

/** Corrects a link by several columns: MikroORM notes date-times in it as they are stored, and compares them with dates. */
function correctDates(entity: object, { name }: EntityProperty, em: EntityManager): void {
  const noted = em.getUnitOfWork().getOriginalEntityData(entity) as Noted | undefined
  if (noted === undefined || !Array.isArray(noted[name])) return
  const held = (em.getComparator().prepareEntity(entity) as Noted)[name]
  if (isSameKey(noted[name], held, em)) noted[name] = held
}

/** Whether a stored key is that of a property. SQLite stores date-times as numbers, and PostgreSQL gives texts. */
function isSameKey(stored: unknown, held: unknown, em: EntityManager): boolean {
  if (Array.isArray(held)) return Array.isArray(stored) && held.every((part, at) => isSameKey(stored[at], part, em))
  if (!(held instanceof Date)) return Utils.equals(stored, held)
  const date = stored instanceof Date ? stored : em.getPlatform().parseDate(stored as string | number)
  return date.getTime() === held.getTime()
}
