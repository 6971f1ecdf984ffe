/** The types of an inferred model, and of its drafts. */
import type { InferredIds } from './infer-ids.ts'
import type { JsonObject } from '../../foundation/base/json.ts'
import type { InferredType } from './infer-values.ts'

export type InferredAttribute =
  | { readonly kind: 'id'; readonly key: string; readonly name: string }
  | { readonly kind: 'plain'; readonly key: string; readonly name: string; readonly type: InferredType; readonly nullable: boolean }
  | {
      /** `toOne`: the ID of a record of another collection; `toMany`: an array of them. */
      readonly kind: 'toOne' | 'toMany'
      /** The key in the data: `userId`. */
      readonly key: string
      /** The name in the API: `user`. */
      readonly name: string
      readonly target: string
      readonly nullable: boolean
      /** Whether numbers in the data are texts, as the IDs of the target. */
      readonly isMixed: boolean
      /** The name of the inverse side in records of the target, if there is one. */
      readonly inverse: string | undefined
    }

/** An inferred collection of records, or a single object. */
export interface InferredCollection extends InferredIds {
  /** The name in the data. */
  readonly name: string
  /** The name in the API: the same, where a path can contain it. */
  readonly resource: string
  /** Name of the entity. */
  readonly className: string
  /** Whether it is an object at the top level, the only record of its collection. */
  readonly single: boolean
  /** Whether the list is the whole data, not a member of it. */
  readonly isTop: boolean
  /** In the order of their first occurrence. */
  readonly attributes: readonly InferredAttribute[]
  readonly records: readonly JsonObject[]
  /** The positions of the records in the data, where other items stand between them. */
  readonly places: readonly number[] | undefined
  /** Whether the items are not objects. Each is the `value` of a read-only record. */
  readonly isOfValues: boolean
  /** Whether requests may add attributes: all of them, the first one that gives any (of an empty list), or none. */
  readonly open: 'always' | 'once' | undefined
  /** Notes, such as why a key that looks like a relation is not one. */
  readonly notes: readonly string[]
}

/** A collection during the inference. */
export interface CollectionDraft extends InferredCollection {
  readonly attributes: InferredAttribute[]
  readonly notes: string[]
  /** The keys of its records, in the order of their first occurrence. */
  readonly keys: readonly string[]
  readonly idSet: ReadonlySet<unknown>
  /** Names a record. */
  readonly at: (index: number) => string
  /** The names of the inverse sides in its records, each with the key of its relation. */
  readonly inverses: string[]
}
