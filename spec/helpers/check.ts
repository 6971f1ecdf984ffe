/**
 * Runs a fast-check property and prints its seed, on success too, so that any run can be repeated: `FC_SEED=<seed> FC_RUNS=<runs> node
 * --import tsx --test <file>`. With `FC_SHRINK=0` no smaller counterexample is looked for, which can take long. The seed determines everything random in a property spec, the data sets of a batch included (`sample`).
 */
import * as fc from 'fast-check'
import type { Arbitrary, IAsyncProperty, IProperty } from 'fast-check'

const given = process.env['FC_SEED']

/** The seed of this process. */
export const seed: number = given === undefined || given === '' ? Math.trunc(Math.random() * 0x7fffffff) : Number(given)
if (!Number.isInteger(seed)) throw new Error(`FC_SEED must be an integer, not ${JSON.stringify(given)}`)

/** Returns how often to run a property whose default is `usual`; FC_RUNS overrides it. */
export function runs(usual: number): number {
  const wanted = process.env['FC_RUNS']
  return wanted === undefined || wanted === '' ? usual : Number(wanted)
}

/** Checks one property. `label` names it in the line with the seed. `usualSeed` is used without FC_SEED. */
export async function check<T>(
  property: IAsyncProperty<T> | IProperty<T>,
  options: { label: string; runs?: number; examples?: T[]; usualSeed?: number },
): Promise<void> {
  const numRuns = runs(options.runs ?? 100)
  const used = given === undefined || given === '' ? (options.usualSeed ?? seed) : seed
  console.log(`# ${options.label}: FC_SEED=${used}, ${numRuns} runs`)
  await fc.assert(property as IAsyncProperty<T>, {
    seed: used,
    numRuns,
    examples: options.examples ?? [],
    endOnFailure: process.env['FC_SHRINK'] === '0',
  })
}

/** Draws one value from an arbitrary by the seed of this process. `salt` makes the draws of a batch differ. */
export function sample<T>(arbitrary: Arbitrary<T>, salt = 0): T {
  const [value] = fc.sample(arbitrary, { seed: seed + salt, numRuns: 1 })
  return value as T
}
