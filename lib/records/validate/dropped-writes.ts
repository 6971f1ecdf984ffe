/**
 * Refuses a write that a trigger (`raise(ignore)` in SQLite, `return null` in PostgreSQL) or a rule (`do instead nothing`) dropped in
 * silence, with statement_dropped, and a hidden new row with outside_scope. The refusal undoes all writes of the request.
 */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { restError, type RestError } from '../../foundation/errors/errors.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { formatKey, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { ReadingConnection } from '../database/connection.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import type { ListInput } from './record-input.ts'
import { omitUnchanged } from './unchanged.ts'

export interface LookUp {
  readonly connection: ReadingConnection
  readonly reader: Reader
}

type Undone = 'inserted' | 'changed' | 'deleted'

export function* statementDropped(
  resource: Resource,
  undone: Undone,
  connection: ReadingConnection,
  table = resource.table,
): Coroutine<RestError> {
  const names = yield* wait(connection.droppers(table))
  const named = names.length === 0 ? '' : `: ${names.map(name => `"${name}"`).join(', ')}`
  const detail =
    `The database has not ${undone} the ${resource.singular}, and reports no error: a trigger or a rule of the table "${table}" ` +
    `drops the statement${named}. Nothing has been changed.`
  return restError('statement_dropped', detail)
}

export function outsideScope(resource: Resource) {
  return restError('outside_scope', `The ${resource.singular} would be outside of what you may see.`)
}

export function* refuseNew(resource: Resource, key: KeyValues, { connection, reader }: LookUp): Coroutine<never> {
  const isThere = key.every(part => (part ?? null) !== null) && (yield* wait(reader.exists(resource, key, EVERYTHING)))
  throw isThere ? outsideScope(resource) : yield* statementDropped(resource, 'inserted', connection)
}

/**
 * Refuses a deletion without effect. A trigger may change the record instead (`deleted_at`).
 *
 * @param before the record before the deletion
 */
export function* requireRemoved(resource: Resource, key: KeyValues, before: JsonRecord, view: View, lookUp: LookUp): Coroutine<void> {
  const { reader, connection } = lookUp
  if (!(yield* wait(reader.exists(resource, key, EVERYTHING)))) return
  const after = yield* wait(reader.record(resource, key, view))
  if (after !== undefined && isSame(after, before)) throw yield* statementDropped(resource, 'deleted', connection)
}

/** As `requireRemoved`, by a single statement where the database compares lists of keys. */
export function* requireAllRemoved(
  resource: Resource,
  removed: readonly { readonly key: KeyValues; readonly before: JsonRecord }[],
  view: View,
  lookUp: LookUp,
): Coroutine<void> {
  const keys = removed.map(({ key }) => key)
  const left = keys.length > 1 ? yield* wait(lookUp.reader.existing(resource, keys, EVERYTHING)) : undefined
  for (const { key, before } of removed)
    if (left === undefined || left.has(formatKey(key))) yield* requireRemoved(resource, key, before, view, lookUp)
}

/** The record before a change; undefined where nothing could drop the change. */
export function* readBefore(resource: Resource, key: KeyValues, { connection, reader }: LookUp): Coroutine<JsonRecord | undefined> {
  if ((yield* wait(connection.droppers(resource.table))).length === 0) return undefined
  return yield* wait(reader.asStored.record(resource, key))
}

interface WrittenChange {
  readonly body: JsonObject
  /** From `readBefore`. */
  readonly stored: JsonRecord | undefined
  readonly lists: readonly ListInput[]
}

/** Refuses where record or list is as before, though the body differs. */
export function* requireWritten(
  { resource, key }: { readonly resource: Resource; readonly key: KeyValues },
  { body, stored, lists }: WrittenChange,
  view: View,
  lookUp: LookUp,
): Coroutine<void> {
  const after = stored && (yield* wait(lookUp.reader.asStored.record(resource, key)))
  if (stored !== undefined && after !== undefined && isSame(after, stored)) {
    const rest = omitUnchanged(body, resource, [stored], true)
    if (Object.keys(rest).some(name => isInRow(name, rest[name], stored, resource)))
      throw yield* statementDropped(resource, 'changed', lookUp.connection)
  }
  yield* requireLists(lists, resource, key, view, lookUp)
}

function isInRow(name: string, value: unknown, stored: JsonRecord, { byName }: Resource): boolean {
  const attribute = byName.get(name)
  // Of an embedded object without changes, `omitUnchanged` leaves `{}`.
  const isEmpty = isObject(value) && Object.keys(value).length === 0
  if (attribute === undefined || !(name in stored) || isEmpty) return false
  return attribute.kind !== 'toMany' && (attribute.kind !== 'toOne' || attribute.owner)
}

export function* requireLists(
  lists: readonly ListInput[],
  resource: Resource,
  key: KeyValues,
  view: View,
  lookUp: LookUp,
): Coroutine<void> {
  const { connection, reader } = lookUp
  for (const { attribute, items, removed } of lists) {
    const table = attribute.via.kind === 'pivot' ? attribute.via.table : attribute.target.table
    if (attribute.where !== undefined || (yield* wait(connection.droppers(table))).length === 0) continue
    const all = { ...view, visibility: EVERYTHING, parameters: NO_PARAMETERS }
    const members = yield* wait(reader.relatedKeys(resource, key, attribute, all))
    const after = new Set(members.map(formatKey))
    const kept = new Set(items.flatMap(item => (item.kind === 'existing' ? [formatKey(item.key)] : [])))
    const isLinked = after.size >= items.length && [...kept].every(each => after.has(each))
    const left = removed?.filter(({ key: each }) => after.has(formatKey(each))).length
    const others = members.filter(each => !kept.has(formatKey(each)))
    const isLeft = left === undefined ? (yield* countSeen(attribute.target, others, view, reader)) > items.length - kept.size : left > 0
    if (!isLinked || isLeft) throw yield* statementDropped(attribute.target, 'changed', connection, table)
  }
}

/** Hidden records stay in a replaced list, and are not counted. */
function* countSeen(resource: Resource, keys: readonly KeyValues[], { visibility }: View, reader: Reader): Coroutine<number> {
  let count = 0
  for (const key of keys) if (yield* wait(reader.exists(resource, key, visibility))) count++
  return count
}

function isSame(one: JsonRecord, other: JsonRecord): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
