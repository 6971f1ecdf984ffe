/** The trials of growth: both contenders answer the same at every size, and exponents say how fast a cost grows. No time is measured. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { CONTENDERS, comparable } from '../../bench/contenders.ts'
import { compareAnswers } from '../../bench/growth/compare-answers.ts'
import { open } from '../../bench/growth/contenders.ts'
import { exponentOf, growsTooFast } from '../../bench/growth/exponent.ts'
import { GROWTHS } from '../../bench/growth/growths.ts'
import { TASKS } from '../../bench/growth/tasks.ts'
import { check } from '../helpers/check.ts'

describe('the trials of growth', () => {
  for (const growth of GROWTHS) {
    it(`${growth.name}: the engine answers what the hand-written code answers`, () => compareAnswers(growth))

    it(`${growth.name}: both run on the same tables`, async () => {
      const world = growth.world(growth.sizes[1]!)
      const [byHand, engine] = [await open('by hand', world), await open('engine', world)]
      try {
        assert.deepEqual(await byHand.tables(), await engine.tables())
      } finally {
        await byHand.close()
        await engine.close()
      }
    })
  }

  it('tell where two answers differ', async () => {
    const [growth] = GROWTHS
    const trials = [
      { ...growth!.trials[0]!, byHand: () => () => '{"success":true,"timestamp":"2026-01-01T00:00:00.000Z","resource":"sites"}' },
    ]
    await assert.rejects(
      compareAnswers({ ...growth!, trials }),
      /rows: 1000: one record: call 0 is answered differently\.\nby hand: .*"sites"/,
    )
  })

  it('ask for more as the input grows: longer pages, deeper records, more filters', async () => {
    for (const name of ['page', 'depth', 'filters']) {
      const { world, sizes, trials } = GROWTHS.find(growth => growth.name === name)!
      const engine = await open('engine', world(0))
      try {
        for (const trial of trials) {
          const lengths: number[] = []
          for (const size of sizes.filter(one => one >= (trial.from ?? 0))) {
            lengths.push(comparable(await engine.answerTo(trial)(size, 0)).length)
          }
          for (const [index, length] of lengths.entries())
            assert.ok(index === 0 || length > lengths[index - 1]!, `${name}: ${lengths.join(', ')}`)
        }
      } finally {
        await engine.close()
      }
    }
  })

  it('ask in other shapes from call to call where they say so', () => {
    const trial = GROWTHS.flatMap(({ trials }) => trials).find(({ name }) => name === 'each time another shape')!
    for (const size of [4, 8, 16, 32]) {
      const shapes = Array.from({ length: 5000 }, (_, call) => Object.keys(trial.request(size, call).query!).join('&'))
      assert.ok(new Set(shapes).size > 3000, `${new Set(shapes).size} of ${size} filters`)
    }
  })
})

describe('the tasks of growth', () => {
  for (const { name, sizes, open: openTask } of TASKS) {
    it(`${name}: the engine leaves behind what the hand-written code leaves behind`, async () => {
      for (const size of sizes.slice(0, 3)) {
        const states: unknown[] = []
        for (const contender of CONTENDERS) {
          const task = await openTask[contender](size)
          try {
            for (let call = 0; call < 3; call++) await task.run(call)
            states.push(await task.state())
          } finally {
            await task.close()
          }
        }
        assert.deepEqual(states[0], states[1], `${name}: ${size}`)
        assert.notDeepEqual(states[0], 0)
      }
    })
  }
})

describe('an exponent of growth', () => {
  const sizes = [1, 3, 10, 30, 100, 300, 1000]

  it('is that of the cost beyond its fixed part', () => {
    const parts = fc.record({ fixed: fc.double({ min: 0.1, max: 1, noNaN: true }), exponent: fc.constantFrom(1, 2, 3) })
    return check(
      fc.property(parts, ({ fixed, exponent }) => {
        const points = sizes.map(size => [size, fixed + 0.1 * size ** exponent] as const)
        assert.ok(Math.abs(exponentOf(points) - exponent) < 0.2, String(exponentOf(points)))
      }),
      { label: 'exponents' },
    )
  })

  it('is 0 when nothing grows beyond the noise, and small when it grows with the logarithm', () => {
    assert.equal(
      exponentOf([
        [1, 10],
        [10, 9.5],
        [100, 10.9],
      ]),
      0,
    )
    assert.ok(exponentOf(sizes.map(size => [size, 5 + Math.log2(size)])) < 0.5)
  })

  it('sees what begins to grow late', () => {
    const points = sizes.map(size => [size, 100 + size ** 2 / 1000] as const)
    assert.ok(exponentOf(points) > 1.5, String(exponentOf(points)))
    assert.throws(() => exponentOf(points.slice(0, 2)), /three points or more, got 2/)
  })

  it('is too high beyond 1 and beyond that of what is beside it', () => {
    assert.deepEqual([growsTooFast(1.1, 0), growsTooFast(1.4, 1), growsTooFast(1.4, 1.4), growsTooFast(2, 1.4)], [false, true, false, true])
  })
})
