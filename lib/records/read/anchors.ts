/** Anchors: what readings start from, by the key of a row or by the value that stands for it (`ShownKey`). */
import { isShownKey, type RecordKey } from '../../model/key.ts'
import type { RelationAttribute, Resource } from '../../model/model.ts'
import type { Anchor } from '../plan/read-plan.ts'

export const KEYS: Anchor = Object.freeze({ kind: 'keys' })

/** What is read of a resource by itself: its list, and a record by the key of its row or by the value that stands for it. */
export type OwnReading = 'list' | 'record' | 'shown'

export const OWN_READINGS: Readonly<Record<OwnReading, { readonly anchor: Anchor; readonly isPaged: boolean }>> = {
  list: { anchor: { kind: 'collection' }, isPaged: true },
  record: { anchor: { kind: 'record' }, isPaged: false },
  shown: { anchor: { kind: 'record', shown: true }, isPaged: false },
}

/** The records that a relation reaches from a record, and what names their plan. */
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
