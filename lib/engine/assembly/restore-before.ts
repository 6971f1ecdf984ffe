/**
 * `engine.restore({ before: 12 })` takes an engine back to the state before request 12; `{ undo: [12, 14] }` does so only if nothing else
 * has changed since. Throws TypeError for wrong arguments, RangeError for an unknown request, Error for a state not kept, or other changes
 * since.
 */
import { checkNames } from '../../foundation/base/suggest.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import type { EngineParts } from './assemble.ts'
import { nameSnapshot, type RequestPoint } from '../worlds/snapshot.ts'
import { formatReason } from './unavailable.ts'

export async function restoreBefore(parts: EngineParts, point: RequestPoint): Promise<void> {
  const { states, world } = parts
  const records = findJournalRecords(parts, point)
  const [first] = records as [JournalRecord]
  const wayBack = states.find(first)
  if (wayBack === 'unchanged') return
  if ('reason' in wayBack) throw new Error(`engine.restore: ${wayBack.reason}.`)
  nameSnapshot(wayBack.snapshot, `before request ${first.id}`)
  const undo = 'undo' in point ? await import('../worlds/refuse-others.ts') : undefined
  await world.restore(wayBack.snapshot, undo && (() => undo.refuseOthers(parts, records, wayBack)))
}

/** The oldest first. */
function findJournalRecords({ journal }: EngineParts, point: RequestPoint): JournalRecord[] {
  const isId = (id: unknown): boolean => Number.isSafeInteger(id) && (id as number) > 0
  const { before, undo, ...others } = point as { readonly before?: unknown; readonly undo?: unknown }
  checkNames(others, [], 'engine.restore')
  if (undo === undefined && !isId(before))
    throw new TypeError('engine.restore: "before" must be the ID of a request: engine.requests.at(-1).id.')
  if (undo !== undefined && (before !== undefined || !Array.isArray(undo) || undo.length === 0 || !undo.every(isId)))
    throw new TypeError('engine.restore: "undo" must be IDs of requests, without "before": [engine.requests.at(-1).id].')
  const ids = (undo ?? [before]) as number[]
  return ids
    .toSorted((a, b) => a - b)
    .map(id => {
      const record = journal?.find(id)
      if (record === undefined) throw new RangeError(`engine.restore: the journal has no request ${id}.`)
      return record
    })
}

/** Why the state before the request is not kept. */
export function explainNoWayBack({ states }: EngineParts, record: JournalRecord): string | undefined {
  const wayBack = states.find(record)
  return wayBack !== 'unchanged' && 'reason' in wayBack ? formatReason(wayBack.reason) : undefined
}
