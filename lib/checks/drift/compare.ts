/** Compares the fake's answer with the real backend's: status, types, order, filters, never values of records, which always differ. */
import type { Resource } from '../../model/model.ts'
import { findMeaning } from '../self-test/filter-meaning.ts'
import { isObject } from '../../foundation/json/json.ts'
import { compareShown, isOrdered, isPlainlyShown, show, type PlainRecord } from '../self-test/values.ts'
import type { Difference } from './report.ts'
import { listFilters, type AnsweredRequest, type GivenFilter, type RequestPlace } from './replay.ts'

export interface RealAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

interface Comparison {
  readonly place: RequestPlace
  /** With the fake's answer. */
  readonly asked: AnsweredRequest
  /** As sent to the real backend. */
  readonly query: AnsweredRequest['query']
  readonly real: RealAnswer
  /** Violations of the fake's document. */
  readonly faults: readonly string[]
  /** Keys to the records. Default: the name of the resource. */
  readonly recordsAt?: readonly string[] | undefined
}

/** `resource` is set for a fault inside a record, perhaps a related record. */
type Found = Pick<Difference, 'kind' | 'attribute' | 'parameter' | 'message'> & Partial<Pick<Difference, 'resource'>>

export function compareAnswers(comparison: Comparison): Found[] {
  const { asked, real } = comparison
  if (asked.status !== real.status) return [compareStatus(comparison)]
  if (real.status >= 400) return compareRefusals(comparison)
  return [...comparison.faults.flatMap(fault => describeFault(fault, comparison)), ...compareBehaviour(comparison)]
}

function compareStatus({ asked, real, place, query }: Comparison): Found {
  const { code } = (real.body ?? {}) as { readonly code?: unknown }
  const reason = typeof code === 'string' ? ` (${code})` : ''
  return {
    kind: 'status',
    attribute: undefined,
    parameter: findCause(query, place, real.body),
    message: `The fake answers with ${asked.status}, the real backend with ${real.status}${reason}.`,
  }
}

/** The parameter that the answer names, or the only parameter beside page and `depth`. */
function findCause(query: AnsweredRequest['query'], { version: { vocabulary } }: RequestPlace, body: unknown): string | undefined {
  const named =
    isObject(body) && Array.isArray(body['errors']) ? (body['errors'] as unknown[]).filter(isObject)[0]?.['parameter'] : undefined
  if (query.some(([name]) => name === named)) return named as string
  if (query.length === 1) return query[0]![0]
  const others = query.filter(([name]) => !['limit', 'offset', 'page', 'depth'].includes(vocabulary.reserved.get(name) ?? ''))
  return others.length === 1 ? others[0]![0] : undefined
}

function compareRefusals({ asked, real, query, place }: Comparison): Found[] {
  const [fake, other] = [asked.response, real.body].map(body => (isObject(body) ? body['code'] : undefined))
  if (typeof fake !== 'string' || fake === other) return []
  const message = `The fake refuses with the code "${fake}", the real backend with ${other === undefined ? 'no code' : show(other)}.`
  return [{ kind: 'status', attribute: undefined, parameter: findCause(query, place, real.body), message }]
}

/** Such as `listUsers 200: /users/0/age is string ("3"), not integer`. */
const FAULT = /^(?:\S+ )?(?:\d{3}: )?(?<pointer>\/\S*|the body) (?<what>.*)$/s

function describeFault(fault: string, { place, recordsAt }: Comparison): Found[] {
  const { answered } = place
  const { pointer, what } = FAULT.exec(fault)?.groups ?? {}
  if (pointer === undefined || what === undefined) {
    // Another backend may have other headers.
    return fault.includes('the header "') ? [] : [{ kind: 'type', attribute: undefined, parameter: undefined, message: `${fault}.` }]
  }
  const inside =
    pointer === 'the body'
      ? []
      : pointer
          .split('/')
          .slice(1)
          .filter(name => !/^\d+$/.test(name))
  const names = answered === undefined ? [] : [[answered.plural], [answered.singular]]
  const start = (recordsAt === undefined ? names : [recordsAt]).find(keys => keys.every((key, index) => inside[index] === key))
  const isRecord = answered !== undefined && start !== undefined
  const lacking = /^lacks "(.*)"$/s.exec(what)?.[1]
  const more = /^has "(.*)", which is not described$/s.exec(what)?.[1]
  const member = lacking ?? more
  const path = [...(isRecord ? inside.slice(start.length) : nameMembers(inside, place)), ...(member === undefined ? [] : [member])]
  const { resource, names: shown } = isRecord ? findOwner(answered, path) : { resource: undefined, names: path }
  const found = {
    ...(resource === undefined ? {} : { resource: resource.plural }),
    attribute: shown.join('.') || undefined,
    parameter: undefined,
  }
  if (lacking !== undefined)
    return [{ ...found, kind: 'missing', message: `The real backend does not show "${lacking}"${isRecord ? '' : ' in its answer'}.` }]
  if (more !== undefined) return [{ ...found, kind: 'unknown', message: `The real backend shows "${more}", which the fake does not have.` }]
  return [{ ...found, kind: 'type', message: `In the real backend ${shown.length === 0 ? 'the body' : 'it'} ${what}.` }]
}

