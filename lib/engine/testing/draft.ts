/** Draft: a record that is to be inserted, with the values that are still to be made up. */
import type { Resource, ScalarAttribute } from '../../model/model.ts'

/** An attribute whose value is to be made up, with the object that it goes to. */
export interface Slot {
  readonly attribute: ScalarAttribute
  readonly holder: Record<string, unknown>
  /** Within the record. */
  readonly path: string
  /** The name of the resource or the embedded object that has the attribute. */
  readonly bearer: string
}

export interface RecordDraft {
  readonly resource: Resource
  readonly body: Record<string, unknown>
  /** In the body of the whole graph, for the paths of errors. */
  readonly path: string
  /** Names the streams of its random values. */
  readonly stream: string
  readonly slots: Slot[]
  /** The link that the place of the record sets. */
  readonly implied: { readonly name: string; readonly owner: RecordDraft } | undefined
  /** Values that follow from other records of the graph, once those have theirs, by the name of the attribute. */
  readonly pending: Map<string, () => unknown>
}
