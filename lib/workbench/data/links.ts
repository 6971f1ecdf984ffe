/** Makes links to resources, records and lists of the data screen, and describes links of records by ID and text. */
import { findResource, outline, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { encodeSoftly, formatPlace } from '../state/place-text.ts'
import { idOf, labelOf, textOf, type AnyRecord } from '../state/records.ts'

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

interface DescribedLink {
  readonly id: string | undefined
  readonly text: string
}

export function describeLink(value: unknown, { kind, target }: OutlinedAttribute): DescribedLink {
  const resource = kind === 'toOne' && target !== undefined ? findResource(target) : undefined
  if (resource === undefined || value === null || value === undefined) return { id: undefined, text: '' }
  if (typeof value !== 'object') return { id: textOf(value), text: textOf(value) }
  const id = idOf(value as AnyRecord, resource)
  return { id, text: id === undefined ? '' : nameRecord(id, labelOf(value as AnyRecord, resource)) }
}

export function nameRecord(id: string, label: string): string {
  return label === '' || label === id ? id : `${id} ${label}`
}
