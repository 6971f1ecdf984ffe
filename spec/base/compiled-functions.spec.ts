/** Functions that MikroORM has compiled, for places where texts may not become code. `spec/page/policy.spec.ts` writes by them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Utils } from '@mikro-orm/core'
import { fitFunctions } from '../../lib/databases/orm/compiled-functions.ts'

const version = Utils.getORMVersion()
const OWN = { __version: version }
const takesTwo = (a: unknown, b: unknown) => () => [a, b]

/** What MikroORM gets for a key, and what a call of that gives. */
function ask(given: object | undefined, key: string, ...needed: unknown[]): unknown {
  const functions = fitFunctions(given as never) as unknown as Record<string, (...needed: unknown[]) => () => unknown>
  return functions[key]!(...needed)()
}

describe('compiled functions', () => {
  it('are found in a process that numbers its entities otherwise', () => {
    assert.deepEqual(ask({ ...OWN, 'comparator-user_tags_2_9000': takesTwo }, 'comparator-user_tags_2_15000', 1, 2), [1, 2])
    assert.deepEqual(ask({ ...OWN, 'hydrator-a-b_0-full-false': takesTwo }, 'hydrator-a-b_500-full-false', 1, 2), [1, 2])
  })

  it('are refused where they do not fit, each in one line', () => {
    assert.throws(() => ask(undefined, 'pkGetter-user_0'), /the policy of the page or process forbids it.*or give "orm\.compiledFunctions"/)
    const other = { ...OWN, 'pkGetter-user_0': takesTwo, 'hydrator-pet_0-full-true': takesTwo, 'hydrator-pet_1000-full-true': takesTwo }
    assert.throws(() => ask(other, 'pkGetter-tag_0', 1, 2), /"orm\.compiledFunctions" does not have pkGetter-tag of these entities/)
    assert.throws(() => ask(other, 'pkGetter-user_0', 1), /"orm\.compiledFunctions" does not have pkGetter-user of these entities/)
    assert.throws(() => ask(other, 'hydrator-pet_0-full-true', 1, 2), /"orm\.compiledFunctions" has two of hydrator-pet-full-true/)
    assert.throws(() => fitFunctions({ __version: '7.0.0' } as never), {
      message:
        `RestEngine.create: "orm.compiledFunctions" are of MikroORM 7.0.0, and ${version} runs: ` +
        'write them again by npx mikro-orm compile.',
    })
  })
})
