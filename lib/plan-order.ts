/** Plan the order: sort keys, of a request or of the model's own order of a list, become SortTerms. Refuses with parameter_invalid. */
import { refuseParameter } from './errors.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Limits } from './limits.ts'
import { isRelation } from './model.ts'
import type { Resource, ToManyAttribute } from './model.ts'
import type { RawSort } from './parse-query.ts'
import { walkPath } from './plan-paths.ts'
import type { Anchor, SortTerm } from './read-plan.ts'
import { isOrdered } from './scalars.ts'

export interface Order {
  readonly terms: readonly SortTerm[]
  /** As the envelope shows it: every direction spelled out, without the tiebreak. */
  readonly sort: string
}

/** The order in effect: the one asked for, else the model's own of a list attribute, else the primary key. */
export function planOrder(resource: Resource, anchor: Anchor, given: readonly RawSort[] | undefined, limits: Limits): Order {
  const declared = anchor.kind === 'related' && anchor.relation.kind === 'toMany' ? anchor.relation.orderBy : []
  const keys = given ?? declared
  if (keys.length === 0) return { terms: [], sort: resource.keyNames.map(name => `${name}.asc`).join() }
  const isKey = keys.length === 1 && resource.key.length === 1 && keys[0]!.path === resource.keyNames[0] && !keys[0]!.descending
  return {
    terms: isKey ? [] : keys.map(key => planSort(resource, key, limits)),
    sort: keys.map(key => `${key.path}.${key.descending ? 'desc' : 'asc'}`).join(),
  }
}

/** The model's own order of a list; the primary key comes after it. */
export function planListOrder(list: ToManyAttribute): readonly SortTerm[] {
  return list.orderBy.map(key => planSort(list.target, key, DEFAULT_LIMITS))
}

function planSort(resource: Resource, key: RawSort, limits: Limits): SortTerm {
  const { hops, attribute } = walkPath(key.path, resource, { parameter: 'sort', limits })
  if (isRelation(attribute)) return { hops: [...hops, attribute], attribute: undefined, descending: key.descending }
  if (attribute.kind === 'embedded' || !isOrdered(attribute.type)) {
    const what = attribute.kind === 'embedded' ? 'an embedded object; sort by one of its attributes' : `of the type ${attribute.type.kind}`
    throw refuseParameter({
      code: 'not_sortable',
      detail: `"${key.path}" cannot be sorted by: it is ${what}.`,
      parameter: 'sort',
      value: key.path,
    })
  }
  return { hops, attribute, descending: key.descending }
}
