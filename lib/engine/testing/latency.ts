/** Draws delays like a real backend's, log-normal by two percentiles. Throws TypeError and RangeError for a malformed profile. */
import { checkNames } from '../../foundation/base/suggest.ts'
import { MAX_DELAY } from './fault-options.ts'
import { Random } from './random.ts'

/** Delays that vary like a backend's. */
export interface LatencyProfile {
  /** Milliseconds that half of the delays do not exceed, above 0. */
  readonly p50: number
  /** Milliseconds that 99 of 100 delays do not exceed, at least `p50`. */
  readonly p99: number
  /** Determines the delays: an integer. Default: 1. */
  readonly seed?: number
}

const Z99 = 2.3263478740408408

/** Draws whole milliseconds. */
export function createLatency(profile: LatencyProfile, where: string): () => number {
  checkNames(profile, ['p50', 'p99', 'seed'], where)
  const { p50, p99, seed = 1 } = profile
  checkPercentile('p50', p50, where)
  checkPercentile('p99', p99, where)
  if (p99 < p50) throw new RangeError(`${where}: "p99" must not be below "p50" (${p50}), got ${p99}.`)
  if (!Number.isSafeInteger(seed)) throw new RangeError(`${where}: "seed" must be an integer, got ${String(seed)}.`)
  const random = new Random(`latency ${seed}`)
  const spread = Math.log(p99 / p50) / Z99
  return () => Math.min(MAX_DELAY, Math.round(p50 * Math.exp(spread * drawNormal(random))))
}

function checkPercentile(name: string, value: unknown, where: string): void {
  if (typeof value !== 'number' || !(value > 0 && value <= MAX_DELAY))
    throw new RangeError(`${where}: "${name}" must be a number of milliseconds above 0, at most ${MAX_DELAY}, got ${String(value)}.`)
}

/** A standard normal number, by Box and Muller. */
function drawNormal(random: Random): number {
  // The logarithm needs a number above 0.
  const radius = Math.sqrt(-2 * Math.log(1 - random.fraction()))
  return radius * Math.cos(2 * Math.PI * random.fraction())
}
