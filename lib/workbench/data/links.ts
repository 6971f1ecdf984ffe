/** Makes links to resources, records and lists of the data screen. */
import { findResource, outline, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { encodeSoftly, formatPlace } from '../state/place-text.ts'

export function hrefOfResource(resource: string, query = ''): string {
  return formatPlace('data', [resource], query)
}

export function hrefOfRecord(resource: string, id: string, query = ''): string {
  return formatPlace('data', [resource, id], query)
}

/** If possible, the target's list with a filter (`/posts?author=1`), so that the reader can add filters. */
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

export function requestOfList(resource: OutlinedResource, id: string, attribute: OutlinedAttribute): string {
  const { path, query } = listOf(resource, id, attribute)
  return requestOf(path, query)
}

export function requestOf(path: readonly string[], query: string): string {
  return `${outline.value?.root ?? ''}/${path.map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`
}
