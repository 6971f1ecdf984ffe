/**
 * Runs a fast-check property and prints its seed, on success too, so that any run can be repeated: `FC_SEED=<seed> FC_RUNS=<runs> node
 * --import tsx --test <file>`. The seed determines everything random in a property spec, the data sets of a batch included (`sample`).
 *
 * A run of all specs has `FC_SEED=usual` (scripts/run-specs.ts): the same seeds each time, so that what has passed before it lands does not
 * fail after it. Who runs a spec by itself tries another seed.
 *
 * A smaller counterexample is looked for during 20 seconds, or FC_SHRINK seconds: the first one comes at once with `FC_SHRINK=0`. The line
 * that is printed has the seed and the path of the smallest one that was found.
 */
import * as fc from 'fast-check'
import type { Arbitrary, IAsyncProperty, IProperty } from 'fast-check'
import { isOnServer } from './running-store.ts'

/** One of so many runs is made on PostgreSQL. */
const SERVER_SHARE = 10

/** The seed of a run of all specs. */
const USUAL = 1

const isUsual = process.env['FC_SEED'] === 'usual'
const given = isUsual ? undefined : readNumber('FC_SEED')

/** The seed of this process. */
export const seed: number = given ?? (isUsual ? USUAL : Math.trunc(Math.random() * 0x7fffffff))
if (!Number.isInteger(seed)) throw new Error(`FC_SEED must be an integer, not ${seed}`)

/** How many seconds a property that has failed may take for smaller counterexamples: one that fails must not hold up the specs after it. */
const shrinkTime = readNumber('FC_SHRINK') ?? 20

function readNumber(name: string): number | undefined {
  const text = process.env[name]
  if (text === undefined || text === '') return undefined
  const number = Number(text)
  if (Number.isNaN(number)) throw new Error(`${name} must be a number, not ${JSON.stringify(text)}`)
  return number
}

/** Returns how often to run a property whose default is `usual`; FC_RUNS overrides it. */
export function runs(usual: number): number {
  return readNumber('FC_RUNS') ?? usual
}

/**
 * How often to run a property that costs much, before `check` takes its quarter: an eighth of the runs where all specs run, all of them by
 * itself and in `npm run hunt`.
 */
export const costly = (all: number): number => (isUsual ? Math.ceil(all / 2) : all)

/** Runs that are made where all specs run, whatever the quarter of them is. */
const AT_LEAST = 4

/**
 * All specs together have the same seeds each time, so that more of the same runs find little: they make a quarter of them, and `npm
 * run hunt` all.
 */
const reduced = (all: number): number => (isUsual ? Math.max(Math.ceil(all / 4), Math.min(all, AT_LEAST)) : all)

/** Of pairs of two lists, by their places in them: half, of each row and of each column, where all specs run, and all of them otherwise. */
export const isTried = (row: number, column: number): boolean => !isUsual || (row + column) % 2 === 0

interface CheckOptions<T> {
  readonly label: string
  readonly runs?: number
  readonly examples?: T[]
  readonly usualSeed?: number
}

/** Checks one property. `label` names it in the line with the seed. `usualSeed` is used without FC_SEED. */
export async function check<T>(property: IAsyncProperty<T> | IProperty<T>, options: CheckOptions<T>): Promise<void> {
  const usual = reduced(options.runs ?? 100)
  // Many make engines, which takes a server a hundred times as long.
  const numRuns = runs(isOnServer() ? Math.max(Math.ceil(usual / SERVER_SHARE), Math.min(usual, 4)) : usual)
  const used = given ?? options.usualSeed ?? seed
  console.log(`# ${options.label}: FC_SEED=${used}, ${numRuns} runs`)
  const endOnFailure = shrinkTime <= 0
  const examples = options.examples ?? []
  await fc.assert(property as IAsyncProperty<T>, {
    seed: used,
    numRuns,
    examples,
    endOnFailure,
    plugins: [endShrinking(shrinkTime * 1000)],
  })
}

/**
 * Returns a plugin that ends the search for smaller counterexamples some time after the first one. The runs before that have any time:
 * fast-check's own limit counts from the first run, so that on a slow machine a property that holds would be tried less often, or fail.
 */
function endShrinking<T>(milliseconds: number): fc.Plugin<T> {
  let end = Infinity
  const note = <R>(outcome: R): R => {
    if (outcome !== null && !fc.PreconditionFailure.isFailure(outcome)) end = Math.min(end, performance.now() + milliseconds)
    return outcome
  }
  // fast-check's type has no place for a property that may be synchronous or not.
  const decorateRun = (run: (value: T) => unknown): unknown => {
    return (value: T): unknown => {
      if (performance.now() > end) return new fc.PreconditionFailure(true)
      const outcome = run(value)
      return outcome instanceof Promise ? outcome.then(note) : note(outcome)
    }
  }
  return () => ({ decorateRun: decorateRun as never })
}

/** Draws one value from an arbitrary by the seed of this process. `salt` makes the draws of a batch differ. */
export function sample<T>(arbitrary: Arbitrary<T>, salt = 0): T {
  const [value] = fc.sample(arbitrary, { seed: seed + salt, numRuns: 1 })
  return value as T
}
