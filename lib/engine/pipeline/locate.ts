/**
 * Locate: between the ID in a path and the row that is written. Where clients know another key than the primary one (`Resource.shownKey`),
 * the row is looked for before a write; refuses with record_not_found. Reading needs none of this: its statements find the row themselves.
 */
import { chain, type Awaitable } from '../../foundation/base/awaitable.ts'
import { idFromJson, idToJson, idToSegment, type KeyValues, type RecordKey } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { notFound } from '../../records/access/resolve-path.ts'
import { formatRoot } from '../../records/request/address.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { ReadingConnection } from '../../records/database/connection.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import type { Reader, View } from '../../records/read/reader.ts'
import { findId, findRowKey } from '../../records/read/row-keys.ts'
import type { Written } from '../../records/write/written.ts'

/** Something that a path names by an ID. */
interface LocatedRecord {
  readonly resource: Resource
  readonly key: RecordKey
  readonly id: string
}

/** Returns what a path names, with the key of its row: for what `hasRowKey` says has none yet. */
export function locate<T extends LocatedRecord>(target: T, connection: ReadingConnection): Awaitable<T & { readonly key: KeyValues }> {
  const { key, resource, id } = target
  return chain(findRowKey(resource, key, connection), found => {
    if (found === undefined) throw notFound(resource, id)
    return { ...target, key: found }
  })
}

/**
 * Returns what a path names for a write that takes a body, where the row exists for the caller. Else a body of a wrong form would be
 * refused with 400 where a hidden row has the key, and with 404 where none has.
 */
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

/** Returns the segment of a path that names a record which has been created, and which clients know by another key than its own. */
export function formatSegment({ resource, key, record }: Written, connection: ReadingConnection): Awaitable<string> {
  // A request may ask for other attributes alone.
  const shown = record[resource.shownKey!.name]
  const id = shown === undefined ? findId(resource, key, connection) : idFromJson(shown, resource)
  return chain(id, known => idToSegment(known ?? key, resource))
}

/** Returns the path of a record whose change has given it another ID; undefined where its path is still the one that was asked for. */
export function findNewPath(
  key: RecordKey,
  { base, segments }: Request,
  written: Written,
  connection: ReadingConnection,
): Awaitable<string | undefined> {
  // Of most changes the record shows that it has the ID that was asked for.
  if (written.record[written.resource.shownKey!.name] === idToJson(key, written.resource)) return undefined
  return chain(formatSegment(written, connection), segment => {
    const [version, name] = segments as [string, string]
    return segment === idToSegment(key, written.resource) ? undefined : `${formatRoot(base, version)}/${name}/${segment}`
  })
}
