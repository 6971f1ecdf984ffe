/**
 * Entity types: the attributes of an entity as the compiler knows them, for the typed client. They come from `defineEntity`, whose entities
 * carry the builders of their properties; of a class they come from the types of its members, as far as these say.
 *
 * The cost for the compiler grows with the number of entities alone, since no type here follows relations further than is asked.
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

/** What a client takes as an entity: what `defineEntity` or `new EntitySchema` gives, or a class. */
export type ClientEntity = { readonly '~entity': unknown } | (abstract new (...args: never[]) => object)

/** An ID in a path, or of a related record. The parts of a composite key are one text: `'3~5'`. */
export type Id = number | string | bigint

/**
 * An entity whose relations have names of their own for their IDs, as `resource(Post, { attributes: { user: { ids: 'userId' } } })` gives
 * them.
 *
 * @example
 * const api = client(engine, { posts: Post as WithIds<typeof Post, { user: 'userId' }> })
 */
export type WithIds<S, I extends Readonly<Record<string, string>>> = S & { readonly '~ids': I }

/**
 * An entity whose relations lead to resources with another key, as `resource(User, { key: 'name' })` gives it to users: each relation with
 * the property that it shows.
 *
 * @example
 * const api = client(engine, { articles: Article as WithKeys<typeof Article, { author: 'name'; tags: 'name' }> })
 */
export type WithKeys<S, K extends Readonly<Record<string, string>>> = S & { readonly '~keys': K }

/** Properties by name, each as its builder. */
export type PropertiesIn<S> = S extends { readonly '~ids': infer I extends Readonly<Record<string, string>> }
  ? IdsProperties<KeyedIn<S>, I>
  : KeyedIn<S>

type KeyedIn<S> = S extends { readonly '~keys': infer K extends Readonly<Record<string, string>> }
  ? KeyedProperties<EntityProperties<S>, K>
  : EntityProperties<S>

/** The properties, with relations that show another key. */
type KeyedProperties<P, K> = { [N in keyof P]: N extends keyof K ? Keyed<P[N], K[N]> : P[N] }

interface Keyed<P, N> {
  readonly '~type'?: { value: ValueIn<P> }
  readonly '~options': OptionsIn<P> & { readonly key: N }
}

/** The ID that a relation shows: the key of what it leads to, or another property of it. */
export type LinkedKey<P> =
  OptionsIn<P> extends { readonly key: infer N } ? (N extends keyof ValueIn<P> ? KeyValue<ValueIn<P>[N]> : never) : KeyOf<ValueIn<P>>

/** The properties, with the IDs of relations as plain values under their own names. */
type IdsProperties<P, I extends Readonly<Record<string, string>>> = {
  [N in keyof P | I[keyof I]]: N extends keyof P ? (N extends keyof I ? Beside<P[N]> : P[N]) : IdsOf<P, I, N>
}

interface Beside<P> {
  readonly '~type'?: { value: ValueIn<P> }
  readonly '~options': OptionsIn<P> & { readonly beside: true }
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

/** The properties of an entity that a relation leads to. */
export type PropertiesOf<E> = [ExtractDefineEntityProperties<E>] extends [never] ? ClassProperties<E> : ExtractDefineEntityProperties<E>

type Built<P> = P extends (...args: never[]) => infer B ? B : P

/** The value of a property: of a relation the related entity, without collection or reference around it. */
export type ValueIn<P> = Built<P> extends { readonly '~type'?: { value: infer V } } ? V : unknown

/** The options of a property as far as the types keep them: `kind`, `nullable`, `hidden`, `array`, `formula` ... */
export type OptionsIn<P> = Built<P> extends { readonly '~options': infer O } ? O : unknown

type ToOne = '1:1' | 'm:1'
type ToMany = '1:m' | 'm:n'

/** The kind of an attribute. */
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

/** Whether an attribute may be null. Which side of a one-to-one relation is the inverse one, and so may be empty, only `owner` says. */
export type IsNullable<P> =
  OptionsIn<P> extends { readonly nullable: true }
    ? true
    : OptionsIn<P> extends { readonly kind: '1:1' }
      ? OptionsIn<P> extends { readonly owner: true }
        ? false
        : true
      : false

/** The names of the properties that answers show. */
export type VisibleName<P> = { [K in keyof P & string]: OptionsIn<P[K]> extends { readonly hidden: true } ? never : K }[keyof P & string]

/** The names of the visible relations. */
export type RelationName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'toOne' | 'toMany' ? K : never }[VisibleName<P>]

/** The names of the visible lists of records. */
export type ListName<P> = { [K in VisibleName<P>]: KindIn<P[K]> extends 'toMany' ? K : never }[VisibleName<P>]

/** The ID of an entity, as answers show it. */
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

/** The JSON form of a stored value. */
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

/** The members of a class as if they were builders of properties. */
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
