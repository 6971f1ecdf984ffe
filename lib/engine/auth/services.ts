/** What log-in calls in the engine, such as the reading of a user. */
import type { MikroORM } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import type { Reading } from '../../records/database/dialect.ts'
import type { LogInStore } from '../../records/database/log-in-store.ts'
import type { KeyValues, RecordKey } from '../../model/key.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { JsonRecord, Stored } from '../../records/read/run-read.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Principal } from '../../records/request/request-context.ts'

export interface AuthServices {
  readonly orm: () => MikroORM
  readonly clock: Clock
  readonly versions: ReadonlyMap<string, { readonly model: Model }>
  /** Stored plain attributes, with bare column values. Undefined: no user. */
  readonly stored: (resource: Resource, key: KeyValues, columns: readonly string[]) => Awaitable<Stored | undefined>
  /** Like `stored`, together with another reading. */
  readonly storedBeside: <T>(
    resource: Resource,
    key: KeyValues,
    columns: readonly string[],
    other: () => Reading<T>,
  ) => Awaitable<[Stored | undefined, T]>
  readonly columns: (resource: Resource, key: KeyValues, columns: readonly string[]) => Awaitable<readonly unknown[] | undefined>
  readonly refuses: (error: Error) => boolean
  /** `undefined`: log-ins are kept in memory. */
  readonly store: LogInStore | undefined
  readonly rowKey: (resource: Resource, id: RecordKey) => Awaitable<KeyValues | undefined>
  readonly id: (resource: Resource, key: KeyValues) => Awaitable<RecordKey | undefined>
  /** Takes the record out of a body wrapped like answers. */
  readonly unwrap: (body: unknown, resource: Resource) => unknown
  /** Reads the user's record by the user's rights. */
  readonly shown: (resource: Resource, key: KeyValues, principal: Principal, ctx: HookContext) => Promise<JsonRecord | undefined>
}
