/**
 * Checks the names of query parameters by path and method (`?limit=5` is for lists), and their numbers by limits. Refuses with
 * parameter_invalid.
 */
import { READS } from '../../foundation/http/http-methods.ts'
import { parameterError } from '../../foundation/errors/errors.ts'
import { changesMany, findRoot } from './actions.ts'
import { suggestParameter } from '../request/habits.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import { isValue } from '../../model/model.ts'
import type { Request } from '../request/parse-request.ts'
import { MAX_PARTS } from '../request/filter-groups.ts'
import { refuseStart } from '../request/key-start.ts'
import { readExpandedLists, withinList } from '../request/expanded-lists.ts'
import { NO_PARAMETERS, choosePairs, findParameterName, findLongest, parseParameters, vocabularyOf } from '../request/query-string.ts'
import type { Parameters, Vocabulary } from '../request/query-string.ts'
import type { Pair, RawFilter } from '../request/raw-filter.ts'
import { ALL_RESERVED, PARAMETERS, RESERVED, type Reserved } from '../request/reserved-parameters.ts'
import type { Target } from './resolve-path.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'

const RECORD_PARAMETERS = RESERVED.filter(name => PARAMETERS[name].forRecords)

const LISTS = RESERVED.flatMap(name => {
  const { most } = PARAMETERS[name]
  return most === undefined ? [] : [{ name, most }]
})

interface Taken {
  readonly reserved: readonly Reserved[]
  readonly upserts?: true
  readonly filters: boolean
  readonly what: string
}

const ONE_RECORD = 'A single record'
const BY_INDEX: Taken = { reserved: [], filters: false, what: 'The index' }
const BY_DESCRIPTION: Taken = { reserved: [], filters: false, what: 'The description' }
const BY_LIST: Taken = { reserved: ALL_RESERVED, filters: true, what: 'A list' }
const BY_PLAIN: Taken = { reserved: [], filters: false, what: 'A plain attribute' }
const BY_DELETION: Taken = { reserved: RECORD_PARAMETERS, filters: true, what: 'The deletion of a list' }
const BY_CHANGE: Taken = { reserved: [...RECORD_PARAMETERS, 'limit'], filters: true, what: 'A change of many records' }
const BY_CREATION: Taken = { reserved: RECORD_PARAMETERS, filters: false, what: 'A creation', upserts: true }
const BY_RECORD: Taken = { reserved: RECORD_PARAMETERS, filters: false, what: ONE_RECORD }

function takenBy(method: string, target: Target): Taken {
  if (target.kind === 'index') return target.isDescription ? BY_DESCRIPTION : BY_INDEX
  const isList = target.kind === 'collection' || (target.kind === 'attribute' && target.attribute.kind === 'toMany')
  if (READS.has(method)) {
    if (isList) return BY_LIST
    if (target.kind === 'attribute' && isValue(target.attribute)) return BY_PLAIN
  }
  if (changesMany(method, target)) return BY_CHANGE
  if (method === 'POST' && target.kind === 'collection') return BY_CREATION
  return method === 'DELETE' && isList ? BY_DELETION : BY_RECORD
}

function isTaken({ name, operator }: Pair, { reserved, filters }: Taken, target: Target, vocabulary: Vocabulary): boolean {
  const meant = operator === '' ? vocabulary.reserved.get(name) : undefined
  if (meant !== undefined) return reserved.includes(meant)
  return filters || (operator === '' && vocabulary.flags.has(name) && target.kind !== 'index')
}

