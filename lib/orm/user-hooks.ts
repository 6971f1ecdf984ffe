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
