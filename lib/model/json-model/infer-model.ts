/** Infer model: types of models and drafts. */
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
      /** Whether the data have integers beyond 2^53 as numbers, and none as a text. */
      readonly isBare: boolean
    } & Presence)
  | ({
      readonly kind: 'toOne' | 'toMany'
      /** In the data: `userId`. */
      readonly key: string
      /** In the API: `user`. */
      readonly name: string
      readonly target: string
      /** The type of the target's IDs. */
      readonly idType: 'integer' | 'text'
      /** The form of links in the data. */
      readonly form: IdForm
      /** Links to missing records. */
      readonly gone: ReadonlySet<unknown>
      /** The name in the target's records, if any. */
      readonly inverse: string | undefined
    } & Presence)

/** A list of records, or one object. */
export interface InferredCollection extends InferredIds {
  /** In the data. */
  readonly name: string
  /** In the API: unchanged if a path can hold the name. */
  readonly resource: string
  readonly className: string
  /** An object at the top level. */
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
