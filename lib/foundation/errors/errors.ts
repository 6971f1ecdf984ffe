/** All error codes, and the class of refusals. Only respond.ts makes bodies. A retired code stays as a comment. */
import { checkHeaders } from '../base/headers.ts'
import type { RestResponse } from '../base/response.ts'

/** Status and title of every error code, in the order of the stages: `ERRORS.record_not_found.status` is 404. */
export const ERRORS = {
  // parse
  path_malformed: { status: 400, title: 'The path cannot be read' },
  query_malformed: { status: 400, title: 'The query cannot be read' },
  json_malformed: { status: 400, title: 'The body is not JSON' },
  media_type_unsupported: { status: 415, title: 'The body has a media type other than JSON' },
  body_too_large: { status: 413, title: 'The body is too large' },
  // authenticate
  token_missing: { status: 401, title: 'A token is needed' },
  token_malformed: { status: 401, title: 'The token cannot be read' },
  token_invalid: { status: 401, title: 'The token is not one of ours' },
  token_expired: { status: 401, title: 'The token has expired' },
  token_revoked: { status: 401, title: 'The token has been revoked' },
  login_failed: { status: 401, title: 'The log-in has failed' },
  login_throttled: { status: 429, title: 'Too many failed log-ins' },
  forbidden: { status: 403, title: 'Not allowed' },
  outside_scope: { status: 403, title: 'The record would be outside of your scope' },
  // resolve
  version_unknown: { status: 404, title: 'No such version' },
  resource_unknown: { status: 404, title: 'No such resource' },
  record_not_found: { status: 404, title: 'No such record' },
  attribute_not_found: { status: 404, title: 'No such attribute' },
  path_unknown: { status: 404, title: 'No such path' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  action_not_possible: { status: 400, title: 'The attribute does not take this method' },
  // plan
  parameter_invalid: { status: 400, title: 'A parameter is not valid' },
  // validate
  body_invalid: { status: 400, title: 'The body is not what this path takes' },
  validation_failed: { status: 422, title: 'The body is refused by the model' },
  // apply
  unique_conflict: { status: 409, title: 'A value that must be unique exists already' },
  owner_required: { status: 409, title: 'Records would be left without a required owner' },
  statement_dropped: { status: 422, title: 'The database has dropped the statement' },
  version_conflict: { status: 409, title: 'The record has changed meanwhile' },
  precondition_failed: { status: 412, title: 'A condition of the request is not met' },
  // transports
  request_malformed: { status: 400, title: 'The request is not HTTP' },
  request_timeout: { status: 408, title: 'The request took too long' },
  request_head_too_large: { status: 431, title: 'The request head is too large' },
  host_not_allowed: { status: 403, title: 'The server does not answer to this name' },
  origin_not_allowed: { status: 403, title: 'A page of another site may not do this' },
  worlds_exhausted: { status: 503, title: 'The server has as many worlds as it may' },
  listeners_exhausted: { status: 503, title: 'The server has as many listeners as it may' },
  server_closed: { status: 503, title: 'The server is closing' },
  // faults
  rate_limited: { status: 429, title: 'Too many requests' },
  faults_unmet: { status: 409, title: 'A fault has met no request' },
  fault_injected: { status: 503, title: 'A test has asked for this failure' },
  // the time budget
  timeout: { status: 503, title: 'The request took too long to answer' },
  // the database
  filter_unsupported: { status: 503, title: 'A filter of the model cannot be applied' },
  filter_unset: { status: 503, title: 'A filter of the model has no parameters' },
  database_busy: { status: 503, title: 'The database is locked' },
  database_failed: { status: 500, title: 'The database has failed' },
  // anything else
  internal_error: { status: 500, title: 'Internal error' },
} as const satisfies Record<string, { status: number; title: string }>

/** A stable, documented error code. */
export type ErrorCode = keyof typeof ERRORS

/** Codes in the `errors` list of an answer. */
export const FIELD_ERRORS = {
  parameter_unknown: 'no parameter, attribute or flag has this name',
  parameter_repeated: 'a reserved parameter may be given once only',
  parameter_not_allowed: 'this path or method does not take the parameter',
  value_invalid: 'the value cannot be of the type that is due',
  attribute_unknown: 'the resource has no attribute of this name',
  not_a_relation: 'the attribute is not a relation',
  not_filterable: 'the attribute cannot be filtered by',
  flag_needed: 'the attribute exists only with a flag parameter',
  not_sortable: 'the attribute cannot be sorted by',
  operator_invalid: 'the operator does not go with this attribute or value',
  expression_invalid: 'the regular expression is malformed, or too costly',
  limit_exceeded: 'a limit of the engine is exceeded',
  required: 'the attribute must be given',
  null_not_allowed: 'the attribute cannot be null',
  too_long: 'the string is longer than the model allows',
  not_allowed: 'the value is not one of those allowed',
  read_only: 'the attribute cannot be written',
  key_fixed: 'the key of a record cannot be changed',
  not_unique: 'another record has this value',
  reference_not_found: 'no record has this ID',
  conflict: 'the value contradicts the path or another value',
  schema_refused: 'a schema of the application refuses the value',
} as const satisfies Record<string, string>

/** The code of an entry of `errors`, such as `required` or `not_unique`. */
export type FieldErrorCode = keyof typeof FIELD_ERRORS

/** An entry of `errors` in a refusal: `{ code: 'required', attribute: 'name', detail: ... }`. */
export interface FieldError {
  readonly code: FieldErrorCode
  readonly detail: string
  /** Dotted path, list members by index: `sites.0.url`. */
  readonly attribute?: string
  /** Name of the query parameter, as sent. */
  readonly parameter?: string
  readonly value?: unknown
  readonly allowed?: readonly unknown[]
  readonly suggestion?: string
}

/** Optional parts of a `RestError`, beside status, code and detail. */
export interface RefusalDetails {
  readonly errors?: readonly FieldError[]
  /** Extra response headers, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/**
 * A refusal with an HTTP status, also for hooks and handlers to throw: `throw new RestError(403, 'not_yours', 'Only the author may do
 * that.')`.
 *
 * @throws RangeError when `status` is not an error status (400 to 599); TypeError for a header that cannot be sent.
 */
export class RestError extends Error {
  override readonly name = 'RestError'
  readonly status: number
  readonly code: string
  readonly errors: readonly FieldError[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, detail: string, details: RefusalDetails = {}) {
    super(detail, details.cause === undefined ? undefined : { cause: details.cause })
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new RangeError(`RestError: status must be an integer from 400 to 599, got ${String(status)}.`)
    }
    this.status = status
    this.code = code
    this.errors = details.errors
    this.headers = details.headers === undefined ? {} : checkHeaders(details.headers, 'RestError')
  }

  get detail(): string {
    return this.message
  }
}

/** The refusal of an inner request, passed on by the outer request unless caught. */
export class AskedError extends RestError {
  /** Undefined: the engine's own form of errors. */
  readonly answer: RestResponse | undefined

  constructor(status: number, code: string, detail: string, details: RefusalDetails, answer?: RestResponse) {
    super(status, code, detail, details)
    this.answer = answer
  }
}

export function restError(code: ErrorCode, detail: string, details?: RefusalDetails): RestError {
  return new RestError(ERRORS[code].status, code, detail, details)
}

/** Makes no stack: a stack would take as long as the validation. */
export function briefError(code: ErrorCode, detail: string, details?: RefusalDetails): RestError {
  const { stackTraceLimit } = Error
  // Unlike an assignment, does not throw where built-ins are frozen.
  Reflect.set(Error, 'stackTraceLimit', 0)
  try {
    return restError(code, detail, details)
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  }
}

export function parameterError(...errors: [FieldError, ...FieldError[]]): RestError {
  return restError('parameter_invalid', errors.map(e => e.detail).join(' '), { errors })
}

export function connectionLost(detail: string): Error & { readonly code: 'ECONNRESET' } {
  return Object.assign(new Error(detail), { code: 'ECONNRESET' } as const)
}

export function engineClosed(): Error & { readonly code: 'ERR_ENGINE_CLOSED' } {
  return Object.assign(new Error('The engine is closed.'), { code: 'ERR_ENGINE_CLOSED' } as const)
}

export function isEngineClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_ENGINE_CLOSED'
}

/** Whether the client's connection ends without an answer, as by the fault `drop`. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}
