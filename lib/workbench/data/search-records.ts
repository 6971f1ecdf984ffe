/** Searches for records to link, and reads a record with the names of linked records. */
import { readUnrecorded } from '../state/ask.ts'
import { parameterOf, pathOf, type OutlinedResource, findResource } from '../state/outline.ts'
import { encodeSoftly } from '../state/place-text.ts'
import { idOf, labelOf, type AnyRecord } from '../state/records.ts'
import { readListQuery } from './list-query.ts'
import { parameterNames } from './parameter-names.ts'

export interface FoundRecord {
  readonly id: string
  readonly label: string
}

const SHOWN = 10

/** At most ten records, with the text in the name or as the ID. */
export async function searchRecords(target: OutlinedResource, text: string, signal: AbortSignal): Promise<readonly FoundRecord[]> {
  const label = target.attributes.find(({ name, filterable }) => name === target.label && filterable)
  const [key] = target.key
  const typed = text.trim()
  const byName = label === undefined ? (typed === '' ? [''] : []) : [typed === '' ? '' : `${filterName(label.name)}~=*${literal(typed)}*`]
  const isOneKey =
    target.key.length === 1 && key !== undefined && target.attributes.some(({ name, filterable }) => name === key && filterable)
  const byId = isOneKey && typed !== '' && mayBeKey(typed, target) ? [`${filterName(key)}=${literal(typed)}`] : []
  const pages = await Promise.all([...byId, ...byName].map(filter => read(target, filter, signal)))
  const found = new Map(pages.flat().map(record => [record.id, record]))
  return [...found.values()].slice(0, SHOWN)
}

async function read(target: OutlinedResource, filter: string, signal: AbortSignal): Promise<FoundRecord[]> {
  const shown = [...new Set([...target.key, ...(target.label === undefined ? [] : [target.label])])]
  const pairs = [
    filter,
    `${parameterOf('attributes')}=${shown.map(encodeSoftly).join(',')}`,
    `${parameterOf('limit')}=${SHOWN}`,
    `${parameterOf('depth')}=1`,
  ]
  const { body } = await readUnrecorded(`${pathOf(target.name)}?${pairs.filter(Boolean).join('&')}`, signal)
  const records = (body as Readonly<Record<string, readonly AnyRecord[]>>)[(body as { readonly resource: string }).resource] ?? []
  return records.flatMap(record => {
    const id = idOf(record, target)
    return id === undefined ? [] : [{ id, label: labelOf(record, target) }]
  })
}

export function filterName(name: string): string {
  return Object.values(parameterNames()).includes(name) ? `${encodeSoftly(name)}_` : encodeSoftly(name)
}

export function literal(text: string): string {
  const escaped = text.replaceAll(/[\\*,]/g, String.raw`\$&`)
  return encodeSoftly(escaped === 'null' ? String.raw`\null` : escaped)
}

function mayBeKey(text: string, { key: [name], attributes }: OutlinedResource): boolean {
  const type = attributes.find(attribute => attribute.name === name)?.type
  if (type === 'integer' || type === 'bigint') return /^-?(?:0|[1-9]\d{0,14})$/.test(text)
  return type === 'text' || (type === 'uuid' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text))
}

export async function readRecord(resource: OutlinedResource, path: string, given: string, signal: AbortSignal): Promise<AnyRecord> {
  const { asked } = readListQuery(given, resource, parameterNames(), findResource)
  const query = asked
    .split('&')
    .filter(pair => !pair.startsWith(`${parameterOf('limit')}=`))
    .join('&')
  const { body } = await readUnrecorded(`${path}?${query}`, signal)
  return (body as Readonly<Record<string, AnyRecord>>)[(body as { readonly resource: string }).resource]!
}
