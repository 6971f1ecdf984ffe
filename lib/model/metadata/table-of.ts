import type { EntityMetadata } from '@mikro-orm/core'
import { qualifyTable } from '../table-name.ts'

/** A comment holds a name that MikroORM cannot take. */
export function findTableName(meta: EntityMetadata): string {
  const isDescribed = meta.readonly === true && meta.tableName === `(${meta.className})`
  return isDescribed && meta.comment !== undefined ? meta.comment : qualifyTable(meta.tableName, meta.schema)
}
