import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runCoroutine, wait } from '../../lib/foundation/async/awaitable.ts'
import type { Awaitable, Coroutine } from '../../lib/foundation/async/awaitable.ts'

function* sum(...values: Awaitable<number>[]): Coroutine<number> {
  let total = 0
  for (const value of values) total += yield* wait(value)
  return total
}

describe('a coroutine', () => {
  it('ends at once where all values are there', () => {
    assert.equal(runCoroutine(sum(1, 2, 3)), 6)
  })

  it('waits for promises, in their order', async () => {
    const slow = new Promise<number>(resolve => setTimeout(() => resolve(2), 5))
    const result = runCoroutine(sum(1, slow, Promise.resolve(3)))
    assert.ok(result instanceof Promise)
    assert.equal(await result, 6)
  })

  it('throws at once what it throws before it waits', () => {
    const work = function* (): Coroutine<never> {
      yield* sum(1)
      throw new Error('at once')
    }
    assert.throws(() => void runCoroutine(work()), /at once/)
  })

  it('is rejected with what it throws after it has waited', async () => {
    const work = function* (): Coroutine<never> {
      yield* sum(Promise.resolve(1))
      throw new Error('later')
    }
    await assert.rejects(async () => runCoroutine(work()), /later/)
  })

  it('catches the rejection of what it waits for, and goes on', async () => {
    const steps: string[] = []
    const work = function* (): Coroutine<number> {
      try {
        yield* sum(Promise.reject(new Error('no such value')))
      } catch (error) {
        steps.push((error as Error).message)
      } finally {
        steps.push('finally')
      }
      return yield* sum(Promise.resolve(4), 5)
    }
    assert.equal(await runCoroutine(work()), 9)
    assert.deepEqual(steps, ['no such value', 'finally'])
  })
})
