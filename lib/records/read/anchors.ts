/** The starts of readings (a list, a record, the records of a relation), and their parts of cache keys. */
import { isShownKey, type RecordKey } from '../../model/key.ts'
import type { RelationAttribute, Resource } from '../../model/model.ts'
import type { Anchor } from '../plan/read-plan.ts'

export const KEYS: Anchor = Object.freeze({ kind: 'keys' })

/** `record`: by primary key; `shown`: by `ShownKey`. */
export type OwnReading = 'list' | 'record' | 'shown'

export const OWN_READINGS: Readonly<Record<OwnReading, { readonly anchor: Anchor; readonly isPaged: boolean }>> = {
  list: { anchor: { kind: 'collection' }, isPaged: true },
  record: { anchor: { kind: 'record' }, isPaged: false },
  shown: { anchor: { kind: 'record', shown: true }, isPaged: false },
}

/** The anchor, and the beginning of the plan's cache key. */
export function relatedTo(
  owner: Resource,
  key: RecordKey,
  relation: RelationAttribute,
  what: string,
): { readonly anchor: Anchor; readonly place: string } {
  const place = `${what}\0${owner.plural}\0${relation.name}\0${relation.target.plural}`
  if (!isShownKey(key)) return { anchor: { kind: 'related', relation, owner }, place }
  return { anchor: { kind: 'related', relation, owner, shown: true }, place: `shown ${place}` }
}
