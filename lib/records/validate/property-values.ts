/** Turns values of a valid body, typed as in scalar-type.ts, into values of properties: milliseconds into a Date. */
import type { Entity } from '../../model/entity-key.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import { toProperty } from '../../foundation/values/scalar-type.ts'
import type { EmbeddedValue, ValueInput } from './record-input.ts'

export function toProperties(changes: readonly ValueInput[]): Entity {
  const data: Entity = {}
  for (const { attribute, value } of changes) {
    if (attribute.kind === 'scalar')
      data[attribute.property] = addTo(data[attribute.property], attribute, toProperty(value, attribute.type))
    else data[attribute.property] = toEmbedded(value as EmbeddedValue)
  }
  return data
}

/** A member of a JSON object stands beside others; undefined takes the member away. */
export function addTo(current: unknown, { source, name }: ScalarAttribute, value: unknown): unknown {
  if (source.kind !== 'within') return value
  if (value !== undefined) return { ...(isObject(current) ? current : {}), [name]: value }
  if (!isObject(current) || !Object.hasOwn(current, name)) return current ?? null
  const { [name]: _, ...others } = current
  return others
}

export function toEmbedded(value: EmbeddedValue): Entity | Entity[] | null {
  if (value === null) return null
  return 'members' in value ? value.members.map(toProperties) : toProperties(value)
}
