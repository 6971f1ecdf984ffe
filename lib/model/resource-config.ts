/**
 * Resource config: per-model customisation, as the application writes it. Typed from the entity; checked by name when the engine is
 * created.
 */
import type { EntityName, FilterQuery } from '@mikro-orm/core'
import type { QueryValue } from '../foundation/base/query-input.ts'
import type { Action, HookContext, Wrapper } from './hook-context.ts'
import type { StandardSchema } from './value-schema.ts'

/**
 * Names of an entity's properties. Distributes over the names, so that tsc answers a misspelt name with `"email" | "name"`, and not with
 * the whole type of the entity.
 */
export type PropertyName<E, Name = keyof E> = Name extends string ? (Name extends `__${string}` ? never : Name) : never

/** A dotted path of relations, which begins with a property of the entity. */
export type RelationPath<E, Name = PropertyName<E>> = Name extends string ? Name | `${Name}.${string}` : never

/** The JSON form of a property's value, as a renderer is given it. */
export type JsonOf<V> = V extends Date | bigint | Uint8Array
  ? string
  : V extends string | number | boolean | null | undefined
    ? Exclude<V, undefined>
    : unknown

/**
 * Gives the value of an attribute to a record, in its JSON form. Undefined: none.
 *
 * @param body the body of the record, as the client has sent it
 */
export type FillRule = (ctx: HookContext, body: Readonly<Record<string, unknown>>) => unknown

/** How one attribute is treated. */
export interface AttributeRules<E, K extends PropertyName<E>> {
  /**
   * Another value for the attribute; undefined leaves it out. May be async. Must give a JSON value.
   *
   * @param value the stored value in its JSON form
   * @param record the stored plain attributes of the record, private ones too
   */
  readonly render?: (value: JsonOf<E[K]>, record: Readonly<Record<string, unknown>>, ctx: HookContext) => unknown
  /** Refused in bodies. A link is refused at its other side, too, unless that side says `readOnly: false`. */
  readonly readOnly?: boolean
  /** Does not exist for reading, filtering, sorting, expanding; may be written unless `readOnly`. */
  readonly private?: boolean
  /** Whether it can be filtered by its stored value. Default: true, but false when it is rendered. */
  readonly filterable?: boolean
  /** Whether it can be sorted by its stored value. Default: true, but false when it is rendered. */
  readonly sortable?: boolean
  /**
   * What the engine gives to a new record, or `{ create, update }` to a new and to a changed one: a value as a body would have it, `ctx =>
   * ctx.user.id`. A body that names the attribute is refused, as one that names a `readOnly` attribute.
   */
  readonly fill?: FillRule | { readonly create?: FillRule; readonly update?: FillRule }
  /**
   * Of a list of records that clients know by a `key`: an ID in a body that none of them has makes a record with that key, so `tags:
   * ['new']` needs no `{ connect, create }`. The caller must be allowed to create one. Default: such an ID is refused.
   */
  readonly create?: boolean
  /**
   * Checks the values that bodies give, beyond the model: a Standard Schema (zod, valibot, arktype) or a function that gives `true`, or
   * says what is wrong. Each of their issues is a field error `schema_refused`. Null is not asked about, and what a schema makes of a value
   * is not taken.
   */
  readonly schema?: StandardSchema | ((value: JsonOf<E[K]>, ctx: HookContext) => boolean | string | Promise<boolean | string>)
  /**
   * Of a relation: a name for its IDs, such as `userId` for `user` or `tagIds` for `tags`. Records show them, and bodies, filters and sort
   * keys take them, under this name; the relation itself is shown where it is expanded or at depth 2. Default: one name for both.
   */
  readonly ids?: string
}

/**
 * A value that is bound to SQL, or a function that gives it to each request: `ctx => ctx.user?.id`. NULL where it gives nothing, and where
 * nobody asks.
 */
export type SqlParameter = {} | null | undefined | ((ctx: HookContext) => unknown)

