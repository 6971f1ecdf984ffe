/** Tells whether a statement of the engine does all that MikroORM would do for a write or deletion. Loads records for a unit of work. */
import { Cascade, DefaultLogger, ReferenceKind, SimpleLogger } from '@mikro-orm/core'
import type { Configuration, EntityManager, EntityMetadata, EntityName, LoggingOptions, MetadataStorage, MikroORM } from '@mikro-orm/core'
import type { Clock } from '../../foundation/async/clock.ts'
import { correctedManager } from './corrected-manager.ts'
import { retime } from './model-time.ts'
import { isOwnSubscriber } from './on-update.ts'
import { findFirst } from '../../model/metadata/eager-cycles.ts'

export abstract class OrmConnection {
  readonly #ordinary: unknown
  #known: { readonly em: EntityManager; readonly isOrdinary: boolean } | undefined

  /** @param ordinary MikroORM's class of entity managers */
  constructor(ordinary: Parameters<typeof correctedManager>[0]) {
    this.#ordinary = correctedManager(ordinary)
  }

  abstract get orm(): MikroORM

  protected abstract get clock(): Clock | undefined

  retime(entity: object, given: object, from: number): void {
    const { clock } = this
    if (clock === undefined || clock.isSystem) return
    retime(entity as Record<string, unknown>, given, this.orm.getMetadata(entity.constructor).props, from, clock)
  }

  writesAlone(): boolean {
    const { em } = this.orm
    if (this.#known?.em !== em) this.#known = { em, isOrdinary: this.#isOrdinary(em) }
    return this.#known.isOrdinary && (em.getEventManager().getSubscribers().size === 0 || !hasSubscribers(em)) && isSilent(em.config)
  }

  explainListeners(): string | undefined {
    if (this.writesAlone()) return undefined
    const names = nameSubscribers(this.orm.em)
    if (names.length > 0) return `${names.join(' and ')} ${names.length === 1 ? 'listens' : 'listen'} to it`
    if (this.#known?.isOrdinary === true) return 'MikroORM logs the statements that it runs'
    return "the entity manager is not MikroORM's own, or does not flush in transactions"
  }

  /** The engine's manager, unchanged, without a schema, flushing in transactions. */
  #isOrdinary(em: EntityManager): boolean {
    return (
      (em as object).constructor === this.#ordinary &&
      !Object.hasOwn(em, 'flush') &&
      (em as { readonly schema?: string }).schema === undefined &&
      em.config.get('disableTransactions') !== true
    )
  }

  load(entity: EntityName, key: unknown, em: EntityManager): Promise<object | undefined> {
    return findRecord(entity, key, em)
  }

  loadsAlone(entity: EntityName): boolean {
    return loadsAlone(entity, this.orm.em)
  }

  removesAlone(entity: EntityName): boolean {
    const { em } = this.orm
    return loadsAlone(entity, em) && !cascades(em.getMetadata().get(entity)) && !runsForeignCode(em)
  }
}

const running = new WeakMap<MetadataStorage, boolean>()

function hasSubscribers(em: EntityManager): boolean {
  for (const subscriber of em.getEventManager().getSubscribers()) if (!isOwnSubscriber(subscriber)) return true
  return false
}

function nameSubscribers(em: EntityManager): readonly string[] {
  return [...em.getEventManager().getSubscribers()]
    .filter(subscriber => !isOwnSubscriber(subscriber))
    .map(subscriber => {
      const { name } = subscriber.constructor
      const called = name === '' || name === 'Object' ? 'a subscriber' : `the subscriber ${name}`
      const entities = (subscriber.getSubscribedEntities?.() ?? []).map(entity => em.getMetadata().get(entity).className)
      return entities.length === 0 ? called : `${called} of ${entities.join(', ')}`
    })
}

/** Code of the application in MikroORM's writing: after such code, another flush must follow. */
export function runsForeignCode(em: EntityManager): boolean {
  const metadata = em.getMetadata()
  let runs = running.get(metadata)
  if (runs === undefined) {
    runs = [...metadata].some(
      ({ hooks, props }) =>
        Object.values(hooks).some(list => list.length > 0) ||
        // `() => new Date()`, without parameters, cannot change an entity.
        props.some(({ onCreate, onUpdate }) => (onCreate?.length ?? 0) > 0 || (onUpdate?.length ?? 0) > 0),
    )
    running.set(metadata, runs)
  }
  return runs || hasSubscribers(em)
}

/** A logger of the application may do anything. */
export function isSilent(config: Configuration, loggerContext?: LoggingOptions): boolean {
  const logger = config.getLogger()
  return (
    (logger.logQuery === DefaultLogger.prototype.logQuery || logger.logQuery === SimpleLogger.prototype.logQuery) &&
    !logger.isEnabled('query', loggerContext) &&
    config.get('slowQueryThreshold') === undefined
  )
}

const REMOVING = new Set<Cascade>([Cascade.REMOVE, Cascade.ALL, Cascade.SCHEDULE_ORPHAN_REMOVAL])
const simple = new WeakMap<EntityMetadata, boolean>()

/** In hierarchies, statements differ by record. */
function isPlainEntity(meta: EntityMetadata): boolean {
  return meta.root === meta && !meta.inheritanceType && !meta.virtual && !meta.view && !meta.pivotTable && !meta.schema
}

function loadsAlone(name: EntityName, em: EntityManager): boolean {
  const meta = em.getMetadata().get(name)
  return isPlainEntity(meta) && isSimple(meta)
}

function cascades({ relations }: EntityMetadata): boolean {
  return relations.some(({ orphanRemoval, cascade }) => orphanRemoval === true || cascade?.some(kind => REMOVING.has(kind)))
}

async function findRecord(name: EntityName, key: unknown, em: EntityManager): Promise<object | undefined> {
  const { tptChildren, tptParent, props, primaryKeys } = em.getMetadata().get(name)
  // Of a record in several tables, MikroORM reads only the root class, without lazy properties.
  if (tptChildren !== undefined && (tptParent !== undefined || props.some(({ lazy }) => lazy === true))) {
    for (const child of tptChildren) {
      const found = await findRecord(child.class, key, em)
      if (found !== undefined) return found
    }
  }
  return findFirst(name, buildCondition(key, primaryKeys), em)
}

/** Flattens nested keys: MikroORM takes nested keys for alternatives or rows. */
function buildCondition(key: unknown, [only, ...others]: readonly string[]): object {
  if (!Array.isArray(key)) return key as object
  const parts = key as unknown[]
  if (others.length === 0) return parts.some(part => Array.isArray(part)) ? { [only!]: parts.flat(Infinity) } : parts
  if (!parts.every(part => Array.isArray(part))) return parts
  return Object.fromEntries([only!, ...others].map((name, index) => [name, (parts[index] as unknown[]).flat(Infinity)]))
}

/** A record is found by a single plain value, and loads no other record. */
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
