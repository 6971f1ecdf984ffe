/** ORM values: the values of a change, from the engine's form (scalar-type.ts) to the one that the properties of entities hold. */
import type { EntityMetadata } from '@mikro-orm/core'
import type { Entity } from '../model/entity-key.ts'
import { toProperty } from '../values/scalar-type.ts'
import type { EmbeddedValue, ValueInput } from './write-plan.ts'

/** The plain values of a change by property. An embedded object becomes an object of its properties. */
export function toProperties(changes: readonly ValueInput[]): Entity {
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
