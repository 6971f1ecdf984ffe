/** Day values: stores a `Date` in a property of type `date` as a day. SQLite would store milliseconds, and read no date. */
import { DateType, type MikroORM } from '@mikro-orm/core'

/** The day in UTC, as PostgreSQL does. Instances share MikroORM's type, so each property gets a type of its own. */
export function storeDays(orm: MikroORM): void {
  for (const { props } of orm.getMetadata())
    for (const prop of props)
      if (prop.customType?.constructor === DateType)
        prop.customType = Object.create(prop.customType, { convertToDatabaseValue: { value: toDay } }) as DateType
}

function toDay(value: unknown): unknown {
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString().slice(0, 10) : value
}
