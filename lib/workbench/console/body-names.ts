/** Offers attributes for a body, from the outline. */
import type { OutlinedResource, OutlinedAttribute } from '../../description/outline/outline-parts.ts'

interface NamedValue {
  readonly name: string
  readonly hint: string
}

export function resourceOfPath(target: string, root: string, resources: readonly OutlinedResource[]): OutlinedResource | undefined {
  const [path = ''] = target.split('?', 1)
  if (!path.startsWith(`${root}/`)) return undefined
  const [name = '', , attribute] = path.slice(root.length + 1).split('/')
  const resource = resources.find(each => each.name === name)
  if (attribute === undefined || attribute === '') return resource
  const linked = resource?.attributes.find(each => each.name === attribute)?.target
  return resources.find(each => each.name === linked)
}

export function missingNames(body: string, resource: OutlinedResource): readonly NamedValue[] {
  const given = namesIn(body)
  const all = [...resource.attributes, ...(resource.writeOnly ?? [])].filter(({ readOnly, kind, name, ids, flag, required }) => {
    if (resource.key.includes(name) && !required) return false
    return !readOnly && kind !== 'toMany' && flag === undefined && name !== resource.version && !given.has(name) && !given.has(ids ?? name)
  })
  return [...all.filter(({ required }) => required), ...all.filter(({ required }) => !required)].map(attribute => ({
    name: attribute.ids ?? attribute.name,
    hint: `${attribute.type}${attribute.required ? ', required' : ''}`,
  }))
}

/** Replaces a body other than a JSON object. */
export function withName(body: string, name: string, resource: OutlinedResource): string {
  const attribute = [...resource.attributes, ...(resource.writeOnly ?? [])].find(each => each.name === name || each.ids === name)
  const value = attribute === undefined ? null : exampleOf(attribute)
  return JSON.stringify({ ...readObject(body), [name]: value }, null, 2)
}

export function exampleBody(resource: OutlinedResource): string {
  const needed = [...resource.attributes, ...(resource.writeOnly ?? [])].filter(
    ({ required, readOnly, kind }) => required && !readOnly && kind !== 'toMany',
  )
  return JSON.stringify(Object.fromEntries(needed.map(attribute => [attribute.ids ?? attribute.name, exampleOf(attribute)])), null, 2)
}

const EXAMPLES: Readonly<Record<string, unknown>> = {
  text: '',
  integer: 1,
  bigint: '1',
  float: 1.5,
  decimal: '1.00',
  boolean: true,
  datetime: '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  time: '12:00:00',
  uuid: '00000000-0000-4000-8000-000000000000',
  json: {},
  blob: '',
  list: [],
}

function exampleOf({ type, items, kind }: OutlinedAttribute): unknown {
  if (kind === 'toOne') return 1
  return items?.[0] ?? EXAMPLES[type] ?? (kind === 'embedded' ? {} : '')
}

/** Finds names even in invalid JSON. */
function namesIn(body: string): ReadonlySet<string> {
  return new Set([...body.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g)].map(([, name = '']) => name))
}

function readObject(body: string): object {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}
