/**
 * Creates a MikroORM instance on another connection that shares the metadata and compiled functions of its parent. Discovery takes tens
 * of milliseconds; a fork takes less than one, and hardly any memory.
 */
import type { Configuration, EntityMetadata, EntityName, MetadataStorage, MikroORM as CoreMikroORM } from '@mikro-orm/core'
import { MikroORM } from '@mikro-orm/sqlite'
import type { Options } from '@mikro-orm/sqlite'
import type { SharedSqliteDialect } from './shared-dialect.ts'
import { skipUpdateOfCreated } from './on-update.ts'

class SiblingOrm extends MikroORM {
  readonly #elder: CoreMikroORM

  constructor(elder: CoreMikroORM, lent: SharedSqliteDialect) {
    const options = elder.config.getAll()
    super({
      ...options,
      driverOptions: lent,
      discovery: { ...options.discovery, skipSyncDiscovery: true },
    } as unknown as Options)
    this.#elder = elder
    shareCompiled(this.config, elder)
    const metadata = elder.getMetadata()
    this.driver.setMetadata(metadata)
    // The parent has prepared the prototypes of the entities.
    this.em = this.driver.createEntityManager() as typeof this.em
    // As MikroORM's own constructor does. Entities in the identity map of this one would be visible everywhere.
    ;(this.em as { global: boolean }).global = true
    // Global parameters of filters are only possible when the global entity manager may be used.
    if (!this.config.get('allowGlobalContext')) return
    for (const name of listFilterNames(elder)) {
      const parameters = elder.em.getFilterParams(name)
      if (parameters !== undefined) this.em.setFilterParams(name, parameters)
    }
  }

  override getMetadata(): MetadataStorage
  override getMetadata<T extends object>(entityName: EntityName<T>): EntityMetadata<T>
  override getMetadata(entityName?: EntityName): MetadataStorage | EntityMetadata {
    return entityName === undefined ? this.#elder.getMetadata() : this.#elder.getMetadata().get(entityName)
  }
}

/** Shares hydrators and comparators. They hold functions that are generated from the metadata, and do not know the connection. */
function shareCompiled(config: Configuration, elder: CoreMikroORM): void {
  config.getHydrator = () => elder.config.getHydrator(elder.getMetadata())
  config.getComparator = () => elder.config.getComparator(elder.getMetadata())
}

function listFilterNames(elder: CoreMikroORM): Set<string> {
  const filters = [elder.config.get('filters'), ...[...elder.getMetadata()].map(meta => meta.filters)]
  return new Set(filters.flatMap(named => Object.keys(named)))
}

/** @param elder the instance whose discovery is shared */
export function forkOrm(elder: CoreMikroORM, lent: SharedSqliteDialect): MikroORM {
  const orm = new SiblingOrm(elder, lent)
  skipUpdateOfCreated(orm)
  return orm
}
