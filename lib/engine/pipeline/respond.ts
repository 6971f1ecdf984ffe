/** Builds the bodies of answers, and of all errors. Every answer leaves by `finishAnswer`. */
import type { Clock } from '../../foundation/async/clock.ts'
import { reportFailure } from '../../foundation/errors/report-failure.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { Authentication } from '../auth/authentication.ts'
import type { CheckedOptions } from '../options/options.ts'
import { findNames, shapeAnswer, shapeRefusal } from '../options/shape-answer.ts'
import { QUERY_TYPES, keepReadingMethods } from '../../foundation/http/http-methods.ts'
import { LazyClient, WholeClient, findWire } from '../../foundation/async/abort.ts'
import { Accept, JSON_MEDIA, asksForJson, type MediaType } from '../../foundation/http/accept.ts'
import type { Envelope } from '../../foundation/http/envelope.ts'
import { ERRORS, RestError, restError } from '../../foundation/errors/errors.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import { isNamable } from '../../records/plan/visibility.ts'
import { formatTag } from '../../records/validate/precondition.ts'
import type { Attribute, Model, Resource } from '../../model/model.ts'
import { findParameterName, listAsked, textOfPair, type Parameters, type Vocabulary } from '../../records/request/query-string.ts'
import type { OrderedPage, PageRange } from '../../records/read/reader.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import type { Builder } from '../../records/database/dialect.ts'
import { BuilderSource } from '../../databases/sql/builder-source.ts'
import { JSON_TYPE, PROBLEM_TYPE, type RestResponse } from '../../foundation/base/response.ts'
import { TextStream, WholeText } from '../../foundation/http/text-stream.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import { refuseByWire } from './wire-message.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'

type IndexAnswer = Pick<Envelope, 'success' | 'timestamp'> & { readonly versions: readonly string[]; readonly resources: object }

function ok(body: Envelope | IndexAnswer): RestResponse {
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body }
}

/** @param standard the limit where the request names none */
export function findPageRange(parameters: Parameters, limits: Limits, standard = limits.defaultLimit): PageRange {
  const limit = Math.min(parameters.limit ?? standard, limits.maxLimit)
  const { page } = parameters
  // No list is longer than the largest exact number.
  return { limit, offset: page === undefined ? (parameters.offset ?? 0) : Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) }
}

interface AnsweredList {
  readonly resource: Resource
  readonly page: OrderedPage
  readonly range: PageRange
  readonly parameters: Parameters
  readonly vocabulary: Vocabulary
  readonly path: string
}

export function respondList({ resource, page, range, parameters, vocabulary, path }: AnsweredList, timestamp: string): RestResponse {
  const { limit, offset } = range
  const { start: byKeys } = parameters
  const link = (pages: 1 | -1): string => {
    const start =
      byKeys !== undefined ? page.after! : parameters.page === undefined ? Math.max(0, offset + pages * limit) : parameters.page + pages
    const [before, after] = queriesOfPages.get(parameters) ?? splitQuery(parameters, vocabulary)
    return `${path}?${before}${start}${after}`
  }
  const body: Envelope = {
    success: true,
    timestamp,
    resource: resource.plural,
    sort: page.sort === '' ? null : page.sort,
    offset: byKeys?.text ?? offset,
    limit,
    filter: listAsked(parameters),
    count: page.count,
    previous: limit > 0 && offset > 0 ? link(-1) : null,
    next: (byKeys === undefined ? limit > 0 && offset + limit < page.count : page.after !== undefined) ? link(1) : null,
    [resource.plural]: page.records,
  }
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body }
}

/** The text before and after the value of `offset` or `page`, kept for a repeated query. */
const queriesOfPages = new WeakMap<Parameters, readonly [string, string]>()

function splitQuery(parameters: Parameters, vocabulary: Vocabulary): readonly [string, string] {
  const { pairs } = parameters
  const name = findParameterName(vocabulary, parameters.page === undefined ? 'offset' : 'page')
  const at = pairs.findIndex(pair => pair.name === name && pair.operator === '')
  const [before, after] = at < 0 ? [pairs, []] : [pairs.slice(0, at), pairs.slice(at + 1)]
  const start = textOfPair({ name, operator: '', value: '', bare: true })
  const split = [
    `${before.map(pair => `${textOfPair(pair)}&`).join('')}${start}=`,
    after.map(pair => `&${textOfPair(pair)}`).join(''),
  ] as const
  queriesOfPages.set(parameters, split)
  return split
}

/** The entity tag of a record that shows its version (RFC 9110 section 8.8.3). */
export function formatVersionTag({ version }: Resource, record: JsonRecord | null): string | undefined {
  const value = version === undefined || version.render !== undefined ? undefined : (record?.[version.name] as string | number | undefined)
  return value === undefined ? undefined : formatTag(value)
}

