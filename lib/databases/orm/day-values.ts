/**
 * Day values: a `Date` in a property of type `date`. MikroORM passes the date on, and SQLite would store milliseconds, which read as no
 * date.
 */
import { DateType, type MikroORM } from '@mikro-orm/core'

/** Stores the day in UTC, as PostgreSQL does. Each property gets a type of its own, as instances share MikroORM's types. */
export function storeDays(orm: MikroORM): void {
  for (const { props } of orm.getMetadata())
    for (const prop of props)
      if (prop.customType?.constructor === DateType)
        prop.customType = Object.create(prop.customType, { convertToDatabaseValue: { value: toDay } }) as DateType
}

function toDay(value: unknown): unknown {
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString().slice(0, 10) : value
}
