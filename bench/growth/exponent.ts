/** Computes how fast a cost grows with its input. */

/** Part of the smallest input's cost below which a rise counts as noise. */
const NOISE = 0.1

/**
 * The slope in log-log of the cost beyond that of the smallest input, over the input beyond the smallest: 0 when it does not grow, 1 when
 * it grows as its input does, 2 when it grows with its square. Fixed costs do not count. The points are in the order of their inputs.
 *
 * @throws RangeError with fewer than three points.
 */
export function exponentOf(points: readonly (readonly [input: number, cost: number])[]): number {
  const [[least, fixed] = [0, 0], ...later] = points
  if (later.length < 2) throw new RangeError(`An exponent takes three points or more, got ${points.length}.`)
  const noise = fixed * NOISE
  const rises = later.map(([input, cost]) => [input - least, cost - fixed] as const)
  if (rises.at(-1)![1] <= noise) return 0
  // From the first input on from which every cost is above the noise.
  const start = rises.findLastIndex(([, cost]) => cost <= noise)
  const risen = start < 0 ? rises : [[rises[start]![0], noise] as const, ...rises.slice(start + 1)]
  return slope(risen.map(([input, cost]) => [Math.log(input), Math.log(cost)]))
}

/** Returns the slope of the regression line. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(point => point[0])), mean(points.map(point => point[1]))]
  const products = points.map(point => (point[0] - x) * (point[1] - y))
  const squares = points.map(point => (point[0] - x) ** 2)
  return mean(products) / mean(squares)
}

/** Part of an exponent that noise and the logarithm of sorting may add. */
const TOLERANCE = 0.25

/** Whether a cost grows faster than its input, and faster than the contender beside it. */
export function growsTooFast(own: number, beside: number): boolean {
  return own > Math.max(1, beside) + TOLERANCE
}
