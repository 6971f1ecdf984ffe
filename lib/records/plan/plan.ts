/**
 * Makes the ReadPlan of a request, from its anchor and parameters. Plans hold no values: `?age=5` and `?age=6` share one. Refuses with
 * parameter_invalid.
 */
import type { Attribute, Resource, ScalarAttribute } from '../../model/model.ts'
import { NO_PARAMETERS, findParameterName, type Parameters } from '../request/query-string.ts'
import type { RawValue } from '../request/raw-filter.ts'
import { formatStartShape, refuseStart, type KeyStart } from '../request/key-start.ts'
import { formatReservedShape } from '../request/reserved-parameters.ts'
import type { FilterGroup } from '../request/filter-groups.ts'
import { planFilters } from './filter-tree.ts'
import { findForm } from './filters.ts'
import { planOrder, type Order, type PlanContext } from './order.ts'
import { isReachable } from './paths.ts'
import { isCut, planSelection } from './selection.ts'
import type { Anchor, Field, ReadPlan, StartPlan } from './read-plan.ts'
import { EVERYTHING, existsFor, RuleNotEvaluated } from './visibility.ts'

export function formatShape(parameters: Parameters): string {
  if (parameters === NO_PARAMETERS) return ''
  // No query contains NUL.
  let shape = formatReservedShape(parameters)
  for (const filter of parameters.filters) {
    shape += `\0\0${filter.negated ? '!' : ''}${filter.paths.join('|')}\0${filter.operator}`
    shape += listForms(filter.values)
  }
  for (const { path, counts, parameters: list } of parameters.lists)
    shape += `\0(${path}\0${counts ? '#' : isCut(list) ? '<' : ''}\0${formatShape(list)}\0)`
  for (const tree of parameters.asked) if (typeof tree !== 'number') shape += `\0\0\0${formatGroup(tree)}`
  return parameters.start === undefined ? shape : `${shape}\0@${formatStartShape(parameters.start)}`
}

function formatGroup({ path, negated, joins, of }: FilterGroup): string {
  const parts = of.map(part => (typeof part === 'number' ? part : formatGroup(part)))
  return `${negated ? '!' : ''}${path}\0${joins}(${parts.join()})`
}

/** Counts equal neighbours: a thousand IDs make `text1000`. */
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

/** Plans to read stored attributes and links of a record, for any caller. Without lists and hidden attributes. */
export function planStored(resource: Resource, bareColumns?: readonly string[]): ReadPlan {
  const fields = resource.attributes.flatMap((attribute): Field[] => {
    if (!isStored(attribute) || attribute.kind === 'toMany') return []
    return [storedField(attribute)]
  })
  return {
    resource,
    anchor: { kind: 'record' },
    node: { resource, fields },
    ...(bareColumns === undefined ? {} : { bareColumns }),
    where: [],
    scopeOf: EVERYTHING.scopeOf,
    order: [],
    paged: false,
    sort: '',
  }
}

/** Whether all callers see the attribute, with the same value. */
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

export function planKeys(resource: Resource, anchor: Anchor, parameters: Parameters, context: PlanContext, paged = false): ReadPlan {
  const { visibility } = context
  return {
    resource,
    anchor,
    node: undefined,
    where: [...planFilters(parameters, { ...context, root: resource }), ...visibility.where],
    scopeOf: visibility.scopeOf,
    order: [],
    paged,
    sort: '',
  }
}

export function planRead(resource: Resource, anchor: Anchor, paged: boolean, parameters: Parameters, context: PlanContext): ReadPlan {
  const { visibility } = context
  const { start } = parameters
  const order =
    start === undefined ? planOrder(resource, anchor, parameters.sort, context) : planKeyedOrder(resource, anchor, parameters, context)
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
        lists: parameters.lists,
      },
      context,
    ),
    where: [...planFilters(parameters, { ...context, root: resource }), ...visibility.where],
    scopeOf: visibility.scopeOf,
    order: order.terms,
    paged,
    sort: order.sort,
    ...(start === undefined ? {} : { start: planStart(resource, order.terms.length, start) }),
  }
}

export function listShownNames(resource: Resource, parameters: Parameters, context: PlanContext): readonly string[] {
  const { node } = planRead(resource, { kind: 'collection' }, true, parameters, context)
  return node!.fields.map(({ attribute }) => attribute.name)
}

/** For a page by keys (`?offset=first`). A cursor shows values: the caller must see all attributes of the order. */
function planKeyedOrder(resource: Resource, anchor: Anchor, parameters: Parameters, context: PlanContext): Order {
  const { sort } = parameters
  const start = parameters.start!
  const declared = anchor.kind === 'related' && anchor.relation.kind === 'toMany' && anchor.relation.orderBy.length > 0
  const order = sort === undefined && declared ? planDeclared(resource, anchor, start, context) : planOrder(resource, anchor, sort, context)
  const named = findParameterName(context.vocabulary, 'sort')
  // Inside of JSON, values are of any type, and compare otherwise.
  const isInJson = ({ source, type }: ScalarAttribute): boolean =>
    source.kind === 'within' || (source.kind === 'document' && type.kind === 'custom')
  if (order.terms.some(term => [term, ...(term.or ?? [])].some(({ attribute }) => attribute !== undefined && isInJson(attribute))))
    throw refuseStart(start, `works without keys inside of JSON in "${named}"`)
  return order
}

function planDeclared(resource: Resource, anchor: Anchor, start: KeyStart, context: PlanContext): Order {
  const { relation } = anchor as Anchor & { kind: 'related' }
  try {
    return planOrder(resource, anchor, relation.kind === 'toMany' ? relation.orderBy : undefined, context)
  } catch (error) {
    if (error instanceof RuleNotEvaluated) throw error
    throw refuseStart(start, `needs "${findParameterName(context.vocabulary, 'sort')}" here`)
  }
}

function planStart(resource: Resource, keys: number, start: KeyStart): StartPlan {
  const { shownKey, order } = resource
  // Cursors show the clients' key.
  const key = shownKey === undefined ? order : [shownKey.part.column]
  if (key.length === 0) throw refuseStart(start, `needs a key, which ${resource.plural} lack`)
  const nulls = start.after?.values.map(value => value === null)
  if (nulls !== undefined && nulls.length !== keys + key.length) throw refuseStart(start, 'is a cursor of another list or order')
  return { key, nulls }
}
