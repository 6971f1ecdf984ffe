/** View: what a reading or a write knows of the request. */
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Trace } from '../../foundation/async/trace.ts'
import type { HookContext } from '../../model/hook-context.ts'
import type { Tally } from '../plan/answer-limits.ts'
import type { Visibility } from '../plan/visibility.ts'
import type { Parameters } from '../request/query-string.ts'

export interface View {
  readonly parameters: Parameters
  readonly visibility: Visibility
  readonly ctx: HookContext
  /** The deadline, and a client that hangs up. */
  readonly end?: RequestAbort
  /** Measures the stages of a traced request. */
  readonly trace?: Trace | undefined
  /** Counts bytes and records of the answer. */
  readonly tally?: Tally | undefined
  /** Called when PostgreSQL has the last statements (`Connection.read`). */
  readonly behind?: (() => void) | undefined
}

export interface PageRange {
  readonly limit: number
  readonly offset: number
}
