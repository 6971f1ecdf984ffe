/** Finds the table of an entity. */
import type { EntityMetadata } from '@mikro-orm/core'
import { qualifyTable } from '../table-name.ts'

/**
 * Returns what the model refers to the table of an entity by. A table whose name MikroORM cannot take has another one for it, and its own
 * in the comment.
 */
export function findTableName(meta: EntityMetadata): string {
  const isDescribed = meta.readonly === true && meta.tableName === `(${meta.className})`
  return isDescribed && meta.comment !== undefined ? meta.comment : qualifyTable(meta.tableName, meta.schema)
}
