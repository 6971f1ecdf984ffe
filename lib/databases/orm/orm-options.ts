/** ORM options: what MikroORM is made with on any database of an engine. */
import type { EntityMetadata, Options, Platform } from '@mikro-orm/core'
import type { Opening } from '../../records/database/world-store.ts'
import { withLazyExtensions } from './lazy-extensions.ts'
import { ReferredColumns } from './referred-columns.ts'
import { forEngine } from './run-migrations.ts'

/** Whether MikroORM must look for entities on the disk, which its asynchronous start alone does. */
export function hasGlobs({ entities }: Pick<Opening, 'entities'>): boolean {
  return entities!.some(entity => typeof entity === 'string')
}

/**
 * Returns the options of the application with those that the engine sets.
 *
 * @param adapt takes each entity that is discovered, before its columns are known
 */
export function optionsForEngine(
  opening: Pick<Opening, 'entities' | 'orm'>,
  adapt?: (meta: EntityMetadata, platform: Platform) => void,
): object {
  const { entities, orm } = opening
  const { discovery } = orm
  const referred = new ReferredColumns(orm.namingStrategy)
  return {
    ...orm,
    entities,
    // Off unless the application turns it on. A provider that reads types from sources (`TsMorphMetadataProvider`) would keep them in a
    // folder, which the application's own MikroORM reads, and needs MikroORM's asynchronous start for it.
    metadataCache: { ...orm.metadataCache, enabled: orm.metadataCache?.enabled ?? false },
    extensions: withLazyExtensions(orm.extensions),
    migrations: forEngine(orm.migrations),
    discovery: {
      ...discovery,
      // MikroORM.init sets it in the options that it is given, which the application may give both.
      skipSyncDiscovery: hasGlobs(opening),
      onMetadata: (meta, platform) => {
        adapt?.(meta, platform)
        referred.add(meta, platform)
        return discovery?.onMetadata?.(meta, platform)
      },
    } satisfies Options['discovery'],
  }
}
