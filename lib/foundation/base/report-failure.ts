/**
 * Reports errors that a client may not see. They go to the option `onError`, by default to standard error, because the answer of a 500
 * gives no reason.
 */
import { RestError } from './errors.ts'

/** The request of an error, for `onError`. */
export interface FailedRequest {
  readonly method: string
  readonly path: string
}

/** The option `onError`. */
type OnError = (error: unknown, request: FailedRequest) => void

/** Finds the reason of an error: the cause of a `RestError`, else the error itself. Undefined for a refusal that was thrown on purpose. */
export function findReason(error: unknown): unknown {
  return error instanceof RestError ? error.cause : (error ?? 'undefined')
}

/** The default of `onError`: prints the request and the error with its stack on standard error. */
export const printFailure: OnError = (error, { method, path }) => {
  const reason = findReason(error)
  // A path may contain characters that control a terminal.
  const shown = `${method} ${path}`.replaceAll(/[^\u0020-\u007e]/g, encodeCharacter)
  if (reason !== undefined) console.error(`mikro-rest: ${shown} failed:`, reason)
}

/** Reports an error. An error of `onError` itself, thrown now or later, becomes a warning, and the request is answered all the same. */
export function reportFailure(onError: OnError, error: unknown, request: FailedRequest): void {
  runGuarded(() => onError(error, request))
}

/** Calls a function of the application without waiting. Its errors become warnings: they end neither the request nor the process. */
export function runGuarded(call: () => unknown): void {
  try {
    const result = call()
    if (result instanceof Promise) result.catch(warn)
  } catch (error) {
    warn(error)
  }
}

/** Emits a warning of the process, which Node prints on standard error. */
export function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}

/** Percent-encodes a character. A lone surrogate is encoded as the replacement character. */
function encodeCharacter(character: string): string {
  return character.isWellFormed() ? encodeURIComponent(character) : '%EF%BF%BD'
}
