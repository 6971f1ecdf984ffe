/** Links: where data is shown: the places of resources, records and lists. */
import { findResource, outline, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { encodeSoftly, formatPlace } from '../state/place-text.ts'

export function hrefOfResource(resource: string, query = ''): string {
  return formatPlace('data', [resource], query)
}

/** The place of a record, in the list that it is chosen from. */
export function hrefOfRecord(resource: string, id: string, query = ''): string {
  return formatPlace('data', [resource, id], query)
}

/**
 * The list of a record's relation, as segments and a query: the resource with a filter, where the other side has a name, so that more
 * filters can be added.
 */
function listOf(
  { name: resource }: OutlinedResource,
  id: string,
  { name, target, otherSide }: OutlinedAttribute,
): { readonly path: readonly string[]; readonly query: string } {
  if (target === undefined || otherSide === undefined || findResource(target) === undefined)
    return { path: [resource, id, name], query: '' }
  return { path: [target], query: `${otherSide}=${encodeSoftly(id)}` }
}

export function hrefOfList(resource: OutlinedResource, id: string, attribute: OutlinedAttribute): string {
  const { path, query } = listOf(resource, id, attribute)
  return formatPlace('data', path, query)
}

/** The request for the same list. */
export function requestOfList(resource: OutlinedResource, id: string, attribute: OutlinedAttribute): string {
  const { path, query } = listOf(resource, id, attribute)
  return requestOf(path, query)
}

/** The request for what is at a place: path and query. */
export function requestOf(path: readonly string[], query: string): string {
  return `${outline.value?.root ?? ''}/${path.map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`
}
