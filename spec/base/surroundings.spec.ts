/** Surroundings: work finds what it belongs to, of each owner apart, and many owners do not make entering one dearer. */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { Surroundings } from '../../lib/foundation/async/surroundings.ts'
import { check } from '../helpers/check.ts'

describe('surroundings', () => {
  it('are found by all that the work calls and waits for, and not outside of it', async () => {
    const one = new Surroundings<{ name: string }>()
    const value = { name: 'a' }
    const after = one.run(value, async () => {
      await turn()
      return one.current
    })
    assert.equal(one.current, undefined)
    assert.equal(await after, value)
    assert.equal(
      one.run(value, (first, second) => first + second, 1, 2),
      3,
    )
    assert.throws(() => one.run(value, () => assert.fail('thrown')), /thrown/)
    assert.equal(one.current, undefined)
  })

  it('are those of an AsyncLocalStorage for each owner, however they nest', () => {
    const steps = fc.array(fc.tuple(fc.nat(3), fc.nat(2)), { maxLength: 12 })
    return check(
      fc.asyncProperty(steps, async nested => {
        const values = [{ value: 0 }, { value: 1 }, { value: 2 }]
        const owners = Array.from({ length: 4 }, () => ({ own: new Surroundings<object>(), wanted: new AsyncLocalStorage<object>() }))
        const compare = (): void => {
          for (const { own, wanted } of owners) assert.equal(own.current, wanted.getStore())
        }
        const enter = async (depth: number): Promise<void> => {
          compare()
          if (depth === nested.length) return
          const [owner, index] = nested[depth]!
          const [{ own, wanted }, value] = [owners[owner]!, values[index]!]
          await own.run(value, () => wanted.run(value, () => enter(depth + 1)))
          compare()
        }
        await enter(0)
      }),
      { label: 'surroundings', runs: 300 },
    )
  })

  it('of work that begins other work for ever do not pile up', async () => {
    const [one, other] = [new Surroundings<object>(), new Surroundings<object>()]
    const depthOf = (): number => {
      const started = performance.now()
      for (let again = 0; again < 2000; again++) void new Surroundings<object>().current
      return performance.now() - started
    }
    let first = 0
    const next = async (left: number): Promise<number> => {
      await Promise.resolve()
      if (left === 20_000) first = depthOf()
      if (left === 0) return depthOf()
      return one.run({}, () => other.run({}, () => next(left - 1)))
    }
    const last = await next(20_000)
    assert.ok(last < Math.max(1, first) * 20, `${first} ms, then ${last} ms`)
  })

  it('cost no more after a thousand others have been entered in the same context', () => {
    const cost = (): number => {
      const one = new Surroundings<object>()
      const started = process.cpuUsage()
      for (let call = 0; call < 2000; call++) one.run({}, () => undefined)
      const { user, system } = process.cpuUsage(started)
      return (user + system) / 2000
    }
    cost()
    const before = cost()
    for (let index = 0; index < 1000; index++) new Surroundings<object>().run({}, () => undefined)
    const after = cost()
    assert.ok(after < Math.max(before, 1) * 10, `${before} µs, then ${after} µs`)
  })
})
