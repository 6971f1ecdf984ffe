/**
 * Finds the row of a shown ID before a write, where clients know another key than the primary key (`Resource.shownKey`). Reads look up the
 * shown key by SQL.
 */
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { idFromJson, idToJson, idToSegment, type KeyValues, type RecordKey } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { notFound } from '../../records/access/resolve-path.ts'
import { formatRoot } from '../../records/request/address.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { ReadingConnection } from '../../records/database/connection.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import type { Reader, View } from '../../records/read/reader.ts'
import { findId, findRowKey } from '../../records/read/row-keys.ts'
import type { Written } from '../../records/validate/written.ts'

interface LocatedRecord {
  readonly resource: Resource
  readonly key: RecordKey
  readonly id: string
}

export function locate<T extends LocatedRecord>(target: T, connection: ReadingConnection): Awaitable<T & { readonly key: KeyValues }> {
  const { key, resource, id } = target
  return chain(findRowKey(resource, key, connection), found => {
    if (found === undefined) throw notFound(resource, id)
    return { ...target, key: found }
  })
}

/** Refuses hidden rows: otherwise a malformed body would distinguish a hidden row (400) from no row (404). */
export function locateShown<T extends LocatedRecord>(
  target: T,
  { visibility }: View,
  { connection, reader }: { readonly connection: ReadingConnection; readonly reader: Reader },
): Awaitable<T & { readonly key: KeyValues }> {
  return chain(locate(target, connection), found =>
    chain(visibility === EVERYTHING || reader.exists(found.resource, found.key, visibility), isShown => {
      if (!isShown) throw notFound(found.resource, found.id)
      return found
    }),
  )
}

/** Gives `ann` for the path `/users/ann`. */
export function formatSegment({ resource, key, record }: Written, connection: ReadingConnection): Awaitable<string> {
  // The request may have left the attribute out.
  const shown = record[resource.shownKey!.name]
  const id = shown === undefined ? findId(resource, key, connection) : idFromJson(shown, resource)
  return chain(id, known => idToSegment(known ?? key, resource))
}

/** @returns `undefined` unless the change has given the record another ID */
export function findNewPath(
  key: RecordKey,
  { base, segments }: Request,
  written: Written,
  connection: ReadingConnection,
): Awaitable<string | undefined> {
  // Most changed records show the ID that was asked for.
  if (written.record[written.resource.shownKey!.name] === idToJson(key, written.resource)) return undefined
  return chain(formatSegment(written, connection), segment => {
    const [version, name] = segments as [string, string]
    return segment === idToSegment(key, written.resource) ? undefined : `${formatRoot(base, version)}/${name}/${segment}`
  })
}
