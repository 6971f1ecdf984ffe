/** ORM values: keys and values between the engine's form (scalars.ts) and the one that the properties of entities hold. */
import { Reference } from '@mikro-orm/core'
import type { EntityMetadata } from '@mikro-orm/core'
import type { KeyValues } from './key.ts'
import type { Resource, ScalarAttribute } from './model.ts'
import { fromProperty, toProperty } from './scalars.ts'
import type { EmbeddedValue, ValueChange } from './write-plan.ts'

/** An entity, as MikroORM hands it out. */
export type Entity = Record<string, unknown>

/** The plain values of a change by property. An embedded object becomes an object of its properties. */
export function toProperties(changes: readonly ValueChange[]): Entity {
  const data: Entity = {}
  for (const { attribute, value } of changes) {
    if (attribute.kind === 'scalar') data[attribute.property] = toProperty(value, attribute.type)
    else data[attribute.property] = toObject(value as EmbeddedValue)
  }
  return data
}

function toObject(value: EmbeddedValue): Entity | Entity[] | null {
  if (value === null) return null
  return 'members' in value ? value.members.map(toProperties) : toProperties(value)
}

const accessors = new WeakMap<EntityMetadata, ReadonlyMap<string, string>>()

/** The properties of an entity that have an accessor by another name, with that. */
function accessorsOf(meta: EntityMetadata): ReadonlyMap<string, string> {
  let known = accessors.get(meta)
  if (known === undefined) {
    known = new Map(meta.props.flatMap(({ name, accessor }) => (accessor === undefined || accessor === name ? [] : [[name, accessor]])))
    accessors.set(meta, known)
  }
  return known
}

/** The values of a new record as `em.create` takes them: what has an accessor is known to it by that one's name. */
export function byAccessor(data: Entity, meta: EntityMetadata): Entity {
  const names = accessorsOf(meta)
  if (names.size === 0) return data
  return Object.fromEntries(Object.entries(data).map(([property, value]) => [names.get(property) ?? property, value]))
}

/** The key as the entity manager takes it: the bare value of a single key, an array for a composite one, nested where a part is a relation. */
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

/** The resource of an entity's own class, which may be one that inherits from the given one. */
export function classOf(resource: Resource, entity: Entity): Resource {
  if (resource.hierarchy === undefined) return resource
  for (const member of resource.hierarchy.byValue.values()) if (member.entity === entity.constructor) return member
  return resource
}

/** The key of an entity that the database knows. */
export function keyOfEntity(resource: Resource, entity: Entity): KeyValues {
  return resource.keyNames.flatMap(name => {
    const attribute = resource.byName.get(name)!
    const value = entity[attribute.property]
    if (attribute.kind !== 'toOne') return [fromProperty(value, (attribute as ScalarAttribute).type)]
    if (attribute.holdsKey) return [...keyOfProperty(attribute.target, value)]
    return [...keyOfEntity(attribute.target, Reference.unwrapReference(value as object) as Entity)]
  })
}

/** The key that a property with `mapToPk` holds, in the form that `toPrimaryKey` gives. */
export function keyOfProperty(resource: Resource, value: unknown): KeyValues {
  const parts = (Array.isArray(value) ? value : [value]).flat(8) as unknown[]
  return resource.key.map(({ type }, index) => fromProperty(parts[index], type))
}
