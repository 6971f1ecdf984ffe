/** The type of the options of `resource(User, { … })`, checked, for later stages: without options of single attributes. */
import type { EntityMetadata } from '@mikro-orm/core'
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
  /** For lists of requests without own. */
  readonly defaults: WrittenDefaults | undefined
  readonly access: Readonly<Record<Action, boolean | ((ctx: HookContext, action: Action) => boolean | Promise<boolean>)>>
  /** MikroORM conditions on rows that exist for the caller: the application's scopes, then MikroORM's filters. */
  readonly scopes: readonly ((ctx: HookContext) => object | undefined | Promise<object | undefined>)[]
  /** How many, from the first, are the application's: `scope` and `defaults.scope`. */
  readonly ownScopes: number
  /** How many, from the first, must hold after a write, too: a fixed filter only says what is shown. */
  readonly writeScopes: number
  /** Undefined: the caller may write all rows. */
  readonly write: ((ctx: HookContext) => object | boolean | undefined | null | Promise<object | boolean | undefined | null>) | undefined
  readonly repeatable: boolean
  readonly wrappers: Readonly<Partial<Record<Action, Wrapper>>>
}

/** Whether a fixed filter, such as `{ deletedAt: null }`, hides rows. */
export function hasFixed({ rules: { scopes, writeScopes } }: { readonly rules: ResourceRules }): boolean {
  return scopes.length > writeScopes
}

/** By property, a function: gives the value or condition for rows, or true for all rows. */
export type SharedScope = Readonly<Record<string, (ctx: HookContext) => unknown>>

export const NO_SHARED_SCOPE: SharedScope = Object.freeze({})

export function hasProperty({ properties }: EntityMetadata, name: string): boolean {
  const prop = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (prop === undefined || prop.persist === false) return false
  return prop.kind === 'scalar' || prop.kind === 'm:1' || (prop.kind === '1:1' && prop.owner)
}

/** Restricts each resource with a `tenant`, for `{ tenant: ctx => ctx.claims?.tenant }`. */
export function listSharedScopes(meta: EntityMetadata, shared: SharedScope): ResourceRules['scopes'] {
  return Object.entries(shared).flatMap(([name, find]) =>
    hasProperty(meta, name)
      ? [
          (ctx: HookContext) => {
            const given = find(ctx)
            return given instanceof Promise ? given.then(value => toCondition(name, value)) : toCondition(name, given)
          },
        ]
      : [],
  )
}

/** No value shows no rows: a token without a tenant must not open all tenants' rows. */
function toCondition(name: string, value: unknown): object | undefined {
  if (value === true) return undefined
  return { [name]: value === undefined || value === null || value === false ? { $in: [] } : Array.isArray(value) ? { $in: value } : value }
}
