/** Given services: what `engine.given` uses of the engine that it is part of. */
import type { Clock } from '../../foundation/base/clock.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { Connection } from '../../records/database/connection.ts'
import type { Reader } from '../../records/read/reader.ts'
import type { PasswordHashes } from '../../records/write/hash-passwords.ts'

/** The parts of the engine that records are made with. */
export interface GivenServices {
  /** Returns what is served at present. */
  readonly served: () => { readonly model: Model; readonly reader: Reader; readonly hashes: PasswordHashes | undefined }
  readonly connection: Connection
  readonly clock: Clock
  /** The context that renderers get, as in the answer to a POST of the resource. */
  readonly context: (resource: Resource) => HookContext
}
