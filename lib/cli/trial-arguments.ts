/** Trial arguments: the options of the command line that try an API, `--self-test` and what goes with it. Every mistake is a usage error (exit code 2). */
import { CommandError } from './command-error.ts'

export interface TrialArguments {
  /** The file of records to add. */
  readonly seed: string | undefined
  /** Whether the API is tried with generated requests. */
  readonly selfTest: boolean
  /** The number that the requests of a self-test follow from. */
  readonly chance: number | undefined
  readonly runs: number | undefined
  /** Headers of the requests of a self-test. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** Reads the options of a trial. A self-test has a number for its seed, beside the records of a file. */
export function readTrial(values: ReadonlyMap<string, readonly string[]>): TrialArguments {
  const seeds = values.get('seed') ?? []
  const isChance = (text: string): boolean => values.has('self-test') && /^-?\d+$/.test(text)
  return {
    seed: seeds.findLast(text => !isChance(text)),
    selfTest: values.has('self-test'),
    chance: toInteger('--seed', seeds.findLast(isChance)),
    runs: toInteger('--runs', values.get('runs')?.at(-1)),
    headers: toHeaders(values.get('header')),
  }
}

/**
 * Checks that the options of a trial go together.
 *
 * @param others options of which none goes with a trial, with what was given
 */
export function checkTrial(args: TrialArguments, others: Readonly<Record<string, string | boolean | undefined>>): void {
  if (!args.selfTest) {
    const needless = args.runs !== undefined ? '--runs' : args.headers !== undefined ? '--header' : undefined
    if (needless !== undefined) throw misuse(`${needless} goes with --self-test.`)
    return
  }
  const other = Object.entries(others).find(([, given]) => given !== undefined && given !== false)
  if (other !== undefined) throw misuse(`--self-test tries the API and ends: it does not go with ${other[0]}.`)
}

function toInteger(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = /^-?\d{1,16}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(number)) throw misuse(`${option} takes an integer, got "${text}".`)
  return number
}

function toHeaders(lines: readonly string[] | undefined): Record<string, string> | undefined {
  if (lines === undefined) return undefined
  return Object.fromEntries(
    lines.map(line => {
      const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(line) ?? []
      if (name === undefined || value === undefined) throw misuse(`--header takes a line such as 'Name: value', got "${line}".`)
      return [name.toLowerCase(), value]
    }),
  )
}

function misuse(text: string): CommandError {
  return new CommandError(text, 2)
}
