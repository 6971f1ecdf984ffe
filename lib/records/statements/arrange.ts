/**
 * Orders new records for insertion, so that statements and the unit of work count the same keys. Within a resource, records with a given
 * key come first, then others as listed. A record waits for needed keys, and holds up later records of the resource. If held up for good,
 * needed records come first: `steps: [{ name: 'b', after: 'a' }, { name: 'a', after: 'root' }]` counts 1 for `a`.
 */
import type { Resource } from '../../model/model.ts'

export interface Need<R> {
  readonly needed: R
  /** Not null: nothing can set the link later. */
  readonly isRequired: boolean
  /** The needed record must be in an earlier group. */
  readonly awaitsKey: boolean
}

interface Arrangeable {
  readonly resource: Resource
  readonly isCounted: boolean
  /** Undefined until arranged. */
  group: number | undefined
}

type NeedsOf<R> = (record: R) => readonly Need<R>[]

/** Gives groups in the order of insertion; undefined for a circle of needs. */
export function arrange<R extends Arrangeable>(records: readonly R[], needsOf: NeedsOf<R>): readonly (readonly R[])[] | undefined {
  let queues = [...Map.groupBy(records, ({ resource }) => resource).values()].map(sortGivenFirst)
  if (records.every(record => needsOf(record).length === 0)) return [queues.flat()]
  const groups: (readonly R[])[] = []
  for (let count = 0; count < records.length;) {
    const place = groups.length
    let group = takeReady(queues, needsOf, place, true)
    // The unit of work sets nullable links later: such links must not decide.
    if (group.length === 0 && queues.every(queue => queue.every(record => needsOf(record).every(isRequired))))
      group = takeReady(queues, needsOf, place, false)
    if (group.length === 0) return undefined
    groups.push(group)
    count += group.length
    queues = queues.map(queue => queue.filter(record => record.group === undefined))
  }
  return groups
}

function isRequired<R extends Arrangeable>(need: Need<R>): boolean {
  return need.isRequired || need.needed.group !== undefined
}

function sortGivenFirst<R extends Arrangeable>(records: readonly R[]): readonly R[] {
  if (records.every(({ isCounted }) => isCounted)) return records
  return [...records.filter(({ isCounted }) => !isCounted), ...records.filter(({ isCounted }) => isCounted)]
}

/** @param keepsOrder a waiting record holds up later, counted records of the resource */
function takeReady<R extends Arrangeable>(queues: readonly (readonly R[])[], needsOf: NeedsOf<R>, place: number, keepsOrder: boolean): R[] {
  const ready: R[] = []
  const isMet = ({ needed: { group }, awaitsKey }: Need<R>): boolean => group !== undefined && (!awaitsKey || group < place)
  for (let before = -1; before < ready.length;) {
    before = ready.length
    for (const queue of queues) {
      let isHeldUp = false
      for (const record of queue) {
        if (record.group !== undefined) continue
        if ((keepsOrder && isHeldUp && record.isCounted) || !needsOf(record).every(isMet)) isHeldUp = true
        else {
          record.group = place
          ready.push(record)
        }
      }
    }
  }
  return ready
}
