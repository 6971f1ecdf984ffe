/** What the throttle of one process remembers of failed log-ins, and what it forgets. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LoginThrottle } from '../../lib/engine/auth/throttle.ts'
import { Clock } from '../../lib/foundation/async/clock.ts'

const failed = async (): Promise<undefined> => undefined

async function fail(throttle: LoginThrottle, name: string, times: number): Promise<void> {
  for (let time = 0; time < times; time++) await throttle.run(name, failed)
}

const refused = /^RestError: Too many failed log-ins: try again in \d+ seconds\./

describe('failed log-ins', () => {
  it('are remembered of 10,000 identifiers: of more, the one longest without a failure is forgotten', async () => {
    const throttle = new LoginThrottle(new Clock())
    await fail(throttle, 'oldest', 5)
    await fail(throttle, 'renewed', 4)
    for (let index = 0; index < 9998; index++) await throttle.run(`user ${index}`, failed)
    await fail(throttle, 'renewed', 1)
    assert.equal(throttle.state.size, 10_000)
    await assert.rejects(throttle.run('oldest', failed), refused)
    await throttle.run('another', failed)
    assert.equal(throttle.state.size, 10_000)
    assert.equal(await throttle.run('oldest', failed), undefined)
    await assert.rejects(throttle.run('renewed', failed), refused)
  })

  it('are forgotten by a success of the same identifier alone, and not by an error', async () => {
    const throttle = new LoginThrottle(new Clock())
    await fail(throttle, 'ann', 4)
    await fail(throttle, 'bob', 4)
    assert.equal(await throttle.run('ann', async () => 'Ann'), 'Ann')
    await assert.rejects(
      throttle.run('bob', () => Promise.reject(new Error('lost'))),
      /lost/,
    )
    assert.deepEqual([...throttle.state.keys()], ['bob'])
    await fail(throttle, 'bob', 1)
    await assert.rejects(throttle.run('bob', failed), refused)
  })

  it('of a long identifier take a short name, and come back with a state', async () => {
    const throttle = new LoginThrottle(new Clock())
    const long = 'x'.repeat(100_000)
    await fail(throttle, long, 5)
    assert.ok([...throttle.state.keys()].every(name => name.length < 100))
    const other = new LoginThrottle(new Clock())
    other.restore(throttle.state)
    await assert.rejects(other.run(long, failed), refused)
    assert.equal(await other.run(`${long}y`, failed), undefined)
  })
})
