/** Turns sort keys (`author.name,tags.desc`), or a list's order in the model, into SortTerms. Refuses with parameter_invalid. */
import { parameterError } from '../../foundation/errors/errors.ts'
import { suggestSort } from '../request/habits.ts'
import { DEFAULT_LIMITS, type Limits } from '../../foundation/base/limits.ts'
import { plainIds } from '../../model/ids-name.ts'
import { isRelation, type Attribute, type RelationAttribute, type Resource } from '../../model/model.ts'
import type { ScalarAttribute, ToManyAttribute } from '../../model/model.ts'
import { findParameterName, type Vocabulary } from '../request/query-string.ts'
import { formatSortKey, type RawSort } from '../request/reserved-parameters.ts'
import { isUsable, walkPath, type Walk } from './paths.ts'
import type { Anchor, SortTerm } from './read-plan.ts'
import { isOrdered } from '../../foundation/values/scalar-type.ts'
import { branchesFor, type Visibility } from './visibility.ts'

export interface PlanContext {
  readonly limits: Limits
  readonly visibility: Visibility
  readonly vocabulary: Vocabulary
}

export interface Order {
  readonly terms: readonly SortTerm[]
  /** For the envelope: `age.asc`, without the primary key. */
  readonly sort: string
}

/** By the request, else a list's order in the model, else the primary key. */
export function planOrder(
  resource: Resource,
  anchor: Anchor,
  given: readonly RawSort[] | undefined,
  { limits, visibility, vocabulary }: PlanContext,
): Order {
  const declared = anchor.kind === 'related' && anchor.relation.kind === 'toMany' ? anchor.relation.orderBy : []
  const keys = given ?? declared
  if (resource.key.length === 0) return keylessOrder(resource, keys, { limits, visibility, vocabulary })
  if (keys.length === 0) return { terms: [], sort: formatKeyOrder(resource) }
  const isKey = keys.length === 1 && resource.order.length === 1 && keys[0]!.path === resource.keyNames[0] && !keys[0]!.descending
  return {
    terms: isKey
      ? []
      : keys.map(key =>
          planSort(resource, key, limits, given === undefined ? undefined : visibility, findParameterName(vocabulary, 'sort')),
        ),
    sort: keys.map(formatSortKey).join(),
  }
}

/** Without any order, rows are sorted by all attributes: pages must not overlap. */
function keylessOrder(resource: Resource, keys: readonly RawSort[], { limits, visibility, vocabulary }: PlanContext): Order {
  const terms = keys.map(key => planSort(resource, key, limits, visibility, findParameterName(vocabulary, 'sort')))
  const columns = resource.order.length > 0 ? [] : resource.attributes.flatMap(listColumns)
  const all = columns.map(attribute => ({ hops: [], attribute, descending: false }))
  return { terms: [...terms, ...all], sort: keys.map(formatSortKey).join() }
}

function listColumns(attribute: Attribute): ScalarAttribute[] {
  if (attribute.kind === 'scalar') return attribute.source.kind === 'column' && isOrdered(attribute.type) ? [attribute] : []
  if (attribute.kind !== 'toOne' || !attribute.owner) return []
  const parts = attribute.targetKey === undefined ? attribute.target.key : [attribute.targetKey.part]
  return attribute.columns.map((column, index) => ({
    ...plainIds(attribute),
    type: parts[index]!.type,
    source: { kind: 'column', column, rawDefault: false, generated: false },
  }))
}

/** Empty if rows stand in the order of the data, or the key is hidden. */
function formatKeyOrder(resource: Resource): string {
  const { shownKey, keyNames, byName, order, key } = resource
  if (order.length > key.length) return ''
  if (shownKey !== undefined && keyNames.some(name => byName.get(name)!.hidden)) return ''
  return keyPaths(resource)
    .map(path => `${path}.asc`)
    .join()
}

/** `author` in the primary key sorts by `author.id`. */
function keyPaths(resource: Resource): string[] {
  return resource.keyNames.flatMap(name => {
    const attribute = resource.byName.get(name)
    return attribute?.kind === 'toOne' ? keyPaths(attribute.target).map(path => `${name}.${path}`) : [name]
  })
}

export function planListOrder(list: ToManyAttribute): readonly SortTerm[] {
  return list.orderBy.map(key => planSort(list.target, key, DEFAULT_LIMITS, undefined))
}

/** @param visibility undefined for the model's order, by any attribute */
function planSort(resource: Resource, key: RawSort, limits: Limits, visibility: Visibility | undefined, parameter = 'sort'): SortTerm {
  const walk = walkPath(key.path, resource, {
    parameter,
    limits,
    visibility,
    intoJson: true,
    byClass: true,
    spelling: ({ prefix, path, attributes }) =>
      suggestSort(
        prefix,
        path,
        attributes.map(({ name }) => name),
      ),
  })
  const isSortable = visibility === undefined || isUsable(walk, 'sortable')
  const [term, ...or] = listTerms(walk, [], { key, isSortable, visibility, parameter })
  if (or.length === 0) return term!
  const kinds = new Set([term!, ...or].map(({ attribute }) => attribute?.type.kind))
  if (kinds.size > 1) {
    throw parameterError({
      code: 'not_sortable',
      detail: `"${key.path}" cannot be sorted by: what it leads to is of several types.`,
      parameter,
      value: key.path,
    })
  }
  return { ...term!, or }
}

interface SortRequest {
  readonly key: RawSort
  readonly isSortable: boolean
  readonly visibility: Visibility | undefined
  readonly parameter: string
}

function listTerms(walk: Walk, before: readonly RelationAttribute[], request: SortRequest): SortTerm[] {
  const hops = [...before, ...walk.hops]
  const { key, isSortable, visibility, parameter } = request
  const order = { descending: key.descending, nulls: key.nulls }
  if ('classes' in walk) {
    return walk.classes.flatMap(({ is, walk: rest }) =>
      listTerms(rest, hops, request).map(term => ({ ...term, classes: [{ ...is, at: hops.length }, ...(term.classes ?? [])] })),
    )
  }
  if ('fork' in walk) {
    return walk.branches.flatMap(({ branch, walk: rest }) => listTerms(rest, [...hops, branch], request))
  }
  const { attribute } = walk
  if (attribute.kind === 'toOneOf' && isSortable) {
    const branches = visibility === undefined ? attribute.branches : branchesFor(attribute, visibility)
    return branches.map(branch => ({ hops: [...hops, branch], attribute: undefined, ...order }))
  }
  if (isRelation(attribute) && isSortable) return [{ hops: [...hops, attribute], attribute: undefined, ...order }]
  if (attribute.kind !== 'scalar' || !isOrdered(attribute.type) || !isSortable) {
    const what =
      attribute.kind === 'embedded' && attribute.array
        ? 'a list'
        : attribute.kind === 'embedded'
          ? 'an embedded object; sort by one of its attributes'
          : attribute.kind !== 'scalar' || isOrdered(attribute.type)
            ? 'shown with another value than the stored one'
            : `of the type ${attribute.type.kind}`
    throw parameterError({
      code: 'not_sortable',
      detail: `"${key.path}" cannot be sorted by: it is ${what}.`,
      parameter,
      value: key.path,
    })
  }
  return [{ hops, attribute, ...order }]
}
