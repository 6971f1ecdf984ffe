/**
 * Loads a record as `em.findOne` does by a key, with the statement of MikroORM, but without building it again. `em.findOne` does the
 * rest: joined or additional tables, caches, and entity managers of the application.
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

/** Loads the entity of a key. Undefined when it does not exist. */
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
      // As `em.findOne` leaves it: only the record itself was requested.
      helper(entity).setSerializationContext(NOTHING_POPULATED as never)
      if (em.getEventManager().hasListeners(EventType.onLoad, meta)) return work.dispatchOnLoadEvent().then(() => entity)
      work.unmarkAsLoaded(entity)
      return entity
    })
  })
}

/** Whether a record of the entity is one row of one table, found by one value. */
export function loadsAlone(name: EntityName, em: EntityManager): boolean {
  const meta = em.getMetadata().get(name)
  return isPlainEntity(meta) && isSimple(meta)
}

/** Whether the unit of work removes other records with one of the entity. */
export function cascades({ relations }: EntityMetadata): boolean {
  return relations.some(({ orphanRemoval, cascade }) => orphanRemoval === true || cascade?.some(kind => REMOVING.has(kind)))
}

async function findOne(name: EntityName, key: unknown, em: EntityManager): Promise<object | undefined> {
  const { tptChildren, tptParent, props, primaryKeys } = em.getMetadata().get(name)
  // For a record in several tables MikroORM only reads the class at the top of the hierarchy, and only when nothing is lazy.
  if (tptChildren !== undefined && (tptParent !== undefined || props.some(({ lazy }) => lazy === true))) {
    for (const child of tptChildren) {
      const found = await findOne(child.class, key, em)
      if (found !== undefined) return found
    }
  }
  return findFirst(name, buildCondition(key, primaryKeys), em)
}

/**
 * Builds a condition on a key. MikroORM would take nested keys for alternatives where they are the whole key, and for rows of rows where
 * every part is nested.
 */
function buildCondition(key: unknown, [only, ...others]: readonly string[]): object {
  if (!Array.isArray(key)) return key as object
  const parts = key as unknown[]
  if (others.length === 0) return parts.some(part => Array.isArray(part)) ? { [only!]: parts.flat(Infinity) } : parts
  if (!parts.every(part => Array.isArray(part))) return parts
  return Object.fromEntries([only!, ...others].map((name, index) => [name, (parts[index] as unknown[]).flat(Infinity)]))
}

/** Whether a record is one row, found by one value, and loads nothing else. */
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

/** Whether the entity manager is MikroORM's own, and caches only its identity map. */
function isOrdinary(em: EntityManager): boolean {
  return (
    em.findOne === SqlEntityManager.prototype.findOne &&
    em.config.get('disableIdentityMap') !== true &&
    (em.config.get('resultCache') as { global?: unknown }).global === undefined &&
    em.schema === undefined
  )
}
