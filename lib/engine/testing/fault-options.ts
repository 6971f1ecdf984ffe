/** The options of injected faults, with checks. */
import { RestError } from '../../foundation/errors/errors.ts'
import { anything, filledText, flag, mustRange, readOptions, type OptionTable } from '../../foundation/base/option-table.ts'

/** Options of all faults. */
export interface FaultOptions {
  /** Number of requests to meet, above 0. Default: all, until the fault is disposed. */
  readonly times?: number
}

/** Options of `engine.drop`. */
export interface DropOptions extends FaultOptions {
  /** Whether the request runs, and only the answer is lost. Default: false. */
  readonly after?: boolean
}

/** A failure without status. */
export interface FailureDetails {
  /** Default `fault_injected`. */
  readonly code?: string
  /** The error's text. */
  readonly detail?: string
  /** Further headers, such as `{ 'retry-after': '2' }`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Options of `engine.fail`. */
export interface FailOptions extends DropOptions, FailureDetails {
  /** An integer from 400 to 599. */
  readonly status: number
}

/** In milliseconds, almost 25 days: the limit of timers. */
export const MAX_DELAY = 2 ** 31 - 1

export const FAULT = {
  times: [mustRange('an integer above 0', value => Number.isSafeInteger(value) && (value as number) > 0)],
} as const satisfies OptionTable<FaultOptions>
export const DROP = { ...FAULT, after: [flag, false] } as const satisfies OptionTable<DropOptions>
export const FAILURE = {
  code: [filledText, 'fault_injected'],
  detail: [filledText, 'A test has asked for this failure.'],
  headers: [checkHeaders, {}],
} as const satisfies OptionTable<FailureDetails>
export const FAIL = { status: [anything], ...FAILURE, ...DROP } as const satisfies OptionTable<FailOptions>

export function checkDelay(ms: unknown, where: string): void {
  if (typeof ms !== 'number')
    throw new TypeError(
      `${where}: the delay must be a number of milliseconds, a profile such as { p50: ` +
        `80, p99: 900 }, or a function of the request, got ${typeof ms}.`,
    )
  if (!(ms >= 0 && ms <= MAX_DELAY)) {
    throw new RangeError(
      `${where}: the delay must be from 0 to ${MAX_DELAY} milliseconds, got ${ms}. To keep requests for longer, use hold.`,
    )
  }
}

export const readFault: typeof readOptions = (options, table, where) => {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${where}: the options must be an object, got ${options === null ? 'null' : typeof options}.`)
  return readOptions(options, table, where)
}

/** Forbidden headers: another value cuts the answer off, or leaves the client waiting. */
const FRAMING = new Set(['connection', 'content-length', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

function checkHeaders(headers: unknown, place: string, where: string): void {
  if (typeof headers !== 'object' || headers === null || !Object.values(headers).every(value => typeof value === 'string'))
    throw new TypeError(`${place} must be an object of strings, such as { 'retry-after': '2' }.`)
  for (const [name, value] of Object.entries(headers as Readonly<Record<string, string>>)) {
    if (FRAMING.has(name.toLowerCase()))
      throw new TypeError(
        `${where}: the header "${name}" says how the bytes of an answer travel, which the server decides. ` +
          'To lose an answer on its way, use drop.',
      )
    try {
      void new Headers([[name, value]])
    } catch (error) {
      throw new TypeError(`${where}: the header "${name}" cannot be sent: ${(error as Error).message}`, { cause: error })
    }
  }
}

export function makeRefusal(status: number, { code, detail, headers }: Required<FailureDetails>, where: string): RestError {
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    const given = typeof status === 'string' ? JSON.stringify(status) : String(status)
    throw new RangeError(
      `${where}: "status" must be an integer from 400 to 599, got ${given}. Other answers are for custom routes to give.`,
    )
  }
  return new RestError(status, code, detail, { headers })
}
