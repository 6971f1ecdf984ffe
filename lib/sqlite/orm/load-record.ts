/**
 * Load a record: what `em.findOne` does for a key, by the statement that MikroORM itself runs for it, without putting that together anew. What depends on
 * more than the key is left to `em.findOne`: other tables that are joined or read along, caches, entity managers of the application's own.
 */
import { Cascade, EventType, ReferenceKind, helper } from '@mikro-orm/core'
import type { EntityManager, EntityMetadata, EntityName, LoggingOptions, Transaction } from '@mikro-orm/core'
import { SqlEntityManager } from '@mikro-orm/sqlite'
import { chain } from '../../base/awaitable.ts'
import type { Awaitable } from '../../base/awaitable.ts'
import { findFirst } from '../../model/metadata/eager-cycles.ts'
import { StatementTemplates, isPlainEntity } from './statement-templates.ts'
import type { BoundSqliteDriver } from './driver.ts'

const REMOVING = new Set<Cascade>([Cascade.REMOVE, Cascade.ALL, Cascade.SCHEDULE_ORPHAN_REMOVAL])
const NOTHING_POPULATED = Object.freeze({ populate: Object.freeze([]), fields: undefined, exclude: undefined })

const simple = new WeakMap<EntityMetadata, boolean>()

/** The entity of a key, loaded; undefined when there is none. */
export function loadRecord(name: EntityName, key: unknown, em: EntityManager): Awaitable<object | undefined> {
  const meta = em.getMetadata().get(name)
  const work = em.getUnitOfWork()
  if (!isSimple(meta) || !isOrdinary(em) || work.getById(name, key) !== undefined) return findOne(name, key, em)
  const [keyName] = meta.primaryKeys
  const ask = ([row]: readonly Record<string, unknown>[], transaction: Transaction) => {
    const asking = em.fork()
    asking.setTransactionContext(transaction)
    return findOne(name, row![keyName as string], asking)
  }
  const found = StatementTemplates.of(em.getMetadata()).find('load', meta, [{ [keyName as string]: key }], ask)
  return chain(found, bound => {
    if (bound === undefined) return findOne(name, key, em)
    const driver = em.getDriver() as BoundSqliteDriver
    const rows = driver.executeAtOnce<object[]>(bound, 'all', em.getTransactionContext(), { id: em.id } as LoggingOptions)
    return chain(rows, ([row]) => {
      if (row === undefined) return undefined
      const entity = em
        .getEntityFactory()
        .create(name, driver.mapResult(row, meta) as never, { merge: true, convertCustomTypes: true }) as object
      // As `em.findOne` leaves it: nothing but the record itself has been asked for.
      helper(entity).setSerializationContext(NOTHING_POPULATED as never)
      if (em.getEventManager().hasListeners(EventType.onLoad, meta)) return work.dispatchOnLoadEvent().then(() => entity)
      work.unmarkAsLoaded(entity)
      return entity
    })
  })
}

/** Whether a record of the entity is one row of one table, by one value. */
export function loadsAlone(name: EntityName, em: EntityManager): boolean {
  const meta = em.getMetadata().get(name)
  return isPlainEntity(meta) && isSimple(meta)
}

/** Whether other records are removed with one of the entity, by the unit of work. */
export function cascades({ relations }: EntityMetadata): boolean {
  return relations.some(({ orphanRemoval, cascade }) => orphanRemoval === true || cascade?.some(kind => REMOVING.has(kind)))
}

async function findOne(name: EntityName, key: unknown, em: EntityManager): Promise<object | undefined> {
  const { tptChildren, tptParent, props, primaryKeys } = em.getMetadata().get(name)
  // Of a record in several tables MikroORM asks the class only at the top of the hierarchy, and not where something is left unloaded.
  if (tptChildren !== undefined && (tptParent !== undefined || props.some(({ lazy }) => lazy === true))) {
    for (const child of tptChildren) {
      const found = await findOne(child.class, key, em)
      if (found !== undefined) return found
    }
  }
  return findFirst(name, buildCondition(key, primaryKeys), em)
}

/** MikroORM would take keys that lie in each other for alternatives, where they are all of the key, and for rows of rows, where all parts are such. */
function buildCondition(key: unknown, [only, ...others]: readonly string[]): object {
  if (!Array.isArray(key)) return key as object
  const parts = key as unknown[]
  if (others.length === 0) return parts.some(part => Array.isArray(part)) ? { [only!]: parts.flat(Infinity) } : parts
  if (!parts.every(part => Array.isArray(part))) return parts
  return Object.fromEntries([only!, ...others].map((name, index) => [name, (parts[index] as unknown[]).flat(Infinity)]))
}

/** Whether a record is one row by one value, and nothing else is loaded with it. */
function isSimple(meta: EntityMetadata): boolean {
  let known = simple.get(meta)
  if (known === undefined) {
    const [key, ...others] = meta.getPrimaryProps()
    known =
      key !== undefined &&
      others.length === 0 &&
      key.kind === ReferenceKind.SCALAR &&
      key.customType === undefined &&
      meta.props.every(
        prop => prop.eager !== true && prop.targetKey === undefined && !(prop.kind === ReferenceKind.ONE_TO_ONE && !prop.owner),
      )
    simple.set(meta, known)
  }
  return known
}

/** Whether the entity manager is MikroORM's own, and keeps nothing but its identity map. */
function isOrdinary(em: EntityManager): boolean {
  return (
    em.findOne === SqlEntityManager.prototype.findOne &&
    em.config.get('disableIdentityMap') !== true &&
    (em.config.get('resultCache') as { global?: unknown }).global === undefined &&
    em.schema === undefined
  )
}
