/**
 * Day values: a `Date` that the application gives a property of the type `date`, which holds a text. MikroORM hands it on, and SQLite would
 * store its milliseconds, which no date is read from; a server stores the day.
 */
import { DateType, type MikroORM } from '@mikro-orm/core'

/**
 * Lets an instance on SQLite store the day in UTC, as a server does. The types are MikroORM's own, for all instances: each property gets
 * one of its own.
 */
export function storeDays(orm: MikroORM): void {
  for (const { props } of orm.getMetadata())
    for (const prop of props)
      if (prop.customType?.constructor === DateType)
        prop.customType = Object.create(prop.customType, { convertToDatabaseValue: { value: toDay } }) as DateType
}

function toDay(value: unknown): unknown {
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString().slice(0, 10) : value
}
