/**
 * Foreign code: whether MikroORM runs code of the application's while it flushes: life-cycle hooks, subscribers, and `onCreate` or `onUpdate` that look at the
 * entity or its manager. Such code may change what has been looked at already, and what it changes is to be written by a further flush.
 */
import type { EntityManager, MetadataStorage } from '@mikro-orm/core'
import { isOwnSubscriber } from './on-update.ts'

const running = new WeakMap<MetadataStorage, boolean>()

/** Whether somebody listens to what the entity manager does, beside the engine itself. */
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
        // One without parameters, `() => new Date()`, has nothing that it could change.
        props.some(({ onCreate, onUpdate }) => (onCreate?.length ?? 0) > 0 || (onUpdate?.length ?? 0) > 0),
    )
    running.set(metadata, runs)
  }
  return runs || hasSubscribers(em)
}
