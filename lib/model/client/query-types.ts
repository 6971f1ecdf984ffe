/**
 * Types of client queries, with filters (`'age>='`), sort keys, paging. Names are checked up to one relation away, else types would be too
 * many; deeper paths go into `$`.
 */
import type { Id, IsNullable, KindIn, PropertiesOf, RelationName, ValueIn, VisibleName } from './entity-types.ts'
import type { FilterSign, FreeParameters, OrderSign, ReservedOfClient } from './query-names.ts'
import type { Depth } from './record-types.ts'

type FilterName<K extends string> = K extends ReservedOfClient ? `${K}_` : K

/** Makes error messages list members. */
type Flat<T> = T extends unknown ? { readonly [K in keyof T]: T[K] } : never

type Plain = string | number | boolean | bigint | Date

type PlainName<P> = {
  [K in VisibleName<P>]: KindIn<P[K]> extends 'scalar' ? ([ValueIn<P[K]>] extends [Plain] ? K : never) : never
}[VisibleName<P>]
type OrderedName<P> = { [K in PlainName<P>]: [ValueIn<P[K]>] extends [boolean] ? never : K }[PlainName<P>]
type TextName<P> = { [K in PlainName<P>]: [ValueIn<P[K]>] extends [string] ? K : never }[PlainName<P>]

type OneOrAny<V> = V | readonly V[]
type FilterValue<V> = V extends Date ? Date | string : V extends bigint ? bigint | number | string : V
type OrderedValue<V> = V extends Date
  ? Date | string
  : V extends number
    ? number
    : V extends bigint
      ? bigint | number | string
      : string | number
type NullOf<P> = IsNullable<P> extends true ? null : never

type ScalarFilters<P> = {
  readonly [K in PlainName<P> as FilterName<K> | `${K}${Extract<FilterSign, '!='>}`]?: OneOrAny<FilterValue<ValueIn<P[K]>> | NullOf<P[K]>>
} & { readonly [K in TextName<P> as `${K}${Extract<FilterSign, '~=' | '~~='>}`]?: OneOrAny<string | NullOf<P[K]>> } & {
  readonly [K in OrderedName<P> as `${K}${OrderSign}`]?: OrderedValue<ValueIn<P[K]>>
}

type TextFilters = { readonly [K in `*${Exclude<FilterSign, OrderSign | '='> | ''}`]?: OneOrAny<string | null> }

type OwnFilters<P> = ScalarFilters<P> & {
  readonly [K in RelationName<P> as FilterName<K> | `${K}!=`]?: OneOrAny<Id | (KindIn<P[K]> extends 'toMany' ? null : NullOf<P[K]>)>
}

/** By IDs, or by conditions on a single related record. */
type RelationFilters<P> = {
  readonly [K in RelationName<P> as `${K}!=`]?: OneOrAny<Id | (KindIn<P[K]> extends 'toMany' ? null : NullOf<P[K]>)>
} & {
  readonly [K in RelationName<P> as FilterName<K>]?:
    | OneOrAny<Id | (KindIn<P[K]> extends 'toMany' ? null : NullOf<P[K]>)>
    | Flat<OwnFilters<PropertiesOf<ValueIn<P[K]>>> & TextFilters & InnerGroups>
}

/** Conditions met by no related record. */
type NoneFilters<P> = {
  readonly [K in RelationName<P> as `!${K}`]?:
    | OneOrAny<Id | (KindIn<P[K]> extends 'toMany' ? null : NullOf<P[K]>)>
    | Flat<OwnFilters<PropertiesOf<ValueIn<P[K]>>> & TextFilters & InnerGroups>
}

/** Names are checked in the outermost group alone. */
type InnerGroups = { readonly [N in GroupName]?: readonly FreeParameters[] }

/** Any query object holds, or none. */
type GroupName = '|' | '!|'

type PathName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'scalar' ? never : K }[VisibleName<P>]
type FiltersBehind<P, K extends keyof P> = OwnFilters<PropertiesOf<ValueIn<P[K]>>>

/** Behind an empty relation, values are null. */
type PathFilters<P> = {
  readonly [
    F in { [K in PathName<P>]: `${K}.${keyof FiltersBehind<P, K> & string}` }[PathName<P>]
  ]?: F extends `${infer K extends PathName<P>}.${infer R}`
    ? R extends keyof FiltersBehind<P, K>
      ? FiltersBehind<P, K>[R] | null
      : never
    : never
}

/** All filters of a list. `!=` is the complement; so is `!` before a relation, and before a name in `$`. */
export type Filters<P> = PropertyFilters<P> &
  Flat<OtherFilters<P> & { readonly [N in GroupName]?: readonly (PropertyFilters<P> & Flat<OtherFilters<P> & InnerGroups>)[] }>

/** First in the messages of the compiler. */
type PropertyFilters<P> = Flat<ScalarFilters<P> & RelationFilters<P> & PathFilters<P>>

type OtherFilters<P> = NoneFilters<P> & TextFilters

type SortPath<P> = PlainName<P> | RelationName<P> | { [K in PathName<P>]: `${K}.${PlainName<PropertiesOf<ValueIn<P[K]>>>}` }[PathName<P>]

type SortOrder = '' | '.asc' | '.desc'

/** A relation sorts by its number of records. NULL is the smallest value, unless the key says otherwise. */
export type SortKey<P> = P extends unknown ? `${SortPath<P>}${SortOrder}${'' | '.nullsfirst' | '.nullslast'}` : never

/** Lists with parameters of their own, by path: `{ posts: { 'title~=': 'a*', sort: 'id.desc', limit: 3 } }`. */
export type ExpandedBy<X extends string> = { readonly [K in X]?: FreeParameters }

/** Of one record. */
export interface RecordQuery<D extends Depth, X extends string, A extends string> {
  /** 0: no relations; 1: as IDs; 2: as objects. Default: the depth of the resource, usually 1. */
  readonly depth?: D
  /** Relations to show as objects; an object gives lists parameters of their own. */
  readonly expand?: X | ExpandedBy<X> | readonly (X | ExpandedBy<X>)[]
  /** Attributes to show; `!name` hides an attribute. */
  readonly attributes?: A | readonly A[]
  /** Unchecked: deeper paths, several paths in a filter, flags, custom parameters. */
  readonly $?: FreeParameters
}

/** Parameters of a list without filters and sort keys. */
export interface PageQuery<D extends Depth, X extends string, A extends string> extends RecordQuery<D, X, A> {
  /** Default: the engine's limit, 100. */
  readonly limit?: number
  /** Records to skip; `first` begins pages by keys, for `next` to continue. */
  readonly offset?: number | 'first' | `after.${string}`
}

/**
 * Filters and sort keys. Also `page`, from 1, for an engine with `parameters: { page: 'page' }`, unless records have an attribute `page`.
 */
export type Search<P> = Filters<P> & Flat<{ readonly sort?: SortKey<P> | readonly SortKey<P>[] }> & PageNumber<P>

type PageNumber<P> = 'page' extends keyof P ? unknown : { readonly page?: number }

/** A list's whole query. */
export type ListQuery<P, D extends Depth, X extends string, A extends string> = PageQuery<D, X, A> & Search<P>
