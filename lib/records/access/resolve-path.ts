/**
 * Turns a path into a Target, and checks the method: `/v1/users/1/posts` is the attribute `posts` of the user 1. Refuses with
 * version_unknown, resource_unknown, record_not_found (an invalid ID), attribute_not_found, path_unknown, method_not_allowed,
 * action_not_possible.
 */
import { withArticle, withCapitalArticle } from '../../foundation/base/article.ts'
import { RestError, restError } from '../../foundation/errors/errors.ts'
import type { HttpMethod } from '../../foundation/http/http-methods.ts'
import { describeKey, idFromText, type RecordKey } from '../../model/key.ts'
import { isIds, plainIds } from '../../model/ids-name.ts'
import { isValue, listTargets } from '../../model/model.ts'
import { NO_VERSION, formatRoot } from '../request/address.ts'
import type { Request } from '../request/parse-request.ts'
import { DESCRIPTION } from '../request/reserved-paths.ts'
import type { Attribute, ResourceMark, Model, Resource, ToManyAttribute } from '../../model/model.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { describeUnreadable, EVERYTHING, existsFor, isNamable, isVisible, namesReadableByAll, type Visibility } from '../plan/visibility.ts'

type RequestPath = Pick<Request, 'base' | 'segments'>

export type Target =
  | { readonly kind: 'index'; readonly isDescription: boolean }
  /** Only custom routes have the path. */
  | { readonly kind: 'own' }
  | { readonly kind: 'collection'; readonly resource: Resource }
  | { readonly kind: 'record'; readonly resource: Resource; readonly key: RecordKey; readonly id: string }
  | {
      readonly kind: 'attribute'
      readonly resource: Resource
      readonly key: RecordKey
      readonly id: string
      readonly attribute: Attribute
    }
  /** A mark of the calling user (`/posts/1/like`). */
  | {
      readonly kind: 'mark'
      readonly resource: Resource
      readonly key: RecordKey
      readonly id: string
      readonly mark: ResourceMark
    }
  | {
      readonly kind: 'member'
      readonly resource: Resource
      readonly key: RecordKey
      readonly id: string
      readonly attribute: ToManyAttribute
      readonly member: { readonly resource: Resource; readonly key: RecordKey; readonly id: string }
    }

export type ResourceLookup = (name: string, version: string) => Resource | undefined

export function defaultLookUp(model: Model): ResourceLookup {
  return name => model.byName.get(name)
}

export function findVersion(path: RequestPath, versions: readonly string[], model: Model): string {
  const [version = versions[0] ?? NO_VERSION] = path.segments
  if (version !== NO_VERSION && !versions.includes(version)) throw unknownVersion(version, path, versions, model)
  return version
}

export function resolvePath(request: RequestPath, version: string, model: Model, lookUp: ResourceLookup): Target {
  const { base, segments } = request
  const [, name] = segments
  if (name === undefined) return { kind: 'index', isDescription: false }
  const resource = lookUp(name.includes('%') ? decodeURIComponent(name) : name, version)
  if (resource === undefined && name === DESCRIPTION && segments.length === 2) return { kind: 'index', isDescription: true }
  if (resource === undefined) throw unknownResource(request, version, model)
  const rest = resource.rules.single === undefined ? segments.slice(2) : listRest(segments, resource, resource.rules.single)
  const [id, attributeName, memberId, excess] = rest
  if (id === undefined) return { kind: 'collection', resource }
  if (excess !== undefined) throw tooLong(excess, base, version)
  const mark = attributeName === undefined ? undefined : resource.marks.get(decodeURIComponent(attributeName))
  if (mark !== undefined) return resolveMark(mark, rest, resource, request, version)
  const attribute = attributeName === undefined ? undefined : findAttribute(resource, decodeURIComponent(attributeName))
  const key = idFromText(id, resource, true)
  if (key === undefined) throw notFound(resource, id)
  if (attribute === undefined) return { kind: 'record', resource, key, id }
  if (memberId === undefined) return { kind: 'attribute', resource, key, id, attribute }
  if (attribute.kind !== 'toMany' || isIds(attribute)) throw tooLong(memberId, base, version)
  const memberKey = idFromText(memberId, attribute.target, true)
  if (memberKey === undefined) throw notFound(attribute.target, memberId)
  return { kind: 'member', resource, key, id, attribute, member: { resource: attribute.target, key: memberKey, id: memberId } }
}

function resolveMark(
  mark: ResourceMark,
  [id = '', , excess]: readonly string[],
  resource: Resource,
  { base }: RequestPath,
  version: string,
): Target {
  if (excess !== undefined) throw tooLong(excess, base, version)
  const key = idFromText(id, resource, true)
  if (key === undefined) throw notFound(resource, id)
  return { kind: 'mark', resource, key, id, mark }
}

