/**
 * Reads the resource options `sort`, `limit` and `filter`, for `GET /v1/posts` without such parameters, not for posts
 * below or within other records.
 */
import { READS } from '../../foundation/http/http-methods.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { Resource } from '../../model/model.ts'
import { planRead } from '../plan/plan.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import { readPairs } from '../request/parsed-query.ts'
import { NO_PARAMETERS, parseParameters, vocabularyOf } from '../request/query-string.ts'
import type { AskedFilters, Parameters, Vocabulary } from '../request/query-string.ts'
import { parseReserved, type RawSort } from '../request/reserved-parameters.ts'
import type { Target } from './resolve-path.ts'

export interface ListDefaults extends AskedFilters {
  readonly sort: readonly RawSort[] | undefined
  readonly limit: number | undefined
  /** Plans are found by the identity of parameters. */
  readonly merged: WeakMap<Parameters, Parameters>
}

export type DefaultsOfLists = ReadonlyMap<Resource, ListDefaults>

/**
 * @throws TypeError, RangeError when the engine is created: for a sort or filter that not every caller could ask for, and for a limit above
 * the maximum
 */
export function readListDefaults(resources: readonly Resource[], vocabulary: Vocabulary, limits: Limits): DefaultsOfLists {
  return new Map(
    resources.flatMap(resource => {
      const defaults = readDefaults(resource, vocabulary, limits)
      return defaults === undefined ? [] : [[resource, defaults] as const]
    }),
  )
}

function readDefaults(resource: Resource, vocabulary: Vocabulary, limits: Limits): ListDefaults | undefined {
  const { defaults, single } = resource.rules
  if (defaults === undefined) return undefined
  const where = `resource(${resource.className})`
  const { sort, limit, filter } = defaults
  const [name] = Object.keys(defaults)
  if (single !== undefined) throw new TypeError(`${where}: "${name}" is of a list, and a resource with "single" has none.`)
  if (limit !== undefined && limit > limits.maxLimit)
    throw new RangeError(`${where}: "limit" is ${limit}, and limits.maxLimit allows ${limits.maxLimit} records of a page.`)
  const read: ListDefaults = {
    sort: sort === undefined ? undefined : explain(`${where}: sort`, () => readSort(sort)),
    ...(filter === undefined
      ? { filters: [], asked: [] }
      : explain(`${where}: filter`, () => readFilters(filter, vocabularyOf(vocabulary, resource.plural)))),
    limit,
    merged: new WeakMap(),
  }
  // Attributes hidden from some callers would make their requests fail.
  const allows = ({ rules }: Resource, action: 'get' | 'list'): boolean => rules.access[action] === true
  const context = { limits, vocabulary, visibility: { ...EVERYTHING, shape: 'defaults', allows } }
  const plan = (parameters: Partial<Parameters>): unknown =>
    planRead(resource, { kind: 'collection' }, true, { ...NO_PARAMETERS, expand: [], ...parameters }, context)
  explain(`${where}: sort`, () => plan({ sort: read.sort }))
  explain(`${where}: filter`, () => plan({ filters: read.filters, asked: read.asked }))
  return read
}

function explain<T>(where: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new TypeError(`${where}: ${(error as Error).message}`, { cause: error })
  }
}

function readSort(sort: string | readonly string[]): readonly RawSort[] | undefined {
  const parameters: { sort: readonly RawSort[] | undefined } = { sort: undefined }
  parseReserved('sort', { name: 'sort', value: [sort].flat().join() }, parameters)
  return parameters.sort
}

const BESIDE: ReadonlySet<string> = new Set(['sort', 'limit', 'depth', 'expand'])

type Filter = NonNullable<NonNullable<Resource['rules']['defaults']>['filter']>

function readFilters(filter: Filter, vocabulary: Vocabulary): AskedFilters {
  const pairs = readPairs('', filter)
  const other = pairs.find(({ name, operator }) => operator === '' && vocabulary.names.has(name))
  if (other !== undefined) {
    const meant = vocabulary.reserved.get(other.name)
    const beside = meant !== undefined && BESIDE.has(meant) ? ` Give "${meant}" beside "filter".` : ''
    throw new TypeError(`"${other.name}" is a parameter, not a filter.${beside}`)
  }
  const { filters, asked } = parseParameters(pairs, vocabulary)
  return { filters, asked }
}

export function withDefaults(given: Parameters, method: string, target: Target, defaults: DefaultsOfLists): Parameters {
  const ofResource = target.kind === 'collection' && READS.has(method) ? defaults.get(target.resource) : undefined
  if (ofResource === undefined) return given
  let merged = ofResource.merged.get(given)
  if (merged === undefined) {
    const { filters, asked } = given.filters.length === 0 ? ofResource : given
    ofResource.merged.set(given, (merged = { ...given, sort: given.sort ?? ofResource.sort, filters, asked }))
  }
  return merged
}
