/** The calls of `engine.given` to the engine. */
import type { Clock } from '../../foundation/async/clock.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { Connection } from '../../records/database/connection.ts'
import type { Reader } from '../../records/read/reader.ts'
import type { PasswordHashes } from '../../records/validate/password-hashes.ts'

export interface GivenServices {
  /** The present model: requests may add names. */
  readonly served: () => { readonly model: Model; readonly reader: Reader; readonly hashes: PasswordHashes | undefined }
  readonly connection: Connection
  readonly clock: Clock
  readonly context: (resource: Resource) => HookContext
}
