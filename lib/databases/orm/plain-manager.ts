/**
 * Plain manager: whether nobody hears of the statements that an entity manager runs, nor takes part in its writes, so that the engine may
 * write by its own.
 */
import { DefaultLogger, SimpleLogger } from '@mikro-orm/core'
import type { Configuration, EntityManager, LoggingOptions } from '@mikro-orm/core'
import { correctedManager } from './corrected-manager.ts'
import { hasSubscribers, nameSubscribers } from './user-hooks.ts'

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
