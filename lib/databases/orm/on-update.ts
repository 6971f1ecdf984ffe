/**
 * Keeps MikroORM from calling `onUpdate` for new records: a new record that links another is inserted, then linked by an update, and
 * `updated_at` would not be null.
 */
import type { EventSubscriber, MikroORM } from '@mikro-orm/core'

type OnUpdate = (entity: Record<string, unknown>, em: unknown) => unknown

const justCreated = new WeakSet<object>()
const subscribers = new WeakSet<EventSubscriber>()
const wrapped = new WeakSet<OnUpdate>()
const originals = new WeakMap<object, object>()

export function originalFunction<F extends object>(wrapper: F): F {
  let written: object = wrapper
  for (let inner = originals.get(written); inner !== undefined; inner = originals.get(written)) written = inner
  return written as F
}

export function takeOver(inner: object, outer: object): void {
  originals.set(outer, inner)
  if (wrapped.has(inner as OnUpdate)) wrapped.add(outer as OnUpdate)
}

export function isOwnSubscriber(subscriber: EventSubscriber): boolean {
  return subscribers.has(subscriber)
}

/** The number of parameters tells `runsForeignCode` whether the entity is read. */
export function withNameAndLength<F extends (...given: never[]) => unknown>(original: { readonly length: number }, wrapper: F): F {
  return Object.defineProperty(wrapper, 'length', { value: original.length })
}

export function skipUpdateOfCreated(orm: MikroORM): void {
  const metadata = [...orm.getMetadata()]
  // Every subscriber slows each unit of work.
  if (!metadata.some(({ props }) => props.some(({ onUpdate }) => onUpdate !== undefined))) return
  let pending: object[] = []
  const subscriber: EventSubscriber = {
    afterCreate({ entity }) {
      justCreated.add(entity)
      pending.push(entity)
    },
    afterFlush() {
      for (const entity of pending) justCreated.delete(entity)
      pending = []
    },
  }
  subscribers.add(subscriber)
  orm.em.getEventManager().registerSubscriber(subscriber)
  for (const { props } of metadata) {
    for (const prop of props) {
      const original = prop.onUpdate as OnUpdate | undefined
      // Engines may share the definitions of entities.
      if (original === undefined || wrapped.has(original)) continue
      const wrapper = withNameAndLength<OnUpdate>(original, (entity, em) =>
        justCreated.has(entity) ? entity[prop.name] : original(entity, em),
      )
      wrapped.add(wrapper)
      originals.set(wrapper, original)
      prop.onUpdate = wrapper as NonNullable<typeof prop.onUpdate>
    }
  }
}
