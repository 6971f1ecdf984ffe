/** Gives answers to outside requests the form of the option `envelope`. Inner requests keep the engine's form, which stages read. */
import { isObject, assertJson, type JsonObject } from '../../foundation/json/json.ts'
import { ENVELOPE_KEYS } from '../../foundation/http/envelope.ts'
import { compileTemplate, type CompiledTemplate, type EnvelopeTemplates } from '../../foundation/http/envelope-template.ts'
import type { Parts, TemplateNames } from '../../foundation/http/template-tree.ts'
import type { FailedRequest } from '../../foundation/errors/report-failure.ts'
import { JSON_TYPE, type RestResponse } from '../../foundation/base/response.ts'
import type { Model } from '../../model/model.ts'
import { checkNames } from '../../foundation/base/suggest.ts'

/** Another form of answers, for the option `envelope`. */
export interface EnvelopeOption extends EnvelopeTemplates {
  /**
   * Makes the body of a refusal.
   *
   * @param error the engine's own body: `status`, `code`, `title`, `detail`, `errors`
   * @param request method and path; both empty where the request could not be read
   */
  readonly error?: (error: ErrorBody, request: { readonly method: string; readonly path: string }) => unknown
}

/** The engine's own body of a refusal. */
export interface ErrorBody {
  readonly success: false
  readonly timestamp: string
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly errors?: readonly Readonly<Record<string, unknown>>[]
}

export interface CompiledEnvelope {
  readonly list: CompiledTemplate | undefined
  readonly record: CompiledTemplate | undefined
  readonly removed: CompiledTemplate | undefined
  readonly error: EnvelopeOption['error']
  readonly deletedStatus: 200 | 204
}

/**
 * @returns `undefined` where answers keep the engine's form
 * @throws TypeError
 */
export function compileEnvelope(option: EnvelopeOption | undefined, deletedStatus: 200 | 204): CompiledEnvelope | undefined {
  const where = 'RestEngine.create: envelope'
  if (option === undefined) return deletedStatus === 200 ? undefined : { ...NOTHING, deletedStatus }
  if (typeof option !== 'object' || option === null || Array.isArray(option))
    throw new TypeError(
      `${where} must be an object of kinds of answers: { list: { "{plural}": "records" } }, ` +
        'or { list: "bare", record: "bare" } for records alone.',
    )
  checkNames(option, ['list', 'record', 'removed', 'error'], where)
  const { error } = option
  if (error !== undefined && typeof error !== 'function') throw new TypeError(`${where}: "error" must be a function of the error body.`)
  const compiled = (kind: 'list' | 'record' | 'removed'): CompiledTemplate | undefined =>
    option[kind] === undefined ? undefined : compileTemplate(option[kind], kind, where)
  return { list: compiled('list'), record: compiled('record'), removed: compiled('removed'), error, deletedStatus }
}

const NOTHING = { list: undefined, record: undefined, removed: undefined, error: undefined }

type FindNames = (name: string) => TemplateNames | undefined

export function findNames(name: string, { byName, resources }: Model): TemplateNames | undefined {
  return byName.get(name) ?? resources.find(({ plural, singular }) => plural === name || singular === name)
}

/** A body without the engine's form stays as it is. */
export function shapeAnswer(response: RestResponse, method: string, envelope: CompiledEnvelope, namesOf: FindNames): RestResponse {
  const body: unknown = response.body
  if (!isObject(body) || body['success'] !== true || typeof body['resource'] !== 'string') return response
  const { resource } = body
  // A removed mark brings the record, which still exists.
  const isRemoval = method === 'DELETE' && body['status'] !== undefined
  if (isRemoval && envelope.deletedStatus === 204 && response.status === 200) return withoutContent(response)
  if (!Object.hasOwn(body, resource)) return shapeValue(response, body, envelope)
  const names = namesOf(resource)
  const carried = body[resource]
  const isList = Array.isArray(carried)
  const template = (isRemoval ? envelope.removed : undefined) ?? (isList ? envelope.list : envelope.record)
  if (template === undefined || names === undefined) return response
  if (template.isBare) return isList ? bareList(response, carried, body) : { ...response, body: carried }
  const parts =
    isRemoval && envelope.removed !== undefined
      ? removedParts(body, carried)
      : isList
        ? listParts(body, carried)
        : recordParts(body, carried)
  const shaped = template.build(names, parts)
  // A wrapper may have added members.
  for (const key of Object.keys(body)) if (key !== resource && !ENVELOPE_KEYS.has(key)) shaped[key] = body[key]
  return { ...response, body: shaped }
}

/** A plain attribute has no template, and is bare like records. */
function shapeValue(response: RestResponse, body: JsonObject, { record }: CompiledEnvelope): RestResponse {
  return record?.isBare === true && typeof body['attribute'] === 'string' && Object.hasOwn(body, 'value')
    ? { ...response, body: body['value'] }
    : response
}

function withoutContent({ headers }: RestResponse): RestResponse {
  const { 'content-type': _, ...others } = headers
  return { status: 204, headers: others, body: undefined }
}

function listParts(body: JsonObject, records: readonly unknown[]): Parts {
  const { count = records.length, offset = 0, limit = records.length, sort = null, filter = [], previous = null, next = null } = body
  const [size, start] = [Number(limit), Number(offset)]
  return {
    records,
    count,
    offset,
    limit,
    sort,
    filter,
    previous,
    next,
    page: size === 0 || typeof offset === 'string' ? null : Math.floor(start / size) + 1,
    pages: size === 0 ? null : Math.ceil(Number(count) / size),
    resource: body['resource'],
    success: true,
    timestamp: body['timestamp'],
  }
}

function recordParts(body: JsonObject, record: unknown): Parts {
  return { record, resource: body['resource'], status: body['status'], success: true, timestamp: body['timestamp'] }
}

function removedParts(body: JsonObject, carried: unknown): Parts {
  const records = Array.isArray(carried) ? carried : [carried]
  return { ...recordParts(body, Array.isArray(carried) ? null : carried), records, count: records.length }
}

/** Count and neighbouring pages are in headers (RFC 8288). */
function bareList(response: RestResponse, records: readonly unknown[], { count, previous, next }: JsonObject): RestResponse {
  const links = [
    ...(typeof previous === 'string' ? [`<${previous}>; rel="prev"`] : []),
    ...(typeof next === 'string' ? [`<${next}>; rel="next"`] : []),
  ]
  const headers = {
    ...response.headers,
    'x-total-count': String(typeof count === 'number' ? count : records.length),
    ...(links.length === 0 ? {} : { link: links.join(', ') }),
  }
  return { ...response, headers, body: records }
}

/**
 * Problem details keep their form.
 *
 * @throws what the application's function throws
 */
export function shapeRefusal(response: RestResponse, request: FailedRequest, { error }: CompiledEnvelope): RestResponse {
  const body: unknown = response.body
  if (error === undefined || !isRefusal(body) || response.headers['content-type'] !== JSON_TYPE) return response
  const { method, path } = request
  const shaped = error(body, { method, path }) ?? null
  assertJson(shaped, 'envelope.error: the body')
  return { ...response, body: shaped }
}

function isRefusal(body: unknown): body is ErrorBody & JsonObject {
  return isObject(body) && body['success'] === false && typeof body['code'] === 'string' && typeof body['detail'] === 'string'
}
