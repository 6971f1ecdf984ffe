/** Noted links: corrects MikroORM's notes of stored links. A note in another form than the property's counts as a change. */
import { Reference, ReferenceKind, Utils, type EntityManager, type EntityProperty } from '@mikro-orm/core'

type Noted = Record<string, unknown>

/** Otherwise the next flush would write records nobody changed. */
export function correctNotedLinks(entity: object, em: EntityManager): void {
  for (const property of em.getMetadata(entity.constructor).relations) {
    if (property.kind === ReferenceKind.ONE_TO_ONE && !property.owner) correctOtherSide(entity, property, em)
    else correctDates(entity, property, em)
  }
}

/**
 * Corrects the other record of a one-to-one. MikroORM makes an entity of that record, too, but notes key and link as properties, not as
 * stored: a bigint, a date-time.
 */
function correctOtherSide(entity: object, { name, mappedBy, targetMeta }: EntityProperty, em: EntityManager): void {
  const other: unknown = Reference.unwrapReference((entity as Record<string, object | undefined>)[name] as object)
  if (!Utils.isEntity<object>(other)) return
  const noted = em.getUnitOfWork().getOriginalEntityData(other) as Noted | undefined
  // A different note came from loading the other record itself, and the link may have changed since.
  if (noted === undefined || !Utils.equals(noted[mappedBy], Utils.getPrimaryKeyValues(entity, em.getMetadata(entity.constructor), true)))
    return
  const held = em.getComparator().prepareEntity(other) as Noted
  for (const property of [...targetMeta!.primaryKeys, mappedBy]) noted[property] = held[property]
}

/** For a link by several columns: MikroORM notes date-times as stored, then compares dates. */
function correctDates(entity: object, { name }: EntityProperty, em: EntityManager): void {
  const noted = em.getUnitOfWork().getOriginalEntityData(entity) as Noted | undefined
  if (noted === undefined || !Array.isArray(noted[name])) return
  const held = (em.getComparator().prepareEntity(entity) as Noted)[name]
  if (isSameKey(noted[name], held, em)) noted[name] = held
}

/** SQLite stores date-times as numbers, PostgreSQL gives texts. */
function isSameKey(stored: unknown, held: unknown, em: EntityManager): boolean {
  if (Array.isArray(held)) return Array.isArray(stored) && held.every((part, at) => isSameKey(stored[at], part, em))
  if (!(held instanceof Date)) return Utils.equals(stored, held)
  const date = stored instanceof Date ? stored : em.getPlatform().parseDate(stored as string | number)
  return date.getTime() === held.getTime()
}
