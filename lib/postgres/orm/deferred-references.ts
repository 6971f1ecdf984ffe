/**
 * Deferred references: MikroORM writes the tables of a class one by one, and what links a record of it may come between them; nor does it know which record a
 * property with a mere key (`mapToPk`) links. Such references are checked when the transaction ends, as SQLite checks all. It concerns tables that the engine
 * creates.
 */
import { ReferenceKind } from '@mikro-orm/core'
import type { EntityProperty, MikroORM } from '@mikro-orm/core'

/** Lets references that MikroORM does not write in their order wait for the end of the transaction. */
export function deferReferences(orm: MikroORM): void {
  for (const meta of orm.getMetadata()) {
    for (const prop of meta.relations) {
      const isUnordered = prop.mapToPk || meta.inheritanceType === 'tpt' || prop.targetMeta?.inheritanceType === 'tpt'
      if (isUnordered && isOwning(prop) && prop.deferMode === undefined) prop.deferMode = 'deferred' as NonNullable<typeof prop.deferMode>
    }
  }
}

function isOwning({ kind, mappedBy }: EntityProperty): boolean {
  return kind === ReferenceKind.MANY_TO_ONE || (kind === ReferenceKind.ONE_TO_ONE && mappedBy === undefined)
}
