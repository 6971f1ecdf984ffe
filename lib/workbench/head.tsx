/** The head of every screen, with model, world, user, clock, faults and connection. */
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { isPaletteOpen } from './palette.tsx'
import { busy, isReachable, readUnrecorded, mint } from './state/ask.ts'
import { clock, faults, dataChanged, worlds } from './state/live.ts'
import { outline, findResource, parameterOf, pathOf } from './state/outline.ts'
import { setOfPage, version, userId, world } from './state/place.ts'
import { useLoad } from './parts/use-load.ts'
import { idOf, labelOf, type AnyRecord } from './state/records.ts'

/** Milliseconds: a smaller difference of clocks is ignored. */
const SAME_TIME = 2000

export function Head() {
  const { title, database, readOnly, versions = [], hasLogIn } = outline.value ?? {}
  const inEffect = faults.value.filter(({ left }) => left !== 0)
  const held = faults.value.filter(({ held: requests = [] }) => requests.length > 0).length
  const head = useRef<HTMLElement>(null)
  // The navigation stands below the head of any height.
  useEffect(() => {
    const { current } = head
    const watcher = new ResizeObserver(() => document.documentElement.style.setProperty('--head-height', `${current?.offsetHeight ?? 0}px`))
    watcher.observe(current!)
    return () => watcher.disconnect()
  }, [])
  return (
    <header class="top" ref={head}>
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
        <span>Go to …</span> <kbd>Ctrl K</kbd>
      </button>
    </header>
  )
}

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
      <span class="sign">{!isReachable.value ? 'No answer' : isSlow ? 'Reading …' : 'Live'}</span>
    </span>
  )
}

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

/** The URL has the ID, not the token. */
function UserChoice() {
  const id = useId()
  const chosen = userId.value
  const { data: users = [] } = useLoad(readUsers, [outline.value, chosen])
  const { error } = useLoad(() => (chosen === '' ? Promise.resolve('') : mint(chosen)), [chosen])
  const choose = (value: string): void => {
    setOfPage('as', value.trim())
    dataChanged()
  }
  return (
    <span class="choice">
      <label for={id}>As user</label>
      <input
        id={id}
        list={`${id}-users`}
        size={12}
        placeholder="nobody"
        key={chosen}
        defaultValue={chosen}
        aria-invalid={error !== undefined}
        title={error?.message ?? 'The ID of a user; empty is nobody'}
        onChange={event => choose(event.currentTarget.value)}
      />
      <datalist id={`${id}-users`}>
        {users.map(user => (
          <option key={user.id} value={user.id} label={user.label} />
        ))}
      </datalist>
    </span>
  )
}

/** Empty if the caller may not read users. */
async function readUsers(): Promise<{ readonly id: string; readonly label: string }[]> {
  const users = findResource(outline.value?.users ?? '')
  if (users === undefined) return []
  const body = await readUnrecorded(`${pathOf(users.name)}?${parameterOf('limit')}=50&${parameterOf('depth')}=0`).then(
    answer => answer.body as Readonly<Record<string, readonly AnyRecord[]>>,
    () => ({}) as Readonly<Record<string, readonly AnyRecord[]>>,
  )
  return (body[users.name] ?? []).flatMap(record => {
    const id = idOf(record, users)
    return id === undefined ? [] : [{ id, label: labelOf(record, users) || String(record['email'] ?? id) }]
  })
}

const OTHER = '\n'

function WorldChoice() {
  const id = useId()
  const [isNamed, setNamed] = useState(false)
  const current = world.value
  const names = [...new Set([...worlds.value, ...(current === '' ? [] : [current])])].toSorted()
  const choose = (name: string): void => {
    setNamed(name === OTHER)
    if (name === OTHER) return
    setOfPage('world', name)
    dataChanged()
  }
  return (
    <span class="choice">
      <label for={id}>World</label>
      {isNamed ? (
        <NameField id={id} onName={choose} onLeave={() => setNamed(false)} />
      ) : (
        <select id={id} value={current} onChange={event => choose(event.currentTarget.value)}>
          <option value="">main</option>
          {names.map(name => (
            <option key={name}>{name}</option>
          ))}
          <option value={OTHER}>New …</option>
        </select>
      )}
    </span>
  )
}

interface NameFieldProps {
  readonly id: string
  readonly onName: (name: string) => void
  readonly onLeave: () => void
}

function NameField({ id, onName, onLeave }: NameFieldProps) {
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        const { value } = event.currentTarget.querySelector('input')!
        if (value !== '') onName(value)
      }}
    >
      <input
        id={id}
        ref={field => field?.focus()}
        placeholder="name, then Enter"
        pattern="[\w.:\-]{1,100}"
        maxLength={100}
        size={14}
        onBlur={onLeave}
        onKeyDown={event => {
          if (event.key === 'Escape') onLeave()
        }}
      />
    </form>
  )
}
