/** Difference view: what has become of the records since a snapshot. */
import type { Change } from '../../engine/journal/changes.ts'
import { ChangesPart } from '../requests/changes-part.tsx'

export interface SnapshotDifference {
  /** The snapshot. */
  readonly id: string
  /** How many records are others. */
  readonly count: number
  /** The first 1,000 of them. */
  readonly changes: readonly Change[]
}

export function DifferenceView({ difference, onClose }: { readonly difference: SnapshotDifference; readonly onClose: () => void }) {
  const { id, count, changes } = difference
  return (
    <section aria-labelledby="difference-title">
      <div class="card-head">
        <h3 id="difference-title">
          {count === 0
            ? `Nothing is different since “${id}”`
            : `${count === 1 ? '1 record is' : `${count} records are`} different since “${id}”`}
        </h3>
        <button type="button" class="quiet" aria-label="Close the difference" onClick={onClose}>
          ✕
        </button>
      </div>
      {count === 0 ? null : <ChangesPart changes={changes} />}
    </section>
  )
}
