/**
 * Metadata cache: off unless the application turns it on. A provider that reads types from sources (`TsMorphMetadataProvider`) would keep
 * them in a folder, which the application's own MikroORM reads, and needs MikroORM's asynchronous start for it.
 */
import type { Options } from '@mikro-orm/core'

type MetadataCache = NonNullable<Options['metadataCache']>

/** @param cache the option of the application */
export function withoutCache(cache: MetadataCache | undefined): MetadataCache {
  return { ...cache, enabled: cache?.enabled ?? false }
}
