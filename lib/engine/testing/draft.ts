/** Draft: a record to insert, with values still to be made up. */
import type { Resource, ScalarAttribute } from '../../model/model.ts'

/** An attribute without a value yet, and the object for the value. */
export interface Slot {
  readonly attribute: ScalarAttribute
  readonly holder: Record<string, unknown>
  /** Within the record. */
  readonly path: string
  /** The resource or embedded object with the attribute. */
  readonly bearer: string
}

export interface RecordDraft {
  readonly resource: Resource
  readonly body: Record<string, unknown>
  /** In the whole graph's body, for error paths. */
  readonly path: string
  /** Names the streams of random values. */
  readonly stream: string
  readonly slots: Slot[]
  /** The link that the record's place sets. */
  readonly implied: { readonly name: string; readonly owner: RecordDraft } | undefined
  /** Values that follow from other records, by attribute. Resolved once the other records are complete. */
  readonly pending: Map<string, () => unknown>
}
