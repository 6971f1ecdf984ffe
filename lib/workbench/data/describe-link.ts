/** ID and text of a linked record. */
import { findResource, type OutlinedAttribute } from '../state/outline.ts'
import { idOf, labelOf, textOf, type AnyRecord } from '../state/records.ts'

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
