/**
 * Makes the embedded objects that the constructor of an entity takes. MikroORM 7.2 makes one object of a whole list, so that creating the entity fails, and gives
 * an object no more than its own constructor takes. Other instances of MikroORM in an app keep what theirs do.
 */
import { EntityFactory } from '@mikro-orm/core'
import type { EntityMetadata, EntityProperty, MetadataStorage } from '@mikro-orm/core'

type Factory = Pick<EntityFactory, 'createEmbeddable'>
type Values = Record<string, unknown>

/** The classes of the embedded objects of the engines. */
const corrected = new WeakSet<object>()

/** Corrects the embedded objects of these entities. */
export function correctEmbeddedLists(metadata: MetadataStorage): void {
  for (const { embeddable, class: type } of metadata) if (embeddable && type !== undefined) corrected.add(type)
}

const factory = EntityFactory.prototype as Factory
const { createEmbeddable } = factory

function createEach(this: Factory, ...[name, data, options]: Parameters<Factory['createEmbeddable']>): object {
  if (!corrected.has(name as object)) return createEmbeddable.call(this, name, data, options)
  if (Array.isArray(data)) return data.map(item => createEach.call(this, name, item as never, options))
  const object = createEmbeddable.call(this, name, data, options) as Values & { readonly __meta?: EntityMetadata }
  const { __meta: meta } = object
  const { properties, constructorParams = [] } = meta ?? {}
  if (options?.newEntity !== true || properties === undefined) return object
  for (const [key, value] of Object.entries(data)) {
    const prop = properties[key as never] as EntityProperty | undefined
    if (prop === undefined || constructorParams.includes(key) || object[key] === value) continue
    const isObject = prop.kind === 'embedded' && typeof value === 'object' && value !== null
    object[key] = isObject ? createEach.call(this, prop.targetMeta!.class as never, value as never, options) : value
  }
  return object
}

if (typeof createEmbeddable === 'function') Object.assign(factory, { createEmbeddable: createEach })
