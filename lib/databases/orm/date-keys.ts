/**
 * Date keys: MikroORM stores a loaded record whose key is a time under the text of `Date.toString()`, in whole seconds, and looks it up by
 * the text of ISO 8601. It does not find the record, makes another entity for each link to it, and puts that in the place of the changed
 * one: the change is lost. The corrected serializer stores the record under the text of ISO 8601.
 */
import type { EntityMetadata } from '@mikro-orm/core'

type KeyedEntity = Record<string, unknown>
type Serializer = (entity: KeyedEntity) => string

/** Returns the serializer of an entity's keys that knows times, made of MikroORM's. */
export function serializeDates(meta: EntityMetadata, serialize: Serializer): Serializer {
  const dates = meta.primaryKeys.filter(name => isDate(meta, name))
  return dates.length === 0 ? serialize : entity => serialize(withTexts(entity, dates))
}

function isDate({ properties }: EntityMetadata, name: string): boolean {
  const prop = properties[name] as EntityMetadata['props'][number]
  return prop.kind === 'scalar' && prop.runtimeType === 'Date' && prop.customType === undefined
}

function withTexts(entity: KeyedEntity, dates: readonly string[]): KeyedEntity {
  const texts = dates.flatMap(name => {
    const value = entity[name]
    return value instanceof Date && !Number.isNaN(value.getTime()) ? [[name, { value: value.toISOString() }] as const] : []
  })
  return Object.create(entity, Object.fromEntries(texts)) as KeyedEntity
}
