/**
 * Read plan: what a reading request means in terms of the model. Plain data, made by plan.ts once per request shape; holds no values, only
 * references to where the request's values stand, so that every request of the shape can share it.
 */
import type {
  PolymorphicTarget,
  EmbeddedAttribute,
  RelationAttribute,
  Resource,
  ScalarAttribute,
  ToManyAttribute,
  ToOneAttribute,
  ToOneOfAttribute,
} from '../../model/model.ts'
import type { OrderOperator } from '../request/operators.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'

/**
 * A value to compare with: of a filter, by its position in the request, or of the scope of a resource (of custom parameters, without one),
 * by its position among the values of that; or one of the model's own.
 */
export type ValueRef =
  | { readonly from: 'filter'; readonly filter: number; readonly value: number; readonly type: ScalarType }
  | { readonly from: 'scope'; readonly of: Resource | undefined; readonly index: number; readonly type: ScalarType }
  | { readonly from: 'model'; readonly value: unknown; readonly type: ScalarType }

/** An ID to compare with, of a record of `resource`. */
export type KeyRef =
  | {
      readonly from: 'filter'
      readonly filter: number
      readonly value: number
      readonly resource: Resource
      /** The relation to one of several entities that it is an ID of. Such an ID names its resource too, and may be of another. */
      readonly oneOf?: ToOneOfAttribute
    }
  | { readonly from: 'scope'; readonly of: Resource | undefined; readonly index: number; readonly resource: Resource }
  | { readonly from: 'model'; readonly key: readonly unknown[]; readonly resource: Resource }

/** A scalar attribute reached through to-one relations; what lies behind an empty one is NULL. */
export interface Operand {
  readonly hops: readonly ToOneAttribute[]
  readonly attribute: ScalarAttribute
}

/** How a wildcard pattern is shaped, which decides how it is compared. */
export type PatternForm = 'any' | 'prefix' | 'contains' | 'general'

/**
 * A condition on a record. It may come out unknown (NULL) in SQL's sense; `not` is true wherever its condition is not true, so that it is
 * the exact complement.
 */
export type Condition =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'null'; readonly operand: Operand }
  | { readonly kind: 'in'; readonly operand: Operand; readonly values: readonly ValueRef[] }
  | { readonly kind: 'compare'; readonly operand: Operand; readonly operator: OrderOperator; readonly value: ValueRef }
  | { readonly kind: 'match'; readonly operand: Operand; readonly form: PatternForm; readonly fold: boolean; readonly value: ValueRef }
  /** Some of the many patterns of a filter match; with `fold` its plain values are patterns too. */
  | { readonly kind: 'matchAny'; readonly operand: Operand; readonly fold: boolean; readonly filter: number }
  /** SQL's own LIKE, which only scopes use. */
  | { readonly kind: 'like'; readonly operand: Operand; readonly value: ValueRef }
  /** The to-one relation behind the hops is empty. */
  | { readonly kind: 'unlinked'; readonly hops: readonly ToOneAttribute[]; readonly relation: ToOneAttribute }
  /** The to-one relation behind the hops links one of the records. */
  | {
      readonly kind: 'linked'
      readonly hops: readonly ToOneAttribute[]
      readonly relation: ToOneAttribute
      readonly keys: readonly KeyRef[]
    }
  /** Some record of the list behind the hops meets the condition (or there is any, without one). */
  | {
      readonly kind: 'some'
      readonly hops: readonly ToOneAttribute[]
      readonly relation: ToManyAttribute
      readonly where: Condition | undefined
    }
  /** The record behind the hops is of one of these classes of its hierarchy. */
  | ({ readonly kind: 'class'; readonly hops: readonly ToOneAttribute[] } & ClassCheck)
  /** The record is one of these. */
  | { readonly kind: 'key'; readonly keys: readonly KeyRef[] }

/** The classes of a hierarchy, by the values of the column that tells them apart. */
export interface ClassCheck {
  readonly column: string
  readonly values: readonly string[]
}

/**
 * One key of an order. Through a list it is the smallest value ascending, the largest descending; a count counts all that the hops reach.
 */
export interface SortTerm {
  readonly hops: readonly RelationAttribute[]
  /** The attribute to sort by; undefined for the count of the records that the hops reach. */
  readonly attribute: ScalarAttribute | undefined
  readonly descending: boolean
  /**
   * The same, of the other entities that the path leads to where a relation may link one of several. One of them is there at most, but for
   * lists.
   */
  readonly or?: readonly SortTerm[]
  /** The records on the way that must be of some classes, each with the number of hops before it; there is nothing behind others. */
  readonly classes?: readonly (ClassCheck & { readonly at: number })[]
}

/** One key of a record in an answer. */
export type Field =
  | { readonly kind: 'scalar'; readonly attribute: ScalarAttribute }
  | { readonly kind: 'embedded'; readonly attribute: EmbeddedAttribute; readonly fields: readonly Field[] }
  | { readonly kind: 'reference'; readonly attribute: ToOneAttribute }
  | { readonly kind: 'references'; readonly attribute: ToManyAttribute; readonly order: readonly SortTerm[] }
  | { readonly kind: 'record'; readonly attribute: ToOneAttribute; readonly node: RecordNode }
  | { readonly kind: 'records'; readonly attribute: ToManyAttribute; readonly order: readonly SortTerm[]; readonly node: RecordNode }
  /** A record of one of several entities, or its ID: with a node for each entity it is shown as the record. */
  | { readonly kind: 'oneOf'; readonly attribute: ToOneOfAttribute; readonly shown: readonly ShownBranch[] }

/** How a linked record of one of several entities is shown; as its ID without a node. */
interface ShownBranch {
  readonly branch: PolymorphicTarget
  readonly node: RecordNode | undefined
}

/** The shape of a record in an answer. */
export interface RecordNode {
  readonly resource: Resource
  readonly fields: readonly Field[]
}

/** The condition that the rows of a resource meet which exist for the caller; undefined when all do. */
export type ScopeLookup = (resource: Resource) => Condition | undefined

/** Which records a plan starts from. */
export type Anchor =
  | { readonly kind: 'collection' }
  /** The record of the request's key; with `shown`, of the value that stands for it. */
  | { readonly kind: 'record'; readonly shown?: true }
  /** The records of several keys, which a parameter lists; with `shown`, of the values that stand for them. */
  | { readonly kind: 'keys'; readonly shown?: true }
  /** The records that the relation of the record of the request's key reaches. */
  | { readonly kind: 'related'; readonly relation: RelationAttribute; readonly owner: Resource; readonly shown?: true }

export interface ReadPlan {
  readonly resource: Resource
  readonly anchor: Anchor
  /** The shape of the records; undefined when only their IDs are wanted. */
  readonly node: RecordNode | undefined
  /** Columns whose bare values come with each record. */
  readonly beside?: readonly string[]
  readonly where: readonly Condition[]
  /** Which rows exist, of any resource that is come upon. */
  readonly scopeOf: ScopeLookup
  /** The order before the primary key, which always comes last. */
  readonly order: readonly SortTerm[]
  /** Whether the rows are cut by limit and offset and counted. */
  readonly paged: boolean
  /** The order as the envelope shows it. */
  readonly sort: string
}
