/** Types of records in answers, by `depth`, `expand` and `attributes`, and of bodies. */
import type {
  Id,
  IsNullable,
  Json,
  KindIn,
  LinkedKey,
  OptionsIn,
  PropertiesOf,
  RelationName,
  ValueIn,
  VisibleName,
} from './entity-types.ts'

/** Relations: 0 not at all, 1 as IDs, 2 as objects. */
export type Depth = 0 | 1 | 2

/** Names beyond two relations are not checked. */
export type Expandable<P> = P extends unknown
  ? { [K in RelationName<P>]: K | `${K}.${Inner<P[K]>}` | `${K}.${Inner<P[K]>}${'.' | '('}${string}` | `${K}(${string})` }[RelationName<P>]
  : never

type Inner<P> = RelationName<PropertiesOf<ValueIn<P>>>

/** `!` hides an attribute. */
export type Selectable<P> = P extends unknown ? SelectableName<P> | `!${SelectableName<P>}` : never

type SelectableName<P> =
  | VisibleName<P>
  | {
      [K in VisibleName<P>]: KindIn<P[K]> extends 'scalar'
        ? never
        : `${K}.${VisibleName<PropertiesOf<ValueIn<P[K]>>>}` | `${K}.${string}.${string}`
    }[VisibleName<P>]

/** The condition always holds. By the condition, the compiler shows members for known arguments, else the type's name. */
export type ShownRecord<P, D extends Depth = 1, X extends string = never, A extends string = never> = [P, D, X, A] extends [
  unknown,
  unknown,
  unknown,
  unknown,
]
  ? {
      -readonly [K in keyof P as K extends string ? (IsShown<P[K], K, D, X, A> extends true ? K : never) : never]-?: ShownValue<
        P[K],
        D,
        X,
        A,
        K & string
      >
    }
  : never

type IsShown<P, K extends string, D extends Depth, X extends string, A extends string> =
  OptionsIn<P> extends { readonly hidden: true }
    ? false
    : IsSelected<K, A> extends false
      ? false
      : D extends 0 | ShownBeside<P, K, A>
        ? KindIn<P> extends 'toOne' | 'toMany'
          ? IsNamed<K, X>
          : true
        : true

/** Depth 1 shows IDs under another name, unless `attributes` names the relation. */
type ShownBeside<P, K extends string, A extends string> =
  OptionsIn<P> extends { readonly leftOutAtDepth1: true } ? (IsNamed<K, Included<A>> extends true ? never : 1) : never

type Included<A extends string> = A extends `!${string}` ? never : A

type IsSelected<K extends string, A extends string> = [A] extends [never]
  ? true
  : `!${K}` extends A
    ? false
    : [Included<A>] extends [never]
      ? true
      : IsNamed<K, Included<A>>

type IsNamed<K extends string, X extends string> = K extends X
  ? true
  : [Extract<X, `${K}${'.' | '('}${string}`>] extends [never]
    ? false
    : true

/** `posts(count)`: a number in the place of the list. */
type Counted<K extends string> = `${K}(count)` | `${K}(count;${string}`

type PathBehind<X extends string, K extends string> = X extends `${K}.${infer R}` ? R : never

type SelectedBehind<A extends string, K extends string> =
  | (K extends A ? never : PathBehind<A, K>)
  | (A extends `!${K}.${infer R}` ? `!${R}` : never)

type ShownValue<P, D extends Depth, X extends string, A extends string, K extends string> =
  KindIn<P> extends 'toMany'
    ? [Extract<X, Counted<K>>] extends [never]
      ? Related<P, D, X, A, K>[]
      : number
    : IsNullable<P> extends true
      ? OneValue<P, D, X, A, K> | null
      : OneValue<P, D, X, A, K>

type OneValue<P, D extends Depth, X extends string, A extends string, K extends string> =
  KindIn<P> extends 'toOne'
    ? Related<P, D, X, A, K>
    : KindIn<P> extends 'embedded'
      ? OptionsIn<P> extends { readonly array: true }
        ? Embedded<ValueIn<P>, A, K>[]
        : Embedded<ValueIn<P>, A, K>
      : OptionsIn<P> extends { readonly array: true }
        ? Json<ValueIn<P>>[]
        : Json<ValueIn<P>>

type Embedded<E, A extends string, K extends string> = E extends unknown
  ? ShownRecord<PropertiesOf<E>, 2, never, SelectedBehind<A, K>>
  : never

type Related<P, D extends Depth, X extends string, A extends string, K extends string> =
  IsNamed<K, X> extends true
    ? Expanded<ValueIn<P>, D, PathBehind<X, K>, SelectedBehind<A, K>>
    : D extends 2
      ? Expanded<ValueIn<P>, 1, never, SelectedBehind<A, K>>
      : RecordLink<P>

/** With several target entities, `type` names the target. */
type Expanded<E, D extends Depth, X extends string, A extends string> =
  IsUnion<E> extends true
    ? E extends unknown
      ? { type: string } & ShownRecord<PropertiesOf<E>, D, X, A>
      : never
    : ShownRecord<PropertiesOf<E>, D, X, A>

type RecordLink<P> = IsUnion<ValueIn<P>> extends true ? { type: string; id: Id } : LinkedKey<P>

type IsUnion<E, Whole = E> = E extends unknown ? ([Whole] extends [E] ? false : true) : never

/** All attributes are optional: only model and hooks know the required ones. A missing attribute is 422 `validation_failed`. */
export type RecordBody<P> = P extends unknown ? { readonly [K in WritableName<P>]?: BodyValue<P[K]> } : never

type WritableName<P> = {
  [K in keyof P & string]: OptionsIn<P[K]> extends { readonly formula: string | ((...args: never[]) => unknown) } ? never : K
}[keyof P & string]

/** An ID links a record, an object makes a record. */
export type BodyValue<P> = IsNullable<P> extends true ? GivenValue<P> | null : GivenValue<P>

type GivenValue<P> =
  KindIn<P> extends 'toMany'
    ? readonly LinkBody<P>[] | ListChange<LinkedKey<P>>
    : KindIn<P> extends 'toOne'
      ? LinkBody<P>
      : KindIn<P> extends 'embedded'
        ? OptionsIn<P> extends { readonly array: true }
          ? readonly EmbeddedBody<ValueIn<P>>[]
          : EmbeddedBody<ValueIn<P>>
        : OptionsIn<P> extends { readonly array: true }
          ? readonly BodyJson<ValueIn<P>>[]
          : BodyJson<ValueIn<P>>

/** Links and unlinks members by ID. `create` makes missing records by their key. */
export interface ListChange<I> {
  readonly connect?: readonly I[]
  readonly disconnect?: readonly I[]
  readonly create?: boolean
}

type LinkBody<P> =
  IsUnion<ValueIn<P>> extends true
    ? { readonly type: string; readonly [name: string]: unknown }
    : LinkedKey<P> | RecordBody<PropertiesOf<ValueIn<P>>>

type EmbeddedBody<E> = E extends unknown ? RecordBody<PropertiesOf<E>> : never

/** Values, or JSON. */
type BodyJson<V> = V extends Date | bigint | Uint8Array ? V | string | (V extends bigint ? number : never) : V | Json<V>
