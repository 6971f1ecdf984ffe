/**
 * Listeners: finds code of the application in MikroORM's writing: subscribers, loggers, hooks, `onCreate` and `onUpdate` that read the
 * entity. Without any, the engine may write by statements. Code in a flush may change flushed entities: another flush must follow.
 */
import { DefaultLogger, SimpleLogger } from '@mikro-orm/core'
import type { Configuration, EntityManager, LoggingOptions, MetadataStorage } from '@mikro-orm/core'
import { correctedManager } from './corrected-manager.ts'
import { isOwnSubscriber } from './on-update.ts'

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
      const own = name === '' || name === 'Object' ? 'a subscriber' : `the subscriber ${name}`
      const entities = (subscriber.getSubscribedEntities?.() ?? []).map(entity => em.getMetadata().get(entity).className)
      return entities.length === 0 ? own : `${own} of ${entities.join(', ')}`
    })
}

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

export class ManagerCheck {
  readonly #ordinary: unknown
  /** The last result. */
  #known: { readonly em: EntityManager; readonly isOrdinary: boolean } | undefined

  /** @param ordinary MikroORM's class of entity managers */
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

  /** MikroORM's own, unchanged, and flushing in transactions. */
  #isOrdinary(em: EntityManager): boolean {
    return (
      (em as object).constructor === this.#ordinary &&
      !Object.hasOwn(em, 'flush') &&
      (em as { readonly schema?: string }).schema === undefined &&
      em.config.get('disableTransactions') !== true
    )
  }
}
