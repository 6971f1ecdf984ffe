/** Reads `--self-test`, `--check` and companions. */
import { misuse } from './command-error.ts'
import { refuseOthers } from './option-values.ts'

export interface TrialArguments {
  readonly seed: string | undefined
  readonly selfTest: boolean
  readonly testSeed: number | undefined
  readonly runs: number | undefined
  readonly check: string | undefined
  readonly journal: string | undefined
  /** Replays writing requests, too. */
  readonly writes: boolean
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** `--seed 7` is of the self-test, `--seed data.json` of records. */
export function readTrial(values: ReadonlyMap<string, readonly string[]>): TrialArguments {
  const seeds = values.get('seed') ?? []
  const isTestSeed = (text: string): boolean => values.has('self-test') && /^-?\d+$/.test(text)
  return {
    seed: seeds.findLast(text => !isTestSeed(text)),
    selfTest: values.has('self-test'),
    testSeed: toInteger('--seed', seeds.findLast(isTestSeed)),
    runs: toInteger('--runs', values.get('runs')?.at(-1)),
    check: values.get('check')?.at(-1),
    journal: values.get('journal')?.at(-1),
    writes: values.has('writes'),
    headers: toHeaders(values.get('header')),
  }
}

export function checkTrial(args: TrialArguments, others: Readonly<Record<string, string | boolean | undefined>>): void {
  const { selfTest, check, journal, writes, runs, headers } = args
  const refuse = (option: string, needs: string): never => {
    throw misuse(`${option} goes with ${needs}.`)
  }
  if (runs !== undefined && !selfTest) refuse('--runs', '--self-test')
  if (headers !== undefined && !selfTest && check === undefined) refuse('--header', '--self-test and --check')
  if (journal !== undefined && check === undefined) refuse('--journal', '--check')
  if (writes && journal === undefined) refuse('--writes', '--check and --journal')
  if (check !== undefined && !/^https?:\/\/./.test(check))
    throw misuse(`--check takes an address that begins with http:// or https://, got "${check.replace(/\/\/.*@/s, '//')}".`)
  if (!selfTest && check === undefined) return
  refuseOthers(`${selfTest ? '--self-test tries' : '--check compares'} the API and ends`, { ...others, '--check': selfTest && check })
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
