/**
 * Finds code of the application that MikroORM calls while writing: subscribers, loggers, hooks, `onCreate` and `onUpdate`. Without such
 * code, the engine may write by statements; with such code, another flush must follow.
 */
import { DefaultLogger, SimpleLogger } from '@mikro-orm/core'
import type { Configuration, EntityManager, LoggingOptions, MetadataStorage } from '@mikro-orm/core'
import { isOwnSubscriber } from './on-update.ts'

const running = new WeakMap<MetadataStorage, boolean>()

export function hasSubscribers(em: EntityManager): boolean {
  for (const subscriber of em.getEventManager().getSubscribers()) if (!isOwnSubscriber(subscriber)) return true
  return false
}

export function nameSubscribers(em: EntityManager): readonly string[] {
  return [...em.getEventManager().getSubscribers()]
    .filter(subscriber => !isOwnSubscriber(subscriber))
    .map(subscriber => {
      const { name } = subscriber.constructor
      const called = name === '' || name === 'Object' ? 'a subscriber' : `the subscriber ${name}`
      const entities = (subscriber.getSubscribedEntities?.() ?? []).map(entity => em.getMetadata().get(entity).className)
      return entities.length === 0 ? called : `${called} of ${entities.join(', ')}`
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
