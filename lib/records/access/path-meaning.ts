/**
 * Path meaning: what a request asks for, whatever way its path is spelled: `/v1/users/1`, `/v1/user/1` and `/v1/%75sers/1` are one record.
 * For rules that name requests by patterns. Takes what need not exist: a path that leads nowhere means its own text.
 */
import { READS } from '../../foundation/base/http-methods.ts'
import { isIds } from '../../model/ids-name.ts'
import { idFromText, idToSegment } from '../../model/key.ts'
import { isValue, listTargets, type Attribute, type Resource } from '../../model/model.ts'
import { NO_VERSION, decodeSegment, plainPath } from '../request/address.ts'
import { listRest, type ResourceLookup } from './resolve-path.ts'

/** The paths are plain. */
export interface PathMeaning {
  /** The paths that links of the engine have, or those of a custom route. */
  readonly linked: readonly string[]
  /** The segments of those, as requests have them. */
  readonly segments: readonly (readonly string[])[]
  /** Other paths of the same. */
  readonly others: readonly string[]
  /** The requests that would ask for what a relation in the path leads to. */
  readonly related: readonly RelatedRequest[]
}

export interface RelatedRequest {
  readonly method: string
  readonly resource: Resource
  /** `/v1/users`, or `/v1/users/{id}` where only the database knows which record it is. */
  readonly templates: readonly string[]
}

/** The version that a path is of. */
interface MeaningVersion {
  readonly version: string
  readonly lookUp: ResourceLookup
}

/** What a path of a custom route means, and one that no resource is at. */
export function meaningOfText(segments: readonly string[]): PathMeaning {
  return { linked: [formPath(segments)], segments: [segments], others: [], related: [] }
}

/** @param segments as those of a request: the version first */
export function findPathMeaning(method: string, segments: readonly string[], { version, lookUp }: MeaningVersion): PathMeaning {
  const [, sent] = segments
  const name = sent === undefined ? undefined : decodeSegment(sent)
  const resource = name === undefined ? undefined : lookUp(name, version)
  if (name === undefined || resource === undefined) return meaningOfText(segments)
  const { single } = resource.rules
  const [id, attributeName, memberId, ...excess] = single === undefined ? segments.slice(2) : listRest(segments, resource, single)
  const attribute = attributeName === undefined ? undefined : resource.byName.get(decodeSegment(attributeName))
  const member = attribute?.kind === 'toMany' ? attribute.target : undefined
  const rest = [
    id && spellId(id, resource),
    attributeName,
    memberId && (member === undefined ? memberId : spellId(memberId, member)),
    ...excess,
  ].filter(segment => segment !== undefined)
  // The ID of a single record may be left out.
  const rests = single !== undefined && id === single ? [rest.slice(1), rest] : [rest]
  const [first, ...names] = listNames(resource, { version, lookUp })
  const linked = rests.map(each => [version, encodeURIComponent(first), ...each])
  return {
    linked: linked.map(formPath),
    segments: linked,
    others: [...names.flatMap(each => rests.map(below => formPath([version, encodeURIComponent(each), ...below]))), formPath(segments)],
    related:
      attribute === undefined || excess.length > 0 ? [] : listRelated(method, attribute, memberId && rest.at(-1)!, { version, lookUp }),
  }
}

/** What the path of a relation leads to. The body of a request may concern more, which is for access rules. */
function listRelated(method: string, attribute: Attribute, memberId: string | undefined, of: MeaningVersion): RelatedRequest[] {
  const isCreating = method === 'POST' && attribute.kind === 'toMany'
  if (isValue(attribute) || isIds(attribute) || !(READS.has(method) || method === 'DELETE' || isCreating)) return []
  const isList = attribute.kind === 'toMany' && memberId === undefined && method !== 'DELETE'
  const rest = isList ? [] : [memberId ?? '{id}']
  return listTargets(attribute).map(resource => ({
    method,
    resource,
    templates: listNames(resource, of).map(name => formPath([of.version, encodeURIComponent(name), ...rest])),
  }))
}

/**
 * The names that a resource has in paths, that of links first, which stands for all of them where a look-up of the application's own knows
 * others.
 */
function listNames(resource: Resource, { version, lookUp }: MeaningVersion): readonly [string, ...string[]] {
  const { plural, accepted } = resource
  return [plural, ...accepted.filter(name => name !== plural && lookUp(name, version) === resource)]
}

/**
 * Returns a pattern with the name of links in it: `/v1/users*` for `/v1/user*`; undefined where it names no resource.
 *
 * @param path of the pattern, with stars
 */
export function renameInPattern(path: string, { version, lookUp }: MeaningVersion): string | undefined {
  const at = version === NO_VERSION ? 1 : 2
  const segments = path.split('/')
  const [name = ''] = (segments[at] ?? '').split('*')
  const resource = name === '' ? undefined : lookUp(decodeSegment(name), version)
  return resource && segments.with(at, encodeURIComponent(resource.plural) + segments[at]!.slice(name.length)).join('/')
}

/** An ID as links have it: `1` for `01`. */
function spellId(id: string, resource: Resource): string {
  const key = idFromText(id, resource, true)
  return key === undefined ? id : idToSegment(key, resource)
}

/** The plain path of segments. */
function formPath(segments: readonly string[]): string {
  return plainPath(`/${(segments[0] === NO_VERSION ? segments.slice(1) : segments).join('/')}`)
}
