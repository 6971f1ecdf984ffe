/**
 * Resource rules: what the application says of a resource by `resource(Entity, { ... })`, apart from its attributes, as later stages read
 * it.
 */
import type { QueryValue } from '../foundation/base/query-input.ts'
import type { Action, HookContext, Wrapper } from './hook-context.ts'

/** The sort, the limit and the filter of a list, as the application writes them. */
interface WrittenDefaults {
  readonly sort?: string | readonly string[]
  readonly limit?: number
  readonly filter?: string | Readonly<Record<string, QueryValue | readonly QueryValue[]>>
}

/** The rules of the application for a resource, apart from its attributes. */
export interface ResourceRules {
  readonly depth: 0 | 1 | 2
  /** The ID of the record that the path of the resource is that of, where clients know only this one. */
  readonly single: string | undefined
  readonly expand: readonly string[]
  /** Custom parameters of the resource's own, by name. */
  readonly parameters: ReadonlyMap<string, (value: string, ctx: HookContext) => unknown>
  /** What a list of the resource has of which a request names none, as the application wrote it; undefined where it gives nothing. */
  readonly defaults: WrittenDefaults | undefined
  /** By action: whether it is allowed, or a function that decides. */
  readonly access: Readonly<Record<Action, boolean | ((ctx: HookContext, action: Action) => boolean | Promise<boolean>)>>
  /** The conditions, in MikroORM's own language, that a row meets which exists for the caller: the scope, and the filters of the entity. */
  readonly scopes: readonly ((ctx: HookContext) => object | undefined | Promise<object | undefined>)[]
  /** How many of them are the application's, the first ones: its scope, and those of `defaults.scope`. The others are MikroORM's. */
  readonly ownScopes: number
  /** How many of the scopes, the first, a write may not take a row out of: a filter with a fixed condition says what is shown alone. */
  readonly writeScopes: number
  /** The condition that a row meets which the caller may write; undefined: all that exist for the caller. See `ResourceConfig.write`. */
  readonly write: ((ctx: HookContext) => object | boolean | undefined | null | Promise<object | boolean | undefined | null>) | undefined
  /** Whether a write whose wrapper runs may begin anew. See `ResourceConfig.repeatable`. */
  readonly repeatable: boolean
  readonly wrappers: Readonly<Partial<Record<Action, Wrapper>>>
}

/** Whether a write may take a row out of what is shown. */
export function hasFixed({ rules: { scopes, writeScopes } }: { readonly rules: ResourceRules }): boolean {
  return scopes.length > writeScopes
}
