/**
 * Query types: the filters and other parameters of a request, by its entity. Names are checked up to one relation away, so that the number
 * of names grows with the attributes alone. Deeper paths go through `$`.
 */
import type { Id, IsNullable, KindIn, PropertiesOf, RelationName, ValueIn, VisibleName } from './entity-types.ts'
import type { FilterSign, FreeParameters, OrderSign, ReservedOfClient } from './query-names.ts'
import type { Depth } from './record-types.ts'

type FilterName<K extends string> = K extends ReservedOfClient ? `${K}_` : K

/** Shows the members of a type in place of the names and arguments of the types that it is made of. */
type Flat<T> = T extends unknown ? { readonly [K in keyof T]: T[K] } : never

type Plain = string | number | boolean | bigint | Date

/** The attributes that have one plain value. */
type PlainName<P> = {
  [K in VisibleName<P>]: KindIn<P[K]> extends 'scalar' ? ([ValueIn<P[K]>] extends [Plain] ? K : never) : never
}[VisibleName<P>]
type OrderedName<P> = { [K in PlainName<P>]: [ValueIn<P[K]>] extends [boolean] ? never : K }[PlainName<P>]
type TextName<P> = { [K in PlainName<P>]: [ValueIn<P[K]>] extends [string] ? K : never }[PlainName<P>]

/** One or any of several values. A date may be given as a date or as a text. */
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

/** Filters of the attributes of a record. */
type OwnFilters<P> = {
  readonly [K in PlainName<P> as FilterName<K> | `${K}${Extract<FilterSign, '!='>}`]?: OneOrAny<FilterValue<ValueIn<P[K]>> | NullOf<P[K]>>
} & { readonly [K in TextName<P> as `${K}${Extract<FilterSign, '~='>}`]?: OneOrAny<string | NullOf<P[K]>> } & {
  readonly [K in OrderedName<P> as `${K}${OrderSign}`]?: OrderedValue<ValueIn<P[K]>>
} & { readonly [K in RelationName<P> as FilterName<K> | `${K}!=`]?: OneOrAny<Id | (KindIn<P[K]> extends 'toMany' ? null : NullOf<P[K]>)> }

/** Relations and embedded objects, whose attributes can be filtered by. */
type PathName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'scalar' ? never : K }[VisibleName<P>]
type FiltersBehind<P, K extends keyof P> = OwnFilters<PropertiesOf<ValueIn<P[K]>>>

/** Filters one relation away. What lies behind an empty relation is null. */
type PathFilters<P> = {
  readonly [
    F in { [K in PathName<P>]: `${K}.${keyof FiltersBehind<P, K> & string}` }[PathName<P>]
  ]?: F extends `${infer K extends PathName<P>}.${infer R}`
    ? R extends keyof FiltersBehind<P, K>
      ? FiltersBehind<P, K>[R] | null
      : never
    : never
}

/**
 * All filters of a list, by name with operator. What a filter does not find is found with `!=`, or with `!` in front of its name below `$`.
 */
export type Filters<P> = Flat<OwnFilters<P> & PathFilters<P>>

type SortPath<P> = PlainName<P> | RelationName<P> | { [K in PathName<P>]: `${K}.${PlainName<PropertiesOf<ValueIn<P[K]>>>}` }[PathName<P>]

/** A sort key. A relation sorts by the number of its records. */
export type SortKey<P> = P extends unknown ? SortPath<P> | `${SortPath<P>}.asc` | `${SortPath<P>}.desc` : never

/** What a request for one record may have. */
export interface RecordQuery<D extends Depth, X extends string, A extends string> {
  /** 0: no relations; 1: as IDs; 2: as objects. Default: that of the engine, which is 1 unless the resource has another. */
  readonly depth?: D
  /** Relations to show as objects. */
  readonly expand?: X | readonly X[]
  /** Attributes to show; `!name` leaves one out. */
  readonly attributes?: A | readonly A[]
  /** Parameters that are not checked: deeper paths, several paths in one filter, flags, parameters of the application. */
  readonly $?: FreeParameters
}

/** What a request for a list may have beside its filters and its sort keys. */
export interface PageQuery<D extends Depth, X extends string, A extends string> extends RecordQuery<D, X, A> {
  /** Records on the page. Default: that of the engine, 100. */
  readonly limit?: number
  /** Records to skip. */
  readonly offset?: number
}

/**
 * Filters and sort keys; and the number of the page, from 1, where the engine has `parameters: { page: 'page' }`, unless the record has an
 * attribute of this name.
 */
export type Search<P> = Filters<P> & Flat<{ readonly sort?: SortKey<P> | readonly SortKey<P>[] }> & PageNumber<P>

type PageNumber<P> = 'page' extends keyof P ? unknown : { readonly page?: number }

/** What a request for a list may have. */
export type ListQuery<P, D extends Depth, X extends string, A extends string> = PageQuery<D, X, A> & Search<P>