function tooLong(excess: string, base: string, version: string) {
  const root = formatRoot(base, version === NO_VERSION ? version : '{version}')
  return restError(
    'path_unknown',
    `A path is at most ${root}/{resource}/{ID}/{attribute}, and /{ID} behind an attribute that is a list; ` +
      `"${excess.slice(0, 100)}" is one segment too many.`,
  )
}

/** A single record's path may have no ID. */
export function listRest(segments: readonly string[], { byName, keyNames, marks }: Resource, single: string): readonly string[] {
  const [, , first, ...others] = segments
  if (first === undefined) return [single]
  const name = decodeURIComponent(first)
  // A hidden ID has no path. Attributes may have names like the ID.
  const isAttribute = byName.get(keyNames[0]!)!.hidden || (others.length < 2 && (byName.has(name) || marks.has(name)))
  return isAttribute ? [single, first, ...others] : [first, ...others]
}

/** Custom routes need no target. */
export function resolveBesideRoutes(request: RequestPath, version: string, model: Model, lookUp: ResourceLookup): Target {
  try {
    return resolvePath(request, version, model, lookUp)
  } catch (error) {
    if (error instanceof RestError && error.status === 404) return { kind: 'own' }
    throw error
  }
}

export function notFound(resource: Resource, id: string) {
  if (!isNamable(resource)) return restError('record_not_found', 'There is no such record.')
  if (resource.key.length === 0)
    return restError('record_not_found', `${withCapitalArticle(resource.singular)} has no ID: there is only the list of them.`)
  const isId = idFromText(id, resource) !== undefined
  const form = isId ? '' : `: an ID of ${withArticle(resource.singular)} is ${describeKey(resource)}`
  return restError('record_not_found', `There is no ${resource.singular} with the ID ${id.slice(0, 100)}${form}.`)
}

function unknownVersion(version: string, { base }: RequestPath, versions: readonly string[], model: Model) {
  const named = model.byName.get(decodeURIComponent(version))
  const meant =
    named !== undefined && isNamable(named)
      ? ` Did you mean "${base}/${versions[0]}/${version}"?`
      : formatHint(findNearest(version, versions))
  const place = base === '' ? 'The path must begin' : `After "${base}" the path must go on`
  return restError('version_unknown', `${place} with a version (${versions.join(', ')}), not "${version.slice(0, 100)}".${meant}`)
}

function unknownResource({ base, segments: [, first = '', second] }: RequestPath, version: string, model: Model) {
  const name = decodeURIComponent(first)
  const below = version === NO_VERSION && second !== undefined ? model.byName.get(decodeURIComponent(second)) : undefined
  if (below !== undefined && isNamable(below))
    return restError('resource_unknown', `Paths have no version here, nor a resource "${name.slice(0, 100)}": write ${base}/${second}.`)
  const known = model.resources.filter(isNamable).map(resource => resource.plural)
  const resources = known.length === 0 ? '' : ` Resources: ${known.join(', ')}.`
  return restError('resource_unknown', `There is no resource "${name.slice(0, 100)}".${formatHint(findNearest(name, known))}${resources}`)
}

function findAttribute(resource: Resource, name: string): Attribute {
  const attribute = resource.byName.get(name)
  // A hidden attribute has a path for writing.
  if (attribute !== undefined) return isIds(attribute) ? plainIds(attribute) : attribute
  throw unknownAttribute(resource, name)
}

export function unknownAttribute(resource: Resource, name: string) {
  if (!isNamable(resource)) return restError('attribute_not_found', `There is no attribute "${name.slice(0, 100)}".`)
  // Hints name only attributes for all callers.
  const why = resource.rules.access.get === true ? describeUnreadable(resource.byName.get(name)) : undefined
  if (why !== undefined) return restError('attribute_not_found', why)
  const suggestion = resource.rules.access.get === true ? findNearest(name, namesReadableByAll(resource.attributes)) : undefined
  return restError(
    'attribute_not_found',
    `${withCapitalArticle(resource.singular)} has no attribute "${name.slice(0, 100)}".${formatHint(suggestion)}`,
  )
}

export function refuseHidden(resource: Resource, attribute: Attribute, visibility: Visibility): void {
  if (isVisible(attribute, visibility)) return
  throw unknownAttribute(resource, attribute.name)
}

