/** Turns a request to the fake into a request to the real backend, with IDs and values of the real backend. */
import type { Attribute, Model, Resource } from '../../model/model.ts'
import { formatRoot, decodeSegment } from '../../records/request/address.ts'
import { findSignAtEnd, type Sign } from '../../records/request/operators.ts'
import type { Vocabulary } from '../../records/request/query-string.ts'
import { isObject } from '../../foundation/json/json.ts'
import { findId, toFilterText, type PlainRecord } from '../self-test/values.ts'

export interface AnsweredRequest {
  readonly method: string
  /** With the base, without the query. */
  readonly path: string
  /** Names with operators, and values. */
  readonly query: readonly (readonly [string, string])[]
  readonly body?: unknown
  readonly status: number
  readonly response: unknown
}

export interface FakeVersion {
  readonly name: string
  readonly model: Model
  readonly vocabulary: Vocabulary
}

export interface GivenFilter {
  /** As written: `age>=`. */
  readonly parameter: string
  readonly attribute: Attribute
  readonly name: string
  readonly isNegated: boolean
  readonly sign: Sign
  readonly text: string
}

export interface RequestPlace {
  readonly version: FakeVersion
  readonly resource: Resource | undefined
  readonly id: string | undefined
  /** The resource of the records in the answer. */
  readonly answered: Resource | undefined
  readonly isList: boolean
  readonly attribute: Attribute | undefined
  /** Below the base, with `{id}` for the ID. */
  readonly template: string
}

export function findPlace(path: string, base: string, versions: readonly FakeVersion[]): RequestPlace | undefined {
  const below = path.startsWith(`${base}/`) ? path.slice(base.length) : path
  const version = versions.find(({ name }) => `${below}/`.startsWith(`${formatRoot('', name)}/`))
  if (version === undefined) return undefined
  const root = formatRoot('', version.name)
  const [name = '', id, attributeName, ...rest] = below.slice(root.length).split('/').slice(1)
  const resource = version.model.byName.get(decodeSegment(name))
  const none = { version, resource: undefined, id: undefined, answered: undefined, isList: false, attribute: undefined, template: below }
  if (resource === undefined || rest.length > 0) return none
  const isSingle = resource.rules.single !== undefined
  const given = isSingle ? undefined : id
  const wanted = isSingle ? id : attributeName
  const attribute = wanted === undefined ? undefined : resource.byName.get(decodeSegment(wanted))
  if (wanted !== undefined && attribute === undefined) return none
  const target =
    attribute === undefined ? resource : attribute.kind === 'toMany' || attribute.kind === 'toOne' ? attribute.target : undefined
  const template = [root, name, ...(given === undefined ? [] : ['{id}']), ...(wanted === undefined ? [] : [wanted])].join('/')
  const isList = attribute === undefined ? given === undefined && !isSingle : attribute.kind === 'toMany'
  return { version, resource, id: given, answered: target, isList, attribute, template }
}

/** Of GETs with the same form, which differ in IDs, numbers or filter values only, one is sent. */
export function formatForm({ method, query, status }: AnsweredRequest, { template, version }: RequestPlace): string {
  const shown = query.map(([name, value]) => (version.vocabulary.reserved.has(name) && !/^\d+$/.test(value) ? `${name}=${value}` : name))
  return `${method} ${template}?${shown.toSorted().join('&')} ${status < 400}`
}

/** The filters of a query, without filters through relations, such as `author.name=Ann`. */
export function listFilters(query: AnsweredRequest['query'], { answered, version }: RequestPlace): GivenFilter[] {
  if (answered === undefined) return []
  return query.flatMap(([parameter, text]): GivenFilter[] => {
    if (version.vocabulary.names.has(parameter)) return []
    const key = parameter.replace(/^!+/, '')
    const written = findSignAtEnd(key)
    const name = key.slice(0, key.length - written.length)
    const sign = written === '' ? '=' : written
    const attribute = answered.byName.get(name) ?? answered.byName.get(name.replace(/_$/, ''))
    if (attribute === undefined) return []
    const isNegated = (parameter.length - key.length) % 2 === 1
    return [{ parameter, attribute, name: attribute.name, isNegated, sign, text }]
  })
}

/** Lists, wildcards and NULL stay. */
export function replaceValues(
  query: AnsweredRequest['query'],
  place: RequestPlace,
  record: PlainRecord | undefined,
): AnsweredRequest['query'] {
  if (record === undefined) return query
  const filters = new Map(listFilters(query, place).map(filter => [filter.parameter, filter]))
  return query.map(([parameter, text]) => {
    const filter = filters.get(parameter)
    if (filter === undefined || /[,*\\]/.test(text) || text === 'null') return [parameter, text]
    return [parameter, findText(filter.attribute, record[filter.name]) ?? text]
  })
}

function findText(attribute: Attribute, value: unknown): string | undefined {
  if (value === null || value === undefined || value === '') return undefined
  if (attribute.kind === 'scalar') return toFilterText(value, attribute.type)
  if (attribute.kind !== 'toOne') return undefined
  const id = isObject(value)
    ? findId(value, attribute.target)
    : typeof value === 'string' || typeof value === 'number'
      ? String(value)
      : undefined
  return id?.replaceAll(/[\\,*=]/g, String.raw`\$&`)
}
