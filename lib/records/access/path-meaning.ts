/**
 * Lists all spellings of a path, for rules by patterns, such as faults: `/v1/users/1`, `/v1/user/1` and `/v1/%75sers/1` are one record. An
 * unknown path only has its own text.
 */
import { READS } from '../../foundation/http/http-methods.ts'
import { isIds } from '../../model/ids-name.ts'
import { idFromText, idToSegment } from '../../model/key.ts'
import { isValue, listTargets, type Attribute, type Resource } from '../../model/model.ts'
import { NO_VERSION, decodeSegment, plainPath } from '../request/address.ts'
import { listRest, type ResourceLookup } from './resolve-path.ts'

/** Paths are plain (`plainPath`). */
export interface PathMeaning {
  /** As in links of the engine. */
  readonly linked: readonly string[]
  /** The segments of `linked`, as in requests. */
  readonly segments: readonly (readonly string[])[]
  /** Other spellings. */
  readonly others: readonly string[]
  /** Requests for the records behind a relation. */
  readonly related: readonly RelatedRequest[]
}

export interface RelatedRequest {
  readonly method: string
  readonly resource: Resource
  /** `/v1/users`, or `/v1/users/{id}` where only the database knows the record. */
  readonly templates: readonly string[]
}

interface MeaningVersion {
  readonly version: string
  readonly lookUp: ResourceLookup
}

/** For a path without a resource. */
export function meaningOfText(segments: readonly string[]): PathMeaning {
  return { linked: [formPath(segments)], segments: [segments], others: [], related: [] }
}

/** @param segments the version comes first */
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
  // With a single record, the ID may be left out.
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

/** Access rules judge further records in a body. */
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

/** The name in links first, then others. */
function listNames(resource: Resource, { version, lookUp }: MeaningVersion): readonly [string, ...string[]] {
  const { plural, accepted } = resource
  return [plural, ...accepted.filter(name => name !== plural && lookUp(name, version) === resource)]
}

/**
 * `/v1/users*` for `/v1/user*`; undefined for a pattern without a resource.
 *
 * @param path with stars
 */
export function renameInPattern(path: string, { version, lookUp }: MeaningVersion): string | undefined {
  const at = version === NO_VERSION ? 1 : 2
  const segments = path.split('/')
  const [name = ''] = (segments[at] ?? '').split('*')
  const resource = name === '' ? undefined : lookUp(decodeSegment(name), version)
  return resource && segments.with(at, encodeURIComponent(resource.plural) + segments[at]!.slice(name.length)).join('/')
}

/** Spells an ID as in links: `1` for `01`. */
function spellId(id: string, resource: Resource): string {
  const key = idFromText(id, resource, true)
  return key === undefined ? id : idToSegment(key, resource)
}

function formPath(segments: readonly string[]): string {
  return plainPath(`/${(segments[0] === NO_VERSION ? segments.slice(1) : segments).join('/')}`)
}
