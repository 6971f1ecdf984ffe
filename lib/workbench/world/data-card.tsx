/** Data card: the data of the world: kept as snapshots, gone back to, begun anew. */
import { useId, useState } from 'preact/hooks'
import { useLoad } from '../parts/use-load.ts'
import { control } from '../state/ask.ts'
import { changes, scenarios, streams } from '../state/live.ts'
import { outline } from '../state/outline.ts'
import { world } from '../state/place.ts'
import { Action, ActionCard, Why } from './actions.tsx'
import { LINES } from './lines.ts'
import { formatBytes } from './sizes.ts'

interface ListedSnapshot {
  readonly id: string
  readonly at: string
  readonly last: number
  readonly size: number
}

export function DataCard() {
  const [tick, setTick] = useState(0)
  const { data: snapshots = [] } = useLoad(
    async () => ((await control('GET', '/snapshots')).body as { readonly snapshots: readonly ListedSnapshot[] }).snapshots,
    [tick, world.value, streams.value, changes.value],
  )
  const after = (work: () => Promise<unknown>) => async (): Promise<void> => {
    await work()
    setTick(value => value + 1)
  }
  // Data in memory are begun anew as often as one likes; those of a file may be somebody's.
  const confirm = outline.value?.inMemory === true ? undefined : 'Really? All since is lost'
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
      <TakeSnapshot after={after} />
      <Snapshots snapshots={snapshots} confirm={confirm} after={after} />
    </ActionCard>
  )
}

interface SnapshotsProps extends Omit<RowProps, 'snapshot'> {
  readonly snapshots: readonly ListedSnapshot[]
}

function Snapshots({ snapshots, confirm, after }: SnapshotsProps) {
  if (snapshots.length === 0) return null
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Snapshots">
      <table>
        <thead>
          <tr>
            <th scope="col">snapshot</th>
            <th scope="col">taken</th>
            <th scope="col" class="num">
              size
            </th>
            <th scope="col">actions</th>
          </tr>
        </thead>
        <tbody>
          {snapshots.map(snapshot => (
            <Row key={snapshot.id} snapshot={snapshot} confirm={confirm} after={after} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly snapshot: ListedSnapshot
  readonly confirm: string | undefined
  readonly after: (work: () => Promise<unknown>) => () => Promise<void>
}

function Row({ snapshot: { id, at, last, size }, confirm, after }: RowProps) {
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
          <Action line={`// ${id} is forgotten with its variable`} label={`Forget ${id}`} onAct={after(() => control('DELETE', path))}>
            Forget
          </Action>
        </span>
      </td>
    </tr>
  )
}

function TakeSnapshot({ after }: Pick<RowProps, 'after'>) {
  const id = useId()
  const [name, setName] = useState('')
  return (
    <div class="bar">
      <label for={id}>Name</label>
      <input id={id} value={name} placeholder="before" size={14} maxLength={100} onInput={event => setName(event.currentTarget.value)} />
      <Action
        needs="snapshot"
        isMain
        line={LINES.snapshot(name === '' ? 'before' : name)}
        onAct={after(async () => {
          await control('POST', '/snapshots', name === '' ? {} : { name })
          setName('')
        })}
      >
        Take a snapshot
      </Action>
    </div>
  )
}
