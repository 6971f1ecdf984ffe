/**
 * Listeners: who of the application hears of what MikroORM writes, or takes part in it: subscribers, loggers, life-cycle hooks, and
 * `onCreate` or `onUpdate` that read the entity or its manager. Where nobody does, the engine may write by statements of its own. Code that
 * runs during a flush may change entities that are flushed already, so a further flush must write them.
 */
import { DefaultLogger, SimpleLogger } from '@mikro-orm/core'
import type { Configuration, EntityManager, LoggingOptions, MetadataStorage } from '@mikro-orm/core'
import { correctedManager } from './corrected-manager.ts'
import { isOwnSubscriber } from './on-update.ts'

const running = new WeakMap<MetadataStorage, boolean>()

/** Whether subscribers other than the engine's observe the entity manager. */
function hasSubscribers(em: EntityManager): boolean {
  for (const subscriber of em.getEventManager().getSubscribers()) if (!isOwnSubscriber(subscriber)) return true
  return false
}

/** Names the subscribers other than the engine's by their classes, and by the entities that they are about. */
function nameSubscribers(em: EntityManager): readonly string[] {
  return [...em.getEventManager().getSubscribers()]
    .filter(subscriber => !isOwnSubscriber(subscriber))
    .map(subscriber => {
      const { name } = subscriber.constructor
      const own = name === '' || name === 'Object' ? 'a subscriber' : `the subscriber ${name}`
      const entities = (subscriber.getSubscribedEntities?.() ?? []).map(entity => em.getMetadata().get(entity).className)
      return entities.length === 0 ? own : `${own} of ${entities.join(', ')}`
    })
}

/** Whether a flush may run code that changes entities. */
export function runsForeignCode(em: EntityManager): boolean {
  const metadata = em.getMetadata()
  let runs = running.get(metadata)
  if (runs === undefined) {
    runs = [...metadata].some(
      ({ hooks, props }) =>
        Object.values(hooks).some(list => list.length > 0) ||
        // A function without parameters, `() => new Date()`, cannot change an entity.
        props.some(({ onCreate, onUpdate }) => (onCreate?.length ?? 0) > 0 || (onUpdate?.length ?? 0) > 0),
    )
    running.set(metadata, runs)
  }
  return runs || hasSubscribers(em)
}

/** Whether nothing observes statements. The application's own logger may do anything with them. */
export function isSilent(config: Configuration, loggerContext?: LoggingOptions): boolean {
  const logger = config.getLogger()
  return (
    (logger.logQuery === DefaultLogger.prototype.logQuery || logger.logQuery === SimpleLogger.prototype.logQuery) &&
    !logger.isEnabled('query', loggerContext) &&
    config.get('slowQueryThreshold') === undefined
  )
}

/** Looks at the entity manager of an engine. */
export class ManagerCheck {
  readonly #ordinary: unknown
  /** The entity manager that has been looked at last, and whether it is MikroORM's own. */
  #known: { readonly em: EntityManager; readonly isOrdinary: boolean } | undefined

  /** @param ordinary the class of MikroORM's own entity managers */
  constructor(ordinary: Parameters<typeof correctedManager>[0]) {
    this.#ordinary = correctedManager(ordinary)
  }

  /** See `Connection.writesAlone`. */
  isPlain(em: EntityManager): boolean {
    if (this.#known?.em !== em) this.#known = { em, isOrdinary: this.#isOrdinary(em) }
    return this.#known.isOrdinary && !hasSubscribers(em) && isSilent(em.config)
  }

  /** See `Connection.explainListeners`. */
  explain(em: EntityManager): string | undefined {
    if (this.isPlain(em)) return undefined
    const names = nameSubscribers(em)
    if (names.length > 0) return `${names.join(' and ')} ${names.length === 1 ? 'listens' : 'listen'} to it`
    if (this.#known?.isOrdinary === true) return 'MikroORM logs the statements that it runs'
    return "the entity manager is not MikroORM's own, or does not flush in transactions"
  }

  /** Whether an entity manager is MikroORM's own, and flushes in transactions. */
  #isOrdinary(em: EntityManager): boolean {
    return (
      (em as object).constructor === this.#ordinary &&
      !Object.hasOwn(em, 'flush') &&
      (em as { readonly schema?: string }).schema === undefined &&
      em.config.get('disableTransactions') !== true
    )
  }
}
