/** The screen of the world, with clock, data, worlds and faults, each with the action's code. */
import { DataCard } from './data-card.tsx'
import { FaultsCard } from './faults-card.tsx'
import { WorldsCard } from './worlds-card.tsx'
import { control } from '../state/ask.ts'
import { faults, type FaultState, clock } from '../state/live.ts'
import { Action, ActionCard } from './actions.tsx'
import { LINES } from './lines.ts'
import { useEffect, useId, useState } from 'preact/hooks'

export default function WorldScreen() {
  return (
    <>
      <h1 class="visually-hidden">World and faults</h1>
      <div class="cards">
        <GatesCard />
        <ClockCard />
        <DataCard />
        <FaultsCard />
        <WorldsCard />
      </div>
    </>
  )
}

function GatesCard() {
  const gates = faults.value.filter(({ held = [] }) => held.length > 0)
  const count = gates.reduce((sum, { held = [] }) => sum + held.length, 0)
  if (count === 0) return null
  return (
    <ActionCard
      title={`Held: ${count === 1 ? '1 request waits' : `${count} requests wait`} at a gate`}
      line={LINES.release()}
      class="across held"
    >
      {gates.map(gate => (
        <Gate key={gate.id} gate={gate} />
      ))}
    </ActionCard>
  )
}

function Gate({ gate: { id, match, held = [] } }: { readonly gate: FaultState }) {
  const path = `/faults/${encodeURIComponent(id)}`
  return (
    <div class="gate">
      <p>
        <b>{id}</b> <code>{match}</code>
      </p>
      <ul>
        {held.map((request, index) => (
          <li key={index}>
            <code>
              {request.method} {request.path}
            </code>
          </li>
        ))}
      </ul>
      <div class="bar">
        <Action isMain line={LINES.release()} label={`Release ${id}`} onAct={() => control('POST', `${path}/release`, {})}>
          Release
        </Action>
        <Action
          line={LINES.failHeld(503)}
          label={`Answer what ${id} holds with 503`}
          onAct={() => control('POST', `${path}/fail`, { status: 503 })}
        >
          Answer with 503
        </Action>
        <Action line={LINES.dropHeld()} label={`Lose the connections that ${id} holds`} onAct={() => control('POST', `${path}/drop`, {})}>
          Lose the connection
        </Action>
      </div>
    </div>
  )
}

const STEPS = [
  ['1m', '+1 minute'],
  ['1h', '+1 hour'],
  ['1d', '+1 day'],
  ['31d', '+31 days'],
] as const

function ClockCard() {
  const { offset, frozen } = clock.value
  const now = useNow()
  const time = frozen ?? now + offset
  return (
    <ActionCard title="Clock" line={LINES.advance('1d')}>
      <p class="big">{new Date(time).toISOString().replace('T', ' ').slice(0, 19)} UTC</p>
      <p class="dim">{describe(offset, frozen !== undefined, now)}</p>
      <div class="bar">
        {STEPS.map(([duration, text]) => (
          <Action key={duration} line={LINES.advance(duration)} onAct={() => control('POST', '/clock', { advance: duration })}>
            {text}
          </Action>
        ))}
      </div>
      <SetTime time={time} />
    </ActionCard>
  )
}

function SetTime({ time }: { readonly time: number }) {
  const id = useId()
  const [typed, setTyped] = useState('')
  const shown = new Date(time).toISOString().replace(/\.\d+/, '')
  const at = typed === '' ? shown : typed.trim()
  return (
    <div class="bar">
      <label for={id}>Stand still at</label>
      <input
        id={id}
        class="code"
        size={22}
        spellcheck={false}
        placeholder={shown}
        value={typed}
        onInput={event => setTyped(event.currentTarget.value)}
      />
      <Action
        line={LINES.setClock(at)}
        onAct={async () => {
          await control('POST', '/clock', { set: at })
          setTyped('')
        }}
      >
        Set
      </Action>
      <Action line={LINES.realTime()} onAct={() => control('POST', '/clock', { reset: true })}>
        Real time
      </Action>
    </div>
  )
}

/** Milliseconds: a smaller difference is ignored. */
const SAME = 2000

function describe(offset: number, isFrozen: boolean, now: number): string {
  if (isFrozen) return `The clock stands still. The real time is ${new Date(now).toISOString().replace('T', ' ').slice(0, 16)} UTC.`
  return Math.abs(offset) <= SAME ? 'The clock runs, and shows the real time.' : 'The clock runs, at another time than the real time.'
}

function useNow(): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}
