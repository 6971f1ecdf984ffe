/** Seed groups: divides a seed where records need keys that the database counts for others. Each group follows earlier groups. */
import type { Resource } from '../../model/model.ts'
import type { RecordInput } from '../validate/record-input.ts'

interface Grouped {
  readonly change: RecordInput
  /** Others link the record by this name; undefined: no key given. */
  readonly name: string | undefined
}

interface GroupedNeed<R> {
  readonly needed: R
  readonly awaitsKey: boolean
}

/** A deeper chain ignores the order of the list: two records may await each other's place. */
const MAX_STAGES = 50

/** Counted keys follow the order of the list, where possible. */
export function groupInStages<R extends Grouped>(
  records: readonly R[],
  needs: ReadonlyMap<R, readonly GroupedNeed<R>[]>,
  keepsOrder = true,
): (readonly R[])[] {
  const stages = new Map(records.map(record => [record, 0]))
  for (let isOpen = true; isOpen;) {
    isOpen = false
    const last = new Map<Resource, number>()
    for (const record of records) {
      const { resource } = record.change
      const isCounted = keepsOrder && resource.generatedKey && record.name === undefined
      let stage = Math.max(stages.get(record)!, isCounted ? (last.get(resource) ?? 0) : 0)
      for (const { needed, awaitsKey } of needs.get(record) ?? []) stage = Math.max(stage, stages.get(needed)! + Number(awaitsKey))
      if (isCounted) last.set(resource, stage)
      if (stage > stages.get(record)!) isOpen = true
      if (keepsOrder && stage > MAX_STAGES) return groupInStages(records, needs, false)
      stages.set(record, stage)
    }
  }
  const groups: R[][] = []
  for (const record of records) (groups[stages.get(record)!] ??= []).push(record)
  return groups
}
