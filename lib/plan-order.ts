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
import type { Visibility } from './visibility.ts'

export interface Order {
  readonly terms: readonly SortTerm[]
  /** As the envelope shows it: every direction spelled out, without the tiebreak. */
  readonly sort: string
}

/** The order in effect: the one asked for, else the model's own of a list attribute, else the primary key. */
export function planOrder(
  resource: Resource,
  anchor: Anchor,
  given: readonly RawSort[] | undefined,
  limits: Limits,
  visibility: Visibility,
): Order {
  const declared = anchor.kind === 'related' && anchor.relation.kind === 'toMany' ? anchor.relation.orderBy : []
  const keys = given ?? declared
  if (keys.length === 0)
    return {
      terms: [],
      sort: keyPaths(resource)
        .map(path => `${path}.asc`)
        .join(),
    }
  const isKey = keys.length === 1 && resource.key.length === 1 && keys[0]!.path === resource.keyNames[0] && !keys[0]!.descending
  return {
    terms: isKey ? [] : keys.map(key => planSort(resource, key, limits, given === undefined ? undefined : visibility)),
    sort: keys.map(key => `${key.path}.${key.descending ? 'desc' : 'asc'}`).join(),
  }
}

/** The paths that sort by the primary key: a key that holds a relation goes by the key of its target. */
function keyPaths(resource: Resource): string[] {
  return resource.keyNames.flatMap(name => {
    const attribute = resource.byName.get(name)
    return attribute?.kind === 'toOne' ? keyPaths(attribute.target).map(path => `${name}.${path}`) : [name]
  })
}

/** The model's own order of a list; the primary key comes after it. */
export function planListOrder(list: ToManyAttribute): readonly SortTerm[] {
  return list.orderBy.map(key => planSort(list.target, key, DEFAULT_LIMITS, undefined))
}

function planSort(resource: Resource, key: RawSort, limits: Limits, visibility: Visibility | undefined): SortTerm {
  const { hops, attribute } = walkPath(key.path, resource, { parameter: 'sort', limits, visibility })
  if (isRelation(attribute)) return { hops: [...hops, attribute], attribute: undefined, descending: key.descending }
  if (attribute.kind === 'embedded' || !isOrdered(attribute.type) || (visibility !== undefined && !attribute.sortable)) {
    const what =
      attribute.kind === 'embedded'
        ? 'an embedded object; sort by one of its attributes'
        : isOrdered(attribute.type)
          ? 'shown with another value than the stored one'
          : `of the type ${attribute.type.kind}`
    throw refuseParameter({
      code: 'not_sortable',
      detail: `"${key.path}" cannot be sorted by: it is ${what}.`,
      parameter: 'sort',
      value: key.path,
    })
  }
  return { hops, attribute, descending: key.descending }
}
