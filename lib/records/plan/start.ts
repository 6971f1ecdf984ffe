/** Start: order and beginning of a page by keys (`?offset=first`). Refuses values that no cursor holds with parameter_invalid. */
import type { ScalarAttribute, Resource } from '../../model/model.ts'
import { refuseStart, type KeyStart } from '../request/key-start.ts'
import { findParameterName, type Parameters } from '../request/query-string.ts'
import { planOrder, type Order, type OrderContext } from './order.ts'
import type { Anchor, SortTerm, StartPlan } from './read-plan.ts'
import { RuleNotEvaluated } from './visibility.ts'

/** A cursor shows values: the caller must see the attributes of the order, also of the model's. */
export function planKeyedOrder(resource: Resource, anchor: Anchor, parameters: Parameters, context: OrderContext): Order {
  const { sort } = parameters
  const start = parameters.start!
  const declared = anchor.kind === 'related' && anchor.relation.kind === 'toMany' && anchor.relation.orderBy.length > 0
  const order = sort === undefined && declared ? planDeclared(resource, anchor, start, context) : planOrder(resource, anchor, sort, context)
  const named = findParameterName(context.vocabulary, 'sort')
  if (listAll(order.terms).some(({ attribute }) => attribute !== undefined && isInJson(attribute)))
    throw refuseStart(start, `works without keys inside of JSON in "${named}"`)
  return order
}

function planDeclared(resource: Resource, anchor: Anchor, start: KeyStart, context: OrderContext): Order {
  const { relation } = anchor as Anchor & { kind: 'related' }
  try {
    return planOrder(resource, anchor, relation.kind === 'toMany' ? relation.orderBy : undefined, context)
  } catch (error) {
    if (error instanceof RuleNotEvaluated) throw error
    throw refuseStart(start, `needs "${findParameterName(context.vocabulary, 'sort')}" here`)
  }
}

function listAll(terms: readonly SortTerm[]): SortTerm[] {
  return terms.flatMap(term => [term, ...(term.or ?? [])])
}

/** Such values are of any type, and compare by a form of their own. */
function isInJson({ source, type }: ScalarAttribute): boolean {
  return source.kind === 'within' || (source.kind === 'document' && type.kind === 'custom')
}

export function planStart(resource: Resource, keys: number, start: KeyStart): StartPlan {
  const { shownKey, order } = resource
  // A key behind another is not shown.
  const key = shownKey === undefined ? order : [shownKey.part.column]
  if (key.length === 0) throw refuseStart(start, `needs a key, which ${resource.plural} lack`)
  const nulls = start.after?.values.map(value => value === null)
  if (nulls !== undefined && nulls.length !== keys + key.length) throw refuseStart(start, 'is a cursor of another list or order')
  return { key, nulls }
}
