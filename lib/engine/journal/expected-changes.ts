/** Expected changes: which rows some work is expected to change. */

/** The expected inserts, updates and deletes of a resource. Default: 0 each. */
export interface RowCounts {
  readonly inserted?: number
  readonly updated?: number
  readonly deleted?: number
}

/** The expectation for a resource: the difference of its row count, its changes by kind, or anything. */
export type ExpectedChange = number | RowCounts | 'any'

/** The expectations by resource. `*` stands for all resources that are not named (default: 0, their row count stays the same). */
export type ExpectedChanges = Readonly<Record<string, ExpectedChange>>
