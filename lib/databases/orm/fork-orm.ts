/** Creates a MikroORM instance on another connection, with the metadata and functions of its parent: in less than a millisecond. */
import { MikroORM, type Configuration, type EntityMetadata, type EntityName, type MetadataStorage } from '@mikro-orm/core'
import type { AddedFilters } from '../../model/added-filters.ts'
import { skipUpdateOfCreated } from './on-update.ts'

export interface OrmBase {
  readonly filters: AddedFilters | undefined
}

class ForkedOrm extends MikroORM {
  readonly #parent: MikroORM

  constructor(parent: MikroORM, shared: OrmBase) {
    const options = parent.config.getAll()
    super({
      ...options,
      driverOptions: shared,
      discovery: { ...options.discovery, skipSyncDiscovery: true },
    })
    this.#parent = parent
    shareCompiled(this.config, parent)
    const metadata = parent.getMetadata()
    this.driver.setMetadata(metadata)
    this.em = this.driver.createEntityManager() as typeof this.em
    for (const [name, filter] of Object.entries(shared.filters?.named ?? {}))
      this.em.addFilter({ ...filter, name } as Parameters<typeof this.em.addFilter>[0])
    // Else all requests would share entities.
    ;(this.em as { global: boolean }).global = true
    // Without `allowGlobalContext`, MikroORM refuses to read parameters of filters from a global manager.
    if (!this.config.get('allowGlobalContext')) return
    for (const name of listFilterNames(parent, shared.filters)) {
      const parameters = parent.em.getFilterParams(name)
      if (parameters !== undefined) this.em.setFilterParams(name, parameters)
    }
  }

  override getMetadata(): MetadataStorage
  override getMetadata<T extends object>(entityName: EntityName<T>): EntityMetadata<T>
  override getMetadata(entityName?: EntityName): MetadataStorage | EntityMetadata {
    return entityName === undefined ? this.#parent.getMetadata() : this.#parent.getMetadata().get(entityName)
  }
}

function shareCompiled(config: Configuration, parent: MikroORM): void {
  config.getHydrator = () => parent.config.getHydrator(parent.getMetadata())
  config.getComparator = () => parent.config.getComparator(parent.getMetadata())
}

function listFilterNames(parent: MikroORM, added: AddedFilters | undefined): Set<string> {
  const filters = [parent.config.get('filters'), added?.named ?? {}, ...[...parent.getMetadata()].map(meta => meta.filters)]
  return new Set(filters.flatMap(named => Object.keys(named)))
}

/** @param shared becomes `driverOptions` */
export function forkOrm(parent: MikroORM, shared: OrmBase): MikroORM {
  const orm = new ForkedOrm(parent, shared)
  skipUpdateOfCreated(orm)
  return orm
}
