/** Actions: what a method does to which resource, in the terms of access rules and wrappers. */
import { READS } from '../../foundation/base/http-methods.ts'
import type { Action } from '../../model/hook-context.ts'
import type { Resource } from '../../model/model.ts'
import type { RequestFacts } from '../request/request-context.ts'
import type { Target } from './resolve-path.ts'

export interface ResourceAction {
  readonly resource: Resource
  readonly action: Action
  /** Whether it is about records that the path leads to by a relation, rather than the one that it names. */
  readonly isRelated?: true
}

/**
 * The actions that a request takes: the first is what it is about (its wrappers run), all must be allowed. A list or record behind an
 * attribute counts as one of its own resource, for which the owner must be readable as well.
 *
 * @param body that of the request: the ID of a record, which a POST to a list links, or anything else
 */
export function findActions(method: string, target: Target, body?: unknown): readonly ResourceAction[] {
  if (target.kind === 'index' || target.kind === 'own' || method === 'OPTIONS') return []
  const { resource } = target
  const reads = READS.has(method)
  if (target.kind === 'collection') return [{ resource, action: reads ? 'list' : 'create' }]
  if (target.kind === 'record') return [{ resource, action: reads ? 'get' : method === 'DELETE' ? 'delete' : 'update' }]
  // Who may read a record may mark it.
  if (target.kind === 'mark') return [{ resource, action: 'get' }]
  const { attribute } = target
  const owner: ResourceAction = { resource, action: 'get' }
  if (target.kind === 'member') return [{ resource: target.member.resource, action: reads ? 'get' : 'delete', isRelated: true }, owner]
  // The action on a record of one of several resources is judged once its resource is known.
  if (attribute.kind !== 'toOne' && attribute.kind !== 'toMany') return [reads ? owner : { resource, action: 'update' }]
  const related = attribute.target
  const by = (action: Action): readonly ResourceAction[] => [{ resource: related, action, isRelated: true }, owner]
  if (reads) return by(attribute.kind === 'toMany' ? 'list' : 'get')
  if (method === 'POST' && !linksOne(target, body)) return by('create')
  if (method === 'DELETE') return by('delete')
  // Actions on related records other than linking are judged once the body is known.
  return [{ resource, action: 'update' }]
}

/** Whether the body of a POST to a list is the ID of a record, which it links: that changes the record that has the list. */
function linksOne(target: Target, body: unknown): boolean {
  return target.kind === 'attribute' && target.attribute.kind === 'toMany' && (typeof body === 'string' || typeof body === 'number')
}

/** The resource whose records a request reads or answers with: what custom parameters narrow. */
export function findRoot(target: Target): Resource | undefined {
  if (target.kind === 'index' || target.kind === 'own') return undefined
  if (target.kind === 'member') return target.member.resource
  if (target.kind === 'attribute' && (target.attribute.kind === 'toOne' || target.attribute.kind === 'toMany'))
    return target.attribute.target
  if (target.kind === 'attribute' && target.attribute.kind === 'toOneOf') return undefined
  return target.resource
}

/** Returns the members of a hook's context that describe the target. */
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
