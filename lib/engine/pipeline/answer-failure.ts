/**
 * Answer failure: whatever a stage throws becomes the one error body. Reports what is a fault of the server, and hides from the client what
 * it is.
 */
import { AskedError, RestError, restError } from '../../foundation/base/errors.ts'
import { findReason, reportFailure, type FailedRequest } from '../../foundation/base/report-failure.ts'
import type { DatabaseFailure } from '../../records/database/dialect.ts'
import type { Clock } from '../../foundation/base/clock.ts'
import { TAKES_BODY } from '../../foundation/base/http-methods.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import type { Model } from '../../model/model.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import { InnerClient } from '../../records/request/inner-request.ts'
import { readHeader } from '../../records/request/parse-request.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { CheckedOptions } from './options.ts'
import { respondError, withoutBody } from './respond.ts'
import { findNames, isPlain, shapeAnswer, shapeRefusal } from './shape-answer.ts'

/** The request that has failed, as it came. */
interface FailedArrival {
  readonly method: string
  readonly path: string
  readonly query: QueryInput | undefined
  readonly body: unknown
  readonly context: Parameters<typeof readHeader>[0]
  readonly record: JournalRecord | undefined
}

/** The request that a transport has received, with headers of lower-case names. */
export interface FailingRequest extends FailedRequest {
  readonly headers: Readonly<Partial<Record<string, string>>>
}

/** The parts of an engine that an answer to a failure uses. */
interface FailureParts {
  readonly options: CheckedOptions
  readonly clock: Clock
  /** Why the database has done nothing, if that is what an error says. */
  readonly classifyFailure: (error: unknown) => DatabaseFailure | undefined
}

/** Answers an error that a stage has thrown. */
export function answerFailure(error: unknown, arrival: FailedArrival, parts: FailureParts): RestResponse {
  const { method, path, context, record } = arrival
  const meant = describeMisplacedBody(error, arrival)
  const answered = meant instanceof AskedError ? meant.answer : undefined
  const response =
    answered ?? answerError(describeDatabaseFailure(meant, parts.classifyFailure(meant)), parts, readHeader(context, 'accept'))
  if (response.status >= 500 && isToReport(meant, arrival, response)) {
    if (record !== undefined) record.failure = findReason(meant)
    reportFailure(parts.options.onError, meant, { method, path })
  }
  const shaped = isPlain(context) ? response : formRefusal(response, { method, path }, parts)
  return method.toUpperCase() === 'HEAD' ? withoutBody(shaped, context) : shaped
}

/**
 * Whether nobody else reports a failure: that of an inner request has been reported with it. Only that it met another write is left to the
 * request around it, which may begin anew.
 */
function isToReport(error: unknown, { context }: FailedArrival, { body }: RestResponse): boolean {
  const isBusy = (body as { readonly code?: unknown } | undefined)?.code === 'database_busy'
  return isBusy ? !(context instanceof InnerClient) : !(error instanceof AskedError)
}

/** Gives a refusal the form of the application. Where its own function fails, the client learns no more than that. */
export function formRefusal(response: RestResponse, request: Partial<FailedRequest>, parts: FailureParts): RestResponse {
  const { envelope, onError } = parts.options
  if (envelope === undefined) return response
  try {
    return shapeRefusal(response, request, envelope)
  } catch (error) {
    reportFailure(onError, error, { method: request.method ?? '', path: request.path ?? '' })
    return answerError(error, parts)
  }
}

/** The last step of any answer, for one that has been asked for in the engine's own form. */
export function shapeFully(
  response: RestResponse,
  request: FailedRequest,
  parts: FailureParts & { readonly served: ReadonlyMap<string, { readonly model: Model }> },
): RestResponse {
  const { envelope } = parts.options
  if (envelope === undefined) return response
  return response.status >= 400
    ? formRefusal(response, request, parts)
    : shapeAnswer(response, request.method, envelope, name => findAnyNames(name, parts.served.values()))
}

function findAnyNames(name: string, versions: Iterable<{ readonly model: Model }>): ReturnType<typeof findNames> {
  for (const { model } of versions) {
    const names = findNames(name, model)
    if (names !== undefined) return names
  }
  return undefined
}

/** Answers what a transport has met itself; a fault of the server is reported. */
export function answerTransportFailure(error: unknown, { method, path, headers }: FailingRequest, parts: FailureParts): RestResponse {
  const response = answerError(error, parts, headers['accept'])
  if (response.status >= 500 && !(error instanceof RestError)) reportFailure(parts.options.onError, error, { method, path })
  return formRefusal(response, { method, path }, parts)
}

/**
 * Returns the one error body, also for faults that a transport finds before the engine can be asked.
 *
 * @param accept the header `Accept` of the request
 */
export function answerError(error: unknown, { clock, options }: FailureParts, accept?: string): RestResponse {
  let timestamp: string
  try {
    timestamp = clock.now().toISOString()
  } catch {
    // A clock of the application's that fails is such an error itself.
    timestamp = new Date().toISOString()
  }
  return respondError(error, { timestamp, validationStatus: options.validationStatus, accept })
}

/** Whether the caller of `handle` broke its types. */
export function isMisuse(error: unknown): boolean {
  return error instanceof TypeError && error.message.startsWith('handle: ')
}

/** Explains a query that is refused and may well be the body: the arguments of `handle` are easily mistaken. */
function describeMisplacedBody(error: unknown, { method, query, body }: FailedArrival): unknown {
  if (body !== undefined || query === undefined || query === null || query instanceof URLSearchParams) return error
  const name = method.toUpperCase()
  if (!(error instanceof RestError) || error.code !== 'parameter_invalid' || !TAKES_BODY.has(name)) return error
  const call = `handle("${name}", path, undefined, body)`
  const detail = `${error.message} The third argument of "handle" is the query, the fourth is the body: ${call}.`
  return restError('parameter_invalid', detail, error.errors === undefined ? {} : { errors: error.errors })
}

/** Returns what a client learns of a database that does nothing; the cause is for `onError`. */
function describeDatabaseFailure(error: unknown, failure: DatabaseFailure | undefined): unknown {
  if (failure === undefined || error instanceof RestError) return error
  if (failure === 'denied')
    return restError('forbidden', `The database does not allow it: ${(error as Error).message.split('\n', 1)[0]!}.`, { cause: error })
  if (failure === 'readOnly')
    return restError(
      'database_busy',
      'The database takes no writes: it is a standby, or was set to read only; nothing was changed. ' +
        'An engine that is only to read it has the option "readOnly".',
      { headers: { 'retry-after': '1' }, cause: error },
    )
  if (failure === 'failed')
    return restError('database_failed', 'The database cannot do this at present; nothing was changed.', { cause: error })
  return restError('database_busy', 'Another process has locked the database; nothing was changed. Try again.', {
    headers: { 'retry-after': '1' },
    cause: error,
  })
}
