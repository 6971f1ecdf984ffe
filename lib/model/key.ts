/**
 * Key: the ID of a record, in its three forms. As text in a path or a filter, as JSON in a body or a record, and as the values of the key's
 * parts. A composite key is its parts joined by `~`, each percent-encoded (RFC 3986 section 2.1, and `~` itself as %7E). Where the option
 * `key` puts another attribute in the place of the primary key, the ID of a client is the value of that one (`ShownKey`); rows are linked
 * by the primary key (`KeyValues`) nevertheless.
 */
import { withArticle } from '../foundation/base/article.ts'
import { restError, type RestError } from '../foundation/base/errors.ts'
import type { KeyPart, PolymorphicTarget, Resource, ToOneOfAttribute } from './model.ts'
import {
  readScalar,
  parseScalar,
  formatScalar,
  type ScalarKind,
  type ScalarType,
  type ScalarValue,
} from '../foundation/values/scalar-type.ts'

/** The values of a key's parts, in the order of `resource.key`. */
export type KeyValues = readonly ScalarValue[]

/** The value of the attribute that takes the place of the primary key for clients. */
export interface ShownKey {
  readonly shown: ScalarValue
}

/** The key that an ID of a client stands for: that of the row, or the value that the row is to be found by. */
export type RecordKey = KeyValues | ShownKey

/** Whether the row of a key is yet to be found. */
export function isShownKey(key: RecordKey): key is ShownKey {
  // Asked for each request, of which most have a key: faster than to look for a member.
  return !Array.isArray(key)
}

/** Whether the row of what a path names is known by its key. */
export function hasRowKey<T extends { readonly key: RecordKey }>(named: T): named is T & { readonly key: KeyValues } {
  return Array.isArray(named.key)
}

/** The values of a key's parts, in the order of `idParts`. */
export function idValues(key: RecordKey): readonly ScalarValue[] {
  return isShownKey(key) ? [key.shown] : key
}

/** The parts of the ID by which clients know the records of a resource: those of the key, or another unique attribute. */
export function idParts({ key, shownKey }: Resource): readonly KeyPart[] {
  return shownKey === undefined ? key : [shownKey.part]
}

/** The public names of the attributes that make the ID. */
export function idNames({ keyNames, shownKey }: Resource): readonly string[] {
  return shownKey === undefined ? keyNames : [shownKey.name]
}

/**
 * Whether no path leads to a record with this part of its ID. `/v1/docs/` is the list; URLs drop `.` and `..`, also as `%2E` (WHATWG); a
 * path with NUL is refused.
 */
export function isUnreachable(value: unknown, name: string, resource: Resource): boolean {
  if (typeof value !== 'string') return false
  const hasNul = value.includes('\0')
  if (!hasNul && !/^\.{0,2}$/.test(value)) return false
  return idNames(resource).includes(name) && (hasNul || idParts(resource).length === 1)
}

