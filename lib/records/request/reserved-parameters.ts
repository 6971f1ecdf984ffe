/** The table of query parameters other than filters (`limit`, `sort`), for the parser, checks, plan cache, hints and docs. */
import { parameterError } from '../../foundation/errors/errors.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { ReservedOfClient } from '../../model/client/query-names.ts'

export interface RawSort {
  readonly path: string
  readonly descending: boolean
  /** Undefined: NULL is the smallest value. */
  readonly nulls?: 'first' | 'last' | undefined
}

/** 0: no relations, 1: IDs, 2: records; `links`, for wires: IDs of to-one relations. */
export type ShownDepth = 0 | 1 | 2 | 'links'

interface ReservedValues {
  readonly limit: number
  readonly offset: number
  /** From 1. Exists if the application names it. */
  readonly page: number
  readonly sort: readonly RawSort[]
  readonly depth: ShownDepth
  readonly attributes: readonly string[]
  readonly expand: readonly string[]
}

export type Reserved = keyof ReservedValues

export type GivenParameters = { readonly [name in Reserved]: ReservedValues[name] | undefined }

interface ReservedParameter<T> {
  /** Undefined: counts as absent. `name`: the client's. */
  readonly parse: (text: string, name: string) => T | undefined
  /** For single records, too. */
  readonly forRecords: boolean
  /** For cache keys of plans. Undefined: only cuts the page. */
  readonly formatShape: ((value: T) => string) | undefined
  /** Clients repeat the parameter: texts are joined. */
  readonly isList?: true
  /** Limits items; errors name them. */
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
  expand: { isList: true, parse: parseExpand, forRecords: true, formatShape: formatNames, most: { limit: 'maxExpand', items: 'paths' } },
  // Compares with the typed client's list.
} satisfies { readonly [name in ReservedOfClient | 'page']: ReservedParameter<ReservedValues[name]> }

export const ALL_RESERVED = Object.keys(PARAMETERS) as readonly Reserved[]

/** Reserved in every engine. */
export const RESERVED: readonly Reserved[] = ALL_RESERVED.filter(name => name !== 'page')

export const NONE_GIVEN = Object.fromEntries(ALL_RESERVED.map(name => [name, undefined])) as GivenParameters

const PLANNED = RESERVED.filter(name => PARAMETERS[name].formatShape !== undefined)

/** Queries contain no NUL. */
export function formatReservedShape(parameters: GivenParameters): string {
  let shape = ''
  for (const name of PLANNED) shape += `${formatGiven(name, parameters[name])}\0`
  return shape
}

/** Empty is not absent. */
function formatGiven<N extends Reserved>(name: N, value: GivenParameters[N]): string {
  return value === undefined ? '' : `=${PARAMETERS[name].formatShape!(value)}`
}

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
  // No table has more rows.
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

function parseExpand(text: string, parameter: string): readonly string[] | undefined {
  return text.includes('(') || text.includes(')') ? splitOutside(text, ',', parameter) : parseList(text)
}

/** Splits outside of parentheses; a backslash escapes. */
export function splitOutside(text: string, separator: ',' | ';', parameter: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length && depth >= 0; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '(') depth++
    else if (character === ')') depth--
    else if (character === separator && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  if (depth === 0) return [...parts, text.slice(start)]
  const what = depth > 0 ? 'closed' : 'opened'
  const detail = `"${parameter}" has a parenthesis that is not ${what}; a literal one is written with a backslash.`
  throw parameterError({ code: 'value_invalid', detail, parameter, value: text })
}

function parseSort(text: string): readonly RawSort[] | undefined {
  return parseList(text)?.map(written => {
    const nulls: RawSort['nulls'] = written.endsWith('.nullsfirst') ? 'first' : written.endsWith('.nullslast') ? 'last' : undefined
    const key = nulls === undefined ? written : written.slice(0, written.lastIndexOf('.'))
    const order = nulls === undefined ? {} : { nulls }
    if (key.endsWith('.desc')) return { path: key.slice(0, -5), descending: true, ...order }
    return { path: key.endsWith('.asc') ? key.slice(0, -4) : key, descending: false, ...order }
  })
}

/** `age.desc.nullslast` */
export function formatSortKey({ path, descending, nulls }: RawSort): string {
  return `${path}.${descending ? 'desc' : 'asc'}${nulls === undefined ? '' : `.nulls${nulls}`}`
}

function formatSort(keys: readonly RawSort[]): string {
  let shape = ''
  for (const { path, descending, nulls = '' } of keys) shape += `${path}${descending ? '-' : '+'}${nulls},`
  return shape
}
