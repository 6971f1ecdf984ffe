/** Services: what the authentication module calls of the engine that it is part of. */
import type { MikroORM } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import type { Clock } from '../../foundation/base/clock.ts'
import type { Reading } from '../../records/database/dialect.ts'
import type { LogInStore } from '../../records/database/log-in-store.ts'
import type { KeyValues, RecordKey } from '../../model/key.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { JsonRecord, Stored } from '../../records/read/run-read.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Principal } from '../../records/request/request-context.ts'

/** The services of the engine that the module calls. */
export interface AuthServices {
  readonly orm: () => MikroORM
  readonly clock: Clock
  readonly versions: ReadonlyMap<string, { readonly model: Model }>
  /** The stored plain attributes of a user, with the bare values of some columns beside them; undefined when there is none. */
  readonly stored: (resource: Resource, key: KeyValues, columns: readonly string[]) => Awaitable<Stored | undefined>
  /** The same, with another reading at the same time. */
  readonly storedBeside: <T>(
    resource: Resource,
    key: KeyValues,
    columns: readonly string[],
    other: () => Reading<T>,
  ) => Awaitable<[Stored | undefined, T]>
  /** These columns alone, at once where the database can. */
  readonly columns: (resource: Resource, key: KeyValues, columns: readonly string[]) => Awaitable<readonly unknown[] | undefined>
  /** Whether an error says that the database refuses a value. */
  readonly refuses: (error: Error) => boolean
  /** What the database keeps of log-ins; undefined where it is kept in memory. */
  readonly store: LogInStore | undefined
  /** The key of the row that an ID of a client stands for, and the other way round; undefined where there is none. */
  readonly rowKey: (resource: Resource, id: RecordKey) => Awaitable<KeyValues | undefined>
  readonly id: (resource: Resource, key: KeyValues) => Awaitable<RecordKey | undefined>
  /** The record in a body that is wrapped as answers are. */
  readonly unwrap: (body: unknown, resource: Resource) => unknown
  /** The user's record as the user sees it. */
  readonly shown: (resource: Resource, key: KeyValues, principal: Principal, ctx: HookContext) => Promise<JsonRecord | undefined>
}
