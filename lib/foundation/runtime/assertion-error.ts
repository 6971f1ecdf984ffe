/** The error of a failed assertion, by `node:assert`, for runners of tests. */
import { builtin } from '../base/builtins.ts'

interface Mismatch {
  readonly message: string
  readonly expected: object
  readonly actual: object
  readonly operator: string
  /** The stack begins at the caller. */
  readonly stackStartFn: (...given: never[]) => unknown
}

export const makeAssertionError = (mismatch: Mismatch): Error => new builtin.assert.AssertionError(mismatch)