/** @param record `null` for an empty to-one relation */
export function respondRecord(resource: Resource, record: JsonRecord | null, timestamp: string): RestResponse {
  const body = (shown.get(resource) ?? buildEnvelope(resource, shown))([timestamp, record]) as Envelope
  const etag = resource.version === undefined ? undefined : formatVersionTag(resource, record)
  return { status: 200, headers: etag === undefined ? { 'content-type': JSON_TYPE } : { 'content-type': JSON_TYPE, etag }, body }
}

const shown = new WeakMap<Resource, Builder>()
const done = new WeakMap<Resource, Builder>()

/** Generates code: a literal with a computed key costs as much as a good part of the reading. */
function buildEnvelope(resource: Resource, envelopes: typeof shown): Builder {
  const source = new BuilderSource()
  const { singular } = resource
  const entries = [
    ['success', source.constant(true)],
    ['timestamp', source.column(0)],
    ['resource', source.constant(singular)],
    [singular, source.column(1)],
    ...(envelopes === done ? [['status', source.constant('OK')] as const] : []),
  ] as const
  const build = source.finish(source.object(entries))
  envelopes.set(resource, build)
  return build
}

export function respondValue(resource: Resource, attribute: Attribute, value: unknown, timestamp: string): RestResponse {
  return ok({ success: true, timestamp, resource: resource.singular, attribute: attribute.name, value })
}

export function respondCreated(resource: Resource, record: JsonRecord, location: string, status: number, timestamp: string): RestResponse {
  const etag = resource.version === undefined ? undefined : formatVersionTag(resource, record)
  const headers = { 'content-type': JSON_TYPE, location }
  const body = (done.get(resource) ?? buildEnvelope(resource, done))([timestamp, record]) as Envelope
  return { status, headers: etag === undefined ? headers : { ...headers, etag }, body }
}

export function respondCreatedAll(resource: Resource, records: readonly unknown[], status: number, timestamp: string): RestResponse {
  const body: Envelope = {
    success: true,
    timestamp,
    resource: resource.plural,
    count: records.length,
    [resource.plural]: records,
    status: 'OK',
  }
  return { status, headers: { 'content-type': JSON_TYPE }, body }
}

export function respondDeleted(resource: Resource, record: JsonRecord, timestamp: string): RestResponse {
  return ok((done.get(resource) ?? buildEnvelope(resource, done))([timestamp, record]) as Envelope)
}

export function respondDeletedList(resource: Resource, records: readonly JsonRecord[], timestamp: string): RestResponse {
  return ok({ success: true, timestamp, resource: resource.plural, count: records.length, [resource.plural]: records, status: 'OK' })
}

/** @param root path of the version: `/api/v1` */
export function respondIndex(model: Model, versions: readonly string[], root: string, timestamp: string): RestResponse {
  const resources = Object.fromEntries(model.resources.filter(isNamable).map(resource => [resource.plural, `${root}/${resource.plural}`]))
  return ok({ success: true, timestamp, versions: [...versions], resources })
}

export function respondDescription(document: object): RestResponse {
  return ok(document)
}

export function respondOptions(allowed: readonly string[]): RestResponse {
  const takes = allowed.includes('QUERY') ? { 'accept-query': QUERY_TYPES } : {}
  return { status: 204, headers: { allow: allowed.join(', '), ...takes }, body: undefined }
}

/** The answer of GET without the body (RFC 9110 section 9.3.2). A transport gets the body's length, too. */
function withoutBody(response: RestResponse, context: object): RestResponse {
  const { body, headers } = response
  const isSent = context instanceof LazyClient || context instanceof WholeClient
  // A text made while sent has no length yet.
  const hasLength = isSent && (body instanceof WholeText || !(body instanceof TextStream))
  const text: unknown = hasLength ? (body instanceof WholeText ? body.whole : JSON.stringify(body)) : undefined
  const length = typeof text === 'string' ? { 'content-length': String(runtime.countBytes(text)) } : {}
  return { ...response, headers: { ...headers, ...length }, body: undefined }
}

interface ErrorForm {
  readonly timestamp: string
  readonly validationStatus: number
  readonly accept: string | undefined
}

/** Any error but a RestError is a 500 without details. `status`, `title` and `detail` are as in RFC 9457. */
function respondError(error: unknown, { timestamp, validationStatus, accept }: ErrorForm): RestResponse {
  const refusal = error instanceof RestError ? error : restError('internal_error', 'Something went wrong inside the server.')
  const status = refusal.code === 'validation_failed' && refusal.status === 422 ? validationStatus : refusal.status
  const known = Object.hasOwn(ERRORS, refusal.code) ? ERRORS[refusal.code as keyof typeof ERRORS].title : runtime.nameStatus(status)
  const body: Envelope = {
    success: false,
    timestamp,
    status,
    code: refusal.code,
    title: known ?? 'Error',
    detail: refusal.message,
    ...(refusal.errors === undefined ? {} : { errors: refusal.errors }),
  }
  if (!asksForProblem(accept)) return { status, headers: { 'content-type': JSON_TYPE, ...refusal.headers }, body }
  const headers = { 'content-type': PROBLEM_TYPE, vary: 'Accept', ...refusal.headers }
  return { status, headers, body: { type: nameProblem(refusal.code), ...body } }
}

