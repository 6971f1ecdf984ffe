/** Examples: requests of a resource that are worth a try, made of its outline alone. */
import type { OutlinedAttribute, OutlinedResource } from '../../description/outline/outline.ts'
import { exampleBody, withName } from '../console/body-names.ts'
import type { WrittenRequest } from '../console/sent-request.ts'

export interface Example {
  /** What it does. */
  readonly does: string
  readonly request: WrittenRequest
}

type Names = Readonly<Record<'limit' | 'offset' | 'sort' | 'depth' | 'attributes' | 'expand', string>>

/**
 * @param path the path of the resource: `/v1/sites`
 * @param id the ID of a record that there is
 */
export function listExamples(resource: OutlinedResource, path: string, id: string, names: Names): Example[] {
  const { attributes, singular, creates, updates, deletes } = resource
  const plain = attributes.filter(({ kind, filterable, flag }) => kind === 'scalar' && filterable && flag === undefined)
  const choice = plain.find(({ items }) => items !== undefined)
  const text = plain.find(({ type }) => type === 'text')
  const number = plain.find(each => /^(?:integer|float|decimal|datetime|date)$/.test(each.type) && !resource.key.includes(each.name))
  const link = attributes.find(({ kind, target }) => kind === 'toOne' && target !== undefined)
  const one = `${path}/${encodeURIComponent(id)}`
  const changed = attributes.find(
    each => each.kind === 'scalar' && !each.readOnly && !resource.key.includes(each.name) && each.name !== resource.version,
  )
  return [
    get('a page of ten', `${path}?${names.limit}=10`),
    ...(choice === undefined
      ? []
      : [get(`those whose ${choice.name} is ${choice.items![0]}`, `${path}?${choice.name}=${choice.items![0]}`)]),
    ...(text === undefined ? [] : [get(`those whose ${text.name} holds "a", whatever the case`, `${path}?${text.name}~=*a*`)]),
    ...(number === undefined
      ? []
      : [
          get(
            `from a value of ${number.name} on, the largest first`,
            `${path}?${number.name}>=${valueOf(number)}&${names.sort}=${number.name}.desc`,
          ),
        ]),
    ...(link === undefined ? [] : [get(`with ${link.name} as an object`, `${path}?${names.expand}=${link.name}&${names.limit}=10`)]),
    get(`one ${singular}`, one),
    ...(creates
      ? [{ does: `makes a ${singular}`, request: { method: 'POST', target: path, headers: '', body: exampleBody(resource) } }]
      : []),
    ...(updates && changed !== undefined
      ? [
          {
            does: `changes ${changed.name}`,
            request: { method: 'PATCH', target: one, headers: '', body: withName('{}', changed.name, resource) },
          },
        ]
      : []),
    ...(deletes ? [{ does: `deletes a ${singular}`, request: { method: 'DELETE', target: one, headers: '', body: '' } }] : []),
  ]
}

function get(does: string, target: string): Example {
  return { does, request: { method: 'GET', target, headers: '', body: '' } }
}

function valueOf({ type }: OutlinedAttribute): string {
  return type.startsWith('date') ? '2026-01-01' : '1'
}

/** The operators that a filter of the attribute may have, as they are written. */
export function operatorsOf({ kind, type, filterable, nullable }: OutlinedAttribute): string {
  if (!filterable) return ''
  if (kind !== 'scalar') return kind === 'embedded' ? '' : '=  !='
  const like = /^(?:text|uuid|any)$/.test(type) ? ['~='] : []
  const compare = /^(?:integer|bigint|float|decimal|datetime|date|time|text|any)$/.test(type) ? ['>=', '<=', '>', '<'] : []
  return ['=', '!=', ...like, ...compare, ...(nullable ? ['=null'] : [])].join('  ')
}

/** Whether a resource, or one of its attributes, has all the words in its name. */
export function matches({ name, singular, attributes }: OutlinedResource, words: string): boolean {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const names = [name, singular, ...attributes.map(attribute => attribute.name)].map(each => each.toLowerCase())
  return wanted.every(word => names.some(each => each.includes(word)))
}
