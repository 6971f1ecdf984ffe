/** Given services: what `engine.given` uses of the engine. */
import type { Clock } from '../../foundation/async/clock.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { Connection } from '../../records/database/connection.ts'
import type { Reader } from '../../records/read/reader.ts'
import type { PasswordHashes } from '../../records/validate/hash-passwords.ts'

export interface GivenServices {
  /** What is served now: names may be added. */
  readonly served: () => { readonly model: Model; readonly reader: Reader; readonly hashes: PasswordHashes | undefined }
  readonly connection: Connection
  readonly clock: Clock
  /** For renderers: as in the answer to a POST. */
  readonly context: (resource: Resource) => HookContext
}
