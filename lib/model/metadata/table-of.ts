/** Finds an entity's table. */
import type { EntityMetadata } from '@mikro-orm/core'
import { qualifyTable } from '../table-name.ts'

/** If MikroORM cannot take a name, the comment has the original. */
export function findTableName(meta: EntityMetadata): string {
  const isDescribed = meta.readonly === true && meta.tableName === `(${meta.className})`
  return isDescribed && meta.comment !== undefined ? meta.comment : qualifyTable(meta.tableName, meta.schema)
}
