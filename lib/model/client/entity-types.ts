/**
 * Finds an entity's properties for the compiler, from `defineEntity` or a class. Only `PropertiesOf` goes on to a relation's
 * target, so compile time grows with entities, not with paths.
 *
 * ```
 * PropertiesIn<typeof Post> is {
 *   title: { '~type'?: { value: string }; '~options': { nullable: true } }
 *   user: { '~type'?: { value: User }; '~options': { kind: 'm:1' } }
 * }
 *
 * ~entity, ~type, ~options, __serialized    names of MikroORM
 * ~ids, ~keys                               names of this file
 * [X] extends [never]                       X is never
 * 0 extends 1 & X                           X is any
 * ```
 */
import type {
  Collection,
  ExtractDefineEntityProperties,
  Hidden,
  HiddenProps,
  InferEntity,
  PrimaryKeyProp,
  ScalarReference,
} from '@mikro-orm/core'

/** A class, or a result of `defineEntity` or `new EntitySchema`. */
export type ClientEntity = { readonly '~entity': unknown } | (abstract new (...args: never[]) => object)

/** A composite key is a text: `'3~5'`. */
export type Id = number | string | bigint

/**
 * An entity whose answers have the ID `userId` for `user`: `resource(Post, { attributes: { user: { ids: 'userId' } } })`.
 *
 * @example
 * const api = client(engine, { posts: Post as WithIds<typeof Post, { user: 'userId' }> })
 */
export type WithIds<S, I extends Readonly<Record<string, string>>> = S & { readonly '~ids': I }

/**
 * An entity with links by another key of the target than the primary key: `resource(User, { key: 'name' })`.
 *
 * @example
 * const api = client(engine, { articles: Article as WithKeys<typeof Article, { author: 'name'; tags: 'name' }> })
 */
export type WithKeys<S, K extends Readonly<Record<string, string>>> = S & { readonly '~keys': K }

/** By name: builders such as `p.string()`, or objects of `~type` and `~options`. */
export type PropertiesIn<S> = S extends { readonly '~ids': infer I extends Readonly<Record<string, string>> }
  ? IdsProperties<KeyedIn<S>, I>
  : KeyedIn<S>

type KeyedIn<S> = S extends { readonly '~keys': infer K extends Readonly<Record<string, string>> }
  ? KeyedProperties<EntityProperties<S>, K>
  : EntityProperties<S>

/** Adds the option `key` of relations. */
type KeyedProperties<P, K> = { [N in keyof P]: N extends keyof K ? Keyed<P[N], K[N]> : P[N] }

interface Keyed<P, N> {
  readonly '~type'?: { value: ValueIn<P> }
  readonly '~options': OptionsIn<P> & { readonly key: N }
}

/** The type of an ID: of the target's primary key, or by `WithKeys`. */
export type LinkedKey<P> =
  OptionsIn<P> extends { readonly key: infer N } ? (N extends keyof ValueIn<P> ? KeyValue<ValueIn<P>[N]> : never) : KeyOf<ValueIn<P>>

/** Adds `userId`; `user` stays for `expand` and depth 2. */
type IdsProperties<P, I extends Readonly<Record<string, string>>> = {
  [N in keyof P | I[keyof I]]: N extends keyof P ? (N extends keyof I ? LeftOutAtDepth1<P[N]> : P[N]) : IdsOf<P, I, N>
}

interface LeftOutAtDepth1<P> {
  readonly '~type'?: { value: ValueIn<P> }
  readonly '~options': OptionsIn<P> & { readonly leftOutAtDepth1: true }
}

type IdsOf<P, I, N> = { [K in keyof I & keyof P]: I[K] extends N ? IdsProperty<P[K]> : never }[keyof I & keyof P]

interface IdsProperty<P> {
  readonly '~type'?: { value: KeyOf<ValueIn<P>> }
  readonly '~options': KindIn<P> extends 'toMany'
    ? { readonly array: true }
    : IsNullable<P> extends true
      ? { readonly nullable: true }
      : object
}

