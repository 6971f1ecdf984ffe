/** Planned write: a write by statements, ready to run. */
import type { Coroutine } from '../../foundation/async/awaitable.ts'
import type { ToManyAttribute } from '../../model/model.ts'
import type { GivenBody } from '../validate/validate-change.ts'

export interface PlannedWrite<T> {
  /** `again`: the database has refused the first run, and validation has found no error. */
  readonly run: (again: boolean) => Coroutine<T>
  /** The body, validated where the database refuses a row. */
  readonly given: GivenBody | undefined
  /** The many-to-many list around the new record. */
  readonly list?: ToManyAttribute | undefined
}
