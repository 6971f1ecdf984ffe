/** Shared state: the part of an engine that follows from its model and options alone. It shares this with its forks. */
import type { MikroORM } from '@mikro-orm/core'
import type { PasswordKind } from '../../records/write/hash-passwords.ts'
import type { LoadedAuthentication } from '../auth/authentication.ts'
import type { Watched } from '../../records/database/changes.ts'
import type { Notes } from '../../foundation/base/notes.ts'
import type { NamedFilters } from '../../model/added-filters.ts'
import type { LearnedNames } from '../../model/open-attributes.ts'
import type { CheckedOptions } from './options.ts'
import type { Scenarios } from './scenarios.ts'
import type { Secrets } from '../journal/redact.ts'
import type { CompiledVersion } from './versions.ts'

/** What is made, or loaded, before the model is read. */
export interface PreparedParts {
  /** Everything that was mapped, left out or guessed. */
  readonly notes: Notes
  /** Undefined when the authentication module is off. */
  readonly auth: LoadedAuthentication | undefined
}

export interface SharedState extends PreparedParts {
  /**
   * Returns the versions with the names that requests have added to open resources, and the filters that the application has added. The
   * same ones give the same versions, of which some are kept.
   */
  readonly compile: (learned: LearnedNames, filters: NamedFilters) => ReadonlyMap<string, CompiledVersion>
  readonly watched: Watched
  readonly secrets: Secrets
  /** Whose passwords are hashed; undefined: nobody's. */
  readonly passwords: PasswordKind | undefined
  /** Whether a request that reads may run code of the application's, which may write. */
  readonly mayRunApplicationCode: boolean
  readonly scenarios: Scenarios
}

/** Whether code of the application runs in requests that write: life-cycle hooks and subscribers of entities. */
export function runsHooks({ orm: { subscribers = [] } }: CheckedOptions, orm: MikroORM): boolean {
  return [...subscribers].length > 0 || [...orm.getMetadata()].some(({ hooks }) => Object.values(hooks).some(list => list.length > 0))
}
