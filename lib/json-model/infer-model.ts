/** Infer model: the description that infer.ts makes of plain data, and what it is while it is made. */
import type { InferredIds } from './infer-ids.ts'
import type { InferredType, JsonObject } from './infer-values.ts'

/** What an attribute of the records has become. */
export type InferredAttribute =
  | { readonly kind: 'id'; readonly key: string; readonly name: string }
  | { readonly kind: 'plain'; readonly key: string; readonly name: string; readonly type: InferredType; readonly nullable: boolean }
  | {
      /** `toOne`: the ID of a record of another collection; `toMany`: an array of them. */
      readonly kind: 'toOne' | 'toMany'
      /** As the data has it: `userId`. */
      readonly key: string
      /** As the API has it: `user`. */
      readonly name: string
      readonly target: string
      readonly nullable: boolean
      /** What the other side is called in records of the target, where there is one. */
      readonly inverse: string | undefined
    }

/** A collection of records, or a single object, and what its records are like. */
export interface InferredCollection extends InferredIds {
  /** As the data has it. */
  readonly name: string
  /** As the API has it; the same, where a path can have it. */
  readonly resource: string
  /** Name of the entity. */
  readonly className: string
  /** An object at the top instead of an array: the only record there is. */
  readonly single: boolean
  /** The list is the data itself, not a member of it. */
  readonly isTop: boolean
  /** In the order in which the records show them. */
  readonly attributes: readonly InferredAttribute[]
  readonly records: readonly JsonObject[]
  /** Where the records stand in the data, where something else stands among them. */
  readonly places: readonly number[] | undefined
  /** The items are no objects: each is the `value` of a record, which cannot be written. */
  readonly isOfValues: boolean
  /** What the reader should know of it: what looks like a relation and is none, and why. */
  readonly notes: readonly string[]
}

/** A collection under way. */
export interface CollectionDraft extends InferredCollection {
  readonly attributes: InferredAttribute[]
  readonly notes: string[]
  /** The keys of its records, in their order. */
  readonly keys: readonly string[]
  readonly idSet: ReadonlySet<unknown>
  /** Names a record. */
  readonly at: (index: number) => string
  /** What the other sides of relations to it are called in its records, with the key that each is of. */
  readonly inverses: string[]
}
