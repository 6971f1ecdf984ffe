/**
 * Pace: what a fixed piece of work takes at the moment. A machine does not give its processor at the same speed all the time: who shares
 * its core and its caches makes it half as fast for a tenth of a second, or for minutes. So work is timed between two such pieces, and
 * figures are compared at one pace.
 */
import { median } from './summary.ts'

/** Work that was timed. */
export interface Paced {
  /** Of the processor, at the pace of the moment. */
  readonly microseconds: number
  /** Microseconds of the fixed piece of work: the mean of before and after. */
  readonly pace: number
  /** By what part the pace has changed meanwhile. */
  readonly drift: number
}

/** A drift above which a figure says little. */
const MOST_DRIFT = 0.1

/** Microseconds of the processor that this process has used, garbage collection included: what else the machine does counts for little. */
export function spent(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Read and written by code of V8's own, which is compiled in every process. */
const TEXT = JSON.stringify(
  Array.from({ length: 100 }, (_, index) => ({ id: index, name: `Name ${index * 7919}`, active: index % 3 > 0, score: index * 7919.5 })),
)
/** Together about a millisecond. */
const ROUND_TRIPS = 20

/** Microseconds of the fixed piece of work. */
export function pace(): number {
  const start = spent()
  for (let trip = 0; trip < ROUND_TRIPS; trip++) JSON.stringify(JSON.parse(TEXT))
  return spent() - start
}

export async function paced(work: () => unknown): Promise<Paced> {
  const before = pace()
  const start = spent()
  const done = work()
  if (done instanceof Promise) await done
  const microseconds = spent() - start
  const after = pace()
  return { microseconds, pace: (before + after) / 2, drift: Math.abs(after - before) / Math.min(before, after) }
}

/**
 * Times work a number of times, and again, at most as many times more, where the pace has changed meanwhile.
 *
 * @returns those of the least drift
 */
export async function steadySamples(count: number, work: () => unknown): Promise<Paced[]> {
  const samples: Paced[] = []
  for (let steady = 0; steady < count && samples.length < count * 2;) {
    const sample = await paced(work)
    samples.push(sample)
    if (sample.drift <= MOST_DRIFT) steady++
  }
  return samples.toSorted((a, b) => a.drift - b.drift).slice(0, count)
}

/** What a process has measured: times at the pace of their median. */
export interface AtPace {
  readonly microseconds: readonly number[]
  readonly pace: number
}

export function atOnePace(samples: readonly Paced[]): AtPace {
  const middle = median(samples.map(({ pace: own }) => own))
  return { microseconds: samples.map(({ microseconds, pace: own }) => (microseconds * middle) / own), pace: middle }
}

/** Paces of all processes so far: figures of different processes are brought to the median of them. */
const seen: number[] = []

/** The factors that bring the times of each process to the pace of the run: less than 1 for those of a slow machine. */
export function factors(all: readonly { readonly pace: number }[]): number[] {
  seen.push(...all.map(({ pace: own }) => own))
  const middle = median(seen)
  return all.map(({ pace: own }) => middle / own)
}
