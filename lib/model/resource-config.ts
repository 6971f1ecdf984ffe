/** The options of `resource(User, { … })`, an application's changes to the API of one entity. */
import type { EntityName, FilterQuery } from '@mikro-orm/core'
import type { QueryConditions } from '../foundation/base/query-input.ts'
import type { Action, HookContext, Wrapper } from './hook-context.ts'

/** One by one, so that the compiler answers a misspelt name with `"email" | "name"`. */
export type PropertyName<E, Name = keyof E> = Name extends string ? (Name extends `__${string}` ? never : Name) : never

/** A dotted path of relations from the entity. */
export type RelationPath<E, Name = PropertyName<E>> = Name extends string ? Name | `${Name}.${string}` : never

/** A property's JSON form. */
export type JsonOf<V> = V extends Date | bigint | Uint8Array
  ? string
  : V extends string | number | boolean | null | undefined
    ? Exclude<V, undefined>
    : unknown

/**
 * Gives an attribute's value in JSON form. Undefined: none.
 *
 * @param body as the client sent it
 */
export type FillRule = (ctx: HookContext, body: Readonly<Record<string, unknown>>) => unknown

/** Rules for one attribute. */
export interface AttributeRules<E, K extends PropertyName<E>> {
  /**
   * Shows another JSON value; undefined leaves the attribute out. May be async.
   *
   * @param value the stored value in JSON form
   * @param record the record's stored plain attributes, private ones too
   */
  readonly render?: (value: JsonOf<E[K]>, record: Readonly<Record<string, unknown>>, ctx: HookContext) => unknown
  /** Refused in bodies. The other side of a link refuses, too, unless declared `readOnly: false`. */
  readonly readOnly?: boolean
  /** Not read, filtered, sorted, expanded; may be written unless `readOnly`. */
  readonly private?: boolean
  /** By the stored value. Default: true unless rendered. */
  readonly filterable?: boolean
  /** By the stored value. Default: true unless rendered. */
  readonly sortable?: boolean
  /**
   * The engine's value for a new record, or `{ create, update }` for new and changed records, in the form of a body: `ctx => ctx.user.id`.
   * Bodies may not name the attribute, as with `readOnly`.
   */
  readonly fill?: FillRule | { readonly create?: FillRule; readonly update?: FillRule }
  /**
   * For a list of records with a `key`: an unknown ID in a body creates a record with that key, so `tags: ['new']` needs no `{ connect,
   * create }`. The caller needs the right to create. Default: unknown IDs are refused.
   */
  readonly create?: boolean
  /**
   * Checks values in bodies beyond the model: a Standard Schema (zod, valibot, arktype), or a function that returns `true` or says what is
   * wrong. Each issue is a field error `schema_refused`. Null is not checked; a schema's converted value is not taken.
   */
  readonly schema?: StandardSchema | ((value: JsonOf<E[K]>, ctx: HookContext) => boolean | string | Promise<boolean | string>)
  /**
   * A name for a relation's IDs: `userId` for `user`, `tagIds` for `tags`. Records, bodies, filters and sort keys use this name; the
   * relation itself shows where expanded or at depth 2. Default: one name for both.
   */
  readonly ids?: string
}

/** A value bound to SQL, or a function of the request: `ctx => ctx.user?.id`. NULL for undefined, and outside of requests. */
export type SqlParameter = {} | null | undefined | ((ctx: HookContext) => unknown)

/** SQL with `?` for bound values. MikroORM's `raw('...', [...])` fits. */
export interface SqlFragment {
  readonly sql: string
  readonly params: readonly SqlParameter[]
}

/** SQL over the resource's table, named by the alias. */
export interface ComputedAttribute {
  readonly type: 'integer' | 'bigint' | 'float' | 'decimal' | 'string' | 'boolean' | 'datetime' | 'date' | 'time' | 'uuid' | 'json'
  /** For decimals: digits after the point. */
  readonly scale?: number
  readonly sql: (alias: string) => string | SqlFragment
}

/** Computed attributes under a name, optionally behind a flag. */
export interface ComputedGroup {
  /** The parameter that lets the group exist. */
  readonly flag?: string
  readonly [name: string]: ComputedAttribute | ComputedGroup | string | undefined
}

/** See `ResourceConfig.open`. */
export type OpenOption =
  | string
  | {
      readonly property: string
      /** Whether only the first request with new names adds names. Default: `false`. */
      readonly once?: boolean
      /** Names still refused. Default: none. */
      readonly except?: readonly string[]
    }

/** Who may do what. */
export type AccessRule = boolean | ((ctx: HookContext, action: Action) => boolean | Promise<boolean>)

/** Rows the caller may write: a condition, all (`true`), or none. */
export type WriteRule<E> = FilterQuery<E> | boolean | undefined | null

/** A mark's list of users, and an optional attribute for the caller's mark. */
export interface MarkOption<Name extends string> {
  readonly list: Name
  readonly shown?: string
}

