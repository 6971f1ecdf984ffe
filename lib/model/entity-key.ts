/** Converts keys between the engine (`[7]`, see key.ts) and MikroORM's entities. */
import { helper, Reference } from '@mikro-orm/core'
import type { KeyValues, RecordKey } from './key.ts'
import type { Resource, ScalarAttribute } from './model.ts'
import { fromProperty, toProperty } from '../foundation/values/scalar-type.ts'

export type Entity = Record<string, unknown>

/** `7` of one part, `[7, 2]` of two, `[[7, 2], 3]` where a part is a relation. */
export function toPrimaryKey(resource: Resource, key: KeyValues): unknown {
  let position = 0
  const part = (of: Resource): unknown => {
    const parts = of.keyNames.map(name => {
      const attribute = of.byName.get(name)!
      if (attribute.kind === 'toOne') return part(attribute.target)
      return toProperty(key[position++], (attribute as ScalarAttribute).type)
    })
    return parts.length === 1 ? parts[0] : parts
  }
  return part(resource)
}

export function findClass(resource: Resource, entity: Entity): Resource {
  if (resource.hierarchy === undefined) return resource
  for (const member of resource.hierarchy.byValue.values()) if (member.entity === entity.constructor) return member
  return resource
}

/** Expects an entity with a stored key. */
export function keyOfEntity(resource: Resource, entity: Entity): KeyValues {
  return resource.keyNames.flatMap(name => {
    const attribute = resource.byName.get(name)!
    const value = entity[attribute.property]
    if (attribute.kind !== 'toOne') return [fromProperty(value, (attribute as ScalarAttribute).type)]
    if (attribute.holdsKey) return [...keyOfProperty(attribute.target, value)]
    return [...keyOfEntity(attribute.target, Reference.unwrapReference(value as object) as Entity)]
  })
}

/** The entity must be loaded. */
export function idOfEntity(resource: Resource, entity: Entity): RecordKey {
  const { shownKey } = resource
  return shownKey === undefined ? keyOfEntity(resource, entity) : { shown: fromProperty(entity[shownKey.property], shownKey.part.type) }
}

/** Reads a `mapToPk` property in the form of `toPrimaryKey`. */
export function keyOfProperty(resource: Resource, value: unknown): KeyValues {
  const parts = (Array.isArray(value) ? value : [value]).flat(8) as unknown[]
  return resource.key.map(({ type }, index) => fromProperty(parts[index], type))
}

export function unwrap(link: object): Entity {
  return ('unwrap' in link && typeof link.unwrap === 'function' ? link.unwrap() : link) as Entity
}

export function hasKey(entity: Entity): boolean {
  return helper(entity).hasPrimaryKey()
}
