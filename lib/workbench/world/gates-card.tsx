/** Gates card: releases, refuses or drops requests that gates hold. */
import { control } from '../state/ask.ts'
import { faults, type FaultState } from '../state/live.ts'
import { Action, ActionCard } from './actions.tsx'
import { LINES } from './lines.ts'

export function GatesCard() {
  const gates = faults.value.filter(({ held = [] }) => held.length > 0)
  const count = gates.reduce((sum, { held = [] }) => sum + held.length, 0)
  if (count === 0) return null
  return (
    <ActionCard
      title={`Held: ${count === 1 ? '1 request waits' : `${count} requests wait`} at a gate`}
      line={LINES.release(gates[0]!.id)}
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
        <Action isMain line={LINES.release(id)} label={`Release ${id}`} onAct={() => control('POST', `${path}/release`, {})}>
          Release
        </Action>
        <Action
          line={LINES.failHeld(id, 503)}
          label={`Answer what ${id} holds with 503`}
          onAct={() => control('POST', `${path}/fail`, { status: 503 })}
        >
          Answer with 503
        </Action>
        <Action line={LINES.dropHeld(id)} label={`Lose the connections that ${id} holds`} onAct={() => control('POST', `${path}/drop`, {})}>
          Lose the connection
        </Action>
      </div>
    </div>
  )
}
