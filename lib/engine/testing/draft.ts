/** Draft: a record to insert, with values to make up. */
import type { Resource, ScalarAttribute } from '../../model/model.ts'

/** An attribute without a value yet, and the object for the value. */
export interface Slot {
  readonly attribute: ScalarAttribute
  readonly holder: Record<string, unknown>
  /** Within the record. */
  readonly path: string
  /** The resource's singular name, or the embedded object's. */
  readonly bearer: string
}

export interface RecordDraft {
  readonly resource: Resource
  readonly body: Record<string, unknown>
  /** The record's path in the graph's body, for errors. */
  readonly path: string
  /** Names the streams of random values. */
  readonly stream: string
  readonly slots: Slot[]
  /** The link to the owner, implied by the place. */
  readonly implied: { readonly name: string; readonly owner: RecordDraft } | undefined
  /** Values that follow from other records, by attribute. Resolved once the other records are complete. */
  readonly pending: Map<string, () => unknown>
}
