/** The options of `engine.selfTest`, with their check. */
import { integer, must, mustRange, readOptions, textsByName, type OptionTable } from '../../foundation/base/option-table.ts'
import { lowerNames } from '../../foundation/base/headers.ts'

/** Options of `engine.selfTest`. */
export interface SelfTestOptions {
  /** Determines all generated requests. Default: 1. */
  readonly seed?: number
  /** How often to try each operation. Default: 3. */
  readonly runs?: number
  /** Headers of every request, such as `authorization`. Default: with a log-in, the token of the first user. */
  readonly headers?: Readonly<Record<string, string>>
  /** Attributes, such as `users.email`, that the application changes on purpose. Default: none. */
  readonly ignore?: readonly string[]
  /** Milliseconds until the test ends. Default: 60,000. */
  readonly timeout?: number
}

const OPTIONS = {
  seed: [mustRange('an integer', Number.isSafeInteger), 1],
  runs: [integer(1, 1000), 3],
  headers: [textsByName],
  ignore: [must('a list of attributes with their resource: ["users.email"]', areAttributes), []],
  timeout: [integer(1, 2_147_483_647), 60_000],
} as const satisfies OptionTable<SelfTestOptions>

export function checkSelfTestOptions(
  options: SelfTestOptions,
): Required<Omit<SelfTestOptions, 'headers'>> & Pick<SelfTestOptions, 'headers'> {
  const given = readOptions(options, OPTIONS, 'engine.selfTest')
  return given.headers === undefined ? given : { ...given, headers: lowerNames(given.headers) }
}

function areAttributes(names: unknown): boolean {
  return Array.isArray(names) && names.every(name => typeof name === 'string' && name.includes('.'))
}
