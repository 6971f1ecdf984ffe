/** Names an entity's table in one text, `users`, or schema and table around a separator. */
import type { EntityMetadata } from '@mikro-orm/core'

/** Impossible in names. */
const SEPARATOR = '\0'

export function qualifyTable(name: string, schema: string | undefined): string {
  return schema === undefined ? name : `${schema}${SEPARATOR}${name}`
}

/** The comment holds a name MikroORM cannot take. */
export function findTableName(meta: EntityMetadata): string {
  const isDescribed = meta.readonly === true && meta.tableName === `(${meta.className})`
  return isDescribed && meta.comment !== undefined ? meta.comment : qualifyTable(meta.tableName, meta.schema)
}

export function splitTable(table: string): string[] {
  return table.split(SEPARATOR)
}

export function showTable(table: string): string {
  return table.replace(SEPARATOR, '.')
}
