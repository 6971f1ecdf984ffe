/**
 * Corrected comparator: what the comparator of one instance of MikroORM does otherwise. It is corrected before MikroORM writes its
 * functions into the classes of the entities, by which it looks records up.
 */
import { EntityComparator, type EntityMetadata } from '@mikro-orm/core'

type DateSerializer = ReturnType<typeof serializeDates>

/** The members of MikroORM's comparator that are corrected. */
interface Corrected {
  getPkSerializer(meta: EntityMetadata): DateSerializer
  wrap(key: string): string
  safeKey(key: string): string
}

/** The members that are corrected, for `checkMembers`. */
export const COMPARATOR = {
  holder: 'EntityComparator',
  object: EntityComparator.prototype,
  members: ['getPkSerializer', 'wrap', 'safeKey'],
}

/** Code of names beyond ASCII differs where the names differ. */
export function safeKey(key: string): string {
  return key.replaceAll(/\W/g, each => `$${each.charCodeAt(0)}_`).replace(/^(?=\d)/, '_')
}

/** Corrects the comparator of an instance; one that a fork shares with its parent is corrected already. */
export function correctComparator(shared: object): void {
  const comparator = shared as Corrected
  if (Object.hasOwn(comparator, 'getPkSerializer')) return
  const getPkSerializer = comparator.getPkSerializer.bind(comparator)
  Object.assign(comparator, {
    getPkSerializer: meta => serializeDates(meta, getPkSerializer(meta)),
    // In generated code a column or table that begins with a digit would be a syntax error.
    wrap: key => (/^(?:\[idx_\d+\])$/.test(key) ? key : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`),
    safeKey,
  } satisfies Corrected)
}

type KeyedEntity = Record<string, unknown>
type Serializer = (entity: KeyedEntity) => string

/**
 * MikroORM stores a loaded record whose key is a time under the text of `Date.toString()`, in whole seconds, and looks it up by
 * the text of ISO 8601. It does not find the record, makes another entity for each link to it, and puts that in the place of the changed
 * one: the change is lost. The corrected serializer stores the record under the text of ISO 8601.
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
