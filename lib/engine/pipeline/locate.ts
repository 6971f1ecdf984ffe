/**
 * Locate: between the ID in a path and the row that is written. Where clients know another key than the primary one (`Resource.shownKey`),
 * the row is looked for before a write; refuses with record_not_found. Reading needs none of this: its statements find the row themselves.
 */
import { chain } from '../../foundation/base/awaitable.ts'
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import { idFromJson, idToJson, idToSegment, isShownKey } from '../../model/key.ts'
import type { KeyValues, RecordKey } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { notFound } from '../../records/access/resolve-path.ts'
import type { Connection } from '../../records/database/connection.ts'
import { findId, findRowKey } from '../../records/read/row-keys.ts'
import type { Written } from '../../records/write/written.ts'

/** Something that a path names by an ID. */
interface LocatedRecord {
  readonly resource: Resource
  readonly key: RecordKey
  readonly id: string
}

/** Returns what a path names, with the key of its row. */
export function locate<T extends LocatedRecord>(target: T, connection: Connection): Awaitable<T & { readonly key: KeyValues }> {
  const { key, resource, id } = target
  if (!isShownKey(key)) return target as T & { readonly key: KeyValues }
  return chain(findRowKey(resource, key, connection), found => {
    if (found === undefined) throw notFound(resource, id)
    return { ...target, key: found }
  })
}

/** Returns the segment of a path that names a record which has been created. */
export function formatSegment({ resource, key, record }: Written, connection: Connection): Awaitable<string> {
  const { shownKey } = resource
  if (shownKey === undefined) return idToSegment(key, resource)
  // A request may ask for other attributes alone.
  const shown = record[shownKey.name]
  const id = shown === undefined ? findId(resource, key, connection) : idFromJson(shown, resource)
  return chain(id, known => idToSegment(known ?? key, resource))
}

/** Returns the path of a record whose change has given it another key; undefined where its path is still the one that was asked for. */
export function findNewPath(
  { path, key }: LocatedRecord & { readonly path: string },
  written: Written,
  connection: Connection,
): Awaitable<string | undefined> {
  if (!isShownKey(key)) return undefined
  // Of most changes the record shows that it has the ID that was asked for.
  if (written.record[written.resource.shownKey!.name] === idToJson(key, written.resource)) return undefined
  return chain(formatSegment(written, connection), segment =>
    segment === idToSegment(key, written.resource) ? undefined : `${path}/${segment}`,
  )
}
