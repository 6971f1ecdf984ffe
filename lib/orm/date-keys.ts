/**
 * Date keys: MikroORM keeps loaded records by the text of their key, which of a time is the one for people, in whole seconds, and looks them up by the one of ISO 8601. So it found none,
 * made another entity for each link to a record, and put it in the place of the one that was changed: the change was not written.
 */
import { EntityComparator } from '@mikro-orm/core'
import type { EntityMetadata } from '@mikro-orm/core'

type Keyed = Record<string, unknown>
type Serializer = (entity: Keyed) => string

type MakeSerializer = (this: unknown, meta: EntityMetadata) => Serializer

const comparator = EntityComparator.prototype as unknown as { getPkSerializer?: MakeSerializer }
const { getPkSerializer } = comparator

/** The member that is corrected, for `checkMembers`. Entities get their serializers when an instance of MikroORM is made. */
export const DATE_KEYS = { holder: 'EntityComparator', object: comparator, members: ['getPkSerializer'] }

if (getPkSerializer !== undefined)
  comparator.getPkSerializer = function (meta) {
    const serialize = getPkSerializer.call(this, meta)
    const dates = meta.primaryKeys.filter(name => isDate(meta, name))
    return dates.length === 0 ? serialize : entity => serialize(withTexts(entity, dates))
  }

function isDate({ properties }: EntityMetadata, name: string): boolean {
  const prop = properties[name as never] as EntityMetadata['props'][number]
  return prop.kind === 'scalar' && prop.runtimeType === 'Date' && prop.customType === undefined
}

function withTexts(entity: Keyed, dates: readonly string[]): Keyed {
  const texts = dates.flatMap(name => {
    const value = entity[name]
    return value instanceof Date && !Number.isNaN(value.getTime()) ? [[name, { value: value.toISOString() }] as const] : []
  })
  return Object.create(entity, Object.fromEntries(texts)) as Keyed
}
