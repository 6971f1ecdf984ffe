/** A page keeps what work belongs to, as AsyncLocalStorage does on Node, where the library itself waits. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bindWork, carryWork, createWorkContext } from '../../lib/foundation/page/carried-work.ts'

const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve))

describe('carried work', () => {
  test('is known in all synchronous calls, and gone afterwards', () => {
    const [one, two] = [createWorkContext<string>(), createWorkContext<string>()]
    const seen = one.run('a', () => two.run('b', (given: string) => [one.getStore(), two.getStore(), given], 'c'))
    assert.deepEqual(seen, ['a', 'b', 'c'])
    assert.deepEqual([one.getStore(), two.getStore()], [undefined, undefined])
    assert.throws(() => one.run('a', () => assert.fail('no')), /no/)
    assert.equal(one.getStore(), undefined)
  })

  test('is kept across the waits of carried functions that run side by side', async () => {
    const context = createWorkContext<number>()
    const work = (): Promise<(number | undefined)[]> =>
      carryWork(undefined, null, function* (): Generator<unknown, (number | undefined)[]> {
        const seen = [context.getStore()]
        for (let turn = 0; turn < 3; turn++) {
          yield pause()
          seen.push(context.getStore())
        }
        return seen
      })
    const all = await Promise.all([1, 2].map(number => context.run(number, work)))
    assert.deepEqual(
      all,
      [1, 2].map(number => Array(4).fill(number)),
    )
    assert.equal(context.getStore(), undefined)
  })

  test('passes values, arguments, and errors, into and out of the function', async () => {
    const self = { factor: 2 }
    const doubled = function (this: typeof self, value: number): Generator<unknown, number> {
      const { factor } = this
      return (function* () {
        try {
          yield Promise.reject(new Error('no'))
        } catch {
          return ((yield value) as number) * factor
        }
        return 0
      })()
    }
    assert.equal(await carryWork(self, [21], doubled as (...args: never[]) => Generator<unknown, number>), 42)
    await assert.rejects(
      // oxlint-disable-next-line require-yield -- throws before the first wait
      carryWork(undefined, null, function* () {
        throw new RangeError('early')
      }),
      { name: 'RangeError', message: 'early' },
    )
  })

  test('is lost behind a wait of other functions, unless bound', async () => {
    const context = createWorkContext<string>()
    const [plain, bound] = context.run('a', () => [
      pause().then(() => context.getStore()),
      pause().then(bindWork(() => context.getStore())),
    ])
    assert.deepEqual([await plain, await bound], [undefined, 'a'])
  })
})