function notTaken({ name, operator }: Pair, { reserved, filters, what, upserts }: Taken, target: Target, vocabulary: Vocabulary) {
  const names = [...vocabulary.reserved].flatMap(([called, meant]) => (reserved.includes(meant) ? [called] : []))
  const known = [
    ...names,
    ...(upserts === true ? [UPSERT] : []),
    ...(target.kind === 'index' ? [] : vocabulary.flags),
    ...(filters ? vocabulary.own : []),
  ]
  const parameter = name + operator
  const isKnown = operator === '' && vocabulary.names.has(name)
  const here = [...vocabulary.reserved.values()].filter(each => reserved.includes(each))
  const spelling = isKnown ? undefined : suggestParameter(name, each => findParameterName(vocabulary, each), here)
  const suggestion = spelling?.suggestion ?? (isKnown ? undefined : findNearest(name, known))
  const takes = known.length === 0 ? 'no parameters' : known.join(', ')
  const shown = `"${parameter.slice(0, 100)}"`
  const isOfLists = what === ONE_RECORD && isKnown
  const refusal = isOfLists
    ? `${shown} works on lists only; a single record takes ${takes}.`
    : `${what} takes ${takes}${filters ? ' and filters' : ''}, not ${shown}.`
  return parameterError({
    code: 'parameter_not_allowed',
    detail: refusal + (spelling === undefined ? formatHint(suggestion) : ` ${spelling.detail}`),
    parameter,
    allowed: known,
    ...(suggestion === undefined ? {} : { suggestion }),
  })
}

/** OPTIONS ignores parameters. */
export function readParameters(request: Request, target: Target, words: Vocabulary, limits: Limits): Parameters {
  const { query, method } = request
  const { lastRead } = query
  if (method === 'OPTIONS') return NO_PARAMETERS
  const vocabulary = words.of === undefined ? words : vocabularyOf(words, findRoot(target)?.plural)
  const allowed = takenBy(method, target)
  if (lastRead !== undefined && lastRead.allowed === allowed && lastRead.vocabulary === vocabulary) return lastRead.parameters
  const pairs = choosePairs(query.pairs, vocabulary)
  checkLength(pairs, limits)
  const isUpsert = ({ name, operator }: Pair): boolean =>
    allowed.upserts === true && name === UPSERT && operator === '' && !vocabulary.names.has(name)
  const others = allowed.upserts === true ? pairs.filter(pair => !isUpsert(pair)) : pairs
  for (const pair of others) if (!isTaken(pair, allowed, target, vocabulary)) throw notTaken(pair, allowed, target, vocabulary)
  const read = readExpandedLists(parseParameters(others, vocabulary), vocabulary)
  const parameters = others.length === pairs.length ? read : { ...read, upsert: readUpsert(pairs.filter(isUpsert)) }
  checkCounts(parameters, limits, vocabulary)
  if (parameters.page !== undefined && (parameters.offset !== undefined || parameters.start !== undefined)) throw bothPagings(vocabulary)
  for (const filter of parameters.filters) checkFilter(filter, limits)
  if (parameters.lists.length > 0) checkLists(parameters, limits, vocabulary)
  if (allowed === BY_CHANGE) checkChange(method, parameters, limits, vocabulary)
  query.lastRead = { parameters, vocabulary, allowed }
  return parameters
}

/** Only of POST: lists may filter by an attribute `upsert`. */
const UPSERT = 'upsert'

function readUpsert(pairs: readonly Pair[]): readonly string[] {
  const names = pairs.flatMap(({ value }) => value.split(','))
  if (!names.includes('')) return [...new Set(names)]
  const detail = `"${UPSERT}" names the attributes of a unique key: "${UPSERT}=email", or "${UPSERT}=author,number".`
  throw parameterError({ code: 'value_invalid', detail, parameter: UPSERT })
}

function checkLength(pairs: readonly Pair[], { maxQueryLength }: Limits): void {
  let length = 0
  for (const { name, value } of pairs) length += name.length + value.length
  if (length <= maxQueryLength) return
  throw parameterError({
    code: 'limit_exceeded',
    detail: `The names and values of a query may have at most ${maxQueryLength} characters together; these have ${length}.`,
    parameter: findLongest(pairs),
  })
}

function bothPagings(vocabulary: Vocabulary) {
  const [page, offset] = [findParameterName(vocabulary, 'page'), findParameterName(vocabulary, 'offset')]
  const detail = `"${page}" and "${offset}" both say where the page begins: give one of them.`
  return parameterError({ code: 'parameter_not_allowed', detail, parameter: page })
}

