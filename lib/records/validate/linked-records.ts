/** Lists the records that a valid body links or creates. */
import type { EmbeddedAttribute, RelationAttribute, Resource } from '../../model/model.ts'
import type { ExistingRef, ListInput, RecordInput, RecordRef } from './record-input.ts'

export function linksItself(ref: RecordRef | null): ref is ExistingRef & { readonly isItself: true } {
  return ref?.kind === 'existing' && ref.isItself === true
}

export interface Reference {
  readonly relation: RelationAttribute
  readonly within?: readonly EmbeddedAttribute[] | undefined
  readonly ref: RecordRef
}

export function listReferences({ links, lists }: RecordInput): Reference[] {
  return [
    ...links.flatMap(({ attribute, within, link }) => (link === null ? [] : [{ relation: attribute, within, ref: link }])),
    ...lists.flatMap(({ attribute, items }) => items.map(ref => ({ relation: attribute, ref }))),
  ]
}

export interface MadeLinks {
  readonly newMembers: readonly Pick<ListInput, 'attribute' | 'items'>[]
  readonly touched: readonly { readonly resource: Resource }[]
}

export function listNewMembers(records: readonly RecordInput[]): Pick<ListInput, 'attribute' | 'items'>[] {
  return records.flatMap(({ lists }) => lists.filter(({ attribute }) => attribute.via.kind === 'pivot'))
}

export function listNew(change: RecordInput): RecordInput[] {
  return [change, ...listReferences(change).flatMap(({ ref }) => (ref.kind === 'new' ? listNew(ref.record) : []))]
}
