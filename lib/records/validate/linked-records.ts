/** Linked records: lists the links of a change, and nested new records. */
import type { EmbeddedAttribute, RelationAttribute } from '../../model/model.ts'
import type { ExistingRef, RecordInput, RecordRef } from './record-input.ts'

/** Whether a new record links itself. */
export function isItself(ref: RecordRef | null): ref is ExistingRef & { readonly isItself: true } {
  return ref?.kind === 'existing' && ref.isItself === true
}

export interface Reference {
  readonly relation: RelationAttribute
  /** Embedded objects around the relation; undefined: none. */
  readonly within?: readonly EmbeddedAttribute[] | undefined
  readonly ref: RecordRef
}

export function listReferences({ links, lists }: RecordInput): Reference[] {
  return [
    ...links.flatMap(({ attribute, within, link }) => (link === null ? [] : [{ relation: attribute, within, ref: link }])),
    ...lists.flatMap(({ attribute, items }) => items.map(ref => ({ relation: attribute, ref }))),
  ]
}

export function listNew(change: RecordInput): RecordInput[] {
  return [change, ...listReferences(change).flatMap(({ ref }) => (ref.kind === 'new' ? listNew(ref.record) : []))]
}
