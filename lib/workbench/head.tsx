/** Head: shows model, world, user, clock, faults and connection. */
import { useEffect, useId, useState } from 'preact/hooks'
import { isPaletteOpen } from './palette.tsx'
import { WorldChoice } from './world-choice.tsx'
import { UserChoice } from './user-choice.tsx'
import { busy, isReachable } from './state/ask.ts'
import { clock, faults } from './state/live.ts'
import { outline } from './state/outline.ts'
import { setOfPage, version } from './state/place.ts'

/** Milliseconds by which two clocks may differ. */
const SAME_TIME = 2000

export function Head() {
  const { title, database, readOnly, versions = [], hasLogIn } = outline.value ?? {}
  const inEffect = faults.value.filter(({ left }) => left !== 0)
  const held = faults.value.filter(({ held: requests = [] }) => requests.length > 0).length
  return (
    <header class="top">
      <a class="brand" href="#/data">
        mikro-rest
      </a>
      <p class="served">
        <b title={title}>{title}</b>
        <span class="dim">
          {[
            title?.includes('in memory') === true ? '' : database,
            readOnly === true && title?.includes('read-only') !== true ? 'read-only' : '',
          ]
            .filter(Boolean)
            .join(', ')}
        </span>
      </p>
      <WorldChoice />
      {hasLogIn === true ? <UserChoice /> : null}
      {versions.length > 1 ? <VersionChoice versions={versions} /> : null}
      <ClockChip />
      {inEffect.length === 0 ? null : (
        <span class="chip warn">
          {inEffect.length === 1 ? '1 fault' : `${inEffect.length} faults`}
          {held === 0 ? '' : ', holding'}
        </span>
      )}
      <span class="grow" />
      <LiveSign />
      <button type="button" class="go-to" aria-keyshortcuts="Control+K" onClick={() => (isPaletteOpen.value = true)}>
        Go to … <kbd>Ctrl K</kbd>
      </button>
    </header>
  )
}

/** Milliseconds before the head shows `Reading …`. */
const SLOW = 400

function LiveSign() {
  const isBusy = busy.value > 0
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    setSlow(false)
    if (!isBusy) return
    const timer = setTimeout(() => setSlow(true), SLOW)
    return () => clearTimeout(timer)
  }, [isBusy])
  return (
    <span class={isReachable.value ? 'chip live' : 'chip bad'} role="status">
      {!isReachable.value ? 'No answer' : isSlow ? 'Reading …' : 'Live'}
    </span>
  )
}

/** Unless equal to the real time. */
function ClockChip() {
  const { offset, frozen } = clock.value
  if (frozen !== undefined) return <span class="chip warn">Clock stands: {showTime(frozen)}</span>
  return Math.abs(offset) > SAME_TIME ? <span class="chip warn">Clock: {showTime(Date.now() + offset)}</span> : null
}

function VersionChoice({ versions }: { readonly versions: readonly string[] }) {
  const id = useId()
  return (
    <span class="choice">
      <label for={id}>Version</label>
      <select id={id} value={version.value ?? versions[0]} onChange={event => setOfPage('version', event.currentTarget.value)}>
        {versions.map(name => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </span>
  )
}

function showTime(time: number): string {
  return `${new Date(time).toISOString().replace('T', ' ').slice(0, 16)} UTC`
}
