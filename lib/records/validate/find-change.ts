/** Finds the value or link that a valid body gives an attribute, also inside embedded objects: `address.city`. */
import { formatPath } from '../../model/owning-links.ts'
import type { Attribute, Resource } from '../../model/model.ts'
import type { LinkInput, RecordInput, ValueInput } from './record-input.ts'

export function findAttribute(resource: Resource, names: readonly string[]): Attribute | undefined {
  let attribute = resource.byName.get(names[0]!)
  for (const name of names.slice(1)) attribute = attribute?.kind === 'embedded' ? attribute.byName.get(name) : undefined
  return attribute
}

export function findChange(change: RecordInput, names: readonly string[]): ValueInput | LinkInput | undefined {
  const link = change.links.find(({ attribute, within = [] }) => formatPath({ attribute, within }) === names.join('.'))
  if (link !== undefined) return link
  let values: readonly ValueInput[] = change.values
  for (const [index, name] of names.entries()) {
    const found = values.find(({ attribute }) => attribute.name === name)
    if (found === undefined || index === names.length - 1 || found.value === null) return found
    values = Array.isArray(found.value) ? (found.value as readonly ValueInput[]) : []
  }
  return undefined
}

export function findGivenValue(change: RecordInput, path: string): unknown {
  const found = findChange(change, path.split('.'))
  if (found === undefined) return undefined
  if ('link' in found) return found.link?.kind === 'existing' ? found.link.given : undefined
  const { value } = found
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return undefined
  return found.attribute.kind === 'scalar' && found.attribute.type.kind === 'datetime' ? new Date(value as number).toISOString() : value
}
