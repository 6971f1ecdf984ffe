/** Worlds card: the worlds of the server: what they have begun with, their size, and when they were last used. */
import { useId, useState } from 'preact/hooks'
import { useLoad } from '../parts/use-load.ts'
import { control } from '../state/ask.ts'
import { changes, dataChanged, streams, worlds } from '../state/live.ts'
import { setOfPage, world } from '../state/place.ts'
import { Action, ActionCard, Why } from './actions.tsx'
import { LINES } from './lines.ts'
import { formatBytes, formatSpan } from './sizes.ts'

interface ListedWorld {
  /** Null: the engine's own. */
  readonly name: string | null
  readonly origin: { readonly from: string; readonly name?: string | null }
  readonly size: number
  readonly requests: number
  readonly idle: number
}

export function WorldsCard() {
  const { data: listed = [] } = useLoad(
    async () => ((await control('GET', '/worlds')).body as { readonly worlds: readonly ListedWorld[] }).worlds,
    [worlds.value, streams.value, changes.value],
  )
  return (
    <ActionCard title="Worlds" line={LINES.fork('mine')} class="across">
      <div class="scroll" tabIndex={0} role="region" aria-label="All worlds">
        <table>
          <thead>
            <tr>
              <th scope="col">world</th>
              <th scope="col">begun with</th>
              <th scope="col" class="num">
                requests
              </th>
              <th scope="col" class="num">
                size
              </th>
              <th scope="col">used</th>
              <th scope="col">actions</th>
            </tr>
          </thead>
          <tbody>
            {listed.map(each => (
              <Row key={each.name ?? ''} listed={each} />
            ))}
          </tbody>
        </table>
      </div>
      <Fork />
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

function Fork() {
  const id = useId()
  const [name, setName] = useState('')
  const own = name === '' ? 'mine' : name
  return (
    <div class="bar">
      <label for={id}>Name</label>
      <input id={id} value={name} placeholder="mine" size={14} maxLength={100} onInput={event => setName(event.currentTarget.value)} />
      <Action
        needs="fork"
        isMain
        line={LINES.fork(own)}
        onAct={async () => {
          await control('POST', '/worlds', { name: own })
          setName('')
          lookAt(own)
        }}
      >
        Fork {world.value === '' ? 'main' : world.value}
      </Action>
    </div>
  )
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
