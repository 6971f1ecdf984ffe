/** The card of worlds. */
import { useLoad } from '../parts/use-load.ts'
import { control } from '../state/ask.ts'
import { changes, dataChanged, streams, worlds } from '../state/live.ts'
import { setOfPage, world } from '../state/place.ts'
import { Action, ActionCard, Why } from './actions.tsx'
import { CardTable, NamedAction } from './card-parts.tsx'
import { LINES } from './lines.ts'
import { formatBytes, formatSpan } from './sizes.ts'

interface ListedWorld {
  /** Null: the engine's own world. */
  readonly name: string | null
  readonly origin: { readonly from: string; readonly name?: string | null }
  readonly size: number
  readonly requests: number
  readonly idle: number
}

const USUAL = 'mine'

export function WorldsCard() {
  const { data: listed = [] } = useLoad(
    async () => ((await control('GET', '/worlds')).body as { readonly worlds: readonly ListedWorld[] }).worlds,
    [worlds.value, streams.value, changes.value],
  )
  return (
    <ActionCard title="Worlds" line={LINES.fork(USUAL)} class="across">
      <CardTable label="All worlds" heads={['world', 'begun with', '#requests', '#size', 'used']}>
        {listed.map(each => (
          <Row key={each.name ?? ''} listed={each} />
        ))}
      </CardTable>
      <NamedAction usual={USUAL} needs="fork" line={LINES.fork} onAct={fork}>
        Fork {world.value === '' ? 'main' : world.value}
      </NamedAction>
      <Why needs="fork" />
    </ActionCard>
  )
}

function Row({ listed: { name, origin, size, requests, idle } }: { readonly listed: ListedWorld }) {
  const shown = name ?? 'main'
  const isOwn = world.value === (name ?? '')
  return (
    <tr aria-selected={isOwn}>
      <th scope="row">{shown}</th>
      <td class="dim">{describeOrigin(origin)}</td>
      <td class="num">{requests.toLocaleString('en')}</td>
      <td class="num">{formatBytes(size)}</td>
      <td class="dim">{formatSpan(idle)}</td>
      <td>
        <span class="buttons">
          <button type="button" disabled={isOwn} aria-label={isOwn ? undefined : `Look at ${shown}`} onClick={() => lookAt(name ?? '')}>
            {isOwn ? 'Shown' : 'Look'}
          </button>
          {name === null ? null : (
            <Action
              line={LINES.close(name)}
              label={`Close ${name}`}
              onAct={async () => {
                if (isOwn) lookAt('')
                await control('DELETE', `/worlds/${encodeURIComponent(name)}`)
              }}
            >
              Close
            </Action>
          )}
        </span>
      </td>
    </tr>
  )
}

async function fork(written: string): Promise<void> {
  const name = written === '' ? USUAL : written
  await control('POST', '/worlds', { name })
  lookAt(name)
}

function lookAt(name: string): void {
  setOfPage('world', name)
  dataChanged()
}

function describeOrigin({ from, name }: ListedWorld['origin']): string {
  switch (from) {
    case 'engine':
      return "the engine's own"
    case 'scenario':
      return `scenario ${name}`
    case 'world':
      return `a fork of ${name ?? 'main'}`
    default:
      return 'the start'
  }
}
