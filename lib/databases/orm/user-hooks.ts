/**
 * Finds out whether MikroORM runs code of the application during a flush: life-cycle hooks, subscribers, and `onCreate` or `onUpdate`
 * that read the entity or its manager. Such code may change entities that are flushed already, so a further flush must write them.
 */
import type { EntityManager, MetadataStorage } from '@mikro-orm/core'
import { isOwnSubscriber } from './on-update.ts'

const running = new WeakMap<MetadataStorage, boolean>()

/** Whether subscribers other than the engine's observe the entity manager. */
export function hasSubscribers(em: EntityManager): boolean {
  for (const subscriber of em.getEventManager().getSubscribers()) if (!isOwnSubscriber(subscriber)) return true
  return false
}

/** Names the subscribers other than the engine's by their classes, and by the entities that they are about. */
export function nameSubscribers(em: EntityManager): readonly string[] {
  return [...em.getEventManager().getSubscribers()]
    .filter(subscriber => !isOwnSubscriber(subscriber))
    .map(subscriber => {
      const { name } = subscriber.constructor
      const own = name === '' || name === 'Object' ? 'a subscriber' : `the subscriber ${name}`
      const entities = (subscriber.getSubscribedEntities?.() ?? []).map(entity => em.getMetadata().get(entity as never).className)
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
