/**
 * Loads entities for the unit of work, instead of `em.find`, `em.findOne` and `Collection.init`. In circles of `eager` relations, where
 * MikroORM would load without end, loads without links. Corrects MikroORM's notes of loaded values.
 */
import {
  Utils,
  helper,
  type Collection,
  type EntityManager,
  type EntityMetadata,
  type EntityName,
  Reference,
  ReferenceKind,
  type EntityProperty,
} from '@mikro-orm/core'

/** The scopes of the engine include MikroORM's filters. */
const UNFILTERED = Object.freeze({ filters: false } as const)
const ALONE = Object.freeze({ filters: false, populate: false } as const)

const known = new WeakMap<EntityMetadata, boolean>()

export function isInEagerCircle(meta: EntityMetadata): boolean {
  let found = known.get(meta)
  if (found === undefined) known.set(meta, (found = leadsBack(meta, [])))
  return found
}

function leadsBack(meta: EntityMetadata, path: readonly EntityMetadata[]): boolean {
  // A row may be loaded as another class of the hierarchy.
  if (path.some(({ root }) => root === meta.root)) return true
  const longerPath = [...path, meta]
  return meta.relations.some(
    ({ eager, targetMeta, polymorphTargets }) =>
      eager === true && (polymorphTargets ?? (targetMeta === undefined ? [] : [targetMeta])).some(target => leadsBack(target, longerPath)),
  )
}

export async function findAll(name: EntityName, where: object, em: EntityManager): Promise<object[]> {
  const options = isInEagerCircle(em.getMetadata().get(name)) ? ALONE : UNFILTERED
  const found = (await em.find(name, where, options)) as object[]
  for (const record of found) correctNotedLinks(record, em)
  return found
}

/** `em.findOne` cannot leave out the links of a circle. */
export async function findFirst(name: EntityName, where: object, em: EntityManager): Promise<object | undefined> {
  const found = isInEagerCircle(em.getMetadata().get(name))
    ? ((await em.find(name, where, { ...ALONE, limit: 1 })) as object[])[0]
    : (((await em.findOne(name, where, UNFILTERED)) as object | null) ?? undefined)
  if (found !== undefined) correctNotedLinks(found, em)
  return found
}

/** `Collection.init` would load the owner's links, too, and ignores a list's condition (`where`). */
export async function loadList(list: Collection<object>, em: EntityManager): Promise<void> {
  const { owner, property } = list
  const target = property.targetMeta!
  const isAlone = property.where !== undefined || isInEagerCircle(em.getMetadata().get(owner.constructor)) || isInEagerCircle(target)
  if (!isAlone) {
    // A refresh notes values in the driver's form: the next flush would write unchanged members.
    await list.init({ filters: false, refresh: false })
    for (const member of list.getItems()) correctNotedLinks(member, em)
    return
  }
  const key = helper(owner).getPrimaryKeys() as never[]
  const context = em.getTransactionContext()
  const lists = await em.getDriver().loadFromPivotTable(property, [key], undefined, undefined, context, {
    filters: false,
    populate: [],
  })
  const rows = lists[Utils.getPrimaryKeyHash(key)] ?? []
  const create = (row: object): object => em.getEntityFactory().create(target.class, row, { merge: true, convertCustomTypes: true })
  list.hydrate(rows.map(create), true)
}

/** Values noted by MikroORM at loading: a flush writes each property unlike its note. */
type Noted = Record<string, unknown>

/** Corrects notes of links in the driver's form: the next flush would write unchanged records. */
function correctNotedLinks(entity: object, em: EntityManager): void {
  for (const property of em.getMetadata(entity.constructor).relations) {
    if (property.kind === ReferenceKind.ONE_TO_ONE && !property.owner) correctOtherSide(entity, property, em)
    else correctDates(entity, property, em)
  }
}

/** Of a one-to-one's other record, MikroORM notes key and link in the form of properties: a `Date`. */
function correctOtherSide(entity: object, { name, mappedBy, targetMeta }: EntityProperty, em: EntityManager): void {
  const other: unknown = Reference.unwrapReference((entity as Record<string, object | undefined>)[name] as object)
  if (!Utils.isEntity<object>(other)) return
  const noted = em.getUnitOfWork().getOriginalEntityData(other) as Noted | undefined
  // Noted by a load of the other record: the link may have changed since.
  if (noted === undefined || !Utils.equals(noted[mappedBy], Utils.getPrimaryKeyValues(entity, em.getMetadata(entity.constructor), true)))
    return
  const held = em.getComparator().prepareEntity(other) as Noted
  for (const property of [...targetMeta!.primaryKeys, mappedBy]) noted[property] = held[property]
}

/** MikroORM notes date-times in links of several columns as stored, but compares dates. */
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