type EntityProperties<S> = S extends { readonly '~entity': infer E; readonly properties: infer P }
  ? [ExtractDefineEntityProperties<E>] extends [never]
    ? P
    : ExtractDefineEntityProperties<E>
  : PropertiesOf<InferEntity<S>>

/** As `PropertiesIn`, of a relation's target: without `WithIds` and `WithKeys`. */
export type PropertiesOf<E> = [ExtractDefineEntityProperties<E>] extends [never] ? ClassProperties<E> : ExtractDefineEntityProperties<E>

type Built<P> = P extends (...args: never[]) => infer B ? B : P

/** A value's type; of a relation, the related entity. */
export type ValueIn<P> = Built<P> extends { readonly '~type'?: { value: infer V } } ? V : unknown

/** Such as `{ kind: 'm:1'; nullable: true }`. */
export type OptionsIn<P> = Built<P> extends { readonly '~options': infer O } ? O : unknown

type ToOne = '1:1' | 'm:1'
type ToMany = '1:m' | 'm:n'

export type KindIn<P> =
  OptionsIn<P> extends { readonly kind: infer K }
    ? K extends ToOne
      ? 'toOne'
      : K extends ToMany
        ? 'toMany'
        : K extends 'embedded'
          ? 'embedded'
          : 'scalar'
    : 'scalar'

/** Without `owner`, a one-to-one is the inverse side: maybe null. */
export type IsNullable<P> =
  OptionsIn<P> extends { readonly nullable: true }
    ? true
    : OptionsIn<P> extends { readonly kind: '1:1' }
      ? OptionsIn<P> extends { readonly owner: true }
        ? false
        : true
      : false

/** Names in answers. */
export type VisibleName<P> = { [K in keyof P & string]: OptionsIn<P[K]> extends { readonly hidden: true } ? never : K }[keyof P & string]

/** Visible relations. */
export type RelationName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'toOne' | 'toMany' ? K : never }[VisibleName<P>]

export type ListName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'toMany' ? K : never }[VisibleName<P>]

type KeyOf<E> = E extends { readonly [PrimaryKeyProp]?: infer K }
  ? K extends readonly unknown[]
    ? string
    : K extends keyof E
      ? KeyValue<E[K]>
      : number | string
  : E extends { readonly id: infer K } | { readonly uuid: infer K }
    ? KeyValue<K>
    : number | string

type KeyValue<V> = V extends number ? number : V extends string | bigint | Date ? string : number | string

export type Json<V> = V extends string | number | boolean | null
  ? V
  : V extends undefined
    ? null
    : V extends bigint | Date | Uint8Array
      ? string
      : '__serialized' extends keyof V
        ? V['__serialized']
        : V extends readonly (infer I)[]
          ? Json<I>[]
          : V extends object
            ? { [K in keyof V]: Json<V[K]> }
            : unknown

type ClassProperties<E> = 0 extends 1 & E
  ? Record<string, never>
  : {
      [K in keyof E & string as NonNullable<E[K]> extends (...args: never[]) => unknown ? never : K]: ClassProperty<
        NonNullable<E[K]>,
        null extends E[K] ? true : undefined extends E[K] ? true : false,
        IsHidden<E, K>
      >
    }

type IsHidden<E, K extends keyof E> =
  NonNullable<E[K]> extends Hidden.Brand ? true : E extends { readonly [HiddenProps]?: infer H } ? (K extends H ? true : false) : false

interface ClassProperty<V, N extends boolean, H extends boolean> {
  readonly '~type'?: {
    value: V extends Collection<infer T> ? T : V extends ScalarReference<infer T> ? T : V extends { readonly unwrap: () => infer T } ? T : V
  }
  readonly '~options': { readonly kind: ClassKind<V>; readonly nullable: N; readonly hidden: H }
}

/** Guesses: an object with a key is a link. */
type ClassKind<V> =
  V extends Collection<object>
    ? '1:m'
    : V extends string | number | boolean | bigint | Date | Uint8Array | readonly unknown[] | ScalarReference<unknown>
      ? undefined
      : V extends
            | { readonly [PrimaryKeyProp]?: unknown }
            | { readonly id: unknown }
            | { readonly uuid: unknown }
            | { readonly unwrap: () => object }
        ? 'm:1'
        : undefined
