/** Reads the key of a row or link, as value, text and condition. */
import type { WireApi, WireResource } from '../../foundation/base/wire.ts'
import type { WireCondition } from './conditions.ts'

export type ShownRow = Readonly<Record<string, unknown>>

/** Of a row, or of a row behind a link. */
export function keyOf(api: WireApi, value: unknown, { key, attributes }: WireResource): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const parts = key.map(name => {
    const part = (value as ShownRow)[name]
    if (typeof part !== 'object' || part === null) return part
    // A key's part may be a link.
    const link = attributes.find(each => each.name === name)
    const target = api.resources.find(each => each.name === link?.target)
    return target === undefined ? part : keyOf(api, part, target)
  })
  return parts.length === 1 ? parts[0] : parts
}

/** For `api`: a key of several parts is an array. */
export function idOf(key: unknown): string | readonly string[] {
  return Array.isArray(key) ? key.map(textOf) : textOf(key)
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(textOf).join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function whereKeys({ key }: WireResource, keys: readonly unknown[]): WireCondition {
  if (key.length === 1) return { [key[0]!]: { $in: keys } }
  const parts = keys.map(each =>
    Object.fromEntries(key.map((name, index) => [name, (Array.isArray(each) ? each : textOf(each).split(','))[index]])),
  )
  // An empty list fits no row.
  return parts.length === 0 ? { [key[0]!]: { $in: [] } } : { $or: parts }
}
