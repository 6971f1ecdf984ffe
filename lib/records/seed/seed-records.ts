/** Lists the records of a validated seed, also nested records, with names for links: `User 3`. */
import type { Resource } from '../../model/model.ts'
import { findGivenKey, recordName, type Implied } from '../validate/check-database.ts'
import { listReferences } from '../validate/linked-records.ts'
import type { RecordInput } from '../validate/record-input.ts'
import { nameNew } from '../validate/references.ts'
import { owningName } from '../validate/relation-sides.ts'

/** `implied` is the link to the enclosing record. */
export interface SeedRecord {
  readonly resource: Resource
  readonly isCounted: boolean
  group: number | undefined
  readonly change: RecordInput
  readonly implied: (Implied & { readonly owner: RecordInput }) | undefined
  /** Others link the record by this name; undefined: no key given. */
  readonly name: string | undefined
  /** Name by the clients' key, where different from the primary key. */
  readonly shownName: string | undefined
}

export function listNames({ name, shownName }: SeedRecord): string[] {
  return [name, shownName].filter(each => each !== undefined)
}

export function listRecords(change: RecordInput, implied?: SeedRecord['implied']): SeedRecord[] {
  const key = findGivenKey(change, implied)
  const name = key === undefined ? undefined : recordName(change.resource, key)
  const { resource } = change
  const isCounted = resource.generatedKey && name === undefined
  const record: SeedRecord = { resource, isCounted, group: undefined, change, implied, name, shownName: nameNew(change) }
  return [
    record,
    ...listReferences(change).flatMap(({ relation, ref }) => {
      const name = owningName(relation)
      return ref.kind === 'new' ? listRecords(ref.record, name === undefined ? undefined : { name, owner: change }) : []
    }),
  ]
}
