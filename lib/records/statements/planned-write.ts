/** Planned write: a write by statements, ready to run. */
import type { Coroutine } from '../../foundation/async/awaitable.ts'
import type { MadeValues } from './made-values.ts'

export interface PlannedWrite<T> {
  /** Values of the model's functions, for a repeated write. */
  readonly values: MadeValues | undefined
  /** Whether several records are written: after a refusal by the database, the unit of work repeats the write, and names the record. */
  readonly isWide: boolean
  /** Returns undefined if nothing is written; throws `Unplanned` to take back rows. The unit of work then writes. */
  readonly run: () => Coroutine<T | undefined>
}
