/** The types of `engine.given`'s drafts: a record to insert, with values to make up. */
import type { Resource, ScalarAttribute } from '../../model/model.ts'

export interface Slot {
  readonly attribute: ScalarAttribute
  readonly holder: Record<string, unknown>
  /** Inside the record: `address.city`. */
  readonly path: string
  /** Names the owner of the value: the resource, or the embedded object. */
  readonly bearer: string
}

export interface RecordDraft {
  readonly resource: Resource
  readonly body: Record<string, unknown>
  /** For errors: `items.0`. */
  readonly path: string
  readonly stream: string
  readonly slots: Slot[]
  /** The link to the record around, implied by the place. */
  readonly implied: { readonly name: string; readonly owner: RecordDraft } | undefined
  /** Values that follow from other records, by attribute. */
  readonly pending: Map<string, () => unknown>
}
