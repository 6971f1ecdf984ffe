/**
 * The pace of a bench: times are brought to one pace, work is timed again where the pace has changed, and warm-up ends when nothing gets
 * faster.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { atOnePace, factors, pace, paced, steadySamples } from '../../bench/pace.ts'
import { agree, warmUp } from '../../bench/warm-up.ts'

describe('the pace of a bench', () => {
  it('brings the times of a process to the pace of their median', () => {
    const samples = [
      { microseconds: 10, pace: 100, drift: 0 },
      { microseconds: 20, pace: 200, drift: 0 },
      { microseconds: 40, pace: 400, drift: 0 },
    ]
    assert.deepEqual(atOnePace(samples), { microseconds: [20, 20, 20], pace: 200 })
  })

  it('brings processes to the pace of the median of all that ran so far', () => {
    const [slow, fast] = factors([{ pace: 200 }, { pace: 100 }])
    assert.deepEqual([slow, fast], [0.75, 1.5])
    assert.deepEqual(factors([{ pace: 300 }]), [200 / 300])
  })

  it('is that of the moment, before and after the work', async () => {
    const { microseconds, pace: own, drift } = await paced(() => pace())
    assert.ok(microseconds > 0 && own > 0 && drift >= 0)
  })

  it('keeps the samples of the least drift, of twice as many at most', async () => {
    let calls = 0
    const samples = await steadySamples(5, () => calls++)
    assert.equal(samples.length, 5)
    assert.ok(calls >= 5 && calls <= 10, String(calls))
    assert.deepEqual(
      samples.map(({ drift }) => drift),
      samples.map(({ drift }) => drift).toSorted((a, b) => a - b),
    )
  })
})

describe('the warm-up of a bench', () => {
  it('goes on while windows differ', () => {
    assert.equal(agree([1, 1, 1, 1, 1]), false)
    assert.equal(agree([9, 1.1, 1, 0.9, 1, 1, 1.02]), true)
    assert.equal(agree([2, 2, 2, 1, 1, 1]), false)
    assert.equal(agree([1, 1, 1, 2, 2, 2]), false)
  })

  it('asks for no more calls than there may be', async () => {
    let calls = 0
    await warmUp({ calls: 10, most: 35, batch: 10 }, async count => (calls += count))
    assert.equal(calls, 30)
  })
})
