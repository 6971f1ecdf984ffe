/** Options: what a self-test takes, checked: TypeError and RangeError for what is unknown or not of its form. */
import { checkNames } from '../../foundation/base/suggest.ts'
import { lowerNames } from '../../foundation/base/headers.ts'

/** Options of `engine.selfTest`. */
export interface SelfTestOptions {
  /** An integer that all generated requests follow from. Default: 1. */
  readonly seed?: number
  /** How often each operation is tried with generated requests. Default: 3. */
  readonly runs?: number
  /** Headers of every request, such as `authorization`. Default: where the log-in is on, the token of the first user. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Attributes that the application changes on purpose when they are written, as `users.email`: they are not compared with what was sent.
   * Default: none.
   */
  readonly ignore?: readonly string[]
  /** Milliseconds after which the test ends; what is left then is reported as not tried. Default: 60,000. */
  readonly timeout?: number
}

const NAMES = ['seed', 'runs', 'headers', 'ignore', 'timeout']
const MAX_RUNS = 1000
const MAX_TIMEOUT = 2_147_483_647

/** Returns the options with their defaults. */
export function checkSelfTestOptions(
  given: SelfTestOptions,
): Required<Omit<SelfTestOptions, 'headers'>> & Pick<SelfTestOptions, 'headers'> {
  checkNames(given, NAMES, 'engine.selfTest')
  const { seed = 1, runs = 3, headers, ignore = [], timeout = 60_000 } = given
  if (!Number.isSafeInteger(seed)) throw new RangeError(`engine.selfTest: "seed" must be an integer, got ${String(seed)}.`)
  requireCount('runs', runs, MAX_RUNS)
  requireCount('timeout', timeout, MAX_TIMEOUT)
  if (headers !== undefined && !isTexts(headers)) throw new TypeError('engine.selfTest: "headers" must be an object of strings.')
  if (!Array.isArray(ignore) || !ignore.every(name => typeof name === 'string' && name.includes('.')))
    throw new TypeError('engine.selfTest: "ignore" must be a list of attributes with their resource: ["users.email"].')
  return { seed, runs, ignore, timeout, ...(headers === undefined ? {} : { headers: lowerNames(headers) }) }
}

function requireCount(name: string, value: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < 1 || value > max)
    throw new RangeError(`engine.selfTest: "${name}" must be an integer from 1 to ${max}, got ${String(value)}.`)
}

function isTexts(headers: unknown): headers is Record<string, string> {
  return typeof headers === 'object' && headers !== null && Object.values(headers).every(value => typeof value === 'string')
}
