/** Planned write: a write that statements are known to do, ready to be run in the transaction of the request. */
import type { Coroutine } from '../../foundation/work/awaitable.ts'
import type { MadeValues } from './made-values.ts'

export interface PlannedWrite<T> {
  /** What functions of the model give, for whoever does the write after all; undefined: it asks none. */
  readonly values: MadeValues | undefined
  /**
   * Gives undefined where nothing has been written, and throws `Unplanned` where that must be taken back: the unit of work does the write
   * then.
   */
  readonly run: () => Coroutine<T | undefined>
}
