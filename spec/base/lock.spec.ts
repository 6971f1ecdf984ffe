/** Lock: one holder at a time, in the order in which they came; a holder that releases twice does not let in two. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Lock } from '../../lib/foundation/async/lock.ts'

describe('a lock', () => {
  it('is released once: a second call does not release it for who holds it then', async () => {
    const lock = new Lock()
    const order: string[] = []
    const release = await lock.acquire()
    const enter = async (name: string): Promise<() => void> => {
      const own = await lock.acquire()
      order.push(name)
      return own
    }
    const [second, third] = [enter('second'), enter('third')]
    release()
    release()
    const releaseSecond = await second
    release()
    await new Promise(setImmediate)
    assert.deepEqual([order, lock.held], [['second'], true])
    releaseSecond()
    const releaseThird = await third
    assert.deepEqual(order, ['second', 'third'])
    releaseThird()
    assert.equal(lock.held, false)
  })

  it('is left by a waiter whose signal aborts', async () => {
    const lock = new Lock()
    const release = await lock.acquire()
    const controller = new AbortController()
    const waiting = lock.acquire(controller.signal)
    controller.abort(new Error('gone'))
    await assert.rejects(async () => waiting, /^Error: gone$/)
    release()
    assert.equal(lock.held, false)
  })
})
