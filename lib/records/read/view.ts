/** The types of a View, all facts of a request for readings and writes, and of a page's range. */
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
  /** A deadline, or a client hanging up. */
  readonly end?: RequestAbort
  /** For traced requests. */
  readonly trace?: Trace | undefined
  /** Counts bytes and records of the answer. */
  readonly tally?: Tally | undefined
  /** See `Connection.read`. */
  readonly behind?: (() => void) | undefined
}

export interface PageRange {
  readonly limit: number
  readonly offset: number
}
