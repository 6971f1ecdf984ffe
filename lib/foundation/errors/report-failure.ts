/** Reports errors to `onError`, by default to standard error: the answer of a 500 gives no reason. */
import { RestError } from './errors.ts'
import { runtime } from '../runtime/runtime.ts'

/** The request of an error, for `onError`. */
export interface FailedRequest {
  readonly method: string
  readonly path: string
}

export type OnError = (error: unknown, request: FailedRequest) => void

/** The cause of a `RestError`, else the error itself. Undefined for a refusal without a cause. */
export function findReason(error: unknown): unknown {
  return error instanceof RestError ? error.cause : (error ?? 'undefined')
}

/** In characters. */
const PRINTED_PATH = 1_000

export const printFailure: OnError = (error, { method, path }) => {
  const reason = findReason(error)
  const start = path.length > PRINTED_PATH ? `${path.slice(0, PRINTED_PATH)}… (${path.length} characters)` : path
  // A path may have control characters of a terminal.
  const shown = `${method} ${start}`.replaceAll(/[^\u0020-\u007e…]/g, encodeCharacter)
  if (reason !== undefined) console.error(`mikro-rest: ${shown} failed:`, reason)
}

export function reportFailure(onError: OnError, error: unknown, request: FailedRequest): void {
  runGuarded(() => onError(error, request))
}

/** Errors become warnings, and end neither request nor process. */
export function runGuarded(call: () => unknown): void {
  try {
    const result = call()
    if (result instanceof Promise) result.catch(warn)
  } catch (error) {
    warn(error)
  }
}

export function warn(error: unknown): void {
  runtime.warn(error instanceof Error ? error : String(error))
}

function encodeCharacter(character: string): string {
  return character.isWellFormed() ? encodeURIComponent(character) : '%EF%BF%BD'
}
