/** Mends types of properties that SQLite would store wrongly, such as days, and text keys with `autoincrement`. */
import { BigIntType, DateType, StringType, TextType, type EntityMetadata, type MikroORM } from '@mikro-orm/core'

/**
 * Reads `id: string` with `autoincrement` as a bigint in a text, `'7'`. MikroORM would read 7, refused by writes, and make foreign keys
 * texts. Runs before MikroORM makes the columns of foreign keys.
 */
export function readTextKeys(meta: EntityMetadata): void {
  for (const prop of Object.values(meta.properties)) {
    if (prop.primary === true && prop.autoincrement === true && isText(prop.type)) {
      Object.assign(prop, { type: new BigIntType('string'), customType: undefined, columnTypes: undefined, runtimeType: 'string' })
    }
  }
}

function isText(type: unknown): boolean {
  if (typeof type === 'string') return /^(?:string|text)$/i.test(type)
  return type === StringType || type === TextType || type instanceof StringType || type instanceof TextType
}

/**
 * Stores a `Date` in a property of type `date` as the day in UTC, like PostgreSQL: milliseconds would read as no date. Other instances
 * share MikroORM's type, so the property gets a copy.
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
