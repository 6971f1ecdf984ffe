/** Checks of properties: one that fails says how it can be repeated, and soon. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'

const WAYS = {
  synchronous: `fc.property(lists, list => { for (const end = Date.now() + 100; Date.now() < end;); return holds(list) })`,
  asynchronous: `fc.asyncProperty(lists, async list => { await new Promise(done => setTimeout(done, 100)); return holds(list) })`,
}

/** Returns the seeds that a process prints for two properties, of which the second has one of its own, and for a sample. */
function seedsOf(given: string | undefined): string {
  const code = `
    import * as fc from 'fast-check'
    import { check, sample, seed } from './spec/helpers/check.ts'
    const property = fc.property(fc.nat(), () => true)
    await check(property, { label: 'a' })
    await check(property, { label: 'b', usualSeed: 10 })
    console.log(seed, sample(fc.nat()))
  `
  const env = { ...process.env, FC_SEED: given, FC_RUNS: '1' }
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', env })
  // What the test runner prints comes behind.
  return stdout
    .split(/(?<=\n)/)
    .slice(0, 3)
    .join('')
}

describe('the seed of a property', () => {
  it('is the same each time where all specs are run, and else a new one', () => {
    assert.match(seedsOf('usual'), /^# a: FC_SEED=1, 1 runs\n# b: FC_SEED=10, 1 runs\n1 \d+\n$/)
    assert.equal(seedsOf('usual'), seedsOf('usual'))
    assert.match(seedsOf('7'), /FC_SEED=7, [^]*FC_SEED=7, [^]*\n7 \d+\n$/)
    assert.notEqual(seedsOf(undefined), seedsOf(undefined))
  })
})

/**
 * Checks a property that fails for each list, after a tenth of a second, and returns what is printed. The smallest counterexample takes 87
 * steps.
 */
function fail(way: keyof typeof WAYS, shrink: string): string {
  const code = `
    import * as fc from 'fast-check'
    import { check } from './spec/helpers/check.ts'
    const lists = fc.array(fc.nat(), { minLength: 60, maxLength: 100 })
    const holds = list => list.every(number => number < 10)
    await check(${WAYS[way]}, { label: 'slow' }).catch(error => console.log(error.message))
  `
  const env = { ...process.env, FC_SEED: '5', FC_SHRINK: shrink }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', env })
  assert.equal(stderr, '')
  return stdout
}

function stepsOf(text: string): number {
  return /^\{ seed: 5, path: "([\d:]+)",/m.exec(text)![1]!.split(':').length - 1
}

describe('a property that fails', () => {
  for (const way of ['synchronous', 'asynchronous'] as const) {
    it(`ends soon, with the path of the smallest counterexample that was found, ${way}`, () => {
      const text = fail(way, '1')
      assert.match(text, /^# slow: FC_SEED=5, 100 runs$/m)
      assert.match(text, /^Counterexample: \[\[\d/m)
      assert.ok(stepsOf(text) > 0 && stepsOf(text) <= 12, text)
      assert.equal(stepsOf(fail(way, '0')), 0, 'the first one')
    })
  }
})