/** The order of keys: numbers as numbers, anything else by its characters. */
export function compareKeys(a: KeyValues, b: KeyValues): number {
  for (const [index, one] of a.entries()) {
    const other = b[index]!
    const areNumbers = [one, other].every(value => typeof value === 'number' || typeof value === 'bigint')
    const [left, right] = (areNumbers ? [one, other] : [one, other].map(String)) as [string, string]
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

function decodePart(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * The key that an ID text stands for, or undefined when it cannot be a key of the resource.
 * `encoded`: the text is a raw path segment, of which a single key too is still percent-encoded.
 */
export function idFromText(text: string, resource: Resource, encoded = false): RecordKey | undefined {
  const { shownKey } = resource
  if (shownKey === undefined) return keyFromText(text, resource, encoded)
  const shown = readPart(text, shownKey.part, encoded)
  return shown === undefined ? undefined : { shown }
}

function readPart(text: string, { type }: KeyPart, encoded: boolean): ScalarValue | undefined {
  const part = encoded && text.includes('%') ? decodePart(text) : text
  return part === undefined ? undefined : parsePart(part, type)
}

const BYTES = /^x'((?:[0-9a-f]{2})*)'$/

/** Bytes in a key of a file, which is of another type, as records show them: a base64 text could be the key of another row. */
export function formatBytes(bytes: Uint8Array): string {
  return `x'${Buffer.from(bytes).toString('hex')}'`
}

function formatPart(value: unknown, type: ScalarType): unknown {
  return value instanceof Uint8Array ? formatBytes(value) : formatScalar(value, type)
}

/** A key of a file may be of another type than its column: it is found by what is shown. */
function parsePart(text: string, type: ScalarType): ScalarValue | undefined {
  return readBytes(text, type) ?? parseScalar(text, type) ?? findStray(text, type)
}

function readBytes(value: unknown, { strays }: ScalarType): Uint8Array | undefined {
  const bytes = strays === true && typeof value === 'string' ? BYTES.exec(value)?.[1] : undefined
  return bytes === undefined ? undefined : Buffer.from(bytes, 'hex')
}

/** A value of a key's part that is not of its type; undefined where no row can have it, as `01` in a column of integers. */
function findStray(value: unknown, { kind, strays, items }: ScalarType): ScalarValue | undefined {
  if (strays !== true || items !== undefined) return undefined
  const isCounted = kind === 'integer' || kind === 'bigint'
  if (typeof value === 'number') return isCounted && Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || !isCounted || !/^\s*[+-]?(?:\d|\.\d)/.test(value)) return typeof value === 'string' ? value : undefined
  const number = Number(value)
  // SQLite makes a number of each text that is one.
  return Number.isNaN(number) ? value : String(number) === value ? number : undefined
}

/** As `idFromText`, for the primary key. */
export function keyFromText(text: string, resource: Resource, encoded = false): KeyValues | undefined {
  if (resource.key.length === 1) {
    const value = readPart(text, resource.key[0]!, encoded)
    return value === undefined ? undefined : [value]
  }
  const parts = text.split('~').map(decodePart)
  if (parts.length !== resource.key.length) return undefined
  const values: ScalarValue[] = []
  for (const [index, part] of parts.entries()) {
    const value = part === undefined ? undefined : parsePart(part, resource.key[index]!.type)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

/** The key that an ID in a body stands for, or undefined when it cannot be one. */
export function idFromJson(json: unknown, resource: Resource): RecordKey | undefined {
  const { shownKey } = resource
  if (shownKey === undefined) return keyFromJson(json, resource)
  const shown = json === null ? undefined : readScalar(json, shownKey.part.type)
  return shown === undefined ? undefined : { shown }
}

/** As `idFromJson`, for the primary key. */
export function keyFromJson(json: unknown, resource: Resource): KeyValues | undefined {
  if (resource.key.length > 1) return typeof json === 'string' ? keyFromText(json, resource) : undefined
  const { type } = resource.key[0]!
  const value = json === null ? undefined : (readBytes(json, type) ?? readScalar(json, type) ?? findStray(json, type))
  return value === undefined ? undefined : [value]
}

/**
 * The key that a database has counted for a new record.
 * @throws RestError where it is shown as a number, and JSON shows the next one alike.
 */
export function keyFromCount(count: number | bigint, { key, table }: Resource): KeyValues {
  const { kind, asNumber } = key[0]!.type
  if ((kind !== 'bigint' || asNumber === true) && count > Number.MAX_SAFE_INTEGER) throw keysUsedUp(table, Number.MAX_SAFE_INTEGER)
  return [kind === 'bigint' ? BigInt(count) : Number(count)]
}

/** The refusal of a record whose key cannot be counted any more. */
export function keysUsedUp(table: string, last: number | bigint, cause?: Error): RestError {
  const detail = `The keys of the table "${table}" have reached the last number, ${last}: give the record a key that is free.`
  return restError('validation_failed', detail, { cause })
}

/** An ID of a record of one of several resources. */
interface TypedKey {
  readonly branch: PolymorphicTarget
  readonly key: KeyValues
}

/** The record that a text such as `post:7` stands for, or undefined when it cannot be one that the relation links. */
export function typedKeyFromText(text: string, { branches }: ToOneOfAttribute): TypedKey | undefined {
  const colon = text.indexOf(':')
  const branch = colon < 0 ? undefined : branches.find(({ target }) => target.singular === text.slice(0, colon))
  const key = branch && keyFromText(text.slice(colon + 1), branch.target)
  return branch === undefined || key === undefined ? undefined : { branch, key }
}

/** Describes the IDs of a relation to one of several resources as texts. */
export function describeTypedKey({ branches }: ToOneOfAttribute): string {
  return `an ID behind its resource: ${branches.map(({ target }) => `"${target.singular}:" and ${describeKey(target)}`).join('; or ')}`
}

/** One part of a key, in its JSON form, as text. */
export function textOfPart(value: unknown): string {
  return typeof value === 'string' ? value : String(value)
}

/** The primary key as text: a path segment, percent-encoded. */
export function keyToSegment(values: KeyValues, resource: Resource): string {
  return joinKey(values.map((value, part) => formatPart(value, resource.key[part]!.type)))
}

/** The ID of a client as text, for error texts and for `Location` (a path segment, percent-encoded). */
export function idToSegment(key: RecordKey, resource: Resource): string {
  const parts = idParts(resource)
  return joinKey(idValues(key).map((value, part) => formatPart(value, parts[part]!.type)))
}

/**
 * The value that stands for a record as text, by which those of one resource are told apart. It is made for each link of a body, so it is
 * not encoded.
 */
export function shownText({ shown }: ShownKey, { shownKey }: Resource): string {
  return textOfPart(formatScalar(shown, shownKey!.part.type))
}

/** The ID of a client as bodies and records have it. */
export function idToJson(key: RecordKey, resource: Resource): unknown {
  const parts = idParts(resource)
  const values = idValues(key).map((value, part) => formatPart(value, parts[part]!.type))
  return values.length === 1 ? values[0] : joinKey(values)
}

/** A composite key, from its parts as JSON renders them, as the ID in records. */
export function joinKey(parts: readonly unknown[]): string {
  return parts.length === 1 ? partToSegment(parts[0]) : parts.map(partToSegment).join('~')
}

function partToSegment(part: unknown): string {
  return Number.isSafeInteger(part) ? String(part) : encodeURIComponent(textOfPart(part)).replaceAll('~', '%7E')
}

/** Describes the IDs of the resource, for error texts. */
export function describeKey(resource: Resource): string {
  const parts = idParts(resource).map(({ type }) => PARTS[type.kind] ?? withArticle(type.kind))
  return parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)!}, joined by "~"`
}

/** What parts of keys are called. */
const PARTS: Partial<Record<ScalarKind, string>> = {
  text: 'a string',
  bigint: 'an integer',
  uuid: 'a UUID',
  date: 'a date (YYYY-MM-DD)',
  datetime: 'a date-time',
  custom: 'a value of its own type',
}

/** The parts of the key that one of its attributes holds: a relation holds as many as its target's key has. */
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
