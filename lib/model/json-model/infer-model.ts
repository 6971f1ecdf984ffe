/** Types for models of JSON data, such as a collection with its attributes, as inferred. */
import type { InferredIds, ReportOddity } from './infer-ids.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { IdForm, InferredType } from './infer-values.ts'

interface Presence {
  readonly nullable: boolean
  readonly isEverywhere: boolean
}

export type InferredAttribute =
  | { readonly kind: 'id'; readonly key: string; readonly name: string; readonly form: IdForm }
  | ({
      readonly kind: 'plain'
      readonly key: string
      readonly name: string
      readonly type: InferredType
      /** Whether all integers beyond 2^53 are numbers, not texts. */
      readonly isBare: boolean
    } & Presence)
  | ({
      readonly kind: 'toOne' | 'toMany'
      /** In the data: `userId`. */
      readonly key: string
      /** In the API: `user`. */
      readonly name: string
      readonly target: string
      readonly idType: 'integer' | 'text'
      /** The form of links in the data. */
      readonly form: IdForm
      /** Links to missing records. */
      readonly gone: ReadonlySet<unknown>
      /** The name in the target's records, if any. */
      readonly inverse: string | undefined
    } & Presence)

export interface InferredCollection extends InferredIds {
  /** In the data. */
  readonly name: string
  /** In the API: the same, where a path can hold it. */
  readonly resource: string
  readonly className: string
  /** An object, not a list. */
  readonly single: boolean
  /** The list is the whole data. */
  readonly isTop: boolean
  /** By first occurrence. */
  readonly attributes: readonly InferredAttribute[]
  readonly records: readonly JsonObject[]
  /** Positions in the data: other items may be between records. */
  readonly places: readonly number[] | undefined
  /** Whether items are no objects: each becomes the `value` of a read-only record. */
  readonly isOfValues: boolean
  /** `once`: for an empty list. */
  readonly open: 'always' | 'once' | undefined
  /** See `FromJsonOptions.exact`. */
  readonly exact: boolean
  readonly notes: readonly string[]
}

export interface CollectionDraft extends InferredCollection {
  readonly attributes: InferredAttribute[]
  readonly notes: string[]
  /** By first occurrence. */
  readonly keys: readonly string[]
  readonly idSet: ReadonlySet<unknown>
  readonly at: (index: number) => string
  readonly report: ReportOddity
  readonly idForm: IdForm
  readonly inverses: string[]
}
