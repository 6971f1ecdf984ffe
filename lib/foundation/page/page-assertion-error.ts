/** The error of a failed assertion in a page, in the form of Node's `AssertionError`, for runners of tests. */
import type { makeAssertionError as makeOnNode } from '../runtime/assertion-error.ts'

class AssertionError extends Error {
  override readonly name = 'AssertionError'
  readonly code = 'ERR_ASSERTION'
  readonly generatedMessage = false
  readonly expected: object
  readonly actual: object
  readonly operator: string

  constructor({ message, expected, actual, operator, stackStartFn }: Parameters<typeof makeOnNode>[0]) {
    super(message)
    this.expected = expected
    this.actual = actual
    this.operator = operator
    // Firefox and Safari have no such function.
    ;(Error as Partial<Pick<typeof Error, 'captureStackTrace'>>).captureStackTrace?.(this, stackStartFn)
  }
}

export const makeAssertionError: typeof makeOnNode = mismatch => new AssertionError(mismatch)
