/** Planned write: a write by statements, ready to run in the request's transaction. */
import type { Coroutine } from '../../foundation/work/awaitable.ts'
import type { MadeValues } from './made-values.ts'

export interface PlannedWrite<T> {
  /** Values made by functions of the model, kept for a repeated write; undefined: no function to call. */
  readonly values: MadeValues | undefined
  /** Returns undefined where nothing is written; throws `Unplanned` to take back written rows. The unit of work then does the write. */
  readonly run: () => Coroutine<T | undefined>
}
