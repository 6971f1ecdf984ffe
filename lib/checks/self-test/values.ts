/** Compares a value of an answer with a value of a body or filter, such as `"7"` with `7`. */
import { idNames } from '../../model/key.ts'
import type { Attribute, Resource } from '../../model/model.ts'
import { isText, compareOrdered, type ScalarType } from '../../foundation/values/scalar-type.ts'
import { isObject } from '../../foundation/json/json.ts'

export type PlainRecord = Readonly<Record<string, unknown>>

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Ignores the order of keys. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isDeepEqual(item, b[index]))
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every(name => Object.hasOwn(b, name) && isDeepEqual(a[name], b[name]))
}

/** @returns undefined if the record hides its key */
export function findId(record: PlainRecord, resource: Resource): string | undefined {
  const { byName } = resource
  const names = idNames(resource)
  const parts = names.map(name => {
    const value = record[name]
    if (value === undefined || value === null) return undefined
    const attribute = byName.get(name)
    if (attribute?.kind === 'toOne') return findLinkedId(value, attribute.target)
    if (isObject(value)) return undefined
    return names.length === 1 ? toText(value) : encodeURIComponent(toText(value)).replaceAll('~', '%7E')
  })
  return parts.length === 0 || parts.includes(undefined) ? undefined : parts.join('~')
}

/** Takes an ID or an expanded record. */
export function findLinkedId(value: unknown, target: Resource): string | undefined {
  if (isObject(value)) return findId(value, target)
  return value === undefined || value === null ? undefined : toText(value)
}

export function isPlainlyShown(attribute: Attribute): boolean {
  if (attribute.hidden || attribute.render !== undefined || attribute.classValues !== undefined) return false
  if (attribute.kind === 'scalar') return attribute.source.kind !== 'getter' && attribute.source.kind !== 'none'
  return attribute.kind !== 'embedded' || attribute.attributes.every(child => child.hidden || isPlainlyShown(child))
}

export function isAsSent(attribute: Attribute, sent: unknown, shown: unknown): boolean {
  if (sent === null) return shown === null || (Array.isArray(shown) && shown.length === 0)
  switch (attribute.kind) {
    case 'scalar':
      return isSameScalar(attribute.type, sent, shown)
    case 'embedded':
      if (attribute.array) return Array.isArray(sent) && Array.isArray(shown) && sent.length === shown.length
      return (
        isObject(shown) &&
        Object.entries(sent as PlainRecord).every(([name, value]) => {
          const child = attribute.byName.get(name)
          return child === undefined || !isPlainlyShown(child) || isAsSent(child, value, shown[name])
        })
      )
    case 'toOne':
      return isObject(sent) ? shown !== null && shown !== undefined : toText(sent) === findLinkedId(shown, attribute.target)
    case 'toMany':
      return Array.isArray(sent) && Array.isArray(shown) && sent.length === shown.length
    case 'toOneOf':
      return isObject(sent) && isObject(shown) && sent[attribute.typeName] === shown[attribute.typeName]
  }
}

/** Equal in any form that bodies allow: `1` and `"1"` for bigint. */
export function isSameScalar(type: ScalarType, a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a === null || b === null || a === undefined || b === undefined) return false
  if (type.items !== undefined && type.kind !== 'array') return false
  switch (type.kind) {
    case 'bigint':
    case 'integer':
      return toText(a) === toText(b)
    case 'decimal':
    case 'float':
      return Number(a) === Number(b)
    case 'datetime':
      return Date.parse(toText(a)) === Date.parse(toText(b))
    case 'time':
      return `${toText(a)}:00`.startsWith(toText(b)) || `${toText(b)}:00`.startsWith(toText(a))
    case 'uuid':
      return toText(a).toLowerCase() === toText(b).toLowerCase()
    default:
      return isDeepEqual(a, b)
  }
}

const ORDERED = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean', 'datetime', 'date', 'time', 'text', 'uuid'])
const NUMBERS = new Set(['integer', 'float', 'decimal', 'boolean'])

/** Whether shown values sort like stored values, unlike intervals and enums of the database. */
export function isOrdered({ kind, loose, column }: ScalarType): boolean {
  return ORDERED.has(kind) && loose !== true && (kind !== 'text' || column === undefined || column === 'bpchar')
}

/** Compares as a sort does: NULL is smallest, text compares by code point. */
export function compareShown({ kind }: ScalarType, a: unknown, b: unknown): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (kind === 'bigint') return compareOrdered(BigInt(a as string), BigInt(b as string))
  if (NUMBERS.has(kind)) return compareOrdered(Number(a), Number(b))
  if (kind === 'datetime') return compareOrdered(Date.parse(toText(a)), Date.parse(toText(b)))
  return Buffer.compare(Buffer.from(toText(a)), Buffer.from(toText(b)))
}

export function toFilterText(value: unknown, type: ScalarType): string | undefined {
  if (value === null) return 'null'
  if (typeof value === 'object' || value === undefined) return undefined
  const text = toText(value)
  if (!isText(type) && type.kind !== 'custom' && type.kind !== 'any') return text
  return text === 'null' ? String.raw`\null` : text.replaceAll(/[\\,*=]/g, String.raw`\$&`)
}

export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 80)}...` : text
}
