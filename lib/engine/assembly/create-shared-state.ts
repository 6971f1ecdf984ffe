/** Create shared state: makes the state that an engine shares with its forks. Loaded where an engine is made. */
import type { MikroORM } from '@mikro-orm/core'
import { listWatched } from '../journal/changes.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import type { NamedFilters } from '../../model/added-filters.ts'
import { NOTHING_LEARNED } from '../../model/open-attributes.ts'
import type { CheckedOptions } from '../options/options.ts'
import { Scenarios } from '../worlds/scenarios.ts'
import { Secrets } from '../journal/redact.ts'
import { readVersions } from '../pipeline/read-versions.ts'
import type { CompiledVersion } from '../pipeline/versions.ts'
import type { PreparedParts, SharedState } from '../pipeline/shared-state.ts'

/** About as many as a test has worlds at a time. */
const MOST_MODELS = 20

/** @throws TypeError, Error when the options are not fit for the model. */
export function createSharedState(options: CheckedOptions, orm: MikroORM, first: NamedFilters, prepared: PreparedParts): SharedState {
  const versions = readVersions(options, orm, first)
  const models = [...versions.values()].map(({ model }) => model)
  const compiled = new WeakMap<NamedFilters, LruCache<ReadonlyMap<string, CompiledVersion>>>()
  return {
    compile: (learned, filters) => {
      if (learned === NOTHING_LEARNED && filters === first) return versions
      const grown = compiled.get(filters) ?? new LruCache<ReadonlyMap<string, CompiledVersion>>(MOST_MODELS)
      compiled.set(filters, grown)
      const key = JSON.stringify(learned)
      const known = grown.get(key) ?? readVersions(options, orm, filters, learned)
      grown.set(key, known)
      return known
    },
    watched: listWatched(models),
    secrets: new Secrets(models, options.auth?.options),
    passwords: prepared.auth?.findPasswordKind(options, orm, prepared.notes),
    mayRunApplicationCode: runsApplicationCode(options, orm),
    ...prepared,
    scenarios: new Scenarios(options.scenarios),
  }
}

/** In requests that read. */
function runsApplicationCode(options: CheckedOptions, orm: MikroORM): boolean {
  const { resources, routes, parameters, lookup, auth } = options
  return (
    resources.length > 0 ||
    routes.length > 0 ||
    lookup !== undefined ||
    auth !== undefined ||
    Object.values(parameters).some(meaning => typeof meaning === 'function') ||
    options.orm.filters !== undefined ||
    [...orm.getMetadata()].some(({ filters }) => Object.keys(filters ?? {}).length > 0)
  )
}