function checkCounts(parameters: Parameters, limits: Limits, vocabulary: Vocabulary): void {
  const { pairs, asked, flags, own } = parameters
  const count = asked.length + flags.length + own.length
  if (count > limits.maxFilters) {
    const { name, operator } = pairs.findLast(pair => pair.operator !== '' || !vocabulary.reserved.has(pair.name))!
    throw tooMany(name + operator, 'A request', count, limits.maxFilters, own.length + flags.length === 0 ? 'filters' : 'filters and flags')
  }
  for (const { name, most } of LISTS) {
    const value = parameters[name]
    if (!Array.isArray(value) || value.length <= limits[most.limit]!) continue
    const parameter = findParameterName(vocabulary, name)
    throw tooMany(parameter, `"${parameter}"`, value.length, limits[most.limit]!, most.items)
  }
}

/** Without filter and limit, a slip would change a whole table. */
function checkChange(method: string, { filters, own, limit }: Parameters, limits: Limits, vocabulary: Vocabulary): void {
  const parameter = findParameterName(vocabulary, 'limit')
  if (limit !== undefined && limit > limits.maxLimit) throw tooMany(parameter, `"${parameter}"`, limit, limits.maxLimit, 'records')
  if (limit !== undefined && filters.length + own.length > 0) return
  const what = limit === undefined ? `"${parameter}", the most records that it may concern` : 'a filter'
  throw parameterError({
    code: 'parameter_not_allowed',
    detail: `${method} of many records needs a filter and a limit, as in "?role=guest&${parameter}=50"; this one lacks ${what}.`,
    parameter,
  })
}

/** Counts parameters of expanded lists, too. */
function checkLists({ lists, filters, asked, expand = [] }: Parameters, limits: Limits, vocabulary: Vocabulary): void {
  const parameter = findParameterName(vocabulary, 'expand')
  let [filterCount, partCount, pathCount] = [asked.length, filters.length, expand.length]
  for (const list of lists) {
    const { parameters } = list
    filterCount += parameters.asked.length
    partCount += parameters.filters.length
    pathCount += parameters.expand?.length ?? 0
    withinList(list, () => {
      checkCounts(parameters, limits, vocabulary)
      for (const filter of parameters.filters) checkFilter(filter, limits)
      if (parameters.start !== undefined) throw refuseStart(parameters.start, 'works for the list of the request alone')
      const limit = findParameterName(vocabulary, 'limit')
      if (parameters.limit !== undefined && parameters.limit > limits.maxLimit)
        throw tooMany(limit, `"${limit}"`, parameters.limit, limits.maxLimit, 'records of each list')
    })
  }
  if (filterCount > limits.maxFilters) throw tooMany(parameter, 'A request', filterCount, limits.maxFilters, 'filters')
  if (partCount > MAX_PARTS) throw tooMany(parameter, 'A request', partCount, MAX_PARTS, 'conditions')
  if (pathCount > limits.maxExpand) throw tooMany(parameter, `"${parameter}"`, pathCount, limits.maxExpand, 'paths')
}

function tooMany(parameter: string, holder: string, count: number, most: number, what: string) {
  return parameterError({
    code: 'limit_exceeded',
    detail: `${holder} may have at most ${most} ${what}; this one has ${count}.`,
    parameter,
  })
}

function checkFilter(filter: RawFilter, { maxOrPaths, maxListValues, maxStars }: Limits): void {
  const { label, paths, values } = filter
  if (paths.length > maxOrPaths) throw tooMany(label, `"${label.slice(0, 100)}"`, paths.length, maxOrPaths, 'paths between "|"')
  if (values.length > maxListValues) {
    throw parameterError({
      code: 'limit_exceeded',
      detail: `The list of "${label}" has ${values.length} values; at most ${maxListValues} are allowed.`,
      parameter: label,
    })
  }
  for (const value of values) {
    if (value.kind === 'pattern' && value.pieces.length - 1 > maxStars) {
      throw parameterError({
        code: 'limit_exceeded',
        detail: `A value of "${label}" has ${value.pieces.length - 1} stars; at most ${maxStars} are allowed.`,
        parameter: label,
        value: filter.text,
      })
    }
  }
}
