/**
 * On update: keeps MikroORM from calling `onUpdate` for records that it has only just created. When a new record links another new one of its own
 * entity, it inserts first and sets the link by a second statement, which it takes for an update: `updated_at` would not be null until the first one.
 */
import type { EventSubscriber, MikroORM } from '@mikro-orm/core'

type OnUpdate = (entity: Record<string, unknown>, em: unknown) => unknown

const justCreated = new WeakSet<object>()
const subscribers = new WeakSet<EventSubscriber>()
const wrapped = new WeakSet<OnUpdate>()
/** The functions that the model was written with, by what stands for them now. */
const originals = new WeakMap<object, object>()

/** An `onCreate` or `onUpdate` as the model was written with it. */
export function originalFunction<F extends object>(wrapper: F): F {
  let written: object = wrapper
  for (let inner = originals.get(written); inner !== undefined; inner = originals.get(written)) written = inner
  return written as F
}

/** Another wrapper around a function: what is inside stays known. */
export function takeOver(inner: object, outer: object): void {
  originals.set(outer, inner)
  if (wrapped.has(inner as OnUpdate)) wrapped.add(outer as OnUpdate)
}

/** Whether the subscriber is one of those that are registered here. */
export function isOwnSubscriber(subscriber: EventSubscriber): boolean {
  return subscribers.has(subscriber)
}

/** Another function in the place of one takes as many parameters, since that tells whether it can look at the entity. */
export function withNameAndLength<F extends (...given: never[]) => unknown>(original: { readonly length: number }, wrapper: F): F {
  return Object.defineProperty(wrapper, 'length', { value: original.length })
}

export function skipUpdateOfCreated(orm: MikroORM): void {
  const metadata = [...orm.getMetadata()]
  // Every subscriber costs each unit of work its listening.
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
      // Several engines may share the definitions of their entities.
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
