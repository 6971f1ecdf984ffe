/**
 * Caller: who asks, and what exists for him: evaluates access rules, scopes and own parameters of one request.
 * Refuses with forbidden, or token_missing where a log-in would help.
 */
import type { Action, HookContext } from './context.ts'
import { refuse } from './errors.ts'
import { FilterQueryReader } from './filter-query.ts'
import type { Model, Resource } from './model.ts'
import type { Parameters } from './parse-query.ts'
import type { Condition } from './read-plan.ts'
import { EVERYTHING } from './visibility.ts'
import type { Visibility } from './visibility.ts'

/** An own parameter of the deployer: gives a condition on the records that are read. */
export type OwnParameter = (value: string, ctx: HookContext) => unknown

/** Whether a model has rules on what may be read. */
function hasRules(model: Model): boolean {
  return model.resources.some(({ rules }) => rules.scopes.length > 0 || rules.access.get !== true || rules.access.list !== true)
}

const ruled = new WeakMap<Model, boolean>()

/** What exists for the caller. `root` is the resource that own parameters narrow. */
export async function visibilityOf(
  model: Model,
  root: Resource | undefined,
  parameters: Parameters,
  own: ReadonlyMap<string, OwnParameter>,
  ctx: HookContext,
): Promise<Visibility> {
  let rules = ruled.get(model)
  if (rules === undefined) ruled.set(model, (rules = hasRules(model)))
  if (!rules && parameters.flags.length === 0 && parameters.own.length === 0) return EVERYTHING
  const reader = new FilterQueryReader()
  const scopes = new Map<Resource, Condition>()
  const withoutGet = new Set<Resource>()
  const withoutList = new Set<Resource>()
  let shape = ''
  if (rules) {
    for (const resource of model.resources) {
      const conditions = await scopesOf(resource, ctx, reader)
      if (conditions.length > 0) scopes.set(resource, conditions.length === 1 ? conditions[0]! : { kind: 'all', of: conditions })
      if (!(await isAllowed(resource, 'get', ctx))) withoutGet.add(resource)
      if (!(await isAllowed(resource, 'list', ctx))) withoutList.add(resource)
    }
    shape += `${[...withoutGet].map(({ plural }) => plural).join()}\0${[...withoutList].map(({ plural }) => plural).join()}\0`
  }
  const where: Condition[] = []
  for (const { name, value } of parameters.own) {
    const query: unknown = await own.get(name)!(value, ctx)
    if (query !== undefined && query !== null && root !== undefined) where.push(reader.read(query, root, `parameter "${name}"`))
  }
  shape += `${parameters.flags.toSorted().join()}\0${reader.shape}`
  return { shape, scopes, where, values: reader.values, withoutGet, withoutList, flags: new Set(parameters.flags) }
}

async function scopesOf(resource: Resource, ctx: HookContext, reader: FilterQueryReader): Promise<Condition[]> {
  const conditions: Condition[] = []
  for (const scope of resource.rules.scopes) {
    const query = await scope(ctx)
    if (query !== undefined && query !== null) conditions.push(reader.read(query, resource, `scope of ${resource.className}`))
  }
  return conditions
}

async function isAllowed(resource: Resource, action: Action, ctx: HookContext): Promise<boolean> {
  const rule = resource.rules.access[action]
  return typeof rule === 'boolean' ? rule : rule(ctx, action)
}

/** Refuses an action that the rules of the resource do not allow. */
export async function authorize(resource: Resource, action: Action, ctx: HookContext): Promise<void> {
  if (await isAllowed(resource, action, ctx)) return
  if (ctx.logsIn && ctx.claims === undefined) {
    throw refuse('token_missing', `To ${action} ${resource.plural} a log-in is needed.`, { headers: { 'www-authenticate': 'Bearer' } })
  }
  throw refuse('forbidden', `You may not ${action} ${resource.plural}.`)
}
