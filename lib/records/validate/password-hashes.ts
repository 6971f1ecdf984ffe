/** The types of hash-passwords.ts, whose code is loaded with the log-in. */
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Notes } from '../../foundation/errors/notes.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { SeedData } from '../../model/seeds.ts'
import type { EntityConnection } from '../database/connection.ts'

export interface PasswordHashes {
  inBody(body: unknown, resource: Resource, end?: RequestAbort): Awaitable<unknown>
  /** Hashes before a transaction; undefined: nothing to hash. */
  prepare(body: unknown, resource: Resource, end: RequestAbort): Promise<void> | undefined
  /** Hashes equal passwords once: a test has many users. */
  inRecords<T extends object>(records: readonly T[], resource: Resource): Promise<readonly T[]>
  inSeed(data: SeedData, model: Model): Promise<SeedData>
  notePlain(connection: EntityConnection, seeder: string, notes: Notes): Promise<void>
}

export interface UserPasswords {
  readonly entity: object
  readonly guard: (users: Resource, model: Model) => PasswordHashes
}
