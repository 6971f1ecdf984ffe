/** The state that follows from model and options alone, and serves an engine and its forks. */
import type { MikroORM } from '@mikro-orm/core'
import type { UserPasswords } from '../../records/validate/password-hashes.ts'
import type { LoadedAuthentication } from '../auth/authentication.ts'
import type { Watched } from '../../records/database/changes.ts'
import type { Notes } from '../../foundation/errors/notes.ts'
import type { NamedFilters } from '../../model/added-filters.ts'
import type { LearnedNames } from '../../model/open-attributes.ts'
import type { CheckedOptions } from '../options/options.ts'
import type { Scenarios } from '../worlds/scenarios.ts'
import type { Secrets } from '../journal/redact.ts'
import type { CompiledVersion } from './versions.ts'

export interface PreparedParts {
  readonly notes: Notes
  readonly auth: LoadedAuthentication | undefined
}

export interface SharedState extends PreparedParts {
  /** Keeps some results: the same arguments give the same versions. */
  readonly compile: (learned: LearnedNames, filters: NamedFilters) => ReadonlyMap<string, CompiledVersion>
  readonly watched: Watched
  readonly secrets: Secrets
  readonly passwords: UserPasswords | undefined
  /** A read may run code of the application, and so write. */
  readonly mayRunApplicationCode: boolean
  readonly scenarios: Scenarios
  /** Whether a way in has another grammar, with paths unknown to the engine. */
  hasWire: boolean
}

export function runsHooks({ orm: { subscribers = [] } }: CheckedOptions, orm: MikroORM): boolean {
  return [...subscribers].length > 0 || [...orm.getMetadata()].some(({ hooks }) => Object.values(hooks).some(list => list.length > 0))
}
