/** Corrects the functions that MikroORM generates to look up and compare records: for names beyond ASCII, and keys with a time. */
import { EntityComparator, type EntityMetadata } from '@mikro-orm/core'

type DateSerializer = ReturnType<typeof serializeDates>

interface Corrected {
  getPkSerializer(meta: EntityMetadata): DateSerializer
  wrap(key: string): string
  safeKey(key: string): string
}

/** Checked by `checkMembers`. */
export const COMPARATOR = {
  holder: 'EntityComparator',
  object: EntityComparator.prototype,
  members: ['getPkSerializer', 'wrap', 'safeKey'],
}

/** Gives different code for different names beyond ASCII. */
export function safeKey(key: string): string {
  return key.replaceAll(/\W/g, each => `$${each.charCodeAt(0)}_`).replace(/^(?=\d)/, '_')
}

/** Corrects once: forks share the comparator. */
export function correctComparator(shared: object): void {
  const comparator = shared as Corrected
  if (Object.hasOwn(comparator, 'getPkSerializer')) return
  const getPkSerializer = comparator.getPkSerializer.bind(comparator)
  Object.assign(comparator, {
    getPkSerializer: meta => serializeDates(meta, getPkSerializer(meta)),
    // A name with a digit first would be a syntax error.
    wrap: key => (/^(?:\[idx_\d+\])$/.test(key) ? key : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`),
    safeKey,
  } satisfies Corrected)
}

type KeyedEntity = Record<string, unknown>
type Serializer = (entity: KeyedEntity) => string

/**
 * MikroORM stores a loaded record with a time as key under `Date.toString()`, in whole seconds, but looks the record up by ISO 8601: each
 * link gets another entity, and changes are lost.
 */
function serializeDates(meta: EntityMetadata, serialize: Serializer): Serializer {
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
