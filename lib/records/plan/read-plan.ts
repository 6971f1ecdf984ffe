/** Read plan: a reading request in terms of the model. Refers to values by position: all requests of one shape share a plan. */
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

/** A value of a filter by position, of a scope by index (`of` undefined: of `Visibility.where`), or of the model. */
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
      /** IDs name a resource, maybe another than `resource`. */
      readonly oneOf?: ToOneOfAttribute
    }
  | { readonly from: 'scope'; readonly of: Resource | undefined; readonly index: number; readonly resource: Resource }
  | { readonly from: 'model'; readonly key: readonly unknown[]; readonly resource: Resource }

/** A scalar attribute behind to-one relations. Behind an empty link, the value is NULL. */
export interface Operand {
  readonly hops: readonly ToOneAttribute[]
  readonly attribute: ScalarAttribute
}

/** Contains all of a given list or JSON value, is contained, or has a value in common. */
export type Containment = 'contains' | 'contained' | 'overlap'

export type PatternForm = 'any' | 'prefix' | 'contains' | 'general'

/** SQL may yield NULL for a condition: then `not` of the condition is true. */
export type Condition =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'null'; readonly operand: Operand }
  | { readonly kind: 'in'; readonly operand: Operand; readonly values: readonly ValueRef[] }
  | { readonly kind: 'compare'; readonly operand: Operand; readonly operator: OrderOperator; readonly value: ValueRef }
  | { readonly kind: 'match'; readonly operand: Operand; readonly form: PatternForm; readonly fold: Fold; readonly value: ValueRef }
  /** With `fold`, plain values are patterns, too. */
  | { readonly kind: 'matchAny'; readonly operand: Operand; readonly fold: Fold; readonly filter: number }
  /** SQL's LIKE, for conditions of MikroORM alone. With `fold` case does not count, as of `expression`. */
  | { readonly kind: 'like'; readonly operand: Operand; readonly fold: boolean; readonly value: ValueRef }
  | { readonly kind: 'expression'; readonly operand: Operand; readonly fold: boolean; readonly value: ValueRef }
  /** Of a list in one column, or of JSON; the value is JSON text. */
  | { readonly kind: 'contains'; readonly how: Containment; readonly operand: Operand; readonly value: ValueRef }
  | { readonly kind: 'unlinked'; readonly hops: readonly ToOneAttribute[]; readonly relation: ToOneAttribute }
  | {
      readonly kind: 'linked'
      readonly hops: readonly ToOneAttribute[]
      readonly relation: ToOneAttribute
      readonly keys: readonly KeyRef[]
    }
  /** Some record of the list meets `where`; any record does if `where` is undefined. */
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

/** Through a list, sorts by the smallest value ascending, by the largest descending. */
export interface SortTerm {
  readonly hops: readonly RelationAttribute[]
  /** Undefined: the number of records behind the hops. */
  readonly attribute: ScalarAttribute | undefined
  readonly descending: boolean
  /** Undefined: NULL is the smallest value. */
  readonly nulls?: 'first' | 'last' | undefined
  /** The key in other entities or classes. Except behind lists, at most one term has a value. */
  readonly or?: readonly SortTerm[]
  /** Classes of the record behind `at` hops. Other classes have no value. */
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
  /** A link to several entities: a branch with a node shows a record, a branch without shows an ID. */
  | { readonly kind: 'oneOf'; readonly attribute: ToOneOfAttribute; readonly shown: readonly ShownBranch[] }

export interface ShownPart {
  /** The position in `Parameters.lists`. */
  readonly at: number
  readonly where: readonly Condition[]
  /** Whether the request sorts the list, not the application. */
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
  /** Attributes that a record lacks are left out, not null. */
  readonly exact?: boolean
}

/** The rows that exist for the caller; undefined: all. */
export type ScopeLookup = (resource: Resource) => Condition | undefined

/** Where a plan starts. With `shown`, the request names records by `shownKey` instead of the primary key. */
export type Anchor =
  | { readonly kind: 'collection' }
  | { readonly kind: 'record'; readonly shown?: true }
  /** Records whose keys a parameter lists. */
  | { readonly kind: 'keys'; readonly shown?: true }
  | { readonly kind: 'related'; readonly relation: RelationAttribute; readonly owner: Resource; readonly shown?: true }

export interface ReadPlan {
  readonly resource: Resource
  readonly anchor: Anchor
  /** Undefined: only IDs are read. */
  readonly node: RecordNode | undefined
  /** Columns whose bare values are read, too. */
  readonly bareColumns?: readonly string[]
  readonly where: readonly Condition[]
  readonly scopeOf: ScopeLookup
  /** The order before the primary key, which always comes last. */
  readonly order: readonly SortTerm[]
  /** Limit and offset apply, and rows are counted. */
  readonly paged: boolean
  /** The page begins at a key. */
  readonly start?: StartPlan | undefined
  readonly sort: string
}

export interface StartPlan {
  /** The key's columns, last in the order. */
  readonly key: readonly string[]
  /** Whether values of the cursor are null; undefined: the page begins with the first record. */
  readonly nulls: readonly boolean[] | undefined
}
