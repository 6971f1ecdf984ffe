/** The screen to send any request, and to see the answer. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { parameterNames } from '../data/parameter-names.ts'
import { CopyMenu } from '../parts/copy-menu.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { asClient, asCurl, asFetch, asHandle } from '../requests/copies.ts'
import { targetWithToken, targetWithoutToken } from '../requests/read-entry.ts'
import { outline } from '../state/outline.ts'
import { go, place, userId } from '../state/place.ts'
import { AnswerView } from './answer-view.tsx'
import { findExamples } from './example-requests.ts'
import { RequestForm } from './request-form.tsx'
import { runRequest, type RequestOutcome } from './run-request.ts'
import { copyOfWritten, hrefOfRequest, isInGrammarOfWire, pathAndQuery, readRequest, type WrittenRequest } from './sent-request.ts'
import { signal } from '@preact/signals'

export default function ConsoleScreen() {
  const root = outline.value?.root ?? ''
  const [request, setRequest] = useState<WrittenRequest>(() => readRequest(place.value, root))
  const [outcome, setOutcome] = useState<RequestOutcome>()
  const [error, setError] = useState<Error>()
  const [isSending, setSending] = useState(false)
  const href = hrefOfRequest(request)
  useEffect(() => {
    // A link or the back button has changed the place.
    const there = readRequest(place.value, root)
    if (hrefOfRequest(there) !== href) setRequest(there)
  }, [place.value])
  const send = async (sent: WrittenRequest): Promise<void> => {
    go(hrefOfRequest(sent), { replace: hrefOfRequest(sent) === `#${location.hash.slice(1)}` })
    setSending(true)
    try {
      const found = await runRequest(sent)
      remember({ ...sent, status: found.answer.status })
      setOutcome(found)
      setError(undefined)
    } catch (thrown) {
      setOutcome(undefined)
      setError(thrown as Error)
    }
    setSending(false)
  }
  const show = (shown: WrittenRequest): void => {
    setRequest(shown)
    go(hrefOfRequest(shown))
  }
  return (
    <>
      <h1 class="visually-hidden">Console</h1>
      {outline.value?.hasWire === true ? (
        <p class="dim">
          Clients of this server speak another grammar, by the option “wire”. The console speaks it, too, and the engine’s own below {root}.
        </p>
      ) : null}
      <RequestForm request={request} onChange={setRequest} onSend={sent => void send(sent)} isSending={isSending} />
      <Copies request={request} />
      {error === undefined ? null : <ErrorNotice error={error} />}
      {outcome === undefined ? <ExampleList onChoose={show} /> : <AnswerView outcome={outcome} />}
      <HistoryList onChoose={show} />
    </>
  )
}

function Copies({ request }: { readonly request: WrittenRequest }) {
  const user = userId.value
  const copied = copyOfWritten(request, user)
  const target = () => targetWithToken(user === '' ? undefined : user)
  const ofClient = { ...copied, ...pathAndQuery(request.target) }
  const client = asClient(ofClient, targetWithoutToken())
  return (
    <CopyMenu
      about="the request"
      copies={[
        { name: 'curl', write: async () => asCurl(copied, await target()) },
        { name: 'fetch', write: async () => asFetch(copied, await target()) },
        isInGrammarOfWire(request.target, outline.value)
          ? { name: 'engine.handle', write: undefined, why: 'The engine’s own grammar is another.' }
          : { name: 'engine.handle', write: () => asHandle(copied) },
        client === undefined
          ? { name: 'typed client', write: undefined, why: 'The typed client has no call for this path.' }
          : { name: 'typed client', write: async () => asClient(ofClient, await target()) ?? '' },
      ]}
    />
  )
}

function ExampleList({ onChoose }: { readonly onChoose: (request: WrittenRequest) => void }) {
  const { root = '', resources = [] } = outline.value ?? {}
  const examples = useMemo(() => findExamples(resources, root, parameterNames()), [resources, root])
  if (examples.length === 0) return null
  return (
    <section class="past" aria-labelledby="examples-title">
      <h2 id="examples-title">Examples</h2>
      <ul>
        {examples.map(({ about, ...request }) => (
          <li key={about}>
            <button type="button" class="quiet" onClick={() => onChoose(request)}>
              <b class={`method ${request.method.toLowerCase()}`}>{request.method}</b> <code>{request.target}</code>
              <span class="dim">{about}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function HistoryList({ onChoose }: { readonly onChoose: (request: PastRequest) => void }) {
  if (history.value.length === 0) return null
  return (
    <section class="past" aria-labelledby="past-title">
      <h2 id="past-title">Sent before</h2>
      <ul>
        {history.value.map(request => (
          <li key={`${request.method} ${request.target} ${request.headers} ${request.body}`}>
            <button type="button" class="quiet" onClick={() => onChoose(request)}>
              <span class={request.status < 400 ? 'good' : 'bad'}>{request.status}</span> <b>{request.method}</b>{' '}
              <code>{request.target}</code>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface PastRequest extends WrittenRequest {
  readonly status: number
}

const KEY = 'mikro-rest console'
const HISTORY_LENGTH = 30

const history = signal<readonly PastRequest[]>(read())

function remember(request: PastRequest): void {
  const isSame = (other: PastRequest): boolean =>
    other.method === request.method && other.target === request.target && other.body === request.body && other.headers === request.headers
  history.value = [request, ...history.value.filter(other => !isSame(other))].slice(0, HISTORY_LENGTH)
  try {
    sessionStorage.setItem(KEY, JSON.stringify(history.value))
  } catch {
    // Storage is full or forbidden: the list lasts until the page reloads.
  }
}

function read(): readonly PastRequest[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? (kept as PastRequest[]) : []
  } catch {
    // Another program has stored a value under the key.
    return []
  }
}
