/** Merges JSON values of a body into stored values (RFC 7396, `application/merge-patch+json`). Null removes a member, at any depth. */
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { Attribute, InnerAttribute } from '../../model/model.ts'
import type { Reader } from '../../records/read/reader.ts'
import type { RecordAddress } from '../../records/validate/written.ts'

/** A hidden attribute is not merged, but replaced. */
export function mergeBody(body: JsonObject, { resource, key }: RecordAddress, reader: Reader): Awaitable<JsonObject> {
  return chain(reader.asStored.record(resource, key), stored => (stored === undefined ? body : mergeInside(body, stored, resource.byName)))
}

function mergeInside(body: JsonObject, stored: JsonObject, byName: ReadonlyMap<string, Attribute | InnerAttribute>): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const attribute = byName.get(name)
      const there = stored[name]
      if (attribute?.kind === 'scalar' && attribute.type.kind === 'json') return [name, isObject(value) ? merge(there, value) : value]
      if (attribute?.kind === 'embedded' && !attribute.array && isObject(value) && isObject(there))
        return [name, mergeInside(value, there, attribute.byName)]
      return [name, value]
    }),
  )
}

/** RFC 7396, section 2. */
function merge(target: unknown, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, isObject(value) ? merge(merged.get(name), value) : value)
  }
  return Object.fromEntries(merged)
}
