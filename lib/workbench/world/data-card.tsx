/** The card of the data, with reset, scenarios, snapshots and changes since a snapshot. */
import { useEffect, useState } from 'preact/hooks'
import { useLoad } from '../parts/use-load.ts'
import { control } from '../state/ask.ts'
import { changes, scenarios, streams } from '../state/live.ts'
import { outline } from '../state/outline.ts'
import { world } from '../state/place.ts'
import { Action, ActionCard, Why } from './actions.tsx'
import { CardTable, NamedAction } from './card-parts.tsx'
import { LINES } from './lines.ts'
import { formatBytes } from './sizes.ts'
import type { Change } from '../../engine/journal/changes.ts'
import { ChangesPart } from '../requests/changes-part.tsx'

interface ListedSnapshot {
  readonly id: string
  readonly at: string
  readonly last: number
  readonly size: number
}

export function DataCard() {
  const [tick, setTick] = useState(0)
  const [difference, setDifference] = useState<SnapshotDifference | undefined>(undefined)
  useEffect(() => setDifference(undefined), [world.value])
  const { data: snapshots = [] } = useLoad(
    async () => ((await control('GET', '/snapshots')).body as { readonly snapshots: readonly ListedSnapshot[] }).snapshots,
    [tick, world.value, streams.value, changes.value],
  )
  const after = (work: () => Promise<unknown>) => async (): Promise<void> => {
    await work()
    setTick(value => value + 1)
  }
  // Data in a file may be valuable: asks first.
  const confirm = outline.value?.inMemory === true ? undefined : 'Really? Everything since then is lost'
  return (
    <ActionCard title={`Data of ${world.value === '' ? 'main' : world.value}`} line={LINES.reset()}>
      <div class="bar">
        <Action needs="reset" line={LINES.reset()} confirm={confirm} onAct={after(() => control('POST', '/reset'))}>
          Reset to the seed
        </Action>
        {scenarios.value.map(name => (
          <Action
            key={name}
            needs="scenario"
            line={LINES.scenario(name)}
            confirm={confirm}
            label={`Begin the scenario ${name}`}
            onAct={after(() => control('POST', '/scenario', { name }))}
          >
            Scenario {name}
          </Action>
        ))}
      </div>
      <Why needs="reset" />
      <NamedAction
        usual="before"
        needs="snapshot"
        line={LINES.snapshot}
        onAct={name => after(() => control('POST', '/snapshots', name === '' ? {} : { name }))()}
      >
        Take a snapshot
      </NamedAction>
      <Snapshots snapshots={snapshots} confirm={confirm} after={after} onCompare={setDifference} />
      {difference === undefined ? null : <DifferenceView difference={difference} onClose={() => setDifference(undefined)} />}
    </ActionCard>
  )
}

interface SnapshotsProps extends Omit<CardRowProps, 'snapshot'> {
  readonly snapshots: readonly ListedSnapshot[]
}

function Snapshots({ snapshots, ...others }: SnapshotsProps) {
  if (snapshots.length === 0) return null
  return (
    <CardTable label="Snapshots" heads={['snapshot', 'taken', '#size']}>
      {snapshots.map(snapshot => (
        <Row key={snapshot.id} snapshot={snapshot} {...others} />
      ))}
    </CardTable>
  )
}

interface CardRowProps {
  readonly snapshot: ListedSnapshot
  readonly confirm: string | undefined
  readonly after: (work: () => Promise<unknown>) => () => Promise<void>
  readonly onCompare: (difference: SnapshotDifference) => void
}

function Row({ snapshot: { id, at, last, size }, confirm, after, onCompare }: CardRowProps) {
  const path = `/snapshots/${encodeURIComponent(id)}`
  return (
    <tr>
      <th scope="row">{id}</th>
      <td class="dim" title={last === 0 ? 'before the first request' : `after request ${last}`}>
        {at.replace('T', ' ').slice(0, 16)}
      </td>
      <td class="num">{formatBytes(size)}</td>
      <td>
        <span class="buttons">
          <Action
            needs="restore"
            line={LINES.restore(id)}
            confirm={confirm}
            label={`Restore ${id}`}
            onAct={after(() => control('POST', `${path}/restore`))}
          >
            Restore
          </Action>
          <Action
            needs="fork"
            line={LINES.difference(id)}
            label={`Compare ${id} with now`}
            onAct={async () => onCompare({ id, ...((await control('GET', `${path}/changes`)).body as Omit<SnapshotDifference, 'id'>) })}
          >
            Compare
          </Action>
          <Action line={`// ${id} is forgotten with its variable`} label={`Forget ${id}`} onAct={after(() => control('DELETE', path))}>
            Forget
          </Action>
        </span>
      </td>
    </tr>
  )
}

interface SnapshotDifference {
  readonly id: string
  readonly count: number
  readonly changes: readonly Change[]
}

function DifferenceView({ difference, onClose }: { readonly difference: SnapshotDifference; readonly onClose: () => void }) {
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
