/**
 * Adds entity tags to reads, and answers 304 where `If-None-Match` has the tag (RFC 9110 section 13.1.2). By default the tag is a record's
 * version, and 304 needs values that cannot change without the version. With `etag: 'answer'`, the tag has a hash.
 */
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import type { ResourceAction } from '../../records/access/actions.ts'
import type { Target } from '../../records/access/resolve-path.ts'
import type { Attribute, Resource } from '../../model/model.ts'
import { readHeader, type Request } from '../../records/request/parse-request.ts'
import { EVERYTHING, type Visibility } from '../../records/plan/visibility.ts'
import { isSameTag, parseTags } from '../../records/validate/precondition.ts'
import { formatVersionTag } from './respond.ts'

interface ConditionalRequest {
  readonly request: Request
  readonly target: Target
  readonly about: ResourceAction | undefined
  readonly view: { readonly visibility: Visibility }
}

/** See `EngineOptions.etag`. */
export type EntityTags = 'version' | 'answer'

export function applyCondition(response: RestResponse, operation: ConditionalRequest, tags: EntityTags): RestResponse {
  if (response.status !== 200) return response
  const answer = tags === 'answer' ? withContentTag(response, operation) : response
  const condition = readHeader(operation.request.sender, 'if-none-match')
  const { etag } = answer.headers
  if (condition === undefined || etag === undefined) return answer
  const names = parseTags(condition).some(given => given === '*' || isSameTag(given, etag))
  return names && (tags === 'answer' || isToldByVersion(answer, operation)) ? notModified(answer) : answer
}

/** RFC 9110 section 15.4.5. */
const KEPT_HEADERS = ['etag', 'vary', 'cache-control', 'content-location', 'expires']

function notModified({ headers }: RestResponse): RestResponse {
  const kept = KEPT_HEADERS.flatMap(name => (headers[name] === undefined ? [] : [[name, headers[name]] as const]))
  return { status: 304, headers: Object.fromEntries(kept), body: undefined }
}

/** Sets `W/"hash"`, or for a record of version 3 `"3;hash"`: `If-Match` takes the tag, too. */
function withContentTag(response: RestResponse, operation: ConditionalRequest): RestResponse {
  const { headers, body } = response
  const version = findVersionTag(response, operation)
  // The application has set its own tag.
  if (headers['etag'] !== undefined && headers['etag'] !== version) return response
  const content = hashContent(headers['content-type'], body)
  const etag = version === undefined ? `W/"${content}"` : `${version.slice(0, -1)};${content}"`
  // A list may be asked for as CSV.
  return { ...response, headers: { ...headers, etag, ...(findListedResource(operation.target) === undefined ? {} : { vary: 'Accept' }) } }
}

export function findListedResource(target: Target): Resource | undefined {
  if (target.kind === 'collection') return target.resource
  return target.kind === 'attribute' && target.attribute.kind === 'toMany' ? target.attribute.target : undefined
}

/** In characters: 132 bits. */
const HASH_LENGTH = 22

function hashContent(type: string | undefined, body: unknown): string {
  const isEnvelope = typeof body === 'object' && body !== null && !Array.isArray(body) && 'timestamp' in body
  const text = JSON.stringify(isEnvelope ? { ...body, timestamp: undefined } : body)
  return runtime.hash('sha256', `${type ?? ''}\n${text}`, 'base64url').slice(0, HASH_LENGTH)
}

function findVersionTag({ body }: RestResponse, { target, about }: ConditionalRequest): string | undefined {
  if (target.kind !== 'record' && target.kind !== 'attribute' && target.kind !== 'member') return undefined
  const resource = about?.resource ?? target.resource
  const record = findRecord(body, resource)
  return record === undefined ? undefined : formatVersionTag(resource, record)
}

function findRecord(body: unknown, { singular }: Resource): Readonly<Record<string, unknown>> | undefined {
  const { resource, [singular]: record } = (body ?? {}) as Readonly<Record<string, unknown>>
  return resource === singular && typeof record === 'object' && record !== null ? (record as Readonly<Record<string, unknown>>) : undefined
}

/** Whether every change of the answer changes the tag. The application answers for its tags. */
function isToldByVersion(response: RestResponse, operation: ConditionalRequest): boolean {
  const { target, about, view } = operation
  const version = findVersionTag(response, operation)
  if (response.headers['etag'] !== version) return true
  // `/posts/1/author` may lead to another author by now, of the same version.
  if (target.kind !== 'record' || about === undefined || about.resource.rules.wrappers[about.action] !== undefined) return false
  const { resource } = target
  const record = findRecord(response.body, resource)!
  return Object.entries(record).every(([name, value]) => {
    const attribute = resource.byName.get(name)
    if (attribute === undefined) return false
    return isStored(attribute) || (view.visibility === EVERYTHING && isStoredLink(attribute, value))
  })
}

/** Whether the value stands in the record's row: a change of the value changes the version. */
function isStored(attribute: Attribute): boolean {
  if (attribute.render !== undefined || attribute.classValues !== undefined) return false
  if (attribute.kind === 'embedded') return attribute.entity !== undefined && attribute.attributes.every(isStored)
  return attribute.kind === 'scalar' && (attribute.source.kind === 'column' || attribute.source.kind === 'document')
}

/** For a link shown as an ID. With `onDelete: 'unlink'`, the database empties the link, and leaves the version. */
function isStoredLink(attribute: Attribute, value: unknown): boolean {
  if (attribute.kind !== 'toOne' || attribute.render !== undefined || typeof value === 'object') return false
  return attribute.owner && attribute.formula === undefined && attribute.onDelete !== 'unlink'
}
