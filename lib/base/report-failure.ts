/**
 * Failure: what becomes of an error that a client is not shown. It goes to the option `onError`, else to standard error: a 500 without a reason
 * would cost whoever wrote the hook an hour.
 */
import { RestError } from './errors.ts'

/** The request that an error belongs to, for `onError`. */
export interface FailedRequest {
  readonly method: string
  readonly path: string
}

/** The option `onError`. */
export type OnError = (error: unknown, request: FailedRequest) => void

/** What an error comes from: the one that a refusal of the engine's own stands for, else itself. Undefined for a refusal that somebody has meant. */
export function findReason(error: unknown): unknown {
  return error instanceof RestError ? error.cause : (error ?? 'undefined')
}

/** What is done where `onError` is not given: the request and the error with its stack, on standard error. */
export const printFailure: OnError = (error, { method, path }) => {
  const reason = findReason(error)
  // A client may send bytes that a terminal takes as commands.
  const shown = `${method} ${path}`.replaceAll(/[^\u0020-\u007e]/g, encodeCharacter)
  if (reason !== undefined) console.error(`mikro-rest: ${shown} failed:`, reason)
}

/** Reports an error. What the reporting itself throws, now or later, is a warning: the request is answered all the same. */
export function reportFailure(onError: OnError, error: unknown, request: FailedRequest): void {
  runGuarded(() => onError(error, request))
}

/** Calls a function of the application's that nobody waits for: what it throws, or rejects with, ends neither the request nor the process. */
export function runGuarded(call: () => unknown): void {
  try {
    const result = call()
    if (result instanceof Promise) result.catch(warn)
  } catch (error) {
    warn(error)
  }
}

/** A warning of the process, which is written to standard error. */
export function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}

/** A lone surrogate has no encoding of its own. */
function encodeCharacter(character: string): string {
  return character.isWellFormed() ? encodeURIComponent(character) : '%EF%BF%BD'
}
