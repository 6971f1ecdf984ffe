/**
 * Eager cycles: relations that MikroORM loads with their records (`eager`), and that lead back to where they began. With records that link
 * each other in a circle such a load never ends, and clients can make such records. So the engine loads records of these entities without
 * what they link.
 */
import { Utils, helper, type Collection, type EntityManager, type EntityMetadata, type EntityName } from '@mikro-orm/core'
import { correctNotedLinks } from './noted-links.ts'

/** MikroORM's own filters are among the scopes of the engine; here they would only hide the rows whose owners are filtered. */
const UNFILTERED = Object.freeze({ filters: false } as const)
const ALONE = Object.freeze({ filters: false, populate: false } as const)

const known = new WeakMap<EntityMetadata, boolean>()

/** Whether what is loaded with a record of the entity may lead back to an entity on the way. */
export function isInEagerCircle(meta: EntityMetadata): boolean {
  let found = known.get(meta)
  if (found === undefined) known.set(meta, (found = leadsBack(meta, [])))
  return found
}

function leadsBack(meta: EntityMetadata, way: readonly EntityMetadata[]): boolean {
  // Classes that inherit from each other are one place: a row of the one may be loaded as another.
  if (way.some(({ root }) => root === meta.root)) return true
  const on = [...way, meta]
  return meta.relations.some(
    ({ eager, targetMeta, polymorphTargets }) =>
      eager === true && (polymorphTargets ?? (targetMeta === undefined ? [] : [targetMeta])).some(target => leadsBack(target, on)),
  )
}

/** Loads the records that meet a condition, as `em.find` does: without MikroORM's filters, and without what might never end. */
export async function findAll(name: EntityName, where: object, em: EntityManager): Promise<object[]> {
  const options = isInEagerCircle(em.getMetadata().get(name)) ? ALONE : UNFILTERED
  const found = (await em.find(name, where, options)) as object[]
  for (const record of found) correctNotedLinks(record, em)
  return found
}

/**
 * The first record that meets a condition, as `em.findOne` gives it; in a circle without what it links, which only `em.find` can leave out.
 */
export async function findFirst(name: EntityName, where: object, em: EntityManager): Promise<object | undefined> {
  const found = isInEagerCircle(em.getMetadata().get(name))
    ? ((await em.find(name, where, { ...ALONE, limit: 1 })) as object[])[0]
    : (((await em.findOne(name, where, UNFILTERED)) as object | null) ?? undefined)
  if (found !== undefined) correctNotedLinks(found, em)
  return found
}

/**
 * Loads the members of a many-to-many list, all that are linked: as `Collection.init` does, which would load with the owner what it links,
 * too, and which cannot load a list with a condition of its own (`where`).
 */
export async function loadList(list: Collection<object>, em: EntityManager): Promise<void> {
  const { owner, property } = list
  const target = property.targetMeta!
  const isAlone = property.where !== undefined || isInEagerCircle(em.getMetadata().get(owner.constructor)) || isInEagerCircle(target)
  if (!isAlone) {
    // A refresh would note the rows as the driver gives them, such as a number in JSON, and the next flush would write members that nobody
    // has changed.
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
