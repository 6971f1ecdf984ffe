/**
 * The types of a ReadPlan, which says in terms of the model what to read. A value is a position (the first value of the second filter), so
 * that requests of one shape share a plan.
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
import type { Fold, OrderOperator } from '../request/operators.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'

/** A value: by position in a filter, by index in a scope (`of` undefined: `Visibility.where`), or of the model. */
export type ValueRef =
  | { readonly from: 'filter'; readonly filter: number; readonly value: number; readonly type: ScalarType }
  | { readonly from: 'scope'; readonly of: Resource | undefined; readonly index: number; readonly type: ScalarType }
  | { readonly from: 'model'; readonly value: unknown; readonly type: ScalarType }

export type KeyRef =
  | {
      readonly from: 'filter'
      readonly filter: number
      readonly value: number
      readonly resource: Resource
      /** For IDs with a resource: `post:7`. */
      readonly oneOf?: ToOneOfAttribute
    }
  | { readonly from: 'scope'; readonly of: Resource | undefined; readonly index: number; readonly resource: Resource }
  | { readonly from: 'model'; readonly key: readonly unknown[]; readonly resource: Resource }

/** A scalar behind to-one relations: NULL behind an empty link. */
export interface Operand {
  readonly hops: readonly ToOneAttribute[]
  readonly attribute: ScalarAttribute
}

/** Has all of a list or JSON value, is part of it, or shares a value. */
export type Containment = 'contains' | 'contained' | 'overlap'

export type PatternForm = 'any' | 'prefix' | 'contains' | 'general'

/** Where SQL gives NULL for a condition, its `not` is true. */
export type Condition =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'null'; readonly operand: Operand }
  | { readonly kind: 'in'; readonly operand: Operand; readonly values: readonly ValueRef[] }
  | { readonly kind: 'compare'; readonly operand: Operand; readonly operator: OrderOperator; readonly value: ValueRef }
  | { readonly kind: 'match'; readonly operand: Operand; readonly form: PatternForm; readonly fold: Fold; readonly value: ValueRef }
  /** With `fold`, plain values are patterns, too. */
  | { readonly kind: 'matchAny'; readonly operand: Operand; readonly fold: Fold; readonly filter: number }
  /** SQL's LIKE, only in conditions of MikroORM. `fold`: without case, here and in `expression`. */
  | { readonly kind: 'like'; readonly operand: Operand; readonly fold: boolean; readonly value: ValueRef }
  | { readonly kind: 'expression'; readonly operand: Operand; readonly fold: boolean; readonly value: ValueRef }
  /** In a list or JSON. The value is JSON text. */
  | { readonly kind: 'contains'; readonly how: Containment; readonly operand: Operand; readonly value: ValueRef }
  | { readonly kind: 'unlinked'; readonly hops: readonly ToOneAttribute[]; readonly relation: ToOneAttribute }
  | {
      readonly kind: 'linked'
      readonly hops: readonly ToOneAttribute[]
      readonly relation: ToOneAttribute
      readonly keys: readonly KeyRef[]
    }
  /** Some record of the list meets `where`; undefined: any. */
  | {
      readonly kind: 'some'
      readonly hops: readonly ToOneAttribute[]
      readonly relation: ToManyAttribute
      readonly where: Condition | undefined
    }
  | ({ readonly kind: 'class'; readonly hops: readonly ToOneAttribute[] } & ClassCheck)
  | { readonly kind: 'key'; readonly keys: readonly KeyRef[] }

export interface ClassCheck {
  readonly column: string
  readonly values: readonly string[]
}

/** Through a list, the smallest value counts, descending the largest. */
export interface SortTerm {
  readonly hops: readonly RelationAttribute[]
  /** Undefined: the number of records. */
  readonly attribute: ScalarAttribute | undefined
  readonly descending: boolean
  /** Undefined: NULL is the smallest value. */
  readonly nulls?: 'first' | 'last' | undefined
  /** The same key in other entities or classes. Except behind lists, at most one has a value. */
  readonly or?: readonly SortTerm[]
  /** For the record behind `at` hops; other classes have no value. */
  readonly classes?: readonly (ClassCheck & { readonly at: number })[]
}

export type Field =
  | { readonly kind: 'scalar'; readonly attribute: ScalarAttribute }
  | { readonly kind: 'embedded'; readonly attribute: EmbeddedAttribute; readonly fields: readonly Field[] }
  | { readonly kind: 'reference'; readonly attribute: ToOneAttribute }
  | { readonly kind: 'references'; readonly attribute: ToManyAttribute; readonly order: readonly SortTerm[] }
  | { readonly kind: 'record'; readonly attribute: ToOneAttribute; readonly node: RecordNode; readonly part?: ShownPart }
  | {
      readonly kind: 'records'
      readonly attribute: ToManyAttribute
      readonly order: readonly SortTerm[]
      readonly node: RecordNode
      readonly part?: ShownPart
    }
  | { readonly kind: 'count'; readonly attribute: ToManyAttribute; readonly part: ShownPart }
  /** Branches with a node show records, others IDs. */
  | { readonly kind: 'oneOf'; readonly attribute: ToOneOfAttribute; readonly shown: readonly ShownBranch[] }

export interface ShownPart {
  /** In `Parameters.lists`. */
  readonly at: number
  readonly where: readonly Condition[]
  /** By the request, not the application. */
  readonly isSorted: boolean
  /** `limit` or `offset` cuts each list. */
  readonly isCut: boolean
}

interface ShownBranch {
  readonly branch: PolymorphicTarget
  readonly node: RecordNode | undefined
}

export interface RecordNode {
  readonly resource: Resource
  readonly fields: readonly Field[]
  /** Missing attributes are left out, not null. */
  readonly exact?: boolean
}

/** Which rows exist for the caller; undefined: all. */
export type ScopeLookup = (resource: Resource) => Condition | undefined

/** Where a plan starts. `shown`: records are named by `shownKey`. */
export type Anchor =
  | { readonly kind: 'collection' }
  | { readonly kind: 'record'; readonly shown?: true }
  /** Records of listed keys. */
  | { readonly kind: 'keys'; readonly shown?: true }
  | { readonly kind: 'related'; readonly relation: RelationAttribute; readonly owner: Resource; readonly shown?: true }

export interface ReadPlan {
  readonly resource: Resource
  readonly anchor: Anchor
  /** Undefined: only IDs. */
  readonly node: RecordNode | undefined
  /** Columns with bare values to read. */
  readonly bareColumns?: readonly string[]
  readonly where: readonly Condition[]
  readonly scopeOf: ScopeLookup
  /** The order before the primary key, always last. */
  readonly order: readonly SortTerm[]
  /** Applies limit and offset, counts rows. */
  readonly paged: boolean
  /** The page begins at a key. */
  readonly start?: StartPlan | undefined
  readonly sort: string
}

export interface StartPlan {
  /** Columns of the key, last in the order. */
  readonly key: readonly string[]
  /** Whether cursor values are null. Undefined: from the first record. */
  readonly nulls: readonly boolean[] | undefined
}