function findOwner(resource: Resource, names: readonly string[]): { readonly resource: Resource; readonly names: readonly string[] } {
  const [first = '', ...rest] = names
  const attribute = resource.byName.get(first)
  const isExpanded = (attribute?.kind === 'toOne' || attribute?.kind === 'toMany') && rest.length > 0
  return isExpanded ? findOwner(attribute.target, rest) : { resource, names }
}

/** At an attribute's path, `value` is the attribute. */
function nameMembers(names: readonly string[], { attribute }: RequestPlace): readonly string[] {
  return attribute !== undefined && names[0] === 'value' ? [attribute.name, ...names.slice(1)] : names
}

function compareBehaviour(comparison: Comparison): Found[] {
  const { place, real, query } = comparison
  const { answered, isList } = place
  const records = answered === undefined || !isList || !isObject(real.body) ? undefined : real.body[answered.plural]
  if (answered === undefined || !Array.isArray(records) || !records.every(isObject)) return []
  const filters = listFilters(query, place).flatMap(filter => compareFilter(filter, records))
  return [...filters, ...compareSort(comparison, answered, records), ...compareLimit(comparison, records)]
}

function compareFilter(filter: GivenFilter, records: readonly PlainRecord[]): Found[] {
  const meets = findTest(filter)
  const wrong = meets === undefined ? undefined : records.find(record => record[filter.name] !== undefined && !meets(record[filter.name]))
  if (wrong === undefined) return []
  const message =
    `A record with ${show(wrong[filter.name])} is found ` +
    `by ${filter.parameter}${/[=<>]$/.test(filter.parameter) ? '' : '='}${filter.text}.`
  return [{ kind: 'filter', attribute: filter.name, parameter: filter.parameter, message }]
}

/** @returns undefined if shown values do not reveal the answer */
function findTest({ attribute, sign, isNegated, text }: GivenFilter): ((shown: unknown) => boolean) | undefined {
  if (!isPlainlyShown(attribute) || /[,*\\]/.test(text)) return undefined
  const isBoolean = attribute.kind === 'scalar' && attribute.type.kind === 'boolean'
  const value = text === 'null' ? null : isBoolean ? text === 'true' || text === '1' : text
  const test = findMeaning(attribute, sign, value)
  return test === undefined || !isNegated ? test : shown => !test(shown)
}

/** Compares the stated order, and the order of records. */
function compareSort({ asked, real, query, place }: Comparison, resource: Resource, records: readonly PlainRecord[]): Found[] {
  const given = query.find(([name]) => place.version.vocabulary.reserved.get(name) === 'sort')
  const parameter = given?.[0]
  const [fake, other] = [asked.response, real.body].map(body => (isObject(body) ? body['sort'] : undefined))
  if (typeof fake !== 'string') return []
  if (typeof other === 'string' && fake !== other) {
    const what = parameter === undefined ? 'default order' : 'order'
    return [
      {
        kind: 'sort',
        attribute: undefined,
        parameter: parameter ?? 'sort',
        message: `The ${what} is ${fake} in the fake, and ${other} in the real backend.`,
      },
    ]
  }
  const [, name = '', direction] = /^([\w-]+)\.(asc|desc)(?:,|$)/.exec(fake) ?? []
  const attribute = resource.byName.get(name)
  if (attribute?.kind !== 'scalar' || !isPlainlyShown(attribute) || !isOrdered(attribute.type)) return []
  if (records.some(record => record[name] === undefined)) return []
  const factor = direction === 'desc' ? -1 : 1
  const at = records.findIndex(
    (record, index) => index > 0 && compareShown(attribute.type, records[index - 1]![name], record[name]) * factor > 0,
  )
  if (at < 0) return []
  const message = `Sorted by ${fake}, ${show(records[at - 1]![name])} comes before ${show(records[at]![name])}.`
  return [{ kind: 'sort', attribute: name, parameter: parameter ?? 'sort', message }]
}

function compareLimit({ query, place }: Comparison, records: readonly PlainRecord[]): Found[] {
  const [name, value] = query.find(each => place.version.vocabulary.reserved.get(each[0]) === 'limit') ?? []
  if (name === undefined || value === undefined || !(records.length > Number(value))) return []
  return [{ kind: 'limit', attribute: undefined, parameter: name, message: `${records.length} records are given with ${name}=${value}.` }]
}
