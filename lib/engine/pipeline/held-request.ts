/** Held request: a request, held against its answer. */
import type { QueryInput } from '../../foundation/base/query-input.ts'

/** The parts of a request that matter for its answer. */
export interface HeldRequest {
  readonly method: string
  /** Begins with base and version; may have a `?query`. */
  readonly path: string
  readonly query?: QueryInput | undefined
}
