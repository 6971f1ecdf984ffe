/**
 * Reserved parameters: the query parameters that are not filters, as one table. The parser, the checks, the key of cached plans, the hints
 * and the docs all read it. Refuses with parameter_invalid what is not of a parameter's form.
 */
import { parameterError } from '../../foundation/base/errors.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { ReservedOfClient } from '../../model/client/query-names.ts'

/** One key of `sort`. */
export interface RawSort {
  readonly path: string
  readonly descending: boolean
}

/** The value of each reserved parameter, once it is parsed. */
interface ReservedValues {
  readonly limit: number
  readonly offset: number
  /** From 1. Exists where the application gives it a name. */
  readonly page: number
  readonly sort: readonly RawSort[]
  readonly depth: 0 | 1 | 2
  readonly attributes: readonly string[]
  readonly expand: readonly string[]
}

export type Reserved = keyof ReservedValues

/** The reserved parameters of a request; undefined where one is not given. */
export type GivenParameters = { readonly [name in Reserved]: ReservedValues[name] | undefined }

/** A reserved parameter: how it is parsed, and whether a plan depends on it. */
interface ReservedParameter<T> {
  /** Parses its text; undefined when the text is as good as none. `name` is how the client calls the parameter. */
  readonly parse: (text: string, name: string) => T | undefined
  /** Whether requests for single records take it too, and not only those for lists. */
  readonly forRecords: boolean
  /** Writes its value into the key of a cached plan. `undefined`: plans do not depend on it, since it only cuts the page. */
  readonly formatShape: ((value: T) => string) | undefined
  /** Whether it is a list of names, so that repeated ones are one list: clients that are given an array send it so. */
  readonly isList?: true
  /** How many items it may have, by the name of the limit, and what they are called. */
  readonly most?: { readonly limit: keyof Limits; readonly items: string }
}

const formatNames = (names: readonly string[]): string => names.join()

export const PARAMETERS: { readonly [name in Reserved]: ReservedParameter<ReservedValues[name]> } = {
  limit: { parse: parseInteger, forRecords: false, formatShape: undefined },
  offset: { parse: parseInteger, forRecords: false, formatShape: undefined },
  page: { parse: parsePage, forRecords: false, formatShape: undefined },
  sort: { isList: true, parse: parseSort, forRecords: false, formatShape: formatSort, most: { limit: 'maxSortKeys', items: 'keys' } },
  depth: { parse: parseDepth, forRecords: true, formatShape: String },
  attributes: {
    isList: true,
    parse: parseList,
    forRecords: true,
    formatShape: formatNames,
    most: { limit: 'maxAttributes', items: 'names' },
  },
  expand: { isList: true, parse: parseList, forRecords: true, formatShape: formatNames, most: { limit: 'maxExpand', items: 'paths' } },
  // The typed client spells them, too: neither compiles without the other.
} satisfies { readonly [name in ReservedOfClient | 'page']: ReservedParameter<ReservedValues[name]> }

/** The reserved names, those included that exist only where the application names them. */
export const ALL_RESERVED = Object.keys(PARAMETERS) as readonly Reserved[]

/** The names that are reserved in every engine. */
export const RESERVED: readonly Reserved[] = ALL_RESERVED.filter(name => name !== 'page')

/** None of them. */
export const NONE_GIVEN = Object.fromEntries(ALL_RESERVED.map(name => [name, undefined])) as GivenParameters

/** Those that plans depend on. */
const PLANNED = RESERVED.filter(name => PARAMETERS[name].formatShape !== undefined)

/** Writes what a plan depends on of the reserved parameters, for its key in the cache: NUL separates, as no query contains one. */
export function formatReservedShape(parameters: GivenParameters): string {
  let shape = ''
  for (const name of PLANNED) shape += `${formatGiven(name, parameters[name])}\0`
  return shape
}

/** An empty list is not the default. */
function formatGiven<N extends Reserved>(name: N, value: GivenParameters[N]): string {
  return value === undefined ? '' : `=${PARAMETERS[name].formatShape!(value)}`
}

/** Parses the text of a parameter into the parameters of a request. */
export function parseReserved<N extends Reserved>(
  name: N,
  pair: { readonly name: string; readonly value: string },
  parameters: { [each in N]: ReservedValues[each] | undefined },
): void {
  parameters[name] = PARAMETERS[name].parse(pair.value, pair.name)
}

function parseInteger(text: string, parameter: string): number {
  if (!/^(?:0|[1-9]\d*)$/.test(text)) {
    throw parameterError({
      code: 'value_invalid',
      detail: `"${parameter}" must be a plain decimal integer, 0 or more, got "${text}".`,
      parameter,
      value: text,
    })
  }
  // Beyond 2^53 there are no rows, and a limit is clamped anyway.
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

function parsePage(text: string, parameter: string): number {
  if (!/^[1-9]\d*$/.test(text)) {
    throw parameterError({
      code: 'value_invalid',
      detail: `"${parameter}" must be the number of a page, 1 or more, got "${text}".`,
      parameter,
      value: text,
    })
  }
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

function parseDepth(text: string, parameter: string): 0 | 1 | 2 {
  if (text !== '0' && text !== '1' && text !== '2') {
    throw parameterError({
      code: 'value_invalid',
      detail: `"${parameter}" must be 0, 1 or 2, got "${text}".`,
      parameter,
      value: text,
      allowed: [0, 1, 2],
    })
  }
  return Number(text) as 0 | 1 | 2
}

function parseList(text: string): readonly string[] | undefined {
  return text === '' ? undefined : text.split(',')
}

function parseSort(text: string): readonly RawSort[] | undefined {
  return parseList(text)?.map(key => {
    if (key.endsWith('.desc')) return { path: key.slice(0, -5), descending: true }
    return { path: key.endsWith('.asc') ? key.slice(0, -4) : key, descending: false }
  })
}

function formatSort(keys: readonly RawSort[]): string {
  let shape = ''
  for (const { path, descending } of keys) shape += `${path}${descending ? '-' : '+'},`
  return shape
}
