/**
 * Conditional: gives the answers of GET and HEAD their entity tags, and answers with 304 where `If-None-Match` names the tag (RFC 9110
 * section 13.1.2). By default the tag is that of a record's version, and only an answer whose every value changes the version with it
 * becomes a 304: a 304 never hides a change. With the option `etag: 'answer'` each answer has a tag of its content.
 */
import { builtin } from '../../foundation/base/builtins.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import type { ResourceAction } from '../../records/access/actions.ts'
import type { Target } from '../../records/access/resolve-path.ts'
import type { Attribute, Resource } from '../../model/model.ts'
import type { Request } from '../../records/request/parse-request.ts'
import { EVERYTHING, type Visibility } from '../../records/plan/visibility.ts'
import { isSameTag, parseTags } from '../../records/write/precondition.ts'
import { formatVersionTag } from './respond.ts'

/** The request that is answered. */
interface ConditionalRequest {
  readonly request: Request
  readonly target: Target
  readonly about: ResourceAction | undefined
  readonly view: { readonly visibility: Visibility }
}

/** See `EngineOptions.etag`. */
export type EntityTags = 'version' | 'answer'

/** Returns the answer with its tag, or 304 in its place. */
export function applyCondition(response: RestResponse, operation: ConditionalRequest, tags: EntityTags): RestResponse {
  if (response.status !== 200) return response
  const answer = tags === 'answer' ? withContentTag(response, operation) : response
  const condition = operation.request.header('if-none-match')
  const { etag } = answer.headers
  if (condition === undefined || etag === undefined) return answer
  const names = parseTags(condition).some(given => given === '*' || isSameTag(given, etag))
  return names && (tags === 'answer' || isToldByVersion(answer, operation)) ? notModified(answer) : answer
}

/** Headers that a 304 has as the answer would have had them (RFC 9110 section 15.4.5). */
const KEPT = ['etag', 'vary', 'cache-control', 'content-location', 'expires']

function notModified({ headers }: RestResponse): RestResponse {
  const kept = KEPT.flatMap(name => (headers[name] === undefined ? [] : [[name, headers[name]] as const]))
  return { status: 304, headers: Object.fromEntries(kept), body: undefined }
}

/** A weak tag of what the answer says; of a record with a version, the version comes first, so that `If-Match` takes the tag, too. */
function withContentTag(response: RestResponse, operation: ConditionalRequest): RestResponse {
  const { headers, body } = response
  const version = findVersionTag(response, operation)
  // The application's own.
  if (headers['etag'] !== undefined && headers['etag'] !== version) return response
  const content = hashContent(headers['content-type'], body)
  const etag = version === undefined ? `W/"${content}"` : `${version.slice(0, -1)};${content}"`
  // A list has other forms, too.
  return { ...response, headers: { ...headers, etag, ...(findListedResource(operation.target) === undefined ? {} : { vary: 'Accept' }) } }
}

/** Returns the resource of the records of a list; undefined for any other target. */
export function findListedResource(target: Target): Resource | undefined {
  if (target.kind === 'collection') return target.resource
  return target.kind === 'attribute' && target.attribute.kind === 'toMany' ? target.attribute.target : undefined
}

/** Characters of the hash: 132 bits. */
const HASH_LENGTH = 22

/** Hashes an answer but for the time at which it was given. */
function hashContent(type: string | undefined, body: unknown): string {
  const isEnvelope = typeof body === 'object' && body !== null && !Array.isArray(body) && 'timestamp' in body
  const text = JSON.stringify(isEnvelope ? { ...body, timestamp: undefined } : body)
  return builtin.crypto.hash('sha256', `${type ?? ''}\n${text}`, 'base64url').slice(0, HASH_LENGTH)
}

/** The tag of the version that the engine has given the answer. */
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

/** Whether nothing of an answer can change while its tag stays the same. A tag of the application's own is the application's to judge. */
function isToldByVersion(response: RestResponse, operation: ConditionalRequest): boolean {
  const { target, about, view } = operation
  const version = findVersionTag(response, operation)
  if (response.headers['etag'] !== version) return true
  // Behind an attribute there may be another record by now, which has the same version.
  if (target.kind !== 'record' || about === undefined || about.resource.rules.wrappers[about.action] !== undefined) return false
  const { resource } = target
  const record = findRecord(response.body, resource)!
  return Object.entries(record).every(([name, value]) => {
    const attribute = resource.byName.get(name)
    if (attribute === undefined) return false
    return isStored(attribute) || (view.visibility === EVERYTHING && isStoredLink(attribute, value))
  })
}

/** Whether a value is stored in the row of its record, so that it changes with the version alone. */
function isStored(attribute: Attribute): boolean {
  if (attribute.render !== undefined || attribute.classValues !== undefined) return false
  if (attribute.kind === 'embedded') return attribute.entity !== undefined && attribute.attributes.every(isStored)
  return attribute.kind === 'scalar' && (attribute.source.kind === 'column' || attribute.source.kind === 'document')
}

/** The same of a link that is shown as an ID. The database itself empties a link to a record that is deleted. */
function isStoredLink(attribute: Attribute, value: unknown): boolean {
  if (attribute.kind !== 'toOne' || attribute.render !== undefined || typeof value === 'object') return false
  return attribute.owner && attribute.formula === undefined && attribute.onDelete !== 'unlink'
}
