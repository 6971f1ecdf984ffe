/**
 * On update: keeps MikroORM from calling `onUpdate` for records that it has only just created. When a new record links another new one of its own
 * entity, it inserts first and sets the link by a second statement, which it takes for an update: `updated_at` would not be null until the first one.
 */
import type { EventSubscriber, MikroORM } from '@mikro-orm/core'

type OnUpdate = (entity: Record<string, unknown>, em: unknown) => unknown

const justCreated = new WeakSet<object>()
const wrapped = new WeakSet<OnUpdate>()

/** Another wrapper around a function: what is inside stays known. */
export function takeOver(inner: unknown, outer: object): void {
  if (wrapped.has(inner as OnUpdate)) wrapped.add(outer as OnUpdate)
}

export function skipUpdateOfCreated(orm: MikroORM): void {
  let pending: object[] = []
  orm.em.getEventManager().registerSubscriber({
    afterCreate({ entity }) {
      justCreated.add(entity)
      pending.push(entity)
    },
    afterFlush() {
      for (const entity of pending) justCreated.delete(entity)
      pending = []
    },
  } satisfies EventSubscriber)
  for (const meta of orm.getMetadata()) {
    for (const prop of meta.props) {
      const original = prop.onUpdate as OnUpdate | undefined
      // Several engines may share the definitions of their entities.
      if (original === undefined || wrapped.has(original)) continue
      const wrapper: OnUpdate = (entity, em) => (justCreated.has(entity) ? entity[prop.name] : original(entity, em))
      wrapped.add(wrapper)
      prop.onUpdate = wrapper as NonNullable<typeof prop.onUpdate>
    }
  }
}
