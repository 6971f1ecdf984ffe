/** Clock card: shows and sets the clock of the world. */
import { useEffect, useId, useState } from 'preact/hooks'
import { control } from '../state/ask.ts'
import { clock } from '../state/live.ts'
import { Action, ActionCard } from './actions.tsx'
import { LINES } from './lines.ts'

const STEPS = [
  ['1m', '+1 minute'],
  ['1h', '+1 hour'],
  ['1d', '+1 day'],
  ['31d', '+31 days'],
] as const

export function ClockCard() {
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
        line={LINES.set(at)}
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

/** Milliseconds by which two clocks may differ. */
const SAME = 2000

function describe(offset: number, isFrozen: boolean, now: number): string {
  if (isFrozen) return `It stands still. The real time is ${new Date(now).toISOString().replace('T', ' ').slice(0, 16)} UTC.`
  return Math.abs(offset) <= SAME ? 'It runs, and shows the real time.' : 'It runs, ahead of the real time.'
}

function useNow(): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}
