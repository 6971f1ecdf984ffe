/** Held request: what an answer is held against the document for. */
import type { QueryInput } from '../../foundation/base/query-input.ts'

/** A request, as far as its answer depends on it. */
export interface HeldRequest {
  readonly method: string
  /** Begins with the base and the version; may carry its own `?query`. */
  readonly path: string
  readonly query?: QueryInput | undefined
}
