/** Names the actions of a request, by which access rules and wrappers go: `DELETE /v1/users/1/posts` deletes posts, and reads the user. */
import { READS } from '../../foundation/http/http-methods.ts'
import type { Action } from '../../model/hook-context.ts'
import type { Resource } from '../../model/model.ts'
import type { RequestFacts } from '../request/request-context.ts'
import type { Target } from './resolve-path.ts'

export interface ResourceAction {
  readonly resource: Resource
  readonly action: Action
  /** Behind a relation of the record in the path. */
  readonly isRelated?: true
}

/**
 * All must be allowed; the wrappers of the first run. Behind a relation, the caller must be allowed to read the owner, too.
 *
 * @param body an ID in a POST to a list links the record
 */
export function findActions(method: string, target: Target, body?: unknown): readonly ResourceAction[] {
  if (target.kind === 'index' || target.kind === 'own' || method === 'OPTIONS') return []
  const { resource } = target
  const reads = READS.has(method)
  if (target.kind === 'collection')
    return reads || method === 'POST'
      ? [{ resource, action: reads ? 'list' : 'create' }]
      : // A filter reveals something: the caller must be allowed to list.
        [
          { resource, action: method === 'DELETE' ? 'delete' : 'update' },
          { resource, action: 'list' },
        ]
  if (target.kind === 'record') return [{ resource, action: reads ? 'get' : method === 'DELETE' ? 'delete' : 'update' }]
  if (target.kind === 'mark') return [{ resource, action: 'get' }]
  const { attribute } = target
  const owner: ResourceAction = { resource, action: 'get' }
  if (target.kind === 'member') return [{ resource: target.member.resource, action: reads ? 'get' : 'delete', isRelated: true }, owner]
  // The linked record's resource is not known yet.
  if (attribute.kind !== 'toOne' && attribute.kind !== 'toMany') return [reads ? owner : { resource, action: 'update' }]
  const related = attribute.target
  const by = (action: Action): readonly ResourceAction[] => [{ resource: related, action, isRelated: true }, owner]
  if (reads) return by(attribute.kind === 'toMany' ? 'list' : 'get')
  // A POST of an ID to a list changes the owner alone.
  const linksOne = attribute.kind === 'toMany' && (typeof body === 'string' || typeof body === 'number')
  if (method === 'POST' && !linksOne) return by('create')
  if (method === 'DELETE') return by('delete')
  // The body is not known yet.
  return [{ resource, action: 'update' }]
}

export function changesMany(method: string, target: Target): boolean {
  return target.kind === 'collection' && (method === 'PATCH' || method === 'DELETE')
}

/** The resource for custom parameters. */
export function findRoot(target: Target): Resource | undefined {
  if (target.kind === 'index' || target.kind === 'own') return undefined
  if (target.kind === 'member') return target.member.resource
  if (target.kind === 'attribute' && (target.attribute.kind === 'toOne' || target.attribute.kind === 'toMany'))
    return target.attribute.target
  if (target.kind === 'attribute' && target.attribute.kind === 'toOneOf') return undefined
  return target.resource
}

export function describeTarget(target: Target, action: ResourceAction | undefined): RequestFacts {
  return {
    action: action?.action,
    resource: action?.resource.plural,
    id:
      target.kind === 'member'
        ? target.member.id
        : (target.kind === 'record' || target.kind === 'attribute' || target.kind === 'mark') && action?.isRelated !== true
          ? target.id
          : undefined,
    attribute: target.kind === 'attribute' || target.kind === 'member' ? target.attribute.name : undefined,
  }
}
