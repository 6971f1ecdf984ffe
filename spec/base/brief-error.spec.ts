/** Brief error: a refusal that a look at the request explains is made without a stack, and leaves the stacks of others alone. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RestError } from '../../lib/index.ts'
import { briefError } from '../../lib/foundation/errors/errors.ts'

const isFramed = ({ stack = '' }: Error): boolean => /\n\s+at /.test(stack)

describe('a brief error', () => {
  it('is the refusal of its code, without a stack; those behind it have theirs', () => {
    const { stackTraceLimit } = Error
    const error = briefError('validation_failed', 'Wrong.', { errors: [] })
    assert.ok(error instanceof RestError && !isFramed(error))
    assert.deepEqual([error.status, error.code, error.message, error.errors], [422, 'validation_failed', 'Wrong.', []])
    assert.equal(Error.stackTraceLimit, stackTraceLimit)
    assert.ok(isFramed(new Error('other')))
  })

  it('is made where the length of stacks cannot be set', () => {
    const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')!
    Object.defineProperty(Error, 'stackTraceLimit', { ...before, writable: false })
    try {
      assert.equal(briefError('validation_failed', 'Wrong.').status, 422)
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', before)
    }
  })
})
