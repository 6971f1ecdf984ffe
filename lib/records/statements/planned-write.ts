/** Planned write: a write by statements, ready to run. */
import type { Coroutine } from '../../foundation/async/awaitable.ts'
import type { MadeValues } from './made-values.ts'

export interface PlannedWrite<T> {
  /** Values of the model's functions, for a repeated write. */
  readonly values: MadeValues | undefined
  /** Returns undefined if nothing is written; throws `Unplanned` to take back rows. The unit of work then writes. */
  readonly run: () => Coroutine<T | undefined>
}
