/**
 * Makes the embedded objects that the constructor of an entity takes. MikroORM 7.2 makes one object of a whole list, so that creating the
 * entity fails, and gives an object no more than its own constructor takes.
 */
import type { EntityFactory, EntityMetadata, EntityProperty } from '@mikro-orm/core'

type CreateEmbeddable = EntityFactory['createEmbeddable']
type Values = Record<string, unknown>

/** Makes an embedded object, or those of a list, by MikroORM's own function. */
export function createEach(
  create: CreateEmbeddable,
  factory: EntityFactory,
  ...[name, data, options]: Parameters<CreateEmbeddable>
): object {
  if (Array.isArray(data)) return data.map(item => createEach(create, factory, name, item, options))
  const object = create.call(factory, name, data, options) as Values & { readonly __meta?: EntityMetadata }
  const { __meta: meta } = object
  const { properties, constructorParams = [] } = meta ?? {}
  if (options?.newEntity !== true || properties === undefined) return object
  for (const [key, value] of Object.entries(data)) {
    const prop = properties[key] as EntityProperty | undefined
    if (prop === undefined || constructorParams.includes(key) || object[key] === value) continue
    const isObject = prop.kind === 'embedded' && typeof value === 'object' && value !== null
    object[key] = isObject ? createEach(create, factory, prop.targetMeta!.class, value, options) : value
  }
  return object
}
