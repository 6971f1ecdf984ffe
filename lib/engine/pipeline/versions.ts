/** Adds reader and writer of a database to each compiled version. Forks share the compiled versions. */
import type { CustomParameter, ModelRules } from '../../records/access/access-rules.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import type { Connection } from '../../records/database/connection.ts'
import type { DefaultsOfLists } from '../../records/access/list-defaults.ts'
import type { Model } from '../../model/model.ts'
import type { Services } from './operate.ts'
import type { CheckedOptions } from '../options/options.ts'
import type { Vocabulary } from '../../records/request/query-string.ts'
import type { UserPasswords } from '../../records/validate/password-hashes.ts'
import { WriterLoader } from '../../records/write/load-writer.ts'
import type { Plans } from '../../records/read/plan-cache.ts'
import { Reader } from '../../records/read/reader.ts'
import type { ResourceLookup } from '../../records/access/resolve-path.ts'

export interface CompiledVersion {
  readonly model: Model
  readonly rules: ModelRules
  readonly lookUp: ResourceLookup
  readonly vocabulary: Vocabulary
  readonly customParameters: ReadonlyMap<string, CustomParameter>
  readonly defaults: DefaultsOfLists
  readonly plans: Plans
}

interface ServedWith {
  readonly connection: Connection
  readonly clock: Clock
  readonly describe: (version: string, base: string, readOnly: boolean) => Promise<object>
  readonly passwords: UserPasswords | undefined
}

export function serveVersions(
  compiled: ReadonlyMap<string, CompiledVersion>,
  { limits, versions, createdStatus, etag }: CheckedOptions,
  { connection, clock, describe, passwords }: ServedWith,
): Map<string, Services> {
  const served = new Map<string, Services>()
  for (const [version, { plans, ...parts }] of compiled) {
    const reader = new Reader(connection, limits, parts.vocabulary, plans)
    const users = passwords && parts.model.byEntity.get(passwords.entity)
    const hashes = passwords && users && passwords.guard(users, parts.model)
    served.set(version, {
      ...parts,
      connection,
      reader,
      writing: new WriterLoader(({ makeWriter }) => makeWriter(connection, reader, parts.model, hashes)),
      hashes,
      clock,
      limits,
      versions,
      createdStatus,
      etag,
      describe: async (base, readOnly) => describe(version, base, readOnly),
      transaction: async (work, end, place, isRepeatable) => {
        try {
          return await connection.write(work, end, isRepeatable ?? (place === undefined ? false : 'declared'), place)
        } catch (error) {
          const { translateDatabaseError } = await import('../../records/unit-of-work/database-errors.ts')
          throw translateDatabaseError(error, { dialect: connection.dialect, model: parts.model })
        }
      },
    })
  }
  return served
}
