/**
 * Date keys: MikroORM stores a loaded record whose key is a time under the text of `Date.toString()`, in whole seconds, and looks it up by the text of ISO 8601. It does not
 * find the record, makes another entity for each link to it, and puts that in the place of the changed one: the change is lost. The corrected serializer stores the
 * record under the text of ISO 8601.
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
