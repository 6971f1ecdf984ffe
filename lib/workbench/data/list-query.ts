/** Turns the reader's query into a request for a page, with names of linked records, without lists of IDs. */
import { encodeSoftly } from '../state/place-text.ts'
import type { OutlinedResource, OutlinedAttribute } from '../../description/outline/outline-parts.ts'

export const PAGE = 50
/** Fewer than `limits.maxExpand`, by default 50. */
const MAX_NAMED = 40

/** The application's names of parameters. */
export type ParameterNames = Readonly<Record<'limit' | 'offset' | 'sort' | 'depth' | 'attributes' | 'expand', string>>

export interface ShownQuery {
  readonly asked: string
  /** Without names of linked records, which the caller may not read. */
  readonly plain: string
  readonly limit: number
  readonly offset: number
  readonly sort: readonly ShownSort[]
  readonly isOwnChoice: boolean
}

export interface ShownSort {
  readonly path: string
  readonly descending: boolean
}

interface ShownPair {
  readonly name: string
  readonly value: string
  readonly text: string
}

export function readListQuery(
  query: string,
  resource: OutlinedResource,
  names: ParameterNames,
  find: (name: string) => OutlinedResource | undefined,
): ShownQuery {
  const pairs = readPairs(query)
  const given = (name: string): string | undefined => pairs.findLast(pair => pair.name === name)?.value
  const limit = Math.min(readCount(given(names.limit), PAGE), PAGE)
  const kept = pairs.filter(({ name }) => name !== names.limit).map(({ text }) => text)
  const isOwnChoice = pairs.some(({ name }) => [names.attributes, names.expand, names.depth].includes(name))
  const plain = [...kept, `${names.limit}=${limit}`]
  const added = isOwnChoice ? [] : chooseShown(resource, names, find)
  return {
    asked: [...plain, ...added].join('&'),
    plain: [...plain, ...(isOwnChoice ? [] : [`${names.depth}=1`])].join('&'),
    limit,
    offset: readCount(given(names.offset), 0),
    sort: readSort(given(names.sort)),
    isOwnChoice,
  }
}

export function withParameter(query: string, name: string, value: string | undefined): string {
  const kept = readPairs(query)
    .filter(pair => pair.name !== name)
    .map(({ text }) => text)
  return [...kept, ...(value === undefined ? [] : [`${name}=${encodeSoftly(value)}`])].join('&')
}

export function withOffset(query: string, name: string, offset: number): string {
  return withParameter(query, name, offset <= 0 ? undefined : String(offset))
}

/** Ascending, then descending, then the API's order. */
export function nextSort(sort: readonly ShownSort[], path: string): string | undefined {
  const sorting = sort[0]?.path === path ? sort[0] : undefined
  if (sorting === undefined) return path
  return sorting.descending ? undefined : `${path}.desc`
}

/** Everything but reserved parameters, as written. */
export function listFilters(query: string, names: ParameterNames): string[] {
  const reserved = new Set<string>(Object.values(names))
  return readPairs(query)
    .filter(({ name }) => !reserved.has(name))
    .map(({ text }) => text)
}

export function withoutFilter(query: string, filter: string): string {
  return readPairs(query)
    .map(({ text }) => text)
    .filter(text => text !== filter)
    .join('&')
}

/** Values of `=` filters, so that the list will have the new record. */
export function readPrefilled(query: string, { attributes }: OutlinedResource, names: ParameterNames): Record<string, string> {
  const reserved = new Set<string>(Object.values(names))
  const values: Record<string, string> = {}
  for (const { name, value } of readPairs(query)) {
    const attributeName = name.endsWith('_') && reserved.has(name.slice(0, -1)) ? name.slice(0, -1) : name
    const attribute = reserved.has(name) ? undefined : attributes.find(each => each.name === attributeName || each.ids === attributeName)
    const isOne = value !== '' && value !== 'null' && !/[,*\\]/.test(value)
    if (attribute !== undefined && isOne && !attribute.readOnly && ['scalar', 'toOne'].includes(attribute.kind))
      values[attribute.name] = value
  }
  return values
}

function readPairs(query: string): ShownPair[] {
  return query
    .split('&')
    .filter(text => text !== '')
    .map(text => {
      const mark = text.indexOf('=')
      return { name: decode(mark < 0 ? text : text.slice(0, mark)), value: mark < 0 ? '' : decode(text.slice(mark + 1)), text }
    })
}

function readCount(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : otherwise
}

function readSort(text: string | undefined): ShownSort[] {
  return (text ?? '')
    .split(',')
    .filter(key => key !== '')
    .map(key => ({ path: key.replace(/\.(?:asc|desc)$/, ''), descending: key.endsWith('.desc') }))
}

/** A list of attributes cannot hold such a name: `home.title` of a JSON file. */
const UNWRITTEN = /[.,]|^!/

/** All attributes except lists; of linked records, ID and name. */
function chooseShown(resource: OutlinedResource, names: ParameterNames, find: (name: string) => OutlinedResource | undefined): string[] {
  const named = new Set(
    resource.attributes
      .filter(({ kind, target, flag }) => kind === 'toOne' && flag === undefined && target !== undefined && find(target) !== undefined)
      .slice(0, MAX_NAMED)
      .map(({ name }) => name),
  )
  const shown = resource.attributes.filter(({ kind, flag }) => kind !== 'toMany' && flag === undefined)
  if (shown.some(({ name, ids = name }) => UNWRITTEN.test(ids))) return [`${names.depth}=1`]
  const attributes = shown.flatMap(attribute => (named.has(attribute.name) ? namesOf(attribute, find) : [attribute.ids ?? attribute.name]))
  return [
    `${names.attributes}=${attributes.map(encodeSoftly).join(',')}`,
    ...(named.size === 0 ? [] : [`${names.expand}=${[...named].map(encodeSoftly).join(',')}`]),
  ]
}

function namesOf({ name, target = '' }: OutlinedAttribute, find: (name: string) => OutlinedResource | undefined): string[] {
  const { key = [], label } = find(target) ?? {}
  return [...new Set([...key, ...(label === undefined ? [] : [label])])].map(part => `${name}.${part}`)
}

export function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    // The API reports the error.
    return text
  }
}
