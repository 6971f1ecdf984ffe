/** ORM options: the options of MikroORM on any database. */
import type { EntityMetadata, Options, Platform } from '@mikro-orm/core'
import type { Opening } from '../../records/database/world-store.ts'
import { withLazyExtensions } from './lazy-extensions.ts'
import { ReferredColumns } from './referred-columns.ts'
import { forEngine } from './run-migrations.ts'

/** Only MikroORM's asynchronous start looks for entities on the disk. */
export function hasGlobs({ entities }: Pick<Opening, 'entities'>): boolean {
  return entities!.some(entity => typeof entity === 'string')
}

/** @param adapt receives each discovered entity, before its columns are known */
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
    // Off by default. `TsMorphMetadataProvider` would write types to a folder of the application's MikroORM, and needs an asynchronous
    // start.
    metadataCache: { ...orm.metadataCache, enabled: orm.metadataCache?.enabled ?? false },
    extensions: withLazyExtensions(orm.extensions),
    migrations: forEngine(orm.migrations),
    discovery: {
      ...discovery,
      // MikroORM.init sets this option in options that the application may give both.
      skipSyncDiscovery: hasGlobs(opening),
      onMetadata: (meta, platform) => {
        adapt?.(meta, platform)
        referred.add(meta, platform)
        return discovery?.onMetadata?.(meta, platform)
      },
    } satisfies Options['discovery'],
  }
}