/** SQL with bound values: `?` stands for each. MikroORM's `raw('...', [...])` is one. */
export interface SqlFragment {
  readonly sql: string
  readonly params: readonly SqlParameter[]
}

/** A computed attribute: an SQL expression over the columns of the resource's table, which goes by the given alias. */
export interface ComputedAttribute {
  readonly type: 'integer' | 'bigint' | 'float' | 'decimal' | 'string' | 'boolean' | 'datetime' | 'date' | 'time' | 'uuid' | 'json'
  /** For decimals: digits after the point. */
  readonly scale?: number
  readonly sql: (alias: string) => string | SqlFragment
}

/** Computed attributes nested under a name, optionally behind a flag parameter. */
export interface ComputedGroup {
  /** Name of the parameter that a request must give for the group to exist. */
  readonly flag?: string
  readonly [name: string]: ComputedAttribute | ComputedGroup | string | undefined
}

/** The property that holds what the model does not name; see `ResourceConfig.open`. */
export type OpenOption =
  | string
  | {
      readonly property: string
      /** Whether only the first request that gives such names adds them. Default: `false`. */
      readonly once?: boolean
      /** Names that are refused as before. Default: none. */
      readonly except?: readonly string[]
    }

/** Who may do what: a boolean, a function, or one of them for each action. */
export type AccessRule = boolean | ((ctx: HookContext, action: Action) => boolean | Promise<boolean>)

/** The rows of a resource that a caller may write: a condition, all (`true`), or none. */
export type WriteRule<E> = FilterQuery<E> | boolean | undefined | null

/** A mark of a resource: its list of users, and the name of the attribute that shows the caller's own, if there is to be one. */
export interface MarkOption<Name extends string> {
  readonly list: Name
  readonly shown?: string
}

/** A custom parameter of a resource: a condition on the records of a list, by the text of its value. */
export type ResourceParameter<E> = (
  value: string,
  ctx: HookContext,
) => FilterQuery<E> | undefined | null | Promise<FilterQuery<E> | undefined | null>

/** The configuration of a resource whose entity is not known. */
export type UntypedConfig = ResourceConfig<Record<string, unknown>>

