/**
 * Plan: what a reading request means. Takes a resource, an anchor, parsed Parameters and Limits; gives a ReadPlan, which depends on the
 * shape of the request only, never on its values: `formatShape` is the key under which plans are cached. Refuses with parameter_invalid.
 */
import type { Limits } from '../../foundation/base/limits.ts'
import type { Attribute, Resource } from '../../model/model.ts'
import { NO_PARAMETERS, type Parameters, type RawValue, type Vocabulary } from '../request/query-string.ts'
import { formatReservedShape } from '../request/reserved-parameters.ts'
import { findForm, planFilters } from './filters.ts'
import { planOrder } from './order.ts'
import { isReachable } from './paths.ts'
import { planSelection } from './selection.ts'
import type { Anchor, Field, ReadPlan } from './read-plan.ts'
import { EVERYTHING, existsFor, type Visibility } from './visibility.ts'

/** Returns the part of the parameters that a plan depends on, as a text. Two requests of one shape differ in values alone. */
export function formatShape(parameters: Parameters): string {
  if (parameters === NO_PARAMETERS) return ''
  // NUL separates, as no query contains one: two shapes can never read alike.
  let shape = formatReservedShape(parameters)
  for (const filter of parameters.filters) {
    shape += `\0\0${filter.negated ? '!' : ''}${filter.paths.join('|')}\0${filter.operator}`
    shape += listForms(filter.values)
  }
  return shape
}

/** The forms of the values of a filter, those that come one after another counted: a list of a thousand makes a short text. */
function listForms(values: readonly RawValue[]): string {
  let forms = ''
  let last = ''
  let times = 0
  for (const value of values) {
    const form = value.kind === 'pattern' ? findForm(value) : value.kind
    if (form === last) times++
    else {
      if (times > 0) forms += `${last}${times} `
      last = form
      times = 1
    }
  }
  return `${forms}${last}${times}`
}

/** The context that a request is planned in. */
interface PlanContext {
  readonly limits: Limits
  readonly visibility: Visibility
  readonly vocabulary: Vocabulary
}

/**
 * The plan of a record's stored plain attributes and the IDs it links.
 *
 * @param beside columns whose bare values come with it
 */
export function planStored(resource: Resource, beside?: readonly string[]): ReadPlan {
  const fields = resource.attributes.flatMap((attribute): Field[] => {
    if (!isStored(attribute) || attribute.kind === 'toMany') return []
    return [storedField(attribute)]
  })
  return {
    resource,
    anchor: { kind: 'record' },
    node: { resource, fields },
    ...(beside === undefined ? {} : { beside }),
    where: [],
    scopeOf: EVERYTHING.scopeOf,
    order: [],
    paged: false,
    sort: '',
  }
}

/** Whether an attribute has a value whoever asks. */
function isStored(attribute: Attribute): boolean {
  if (!existsFor(attribute, EVERYTHING) || attribute.flag !== undefined) return false
  return attribute.kind !== 'scalar' || attribute.source.kind !== 'formula' || attribute.source.asksCaller?.() !== true
}

function storedField(attribute: Exclude<Attribute, { kind: 'toMany' }>): Field {
  const plain = { ...attribute, render: undefined }
  if (plain.kind === 'toOne') return { kind: 'reference', attribute: plain }
  if (plain.kind === 'toOneOf')
    return { kind: 'oneOf', attribute: plain, shown: plain.branches.map(branch => ({ branch, node: undefined })) }
  if (plain.kind === 'scalar') return { kind: 'scalar', attribute: plain }
  const shown = plain.attributes.filter(isStored)
  return { kind: 'embedded', attribute: plain, fields: shown.map(storedField) }
}

/** The plan of the IDs alone that an anchor and filters reach. */
export function planKeys(resource: Resource, anchor: Anchor, parameters: Parameters, context: PlanContext): ReadPlan {
  const { visibility } = context
  return {
    resource,
    anchor,
    node: undefined,
    where: [...planFilters(parameters.filters, { ...context, root: resource }), ...visibility.where],
    scopeOf: visibility.scopeOf,
    order: [],
    paged: false,
    sort: '',
  }
}

export function planRead(resource: Resource, anchor: Anchor, paged: boolean, parameters: Parameters, context: PlanContext): ReadPlan {
  const { visibility } = context
  const order = planOrder(resource, anchor, parameters.sort, context)
  const { depth, expand } = resource.rules
  return {
    resource,
    anchor,
    node: planSelection(
      resource,
      {
        depth: parameters.depth ?? depth,
        attributes: parameters.attributes,
        expand: parameters.expand ?? expand.filter(path => isReachable(path, resource, visibility)),
      },
      context,
    ),
    where: [...planFilters(parameters.filters, { ...context, root: resource }), ...visibility.where],
    scopeOf: visibility.scopeOf,
    order: order.terms,
    paged,
    sort: order.sort,
  }
}

/** Returns the names of the attributes that the records of an answer show, in their order. */
export function listShownNames(resource: Resource, parameters: Parameters, context: PlanContext): readonly string[] {
  const { node } = planRead(resource, { kind: 'collection' }, true, parameters, context)
  return node!.fields.map(({ attribute }) => attribute.name)
}
