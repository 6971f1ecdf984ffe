/** Resource rules: options of `resource(Entity, { ... })`, without attributes. */
import type { QueryConditions } from '../foundation/base/query-input.ts'
import type { Action, HookContext, Wrapper } from './hook-context.ts'

interface WrittenDefaults {
  readonly sort?: string | readonly string[]
  readonly limit?: number
  readonly filter?: string | QueryConditions
}

export interface ResourceRules {
  readonly depth: 0 | 1 | 2
  /** The ID of the only record, shown at the resource's path. */
  readonly single: string | undefined
  readonly expand: readonly string[]
  /** The resource's own, by name. */
  readonly parameters: ReadonlyMap<string, (value: string, ctx: HookContext) => unknown>
  /** For lists, where a request names none. */
  readonly defaults: WrittenDefaults | undefined
  readonly access: Readonly<Record<Action, boolean | ((ctx: HookContext, action: Action) => boolean | Promise<boolean>)>>
  /** MikroORM conditions a row must meet to exist for the caller: scope and filters. */
  readonly scopes: readonly ((ctx: HookContext) => object | undefined | Promise<object | undefined>)[]
  /** How many, from the first, are the application's, with `defaults.scope`; the rest are MikroORM's. */
  readonly ownScopes: number
  /** How many, from the first, a written row must keep: a fixed filter only says what is shown. */
  readonly writeScopes: number
  /** Undefined: the caller may write all rows. */
  readonly write: ((ctx: HookContext) => object | boolean | undefined | null | Promise<object | boolean | undefined | null>) | undefined
  /** Whether a write may run again. */
  readonly repeatable: boolean
  readonly wrappers: Readonly<Partial<Record<Action, Wrapper>>>
}

/** Whether a write may take a row out of a fixed filter. */
export function hasFixed({ rules: { scopes, writeScopes } }: { readonly rules: ResourceRules }): boolean {
  return scopes.length > writeScopes
}
