/**
 * Measures what work takes on a machine that may do other things, which only ever add to it: the least of several rounds is nearest to the
 * truth. Where that does not meet a bound yet, more rounds follow, for some seconds; work that takes too long takes so in each round.
 */

/** Rounds that are measured at most, and those that are not enough to give up. */
const MOST = 40
const FEWEST = 3

/** Milliseconds after which no further round begins. */
const LONGEST = 15_000

type Work = () => unknown
type Measures = readonly (() => Promise<number>)[]
type Least<M extends Measures> = { [K in keyof M]: number }

/** Returns the milliseconds that work takes. */
export async function timeOf(work: Work): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** Returns the milliseconds of a processor that work takes in this process. */
export async function cpuOf(work: Work): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Returns the milliseconds of a processor that work takes on this thread, others of this process left out. */
export async function threadTimeOf(work: Work): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/**
 * Measures several works by turns, until the least of each meet a condition, and returns these.
 *
 * @param measures each does its work, and returns what that took
 */
export async function leastOf<const M extends Measures>(measures: M, holds: (...least: Least<M>) => boolean): Promise<Least<M>> {
  const least: number[] = measures.map(() => Infinity)
  const begun = performance.now()
  for (let round = 0; round < MOST; round++) {
    for (const [index, measure] of measures.entries()) least[index] = Math.min(least[index]!, await measure())
    if (holds(...(least as Least<M>)) || (round + 1 >= FEWEST && performance.now() - begun > LONGEST)) break
  }
  return least as Least<M>
}

/** Returns the least milliseconds that work took, measured until they are below a bound. */
export async function leastTime(work: Work, bound: number): Promise<number> {
  const [least] = await leastOf([() => timeOf(work)], time => time < bound)
  return least
}
