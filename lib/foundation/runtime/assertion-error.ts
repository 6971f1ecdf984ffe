/** Assertion error: the error of a failed assertion, for runners of tests: of `node:assert` on Node. */
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
