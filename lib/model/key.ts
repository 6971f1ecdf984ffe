/**
 * Converts a record's ID between path segment (`/v1/orders/7~2`), JSON and key values (`[7, 2]`). A composite key joins parts by `~`, each
 * percent-encoded (RFC 3986 section 2.1, `~` itself as %7E). With the option `key`, an ID holds another attribute's value (`ShownKey`);
 * rows are still linked by primary key (`KeyValues`).
 */
import { withArticle } from '../foundation/base/article.ts'
import { restError, type RestError } from '../foundation/errors/errors.ts'
import type { KeyPart, PolymorphicTarget, Resource, ToOneOfAttribute } from './model.ts'
import {
  readScalar,
  parseScalar,
  formatScalar,
  type ScalarKind,
  type ScalarType,
  type ScalarValue,
} from '../foundation/values/scalar-type.ts'
import { runtime } from '../foundation/runtime/runtime.ts'

export type KeyValues = readonly ScalarValue[]

export interface ShownKey {
  readonly shown: ScalarValue
}

export type RecordKey = KeyValues | ShownKey

export function isShownKey(key: RecordKey): key is ShownKey {
  // Faster than looking for a member.
  return !Array.isArray(key)
}

export function hasRowKey<T extends { readonly key: RecordKey }>(named: T): named is T & { readonly key: KeyValues } {
  return Array.isArray(named.key)
}

export function idValues(key: RecordKey): readonly ScalarValue[] {
  return isShownKey(key) ? [key.shown] : key
}

export function idParts({ key, shownKey }: Resource): readonly KeyPart[] {
  return shownKey === undefined ? key : [shownKey.part]
}

export function idNames({ keyNames, shownKey }: Resource): readonly string[] {
  return shownKey === undefined ? keyNames : [shownKey.name]
}

/** Whether no path names such a key: `/v1/docs/` is the list, URLs drop `.` and `..` (WHATWG). */
export function isUnreachable(value: unknown, name: string, resource: Resource): boolean {
  if (typeof value !== 'string') return false
  const hasNul = value.includes('\0')
  if (!hasNul && !/^\.{0,2}$/.test(value)) return false
  return idNames(resource).includes(name) && (hasNul || idParts(resource).length === 1)
}

