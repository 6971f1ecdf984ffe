/** Makes scopes of the option `defaults.scope`: `{ tenant: ctx => ctx.claims?.tenant }` restricts each resource with a `tenant`. */
import type { EntityMetadata } from '@mikro-orm/core'
import type { HookContext } from './hook-context.ts'
import type { ResourceRules } from './resource-rules.ts'

/** By property, a function: gives the value or condition for rows, or true for all rows. */
export type SharedScope = Readonly<Record<string, (ctx: HookContext) => unknown>>

export const NO_SHARED_SCOPE: SharedScope = Object.freeze({})

export function hasProperty({ properties }: EntityMetadata, name: string): boolean {
  const prop = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (prop === undefined || prop.persist === false) return false
  return prop.kind === 'scalar' || prop.kind === 'm:1' || (prop.kind === '1:1' && prop.owner)
}

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