/** What `resource` takes: what is to differ from the defaults for one model. */
export interface ResourceConfig<E> {
  /** Plural name, in place of the default names. */
  readonly name?: string
  /** Singular name. Default: the same as `name`. */
  readonly singular?: string
  /**
   * The ID of the only record that clients know: the path of the resource is that of this record, so `GET /v1/profile` gives it, PUT and
   * PATCH change it, `/v1/profile/name` is its attribute; POST and DELETE are not allowed.
   */
  readonly single?: string | number
  /**
   * A property whose value takes the place of the ID wherever clients meet one: in paths, links, relations, bodies, filters by relation,
   * `seed`, `given`, the journal. It must be a plain value that is unique and never null. Foreign keys hold the primary key as before,
   * which stays a plain attribute; a change may set another value. Default: the primary key.
   */
  readonly key?: PropertyName<E>
  /** The versions that this applies to and the resource exists in. Default: all. */
  readonly versions?: readonly string[]
  /** Depth of a request that names none. Default 1. */
  readonly depth?: 0 | 1 | 2
  /** Relation paths expanded in a request that names none. */
  readonly expand?: readonly RelationPath<NoInfer<E>>[]
  /** Sort keys of a list that a request asks for without `sort`: `'age.desc,name'`, or an array of them. Default: the primary key. */
  readonly sort?: string | readonly string[]
  /** Records on a page of a list that a request asks for without `limit`, at most `limits.maxLimit`. Default: `limits.defaultLimit`. */
  readonly limit?: number
  /**
   * Filters of a list that a request asks for without any filter, as a query object or its text: `{ published: true, 'age>=': 18 }`. A
   * request that names a filter of its own has that alone. `sort`, `limit` and `filter` hold for the list at the path of the resource, not
   * for lists below a record. Default: none.
   */
  readonly filter?: string | Readonly<Record<string, QueryValue | readonly QueryValue[]>>
  /**
   * Parameters of lists of the resource: each gives a condition on its records, or nothing. Elsewhere they are unknown. One of the same
   * name in the option `parameters` of the engine gives way: `{ tag: name => ({ tags: { name } }) }`. Default: none.
   */
  readonly parameters?: Readonly<Record<string, ResourceParameter<NoInfer<E>>>>
  readonly attributes?: { readonly [K in PropertyName<E>]?: AttributeRules<E, K> }
  readonly computed?: Readonly<Record<string, ComputedAttribute | ComputedGroup>>
  /**
   * Names that the model does not have are taken in bodies, and become attributes of the resource once they are written. A JSON property
   * that can be null holds their values, and is not shown itself. Default: unknown names are refused.
   */
  readonly open?: OpenOption
  /** Default: everybody may do everything. */
  readonly access?: AccessRule | Readonly<Partial<Record<Action, AccessRule>>>
  /** The rows that exist for the caller. */
  readonly scope?: (ctx: HookContext) => FilterQuery<E> | undefined | Promise<FilterQuery<E> | undefined>
  /**
   * Of the rows that exist for the caller, those it may change, move, link away or delete: a condition, or whether it may write any. It
   * holds for each row that a request touches, by whatever path, as it was and as it becomes, and for new rows; else the answer is 403
   * `forbidden`, and nothing is changed. A function that gives nothing allows nothing. Default: all rows that exist for the caller.
   */
  readonly write?: (ctx: HookContext) => WriteRule<NoInfer<E>> | Promise<WriteRule<NoInfer<E>>>
  /**
   * Links between records and the user who asks, each with a path of its own: `{ favorite: 'favoritedBy' }` has POST of
   * `/v1/articles/7/favorite` put the caller into the many-to-many list `favoritedBy` of the record, and DELETE take it out. The answer is
   * the record. `{ favorite: { list: 'favoritedBy', shown: 'favorited' } }` adds an attribute that is true for records with the caller's
   * mark. A caller may mark each record that it may read, and needs no right to change one. Default: none.
   */
  readonly marks?: Readonly<Record<string, PropertyName<E> | MarkOption<PropertyName<E>>>>
  /**
   * Whether a write whose wrapper runs may begin anew, wrapper and all, where another one has got in its way: several times if need be,
   * with `ctx` as it was at first. It is for wrappers that do nothing outside of the database, and for PostgreSQL, where writes run at the
   * same time: without it such a write is 503 `database_busy`. Default: `false`.
   */
  readonly repeatable?: boolean
  readonly list?: Wrapper
  readonly get?: Wrapper
  readonly create?: Wrapper
  readonly update?: Wrapper
  readonly delete?: Wrapper
}

/** A customised entity, for the option `resources`. */
export interface ResourceDefinition {
  /** A text names a table, an entity or a resource: where the model is read from the database, the application has nothing else. */
  readonly entity: EntityName | string
  readonly config: ResourceConfig<Record<string, unknown>>
}

/**
 * Customises one model. Where the model is read from the database, a text names its table: `resource('users', { attributes: { passwordHash:
 * { private: true } } })`.
 *
 * @example
 * const users = resource(User, {
 *   attributes: { email: { render: email => email.toLowerCase() }, password: { private: true } },
 *   access: (ctx, action) => action === 'list' || ctx.user !== undefined,
 *   scope: ctx => ({ active: true }),
 * })
 */
// oxlint-disable-next-line typescript/no-explicit-any -- nothing is known of the values of a table
export function resource<E extends object = Record<string, any>>(
  entity: EntityName<E> | string,
  config: ResourceConfig<E>,
): ResourceDefinition {
  return { entity: entity as EntityName | string, config: config as ResourceConfig<Record<string, unknown>> }
}
