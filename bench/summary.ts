/** Summary: what many samples come to, and the order in which contenders take turns. */

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

/** The median, and half the distance between the quartiles in percent of it. */
export function summary(samples: readonly number[]): { median: number; spread: number } {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = quantile(sorted, 0.5)
  return { median: middle, spread: ((quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 / middle) * 100 }
}

/** A figure with three digits or more. */
export function figure(value: number): string {
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')
}

/** Each round begins with another one. */
export function inTurns<T>(all: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? all : all.toReversed()
}

/**
 * The value of `--rounds`.
 *
 * @throws RangeError when it is no number of rounds.
 */
export function roundsOf(text: string): number {
  const rounds = Number(text)
  if (!Number.isSafeInteger(rounds) || rounds < 1) throw new RangeError(`--rounds must be an integer of 1 or more, got "${text}".`)
  return rounds
}
