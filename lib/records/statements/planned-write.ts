/** The type of a write by statements, planned and ready to run. */
import type { Coroutine } from '../../foundation/async/awaitable.ts'
import type { ToManyAttribute } from '../../model/model.ts'
import type { GivenBody } from '../validate/validate-change.ts'

export interface PlannedWrite<T> {
  /** `again`: the database refused the first run, and validation found no error. */
  readonly run: (again: boolean) => Coroutine<T>
  /** For validation, if the database refuses a row. */
  readonly given: GivenBody | undefined
  /** With the new record. */
  readonly list?: ToManyAttribute | undefined
}
