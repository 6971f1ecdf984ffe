/** Linked records: lists the places of a change that link a record, and the new records that are nested in a change. */
import type { EmbeddedAttribute, RelationAttribute } from '../../model/model.ts'
import type { ExistingRef, RecordInput, RecordRef } from './record-input.ts'

/** Whether a reference leads to the new record that has it. */
export function isItself(ref: RecordRef | null): ref is ExistingRef & { readonly isItself: true } {
  return ref?.kind === 'existing' && ref.isItself === true
}

/** A place of a change that links a record. */
export interface Reference {
  readonly relation: RelationAttribute
  /** The embedded objects that the relation is in; undefined: none. */
  readonly within?: readonly EmbeddedAttribute[] | undefined
  readonly ref: RecordRef
}

export function listReferences({ links, lists }: RecordInput): Reference[] {
  return [
    ...links.flatMap(({ attribute, within, link }) => (link === null ? [] : [{ relation: attribute, within, ref: link }])),
    ...lists.flatMap(({ attribute, items }) => items.map(ref => ({ relation: attribute, ref }))),
  ]
}

/** Lists a new record and all new records that are nested in it. */
export function listNew(change: RecordInput): RecordInput[] {
  return [change, ...listReferences(change).flatMap(({ ref }) => (ref.kind === 'new' ? listNew(ref.record) : []))]
}
