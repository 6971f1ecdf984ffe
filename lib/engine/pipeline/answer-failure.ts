/** Answers an error of a stage, a test's fault or a way in (HTTP). Reports the server's faults, and hides the reason from the client. */
import { AskedError, RestError, restError } from '../../foundation/errors/errors.ts'
import { findReason, reportFailure } from '../../foundation/errors/report-failure.ts'
import type { DatabaseFailure } from '../../records/database/dialect.ts'
import { TAKES_BODY } from '../../foundation/http/http-methods.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import { InnerClient } from '../../records/request/inner-request.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import { finishAnswer, refuse, type AnswerParts } from './respond.ts'

interface Failed {
  readonly method: string
  readonly path: string
  readonly accept: string | undefined
  /** `undefined`: a way in refuses, such as HTTP a body without JSON, and reports no `RestError`. */
  readonly context?: object
  readonly isFault?: boolean
  readonly query?: QueryInput | undefined
  readonly body?: unknown
  readonly record?: JournalRecord | undefined
  readonly request?: Request | undefined
  readonly wire?: Wire | undefined
  readonly headers?: Readonly<Partial<Record<string, string>>>
}

interface FailureParts extends AnswerParts {
  /** @returns `undefined` unless the database has refused the work */
  readonly classifyFailure: (error: unknown) => DatabaseFailure | undefined
}

export function answerFailure(error: unknown, failed: Failed, parts: FailureParts): RestResponse {
  const { method, path, accept, context, record, request } = failed
  const meant = describeMisplacedBody(error, failed)
  const answered = meant instanceof AskedError ? meant.answer : undefined
  const response = answered ?? refuse(describeDatabaseFailure(meant, parts.classifyFailure(meant)), accept, parts)
  if (response.status >= 500 && isToReport(meant, failed, response)) {
    if (record !== undefined) record.failure = findReason(meant)
    reportFailure(parts.options.onError, meant, { method, path })
  }
  return finishAnswer(response, 'refusal', { ...failed, method: method.toUpperCase(), path, context, request }, parts)
}

/** An inner request has reported its failure (`AskedError`), but no conflict of writes: the outer request may begin anew. */
function isToReport(error: unknown, { context, isFault }: Failed, { body }: RestResponse): boolean {
  if (error instanceof RestError && (context === undefined || isFault === true)) return false
  const isBusy = (body as { readonly code?: unknown } | undefined)?.code === 'database_busy'
  return isBusy ? !(context instanceof InnerClient) : !(error instanceof AskedError)
}

export function isMisuse(error: unknown): boolean {
  return error instanceof TypeError && error.message.startsWith('handle: ')
}

/** Explains `handle('POST', path, { name: 'Ann' })`, which gives the body as the query. */
function describeMisplacedBody(error: unknown, { method, query, body }: Failed): unknown {
  if (body !== undefined || query === undefined || query === null || query instanceof URLSearchParams) return error
  const name = method.toUpperCase()
  if (!(error instanceof RestError) || error.code !== 'parameter_invalid' || !TAKES_BODY.has(name)) return error
  const call = `handle("${name}", path, undefined, body)`
  const detail = `${error.message} The third argument of "handle" is the query, the fourth is the body: ${call}.`
  return restError('parameter_invalid', detail, error.errors === undefined ? {} : { errors: error.errors })
}

/** Describes the failure to the client; `onError` gets the database's own error. */
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
  const reason =
    failure === 'ended'
      ? 'The database ended a statement that took too long, or waited too long for a lock of another process'
      : 'Another process has locked the database'
  return restError('database_busy', `${reason}; nothing was changed. Try again.`, { headers: { 'retry-after': '1' }, cause: error })
}
