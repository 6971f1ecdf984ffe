/** Shared state: the part of an engine that follows from its model and options alone. It shares this with its forks. */
import type { MikroORM } from '@mikro-orm/core'
import { listWatched } from '../journal/changes.ts'
import type { PasswordKind } from '../../records/write/hash-passwords.ts'
import { findPasswordKind } from '../auth/password-kind.ts'
import type { Watched } from '../../records/database/changes.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import type { Notes } from '../../foundation/base/notes.ts'
import type { NamedFilters } from '../../model/added-filters.ts'
import { NOTHING_LEARNED } from '../../model/open-attributes.ts'
import type { LearnedNames } from '../../model/open-attributes.ts'
import type { CheckedOptions } from './options.ts'
import { Scenarios } from './scenarios.ts'
import { Secrets } from '../journal/redact.ts'
import { readVersions } from './versions.ts'
import type { CompiledVersion } from './versions.ts'

/** Models with learned names that are kept: about as many as worlds of a test have at a time. */
const KEPT = 20

export interface SharedState {
  /**
   * Returns the versions with the names that requests have added to open resources, and the filters that the application has added. The same ones give the same
   * versions, of which some are kept.
   */
  readonly compile: (learned: LearnedNames, filters: NamedFilters) => ReadonlyMap<string, CompiledVersion>
  readonly watched: Watched
  readonly secrets: Secrets
  /** Whose passwords are hashed; undefined: nobody's. */
  readonly passwords: PasswordKind | undefined
  /** Whether a request that reads may run code of the application's, which may write. */
  readonly mayRunApplicationCode: boolean
  /** Everything that was mapped, left out or guessed. */
  readonly notes: Notes
  readonly scenarios: Scenarios
}

/** @throws TypeError, Error when the options are not fit for the model. */
export function createSharedState(options: CheckedOptions, orm: MikroORM, first: NamedFilters, notes: Notes): SharedState {
  const versions = readVersions(options, orm, first)
  const models = [...versions.values()].map(({ model }) => model)
  const compiled = new WeakMap<NamedFilters, LruCache<ReadonlyMap<string, CompiledVersion>>>()
  return {
    compile: (learned, filters) => {
      if (learned === NOTHING_LEARNED && filters === first) return versions
      const grown = compiled.get(filters) ?? new LruCache<ReadonlyMap<string, CompiledVersion>>(KEPT)
      compiled.set(filters, grown)
      const key = JSON.stringify(learned)
      const known = grown.get(key) ?? readVersions(options, orm, filters, learned)
      grown.set(key, known)
      return known
    },
    watched: listWatched(models),
    secrets: new Secrets(models, options.auth?.options),
    passwords: findPasswordKind(options, orm, notes),
    mayRunApplicationCode: runsApplicationCode(options, orm),
    notes,
    scenarios: new Scenarios(options.scenarios),
  }
}

/** Whether code of the application runs in requests that write: life-cycle hooks and subscribers of entities. */
export function runsHooks({ orm: { subscribers = [] } }: CheckedOptions, orm: MikroORM): boolean {
  return [...subscribers].length > 0 || [...orm.getMetadata()].some(({ hooks }) => Object.values(hooks).some(list => list.length > 0))
}

/** Whether something of the application's runs in requests that read. */
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
