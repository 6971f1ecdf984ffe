/**
 * Does what `em.flush` does, without waiting where possible. MikroORM's unit of work waits some thirty times between the computation of
 * changes and their end, mostly for absent listeners and empty groups of changes. For a single row of a plain entity without listeners,
 * its steps are taken here one after the other. Other changes go to its own `persistToDatabase`, and `em.flush` does all of it where code
 * of the application may run.
 */
/* eslint-disable no-underscore-dangle -- the names of MikroORM's own members */
import { ChangeSetType, EventType, ReferenceKind, helper } from '@mikro-orm/core'
import type { ChangeSet, ChangeSetPersister, EntityManager, EntityMetadata, QueryResult, Transaction, UnitOfWork } from '@mikro-orm/core'
import { SqlEntityManager } from '@mikro-orm/sqlite'
import { chain } from '../../base/awaitable.ts'
import type { Awaitable } from '../../base/awaitable.ts'
import { runsForeignCode } from '../../orm/user-hooks.ts'
import { isPlainEntity } from '../../orm/find-record.ts'
import type { BoundSqliteDriver } from './driver.ts'
import { canFlushAtOnce } from '../../orm/orm-members.ts'

type EntityChange = ChangeSet<object>

/** Private members of MikroORM's unit of work. */
interface Steps {
  filterCollectionUpdates(): void
  findExtraUpdates(change: EntityChange, relations: readonly unknown[]): void
  getChangeSetGroups(): unknown
  persistToDatabase(groups: unknown, ctx: Transaction): Promise<void>
  takeCollectionSnapshots(entity: object, visited: Set<object>): void
  postCommitCleanup(): void
  register(entity: object, data: object, options: { readonly refresh: boolean }): void
}

/** Private members of the part that writes its change sets. */
interface PersisterSteps {
  prepareOptions(meta: EntityMetadata, options: object, more: object): { readonly ctx?: Transaction }
  processProperties(change: EntityChange): void
  mapPrimaryKey(meta: EntityMetadata, value: unknown, change: EntityChange): void
  syncCompositeIdentifiers(change: EntityChange): void
  markAsPopulated(change: EntityChange, meta: EntityMetadata): void
}

/** Writes the pending changes of the entity manager inside its transaction. */
export function flush(em: EntityManager): Awaitable<void> {
  const ctx = em.getTransactionContext()
  if (!canFlushAtOnce || ctx === undefined || em.flush !== SqlEntityManager.prototype.flush || runsForeignCode(em)) return em.flush()
  const work = em.getUnitOfWork()
  const steps = work as unknown as Steps
  const cleanUp = (): void => steps.postCommitCleanup()
  let written: Awaitable<void>
  try {
    work.computeChangeSets()
    written = persist(em, work, steps, ctx)
  } catch (error) {
    cleanUp()
    throw error
  }
  if (written instanceof Promise) return written.finally(cleanUp)
  cleanUp()
}

function persist(em: EntityManager, work: UnitOfWork, steps: Steps, ctx: Transaction): Awaitable<void> {
  const changes = work.getChangeSets() as EntityChange[]
  for (const { entity } of changes) helper(entity).__processing = true
  steps.filterCollectionUpdates()
  const areRowsAll = work.getCollectionUpdates().length === 0 && work.getExtraUpdates().size === 0
  const [change, ...others] = changes
  if (change === undefined && areRowsAll) return
  if (change !== undefined && others.length === 0 && areRowsAll && isAlone(change, work, steps)) {
    return chain(persistOne(change, em, work, steps, ctx), () => steps.takeCollectionSnapshots(change.entity, new Set()))
  }
  return persistAll(em, work, steps, ctx)
}

/** Does the rest of `em.flush`. */
async function persistAll(em: EntityManager, work: UnitOfWork, steps: Steps, ctx: Transaction): Promise<void> {
  await steps.persistToDatabase(steps.getChangeSetGroups(), ctx)
  em.setTransactionContext(ctx)
  await em.getEventManager().dispatchEvent(EventType.afterFlush, { em, uow: work } as never)
}

/** Whether the change is a single row that can be written by itself. */
function isAlone(change: EntityChange, work: UnitOfWork, steps: Steps): boolean {
  const { meta, type, entity } = change
  if (!isPlainEntity(meta as EntityMetadata) || meta.compositePK || meta.schema !== undefined || change.schema !== undefined) return false
  switch (type) {
    case ChangeSetType.CREATE:
      // A new record that links itself gets its key first, and the link then.
      steps.findExtraUpdates(
        change,
        meta.relations.filter(({ kind, owner }) => kind === ReferenceKind.MANY_TO_ONE || (kind === ReferenceKind.ONE_TO_ONE && owner)),
      )
      return work.getExtraUpdates().size === 0
    case ChangeSetType.UPDATE:
      return helper(entity).__initialized && !meta.hasOptimisticLock()
    case ChangeSetType.DELETE:
      return true
    default:
      return false
  }
}

function persistOne(change: EntityChange, em: EntityManager, work: UnitOfWork, steps: Steps, ctx: Transaction): Awaitable<void> {
  const { type, entity, payload } = change
  const { meta } = change
  const name = meta.class
  const driver = em.getDriver() as unknown as BoundSqliteDriver
  const persister = work.getChangeSetPersister()
  const inner = persister as unknown as PersisterSteps
  const converted = type === ChangeSetType.DELETE ? {} : { convertCustomTypes: false }
  const options = inner.prepareOptions(meta as EntityMetadata, { ctx }, converted)
  if (type === ChangeSetType.DELETE) {
    const where = { [String(meta.primaryKeys[0])]: { $in: [change.getPrimaryKey()] } }
    return chain(driver.deleteAtOnce(name, where as never, options), () => work.unsetIdentity(entity))
  }
  inner.processProperties(change)
  if (type === ChangeSetType.UPDATE) {
    return chain(driver.updateAtOnce(name, change.getPrimaryKey(true) as never, payload as never, options), result => {
      updated(change, meta, result, persister, em)
    })
  }
  return chain(driver.insertAtOnce(name, payload as never, options), result => {
    inserted(change, meta, result, persister, inner)
    steps.register(entity, payload, { refresh: true })
  })
}

function updated(
  change: EntityChange,
  meta: EntityMetadata<object>,
  { row }: QueryResult<object>,
  persister: ChangeSetPersister,
  em: EntityManager,
): void {
  const { entity, payload } = change
  persister.mapReturnedValues(entity, payload as never, row, meta)
  change.persisted = true
  helper(entity).__originalEntityData = em.getComparator().prepareEntity(entity)
}

function inserted(
  change: EntityChange,
  meta: EntityMetadata<object>,
  { row, insertId }: QueryResult<object>,
  persister: ChangeSetPersister,
  inner: PersisterSteps,
): void {
  const { entity, payload } = change
  const wrapped = helper(entity)
  const plain = meta as EntityMetadata
  if (!wrapped.hasPrimaryKey()) inner.mapPrimaryKey(plain, insertId ?? row?.[meta.primaryKeys[0]!], change)
  persister.mapReturnedValues(entity, payload as never, row, meta)
  inner.syncCompositeIdentifiers(change)
  inner.markAsPopulated(change, plain)
  wrapped.__initialized = true
  wrapped.__managed = true
  change.persisted = true
}
