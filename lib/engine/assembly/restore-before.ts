/**
 * Restore before: goes back to the state before a request of the journal. Throws TypeError and RangeError for an unknown request, Error in
 * one line for an unknown state.
 */
import { checkNames } from '../../foundation/base/suggest.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import type { EngineParts } from './assemble.ts'
import { nameSnapshot } from '../worlds/snapshot.ts'
import { formatReason } from './unavailable.ts'

/** A moment, by the request that came then. */
export interface RequestPoint {
  /** The ID of a request in the journal: `engine.requests.at(-1).id`. */
  readonly before: number
}

export function isRequestPoint(to: unknown): to is RequestPoint {
  return isObject(to) && 'before' in to
}

/** See RestEngine.restore. */
export async function restoreBefore({ journal, states, world }: EngineParts, { before, ...others }: RequestPoint): Promise<void> {
  checkNames(others, [], 'engine.restore')
  if (!Number.isSafeInteger(before) || before < 1)
    throw new TypeError('engine.restore: "before" must be the ID of a request: engine.requests.at(-1).id.')
  const record = journal?.find(before)
  if (record === undefined) throw new RangeError(`engine.restore: the journal has no request ${before}.`)
  const way = states.find(record)
  if (way === 'here') return
  if ('reason' in way) throw new Error(`engine.restore: ${way.reason}.`)
  nameSnapshot(way.snapshot, `before request ${before}`)
  await world.restore(way.snapshot)
}

/** `undefined` where a way back exists. */
export function findHindrance({ states }: EngineParts, record: JournalRecord): string | undefined {
  const way = states.find(record)
  return way !== 'here' && 'reason' in way ? formatReason(way.reason) : undefined
}
