/** The card of faults and gates. */
import { useId, useState } from 'preact/hooks'
import { control } from '../state/ask.ts'
import { faults, type FaultState } from '../state/live.ts'
import { outline, pathOf } from '../state/outline.ts'
import { inlineCode } from '../state/code.ts'
import { Action, ActionCard } from './actions.tsx'
import { CardTable } from './card-parts.tsx'
import { FAULT_KINDS, LINES, faultBody, faultLine, type FaultDraft, type FaultKind } from './lines.ts'

export function FaultsCard() {
  const [draft, setDraft] = useState<FaultDraft>(EMPTY)
  const shown = faults.value.filter(({ left }) => left !== 0)
  return (
    <ActionCard title="Faults" line={faultLine(withExample(draft))} class="across">
      {shown.length === 0 ? <p class="dim">No fault is in effect: requests are answered as usual.</p> : <FaultTable shown={shown} />}
      <FaultForm draft={draft} onChange={part => setDraft(before => ({ ...before, ...part }))} />
    </ActionCard>
  )
}

function FaultTable({ shown }: { readonly shown: readonly FaultState[] }) {
  return (
    <CardTable label="Faults in effect" heads={['fault', 'requests', 'what', '#met', '#left']}>
      {shown.map(({ id, kind, match, options, met, left }) => (
        <tr key={id}>
          <th scope="row">{id}</th>
          <td>
            <code>{match}</code>
          </td>
          <td>
            {kind} {Object.keys(options).length === 0 ? '' : <code class="dim">{inlineCode(options)}</code>}
          </td>
          <td class="num">{met}</td>
          <td class="num">{left ?? '∞'}</td>
          <td>
            <Action line={LINES.endFault()} label={`End ${id}`} onAct={() => control('DELETE', `/faults/${encodeURIComponent(id)}`)}>
              End
            </Action>
          </td>
        </tr>
      ))}
    </CardTable>
  )
}

/** The code shows a pattern before anything is written. */
function withExample(draft: FaultDraft): FaultDraft {
  return draft.match.trim() === '' ? { ...draft, match: `POST ${pathOf('orders')}` } : draft
}

const EMPTY: FaultDraft = {
  kind: 'fail',
  match: '',
  times: '1',
  status: '503',
  retryAfter: '',
  after: false,
  ms: '500',
  requests: '10',
  per: '1m',
}

interface FaultFormProps {
  readonly draft: FaultDraft
  readonly onChange: (part: Partial<FaultDraft>) => void
}

const WHAT: Readonly<Record<FaultKind, string>> = {
  fail: 'fail: answer with an error',
  delay: 'delay: answer later',
  drop: 'drop: lose the connection',
  hold: 'hold: wait at a gate',
  rateLimit: 'rateLimit: 429 above a rate',
}

function FaultForm({ draft, onChange }: FaultFormProps) {
  const id = useId()
  const { kind } = draft
  const add = async (): Promise<void> => {
    await control('POST', '/faults', faultBody(draft))
  }
  return (
    <form class="bar fault-form" onSubmit={event => event.preventDefault()}>
      <span class="field">
        <label for={`${id}-kind`}>What</label>
        <select id={`${id}-kind`} value={kind} onChange={event => onChange({ kind: event.currentTarget.value as FaultKind })}>
          {FAULT_KINDS.map(name => (
            <option key={name} value={name}>
              {WHAT[name]}
            </option>
          ))}
        </select>
      </span>
      <span class="field grow">
        <label for={`${id}-match`}>Requests</label>
        <input
          id={`${id}-match`}
          class="code"
          list={`${id}-paths`}
          placeholder={`POST ${pathOf('orders')}`}
          spellcheck={false}
          value={draft.match}
          onInput={event => onChange({ match: event.currentTarget.value })}
        />
        <datalist id={`${id}-paths`}>
          {listPatterns().map(pattern => (
            <option key={pattern} value={pattern} />
          ))}
        </datalist>
      </span>
      <Options draft={draft} onChange={onChange} />
      {kind === 'fail' || kind === 'drop' ? (
        <label class="check">
          <input type="checkbox" checked={draft.after} onChange={event => onChange({ after: event.currentTarget.checked })} />
          do the request first
        </label>
      ) : null}
      <Action isMain line={faultLine(withExample(draft))} disabled={draft.match.trim() === ''} onAct={add}>
        Add
      </Action>
    </form>
  )
}

/** The fields of the chosen kind. */
function Options({ draft, onChange }: FaultFormProps) {
  const id = useId()
  return (
    <>
      {FIELDS[draft.kind].map(([name, label, size]) => (
        <span key={name} class="field">
          <label for={`${id}-${name}`}>{label}</label>
          <input
            id={`${id}-${name}`}
            size={size}
            placeholder={name === 'times' ? 'all' : undefined}
            value={draft[name]}
            onInput={event => onChange({ [name]: event.currentTarget.value })}
          />
        </span>
      ))}
    </>
  )
}

type TextField = Exclude<keyof FaultDraft, 'kind' | 'match' | 'after'>

const TIMES = ['times', 'Times', 4] as const
const FIELDS: Readonly<Record<FaultKind, readonly (readonly [name: TextField, label: string, size: number])[]>> = {
  fail: [['status', 'Status', 4], ['retryAfter', 'Retry-After', 5], TIMES],
  delay: [['ms', 'Milliseconds', 6], TIMES],
  drop: [TIMES],
  hold: [TIMES],
  rateLimit: [
    ['requests', 'Requests', 4],
    ['per', 'In', 4],
  ],
}

function listPatterns(): string[] {
  const names = outline.value?.resources.map(({ name }) => name) ?? []
  return [
    '*',
    'GET *',
    ...names.flatMap(name => ['GET', 'POST'].map(method => `${method} ${pathOf(name)}`)),
    ...names.map(name => `PATCH ${pathOf(name)}/*`),
  ]
}