export function compareKeys(a: KeyValues, b: KeyValues): number {
  for (const [index, value] of a.entries()) {
    const otherValue = b[index]!
    const areNumbers = [value, otherValue].every(each => typeof each === 'number' || typeof each === 'bigint')
    const [left, right] = (areNumbers ? [value, otherValue] : [value, otherValue].map(String)) as [string, string]
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Undefined for a text that cannot be an ID: `x` for an integer.
 *
 * @param encoded a raw path segment, percent-encoded even for a single key
 */
export function idFromText(text: string, resource: Resource, encoded = false): RecordKey | undefined {
  const { shownKey } = resource
  if (shownKey === undefined) return keyFromText(text, resource, encoded)
  const shown = readPart(text, shownKey.part, encoded)
  return shown === undefined ? undefined : { shown }
}

function readPart(text: string, { type }: KeyPart, encoded: boolean): ScalarValue | undefined {
  const part = encoded && text.includes('%') ? decodePart(text) : text
  if (part === undefined) return undefined
  const value = parseScalar(part, type)
  // A file's key may be of another type.
  return type.strays === true ? (readBytes(part, type) ?? value ?? findStray(part, type)) : value
}

const BYTES = /^x'((?:[0-9a-f]{2})*)'$/

/** Hex, for in a file, Base64 of one key could be another row's key. */
export function formatBytes(bytes: Uint8Array): string {
  return `x'${runtime.formatBytes(bytes, 'hex')}'`
}

function formatPart(value: unknown, type: ScalarType): unknown {
  return value instanceof Uint8Array ? formatBytes(value) : formatScalar(value, type)
}

function readBytes(value: unknown, { strays }: ScalarType): Uint8Array | undefined {
  const bytes = strays === true && typeof value === 'string' ? BYTES.exec(value)?.[1] : undefined
  return bytes === undefined ? undefined : runtime.parseBytes(bytes, 'hex')
}

/** Reads a file's key of another type than the column. Undefined: no row can hold the value, like `01`. */
function findStray(value: unknown, { kind, strays, items }: ScalarType): ScalarValue | undefined {
  if (strays !== true || items !== undefined) return undefined
  const isCounted = kind === 'integer' || kind === 'bigint'
  if (typeof value === 'number') return isCounted && Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || !isCounted || !/^\s*[+-]?(?:\d|\.\d)/.test(value)) return typeof value === 'string' ? value : undefined
  const number = Number(value)
  // SQLite stores every numeric text as a number.
  return Number.isNaN(number) ? value : String(number) === value ? number : undefined
}

export function keyFromText(text: string, resource: Resource, encoded = false): KeyValues | undefined {
  if (resource.key.length === 1) {
    const value = readPart(text, resource.key[0]!, encoded)
    return value === undefined ? undefined : [value]
  }
  const parts = text.split('~')
  if (parts.length !== resource.key.length) return undefined
  const values: ScalarValue[] = []
  for (const [index, part] of parts.entries()) {
    const value = readPart(part, resource.key[index]!, true)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

/** Undefined: cannot be an ID. */
export function idFromJson(json: unknown, resource: Resource): RecordKey | undefined {
  const { shownKey } = resource
  if (shownKey === undefined) return keyFromJson(json, resource)
  const shown = json === null ? undefined : readScalar(json, shownKey.part.type)
  return shown === undefined ? undefined : { shown }
}

export function keyFromJson(json: unknown, resource: Resource): KeyValues | undefined {
  if (resource.key.length > 1) return typeof json === 'string' ? keyFromText(json, resource) : undefined
  const { type } = resource.key[0]!
  const value = json === null ? undefined : (readBytes(json, type) ?? readScalar(json, type) ?? findStray(json, type))
  return value === undefined ? undefined : [value]
}

/** @throws RestError for a number beyond 2^53 that JSON shows as a number: the next key would look the same */
export function keyFromCount(count: number | bigint, { key, table }: Resource): KeyValues {
  const { kind, asNumber } = key[0]!.type
  if ((kind !== 'bigint' || asNumber === true) && count > Number.MAX_SAFE_INTEGER) throw keysUsedUp(table, Number.MAX_SAFE_INTEGER)
  return [kind === 'bigint' ? BigInt(count) : Number(count)]
}

export function keysUsedUp(table: string, last: number | bigint, cause?: Error): RestError {
  const detail = `The keys of the table "${table}" have reached the last number, ${last}: give the record a key that is free.`
  return restError('validation_failed', detail, { cause })
}

interface TypedKey {
  readonly branch: PolymorphicTarget
  readonly key: KeyValues
}

/** Reads `post:7`. Undefined: not an ID of the branches. */
export function typedKeyFromText(text: string, { branches }: ToOneOfAttribute): TypedKey | undefined {
  const colon = text.indexOf(':')
  const branch = colon < 0 ? undefined : branches.find(({ target }) => target.singular === text.slice(0, colon))
  const key = branch && keyFromText(text.slice(colon + 1), branch.target)
  return branch === undefined || key === undefined ? undefined : { branch, key }
}

export function describeTypedKey({ branches }: ToOneOfAttribute): string {
  return `an ID behind its resource: ${branches.map(({ target }) => `"${target.singular}:" and ${describeKey(target)}`).join('; or ')}`
}

export function textOfPart(value: unknown): string {
  return typeof value === 'string' ? value : String(value)
}

/** Percent-encoded, for error texts and `Location`. */
export function keyToSegment(values: KeyValues, parts: readonly KeyPart[]): string {
  const formatted: unknown[] = []
  for (let part = 0; part < values.length; part++) formatted.push(formatPart(values[part], parts[part]!.type))
  return joinKey(formatted)
}

/** As `keyToSegment`. */
export function idToSegment(id: RecordKey, resource: Resource): string {
  return keyToSegment(idValues(id), idParts(resource))
}

export function shownText({ shown }: ShownKey, { shownKey }: Resource): string {
  return textOfPart(formatScalar(shown, shownKey!.part.type))
}

export function idToJson(key: RecordKey, resource: Resource): unknown {
  const parts = idParts(resource)
  const values = idValues(key).map((value, part) => formatPart(value, parts[part]!.type))
  return values.length === 1 ? values[0] : joinKey(values)
}

export function joinKey(parts: readonly unknown[]): string {
  const texts: string[] = []
  for (const part of parts)
    texts.push(Number.isSafeInteger(part) ? String(part) : encodeURIComponent(textOfPart(part)).replaceAll('~', '%7E'))
  return texts.join('~')
}

export function describeKey(resource: Resource): string {
  const parts = idParts(resource).map(({ type }) => PARTS[type.kind] ?? withArticle(type.kind))
  return parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)!}, joined by "~"`
}

const PARTS: Partial<Record<ScalarKind, string>> = {
  text: 'a string',
  bigint: 'an integer',
  uuid: 'a UUID',
  date: 'a date (YYYY-MM-DD)',
  datetime: 'a date-time',
  custom: 'a value of its own type',
}

/** Takes an attribute's part of a key: of a relation, the whole key of its target. */
export function takeKeyParts(resource: Resource, name: string, key: KeyValues): KeyValues {
  let start = 0
  for (const keyName of resource.keyNames) {
    const attribute = resource.byName.get(keyName)
    const count = attribute?.kind === 'toOne' ? attribute.target.key.length : 1
    if (keyName === name) return key.slice(start, start + count)
    start += count
  }
  return []
}

export function sameKey(a: KeyValues, b: KeyValues): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index])
}

/** For Maps and Sets. `('a,b', 'c')` and `('a', 'b,c')` differ. */
export function formatKey(key: KeyValues): string {
  const parts = key.map(String)
  return parts.length === 1 ? parts[0]! : JSON.stringify(parts)
}
