/** The types of `engine.expect`: rows that some work should change. */

/** Default: 0 each. */
export interface RowCounts {
  readonly inserted?: number
  readonly updated?: number
  readonly deleted?: number
}

/** The difference of a resource's row count, its changes by kind, or anything. */
export type ExpectedChange = number | RowCounts | 'any'

/** By resource. `*` stands for all other resources (default: 0, an unchanged row count). */
export type ExpectedChanges = Readonly<Record<string, ExpectedChange>>
