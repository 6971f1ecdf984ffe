/**
 * Plan: what a reading request means. Takes a resource, an anchor, parsed Parameters and Limits; gives a ReadPlan, which depends on the shape of the
 * request only, never on its values: `shapeOf` is the key under which plans are cached.
 * Refuses with parameter_invalid.
 */
import type { Limits } from './limits.ts'
import type { Resource } from './model.ts'
import { NO_PARAMETERS } from './parse-query.ts'
import type { Parameters } from './parse-query.ts'
import { formOf, planFilters } from './plan-filters.ts'
import { planOrder } from './plan-order.ts'
import { planSelection } from './plan-selection.ts'
import type { Anchor, ReadPlan } from './read-plan.ts'

/** The part of the parameters that a plan depends on, as a text. Two requests of one shape differ in values alone. */
export function shapeOf(parameters: Parameters): string {
  if (parameters === NO_PARAMETERS) return ''
  const { sort, depth, attributes, expand, filters } = parameters
  // NUL separates, as no query contains one: two shapes can never read alike.
  let shape = `${depth ?? ''}\0${attributes?.join() ?? ''}\0${expand?.join() ?? ''}\0`
  for (const term of sort ?? []) shape += `${term.path}${term.descending ? '-' : '+'}\0`
  for (const filter of filters) {
    shape += `\0\0${filter.negated ? '!' : ''}${filter.paths.join('|')}\0${filter.operator}`
    for (const value of filter.values) shape += value.kind === 'pattern' ? `${formOf(value)} ` : `${value.kind} `
  }
  return shape
}

export function planRead(resource: Resource, anchor: Anchor, paged: boolean, parameters: Parameters, limits: Limits): ReadPlan {
  const order = planOrder(resource, anchor, parameters.sort, limits)
  return {
    resource,
    anchor,
    node: planSelection(resource, { depth: parameters.depth ?? 1, attributes: parameters.attributes, expand: parameters.expand }, limits),
    where: planFilters(parameters.filters, resource, limits),
    order: order.terms,
    paged,
    sort: order.sort,
  }
}