const PROBLEM: MediaType = { name: PROBLEM_TYPE }

/** Whether problem details are named, and JSON is not preferred. */
function asksForProblem(accept: string | undefined): boolean {
  if (asksForJson(accept)) return false
  const accepted = new Accept(accept!)
  const { weight, isNamed } = accepted.preferenceFor(PROBLEM)
  return isNamed && weight > 0 && weight >= accepted.preferenceFor(JSON_MEDIA).weight
}

/** RFC 9457 section 3.1.1. A code of the application has no URI; its title is the status. */
function nameProblem(code: string): string {
  return Object.hasOwn(ERRORS, code) ? `urn:problem-type:mikro-rest:${code}` : 'about:blank'
}

/** `envelope` forms an `answer`, `envelope.error` a `refusal`; a `route` has its own form. */
type AnswerKind = 'answer' | 'refusal' | 'route'

interface AnswerTo {
  /** Upper case; empty where no request could be read. */
  readonly method: string
  readonly path: string
  /** `undefined`: a way in refuses, and takes the body of HEAD away. */
  readonly context: object | undefined
  readonly request: Request | undefined
  /** For a refusal without `context`. */
  readonly wire?: Wire | undefined
  readonly headers?: Readonly<Partial<Record<string, string>>>
  readonly body?: unknown
}

export interface AnswerParts {
  readonly options: CheckedOptions
  readonly clock: Clock
  readonly served: ReadonlyMap<string, { readonly model: Model }>
  readonly authentication: Authentication | undefined
}

export function finishAnswer(answer: RestResponse, kind: AnswerKind, asked: AnswerTo, parts: AnswerParts): RestResponse {
  const { method, context, request } = asked
  let response = answer
  const wire = kind === 'refusal' ? (asked.wire ?? findWire(context)) : undefined
  if (wire !== undefined) response = formWireRefusal(wire, response, asked, parts)
  const isShaped =
    wire === undefined && kind !== 'route' && parts.options.envelope !== undefined && !(context instanceof LazyClient && context.isPlain)
  if (isShaped) response = kind === 'refusal' ? formRefusal(response, asked, parts) : formAnswer(response, asked, parts)
  const { allow } = response.headers
  if (request?.readOnly === true && allow !== undefined && parts.authentication?.isSession('POST', request.segments) !== true)
    response = { ...response, headers: { ...response.headers, allow: keepReadingMethods(allow) } }
  if (method === 'QUERY' && kind === 'answer') return { ...response, headers: { ...response.headers, 'accept-query': QUERY_TYPES } }
  return method === 'HEAD' && context !== undefined ? withoutBody(response, context) : response
}

/** An error of `wire.refuse` is answered in the engine's form. */
function formWireRefusal(wire: Wire, response: RestResponse, asked: AnswerTo, parts: AnswerParts): RestResponse {
  const { method, path, context, body } = asked
  const sender: { readonly headers?: AnswerTo['headers'] } = context ?? {}
  const { headers = sender.headers ?? {} } = asked
  const base = context instanceof LazyClient ? (context.base ?? parts.options.base) : parts.options.base
  try {
    return refuseByWire(wire, response, { method, path, headers, body }, base)
  } catch (error) {
    reportFailure(parts.options.onError, error, { method, path })
    return refuse(error, undefined, parts)
  }
}

function formAnswer(response: RestResponse, { method, request }: AnswerTo, { options, served }: AnswerParts): RestResponse {
  return shapeAnswer(response, method, options.envelope!, name => {
    const ofVersion = served.get(request?.segments[0] ?? '')
    for (const { model } of ofVersion === undefined ? served.values() : [ofVersion]) {
      const names = findNames(name, model)
      if (names !== undefined) return names
    }
    return undefined
  })
}

/** An error of `envelope.error` is answered in the engine's form. */
function formRefusal(response: RestResponse, { method, path }: AnswerTo, parts: AnswerParts): RestResponse {
  const { envelope, onError } = parts.options
  try {
    return shapeRefusal(response, { method, path }, envelope!)
  } catch (error) {
    reportFailure(onError, error, { method, path })
    return refuse(error, undefined, parts)
  }
}

export function refuse(error: unknown, accept: string | undefined, { clock, options }: AnswerParts): RestResponse {
  let timestamp: string
  try {
    timestamp = clock.now().toISOString()
  } catch {
    // The application's clock may fail, too.
    timestamp = new Date().toISOString()
  }
  return respondError(error, { timestamp, validationStatus: options.validationStatus, accept })
}