/** A condition on a list's records, from the parameter's text. */
export type ResourceParameter<E> = (
  value: string,
  ctx: HookContext,
) => FilterQuery<E> | undefined | null | Promise<FilterQuery<E> | undefined | null>

export type UntypedConfig = ResourceConfig<Record<string, unknown>>

/** Options of one resource. */
export interface ResourceConfig<E> {
  /** Plural name, replacing the defaults. */
  readonly name?: string
  /** Singular name. Default: `name`. */
  readonly singular?: string
  /**
   * The ID of the only record, which has the resource's path: `GET /v1/profile` reads, PUT and PATCH change, `/v1/profile/name` is an
   * attribute; POST and DELETE are not allowed.
   */
  readonly single?: string | number
  /**
   * A property shown in the place of the ID: in paths, links, relations, bodies, filters by relation, `seed`, `given`, the journal. Must be
   * plain, unique and never null. Foreign keys still hold the primary key, a plain attribute now; the value may change. Default: the
   * primary key.
   */
  readonly key?: PropertyName<E>
  /** Versions with the resource. Default: all. */
  readonly versions?: readonly string[]
  /** Depth if a request names none. Default 1. */
  readonly depth?: 0 | 1 | 2
  /** Relation paths expanded if a request names none. */
  readonly expand?: readonly RelationPath<NoInfer<E>>[]
  /** Sort keys for a list without `sort`: `'age.desc,name'`, or an array. Default: the primary key. */
  readonly sort?: string | readonly string[]
  /** Page size for a list without `limit`, at most `limits.maxLimit`. Default: `limits.defaultLimit`. */
  readonly limit?: number
  /**
   * Filters for a list without any, as a query object or text: `{ published: true, 'age>=': 18 }`. Any filter in a request replaces them
   * all. `sort`, `limit` and `filter` hold for the list at the resource's path, not for lists below a record. Default: none.
   */
  readonly filter?: string | QueryConditions
  /**
   * Parameters of this resource's lists, each giving a condition or nothing: `{ tag: name => ({ tags: { name } }) }`. They override the
   * engine's option `parameters`. Default: none.
   */
  readonly parameters?: Readonly<Record<string, ResourceParameter<NoInfer<E>>>>
  readonly attributes?: { readonly [K in PropertyName<E>]?: AttributeRules<E, K> }
  readonly computed?: Readonly<Record<string, ComputedAttribute | ComputedGroup>>
  /**
   * Takes unknown names in bodies, and makes them attributes once written. The values go to a hidden JSON property, which must be nullable.
   * Default: unknown names are refused.
   */
  readonly open?: OpenOption
  /** Default: everybody may do everything. */
  readonly access?: AccessRule | Readonly<Partial<Record<Action, AccessRule>>>
  /** The rows that exist for the caller. */
  readonly scope?: (ctx: HookContext) => FilterQuery<E> | undefined | Promise<FilterQuery<E> | undefined>
  /**
   * Rows a caller may change, move, link away or delete: a condition, or whether any. Holds for each row a request touches, by any path,
   * before and after the write, and for new rows. Otherwise: 403 `forbidden`, and nothing changes. A function without a result allows
   * nothing. Default: all rows that exist for the caller.
   */
  readonly write?: (ctx: HookContext) => WriteRule<NoInfer<E>> | Promise<WriteRule<NoInfer<E>>>
  /**
   * Links between records and the calling user, with paths: by `{ favorite: 'favoritedBy' }`, POST of `/v1/articles/7/favorite` puts the
   * caller into the record's many-to-many list `favoritedBy`, DELETE takes the caller out. The answer is the record. `{ favorite: { list:
   * 'favoritedBy', shown: 'favorited' } }` adds an attribute, true for records with the caller's mark. A caller may mark every readable
   * record, without a right to change. Default: none.
   */
  readonly marks?: Readonly<Record<string, PropertyName<E> | MarkOption<PropertyName<E>>>>
  /**
   * Whether a write may run again, wrapper included, with the original `ctx`, after meeting another write: for wrappers without effects
   * outside the database. Needed on PostgreSQL, where writes run concurrently; otherwise such a write is 503 `database_busy`. Default:
   * `false`.
   */
  readonly repeatable?: boolean
  readonly list?: Wrapper
  readonly get?: Wrapper
  readonly create?: Wrapper
  readonly update?: Wrapper
  readonly delete?: Wrapper
}

/** A result of `resource`, for the engine option `resources`. */
export interface ResourceDefinition {
  /** A text names a table, entity or resource of a model read from the database. */
  readonly entity: EntityName | string
  readonly config: ResourceConfig<Record<string, unknown>>
}

/**
 * Customises a model. For a model read from the database, a text names the table: `resource('users', { attributes: { passwordHash: {
 * private: true } } })`.
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

/** Why a schema refuses. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Of zod, valibot, arktype. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>
    /** Gives JSON Schema, where the library can (Standard JSON Schema, version 1). */
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> } | undefined
  }
}

type SchemaResult = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/** See `AttributeRules.schema`. */
export type ValueSchema = StandardSchema | ((value: unknown, ctx: HookContext) => unknown)