const READING: readonly HttpMethod[] = ['GET', 'HEAD']
/** QUERY sends parameters in the body. */
const QUERYING: readonly HttpMethod[] = [...READING, 'QUERY']
const CHANGING: readonly HttpMethod[] = ['PUT', 'PATCH']
const OF_INDEX: readonly HttpMethod[] = [...READING, 'OPTIONS']
const OF_LIST: readonly HttpMethod[] = [...QUERYING, 'OPTIONS']
const OF_COLLECTION: readonly HttpMethod[] = [...QUERYING, 'POST', 'OPTIONS']
const OF_SINGLE: readonly HttpMethod[] = [...QUERYING, ...CHANGING, 'OPTIONS']
const OF_MARK: readonly HttpMethod[] = ['POST', 'DELETE', 'OPTIONS']
const OF_MEMBER: readonly HttpMethod[] = [...QUERYING, 'DELETE', 'OPTIONS']
const OF_RECORD: readonly HttpMethod[] = [...QUERYING, ...CHANGING, 'DELETE', 'OPTIONS']

/** For an abstract class, the body must name a class. */
export function isCreatable({ readOnly, hierarchy }: Resource): boolean {
  return !readOnly && (hierarchy === undefined || hierarchy.classValue !== undefined || hierarchy.attribute !== undefined)
}

function leadsToReadOnly(attribute: Attribute): boolean {
  return !isValue(attribute) && listTargets(attribute).every(({ readOnly }) => readOnly)
}

/** A plain value takes no parameters, hence no QUERY. */
function retrievals(attribute: Attribute): readonly HttpMethod[] {
  return isValue(attribute) ? READING : QUERYING
}

/** In the order of the `Allow` header (RFC 9110 section 10.2.1). */
export function allowedMethods(target: Target): readonly HttpMethod[] {
  switch (target.kind) {
    case 'index':
      return OF_INDEX
    case 'own':
      return ['OPTIONS']
    case 'collection':
      return isCreatable(target.resource) ? OF_COLLECTION : OF_LIST
    case 'record':
      if (target.resource.readOnly) return OF_LIST
      return target.resource.rules.single === undefined ? OF_RECORD : OF_SINGLE
    case 'mark':
      return OF_MARK
    case 'member':
      return target.member.resource.readOnly || target.attribute.readOnly ? OF_LIST : OF_MEMBER
    case 'attribute':
      if (target.resource.readOnly || leadsToReadOnly(target.attribute)) {
        return [...retrievals(target.attribute), ...(target.resource.readOnly || target.attribute.readOnly ? [] : CHANGING), 'OPTIONS']
      }
      return [
        ...(existsFor(target.attribute, EVERYTHING) ? retrievals(target.attribute) : []),
        ...(target.attribute.kind === 'toMany' && !target.attribute.readOnly ? (['POST'] as const) : []),
        ...CHANGING,
        ...(isValue(target.attribute) || target.attribute.readOnly ? [] : (['DELETE'] as const)),
        'OPTIONS',
      ]
  }
}

/**
 * Refuses a method with 405; with 400 if wrong for this kind of attribute.
 *
 * @param own methods of custom routes
 * @param isChosen a query may choose records
 */
export function checkMethod(method: string, target: Target, own: readonly string[] = [], isChosen = false): readonly string[] {
  const isOfAttribute = target.kind === 'attribute' || target.kind === 'member'
  if (isOfAttribute && !CHANGING.some(changing => changing === method) && !existsFor(target.attribute, EVERYTHING)) {
    throw unknownAttribute(target.resource, target.attribute.name)
  }
  const allowed: readonly string[] = own.length === 0 ? allowedMethods(target) : [...new Set([...own, ...allowedMethods(target)])]
  if (allowed.includes(method)) return allowed
  const isOfMany = target.kind === 'collection' && !target.resource.readOnly && (method === 'PATCH' || method === 'DELETE')
  if (isOfMany && isChosen) return allowed
  const headers = { allow: allowed.join(', ') }
  const isShut = target.kind === 'attribute' && (target.resource.readOnly || leadsToReadOnly(target.attribute))
  if (target.kind === 'attribute' && !isShut && (method === 'POST' || method === 'DELETE')) {
    const { attribute } = target
    const isReadOnly = attribute.readOnly && (attribute.kind === 'toMany' || method === 'DELETE')
    const isToOne = attribute.kind === 'toOne' || attribute.kind === 'toOneOf'
    const what = isReadOnly && !isValue(attribute) ? 'read-only' : isToOne ? 'a relation to one record' : 'a plain value'
    const why =
      method === 'POST'
        ? `POST appends to a list, and "${attribute.name}" is ${what}.`
        : `DELETE deletes related records, and "${attribute.name}" is ${what}.`
    throw restError('action_not_possible', why, { headers })
  }
  const hint = isOfMany ? ` A filter and a limit choose records, as in ${method} ...?id=1,2&limit=2.` : ''
  throw restError('method_not_allowed', `${method.slice(0, 40)} is not allowed here; allowed: ${allowed.join(', ')}.${hint}`, { headers })
}
