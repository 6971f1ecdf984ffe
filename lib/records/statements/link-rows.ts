/** Puts primary keys into bodies, where clients link records by another key: `{ "author": "some-slug" }`. */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import { idFromJson, isShownKey, shownText, type KeyValues, type RecordKey, type ShownKey } from '../../model/key.ts'
import type { ReadingConnection } from '../database/connection.ts'
import { EVERYTHING, hasVisibleTarget, retryWithRules } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import { findRowKey, findRowKeys } from '../read/row-keys.ts'
import type { LinkField } from './row-shape.ts'

export function isLinkedByShown(link: LinkField | undefined): link is LinkField {
  return link?.attribute.target.shownKey !== undefined
}

/** Undefined: the linked record is missing or hidden. */
export function* resolveLink(
  link: LinkField,
  body: JsonObject,
  { visibility }: View,
  connection: ReadingConnection,
  reader: Reader,
): Coroutine<JsonObject | undefined> {
  const { attribute, name, readKey } = link
  const rowBody = isLinkedByShown(link) ? yield* withRowKey(link, body, connection) : body
  const key = rowBody && readKey(rowBody[name])
  if (visibility !== EVERYTHING) {
    const isSeen = yield* wait(retryWithRules(visibility, () => hasVisibleTarget(attribute, visibility)))
    if (!isSeen || (key !== undefined && !(yield* wait(visibility.permits(attribute.target, 'get'))))) return undefined
  }
  // `withRowKey` has just found a record with a shown key.
  if (key === undefined || (visibility === EVERYTHING && attribute.target.shownKey !== undefined)) return rowBody
  return (yield* wait(reader.exists(attribute.target, key, visibility))) ? rowBody : undefined
}

function* withRowKey(link: LinkField, body: JsonObject, connection: ReadingConnection): Coroutine<JsonObject | undefined> {
  const id = readId(body[link.name], link)
  if (id === null) return body
  const key = id && (yield* wait(findRowKey(link.attribute.target, id, connection)))
  return key && replaceLink(body, link, key)
}

/** For many bodies, by a single statement; undefined: a record is missing. */
export function* withRowKeys(
  link: LinkField,
  bodies: readonly JsonObject[],
  connection: ReadingConnection,
): Coroutine<readonly JsonObject[] | undefined> {
  const { target } = link.attribute
  const ids = bodies.map(body => readId(body[link.name], link))
  if (ids.includes(undefined)) return undefined
  const wanted = new Map(
    ids.flatMap(id => (id === null || id === undefined || !isShownKey(id) ? [] : [[shownText(id, target), id] as [string, ShownKey]])),
  )
  const found = (yield* wait(findRowKeys(new Map([[target, wanted]]), connection))).get(target)!
  if (found.size < wanted.size) return undefined
  return bodies.map((body, index) => {
    const id = ids[index]
    return id === null ? body : replaceLink(body, link, found.get(shownText(id as ShownKey, target))!)
  })
}

/** Undefined: not the form of an ID. */
function readId(value: unknown, { attribute }: LinkField): RecordKey | null | undefined {
  if (value === null) return null
  if (typeof value === 'object' || (typeof value === 'string' && !value.isWellFormed())) return undefined
  return idFromJson(value, attribute.target)
}

export function replaceLink(body: JsonObject, { name }: Pick<LinkField, 'name'>, [key]: KeyValues): JsonObject {
  return { ...body, [name]: typeof key === 'bigint' ? String(key) : key }
}
