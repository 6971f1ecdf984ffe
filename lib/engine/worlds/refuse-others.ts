/** Refuses `engine.restore({ undo })` where anything else has changed data. Called while no write is running. */
import type { Journal } from '../journal/journal.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import type { Events } from '../testing/events.ts'
import type { KeptState, KeptStates } from './kept-states.ts'

interface UndoneIn {
  readonly journal: Journal | undefined
  readonly events: Events
  readonly states: KeptStates
}

export function refuseOthers({ journal, events, states }: UndoneIn, records: readonly JournalRecord[], state: KeptState): void {
  const first = records[0]!.id
  const since = journal!.recordsSince(first - 1)
  const other = since.find(record => !records.includes(record) && (record.changes !== undefined || record.isForgotten))
  if (other !== undefined)
    throw new Error(
      `engine.restore: ${other.method} ${other.path} (request ${other.id}) has changed data since, and would be undone with it.`,
    )
  if (events.marks.some(({ type, last }) => last >= first && type !== 'mark'))
    throw new Error('engine.restore: since then the clock has moved, or the data were reset or restored.')
  if (!states.areOnly(records, state))
    throw new Error('engine.restore: something beside these requests has changed data since, and would be undone with them.')
}
