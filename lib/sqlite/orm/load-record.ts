/**
 * Loads a record as `em.findOne` does by a key, with the statement of MikroORM, but without building it again. `em.findOne` does the
 * rest: joined or additional tables, caches, and entity managers of the application.
 */
import { EventType, helper } from '@mikro-orm/core'
import type { EntityManager, EntityName, LoggingOptions, Transaction } from '@mikro-orm/core'
import { SqlEntityManager } from '@mikro-orm/sqlite'
import { chain } from '../../base/awaitable.ts'
import type { Awaitable } from '../../base/awaitable.ts'
import { findRecord, isSimple } from '../../orm/find-record.ts'
import { StatementTemplates } from './statement-templates.ts'
import type { BoundSqliteDriver } from './driver.ts'

const NOTHING_POPULATED = Object.freeze({ populate: Object.freeze([]), fields: undefined, exclude: undefined })

/** Loads the entity of a key. Undefined when it does not exist. */
export function loadRecord(name: EntityName, key: unknown, em: EntityManager): Awaitable<object | undefined> {
  const meta = em.getMetadata().get(name)
  const work = em.getUnitOfWork()
  if (!isSimple(meta) || !isOrdinary(em) || work.getById(name, key) !== undefined) return findRecord(name, key, em)
  const [keyName] = meta.primaryKeys
  const ask = ([row]: readonly Record<string, unknown>[], transaction: Transaction) => {
    const asking = em.fork()
    asking.setTransactionContext(transaction)
    return findRecord(name, row![keyName as string], asking)
  }
  const found = StatementTemplates.of(em.getMetadata()).find('load', meta, [{ [keyName as string]: key }], ask)
  return chain(found, bound => {
    if (bound === undefined) return findRecord(name, key, em)
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

/** Whether the entity manager is MikroORM's own, and caches only its identity map. */
function isOrdinary(em: EntityManager): boolean {
  return (
    em.findOne === SqlEntityManager.prototype.findOne &&
    em.config.get('disableIdentityMap') !== true &&
    (em.config.get('resultCache') as { global?: unknown }).global === undefined &&
    em.schema === undefined
  )
}
