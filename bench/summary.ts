/** Summarises samples, orders contenders in turns, and decides whether two of them differ by more than chance. */

function quantile(sorted: readonly number[], part: number): number {
  const at = (sorted.length - 1) * part
  const below = sorted[Math.floor(at)]!
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at))
}

export function median(samples: readonly number[]): number {
  return quantile(
    samples.toSorted((a, b) => a - b),
    0.5,
  )
}

/** Returns the median, and half the distance between the quartiles in percent of it. */
export function summary(samples: readonly number[]): { median: number; spread: number } {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = quantile(sorted, 0.5)
  return { median: middle, spread: ((quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 / middle) * 100 }
}

/** Returns the median over rounds of a combination of both samples, which ran under the same load. */
export function byRound(ones: readonly number[], twos: readonly number[], combine: (one: number, two: number) => number): number {
  return median(ones.map((one, round) => combine(one, twos[round]!)))
}

/** Formats a figure with at least three digits. */
export function figure(value: number): string {
  if (value < 100) return value.toFixed(value < 1 ? 3 : value < 10 ? 2 : 1)
  return Math.round(value).toLocaleString('en')
}

/** Rotates the contenders, so that each round begins with another one. */
export function inTurns<T>(all: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? all : all.toReversed()
}

/** The verdict on two groups of samples, where less is faster. */
export type Verdict = 'faster' | 'slower' | 'the same' | 'too few rounds'

/** Probability of a chance result below which two groups differ: one wrong verdict in a hundred trials of equal code. */
const CHANCE = 0.01
/** Differences below this part are ignored, because the memory layout of a process causes as much. */
const NO_DIFFERENCE = 0.02

/**
 * Decides whether the second group is faster or slower than the first: by the rank sums of Mann and Whitney, and by more than 2 percent.
 */
export function verdictOf(ones: readonly number[], twos: readonly number[]): Verdict {
  // Even separate groups arise by chance too often when they are that small.
  if (chanceOf(0, ones.length, twos.length) > CHANCE) return 'too few rounds'
  const ratio = median(twos) / median(ones)
  if (Math.abs(ratio - 1) < NO_DIFFERENCE) return 'the same'
  // How often a sample of the second group is the smaller one.
  let below = 0
  for (const one of ones) for (const two of twos) below += two < one ? 1 : two === one ? 0.5 : 0
  const rarest = Math.min(below, ones.length * twos.length - below)
  if (chanceOf(rarest, ones.length, twos.length) > CHANCE) return 'the same'
  return ratio < 1 ? 'faster' : 'slower'
}

/** Returns how likely equal groups of these sizes differ at least as much, in either direction. */
function chanceOf(rarest: number, ones: number, twos: number): number {
  // ways[n][u]: how many orders of n samples of one group among those of the other have u pairs in which it is the smaller.
  let ways: number[][] = Array.from({ length: ones + 1 }, () => [1])
  for (let two = 1; two <= twos; two++) {
    const next: number[][] = [[1]]
    for (let one = 1; one <= ones; one++) {
      const [without, within] = [ways[one]!, next[one - 1]!]
      const sum: number[] = []
      for (const [u, count] of within.entries()) sum[u] = (sum[u] ?? 0) + count
      for (const [u, count] of without.entries()) sum[u + one] = (sum[u + one] ?? 0) + count
      next.push(Array.from({ length: one * two + 1 }, (_, u) => sum[u] ?? 0))
    }
    ways = next
  }
  const counts = ways[ones]!
  const all = counts.reduce((sum, count) => sum + count, 0)
  const asRare = counts.slice(0, Math.floor(rarest) + 1).reduce((sum, count) => sum + count, 0)
  return Math.min(1, (2 * asRare) / all)
}
