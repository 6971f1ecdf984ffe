/** Options: checks the options of a self-test. Throws TypeError or RangeError. */
import { checkNames } from '../../foundation/base/suggest.ts'
import { lowerNames } from '../../foundation/base/headers.ts'

/** Options of `engine.selfTest`. */
export interface SelfTestOptions {
  /** An integer that determines all generated requests. Default: 1. */
  readonly seed?: number
  /** How often to try each operation. Default: 3. */
  readonly runs?: number
  /** Headers of every request, such as `authorization`. Default: with a log-in, the token of the first user. */
  readonly headers?: Readonly<Record<string, string>>
  /** Attributes such as `users.email` that the application changes on purpose, and that are not compared. Default: none. */
  readonly ignore?: readonly string[]
  /** Milliseconds until the test ends and reports the rest as skipped. Default: 60,000. */
  readonly timeout?: number
}

const NAMES = ['seed', 'runs', 'headers', 'ignore', 'timeout']
const MAX_RUNS = 1000
const MAX_TIMEOUT = 2_147_483_647

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
