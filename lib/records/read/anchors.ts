/** Anchors: what readings start from, by the key of a row or by the value that stands for it (`ShownKey`). */
import { isShownKey } from '../../model/key.ts'
import type { RecordKey } from '../../model/key.ts'
import type { RelationAttribute, Resource } from '../../model/model.ts'
import type { Anchor } from '../plan/read-plan.ts'

export const COLLECTION: Anchor = Object.freeze({ kind: 'collection' })

export const RECORD: Anchor = Object.freeze({ kind: 'record' })
export const SHOWN_RECORD: Anchor = Object.freeze({ kind: 'record', shown: true })
export const KEYS: Anchor = Object.freeze({ kind: 'keys' })

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
