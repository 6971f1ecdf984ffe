/** Shows a request of the journal, in tabs. */
import { useState, useId } from 'preact/hooks'
import { CopyMenu, type CopyItem } from '../parts/copy-menu.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Tabs, type Tab } from '../parts/tabs.tsx'
import { useLoad } from '../parts/use-load.ts'
import { knownFaults } from '../state/live.ts'
import { ChangesPart } from './changes-part.tsx'
import { ComparePart } from './compare-part.tsx'
import { RUNNERS, asClient, asCurl, asFetch, asHandle, asTest, writeFault, writeTarget, type CopiedRequest } from './copies.ts'
import { copyOf, findSent, readEntry, sendAgain, targetWithToken, targetWithoutToken, whyIncomplete, type FullEntry } from './read-entry.ts'
import { StatementsPart, TimePart } from './statements-part.tsx'
import { change, hrefOfView, type RequestsView } from './view.ts'
import { control } from '../state/ask.ts'
import { outline } from '../state/outline.ts'

export function RequestDetail({ id, view }: { readonly id: number; readonly view: RequestsView }) {
  const { data: entry, error } = useLoad(() => readEntry(id), [id])
  return (
    <section class="card detail" aria-labelledby="request-title">
      <div class="card-head">
        <h2 id="request-title">{entry === undefined ? `Request ${id}` : <Title entry={entry} />}</h2>
        <a class="button quiet" href={hrefOfView({ ...view, id: undefined, other: undefined })} aria-label="Close the request">
          ✕
        </a>
      </div>
      {error === undefined ? null : <ErrorNotice error={error} />}
      {entry === undefined ? null : <Detail entry={entry} view={view} />}
    </section>
  )
}

function Title({ entry: { method, path, status, duration } }: { readonly entry: FullEntry }) {
  return (
    <>
      {method} {path}
      <span class="dim">
        {status === undefined ? 'lost its connection' : `answered with ${status}`} in {duration.toFixed(1)} ms
      </span>
    </>
  )
}

function Detail({ entry, view }: { readonly entry: FullEntry; readonly view: RequestsView }) {
  const [isEdited, setEdited] = useState(false)
  const [error, setError] = useState<Error | undefined>(undefined)
  const why = whyIncomplete(entry)
  const again = async (request = copyOf(entry)): Promise<void> => {
    try {
      await sendAgain(request)
      setError(undefined)
    } catch (failure) {
      // A lost connection is in the journal, too.
      setError(failure as Error)
    }
    const sent = await findSent(request, entry.id)
    if (sent !== undefined) change({ id: sent, other: entry.id })
  }
  return (
    <>
      <Facts entry={entry} />
      <div class="bar">
        <button type="button" class="main" disabled={why !== undefined} title={why} onClick={() => void again()}>
          Send again
        </button>
        <button type="button" disabled={why !== undefined} title={why} aria-pressed={isEdited} onClick={() => setEdited(!isEdited)}>
          Edit and send
        </button>
        <GoBack entry={entry} onEnd={setError} />
      </div>
      {error === undefined ? null : <ErrorNotice error={error} />}
      {isEdited ? <EditAndSend entry={entry} onSend={again} /> : null}
      <CopyMenu copies={copiesOf(entry, why)} about={`request ${entry.id}`} />
      <Tabs
        label="Parts of the request"
        tabs={tabsOf(entry, view)}
        chosen={view.tab === '' ? firstTab(entry, view) : view.tab}
        onChoose={tab => change({ tab }, { replace: true })}
      />
    </>
  )
}

function Facts({ entry: { user, test, fault, error, nested } }: { readonly entry: FullEntry }) {
  const known = fault === undefined ? undefined : knownFaults.get(fault)
  return (
    <>
      {fault === undefined ? null : (
        <p class="notice warn">
          This request has met the fault {fault}
          {known === undefined ? ', which has ended' : ': '}
          {known === undefined ? null : <code>{writeFault(known)}</code>}
        </p>
      )}
      {error === undefined ? null : <p class="notice bad">{error}</p>}
      {user === undefined && test === undefined && !nested ? null : (
        <p class="dim facts">
          {[
            user === undefined ? '' : `As user ${user}`,
            test === undefined ? '' : `in the test “${test}”`,
            nested ? 'sent by a hook or a handler of another request' : '',
          ]
            .filter(Boolean)
            .join(', ')}
        </p>
      )}
    </>
  )
}

function firstTab({ changes, status = 0 }: FullEntry, { other }: RequestsView): string {
  if (other !== undefined) return 'compare'
  return changes !== undefined && changes.length > 0 && status < 400 ? 'changes' : 'answer'
}

function tabsOf(entry: FullEntry, view: RequestsView): Tab[] {
  const { changes, statements, ran = statements?.length } = entry
  return [
    {
      name: 'changes',
      title: `Changes${changes === undefined ? '' : ` ${changes.length}`}`,
      content: () => <ChangesPart changes={changes} />,
    },
    { name: 'request', title: 'Request', content: () => <RequestPart entry={entry} /> },
    { name: 'answer', title: 'Answer', content: () => <AnswerPart entry={entry} /> },
    { name: 'statements', title: `Statements${ran === undefined ? '' : ` ${ran}`}`, content: () => <StatementsPart entry={entry} /> },
    { name: 'time', title: 'Time', content: () => <TimePart entry={entry} /> },
    { name: 'compare', title: 'Compare', content: () => <ComparePart entry={entry} other={view.other} /> },
  ]
}

function RequestPart({ entry }: { readonly entry: FullEntry }) {
  const { method, query, body } = entry
  return (
    <>
      <p class="code break">
        {method} {writeTarget(entry)}
      </p>
      {query.length === 0 ? null : (
        <table class="pairs">
          <tbody>
            {query.map(([name, value], index) => (
              <tr key={index}>
                <th scope="row">{name}</th>
                <td class="wrap">{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {body === undefined ? <p class="dim">{whyIncomplete(entry) ?? 'The request has no body.'}</p> : <JsonView value={body} />}
    </>
  )
}

function AnswerPart({ entry: { status, response } }: { readonly entry: FullEntry }) {
  if (response === undefined)
    return (
      <p class="dim">
        {status === undefined
          ? 'The connection was lost: nothing was answered.'
          : 'The answer has no body, or the journal keeps the body no longer.'}
      </p>
    )
  return (
    <>
      {(status ?? 0) < 400 ? null : <RefusalNotice body={response as unknown} />}
      <JsonView value={response} />
    </>
  )
}

/** The text of a refusal is hard to read in JSON. */
function RefusalNotice({ body }: { readonly body: unknown }) {
  const { title, detail, errors } = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>
  if (typeof title !== 'string' || typeof detail !== 'string') return null
  const faults = Array.isArray(errors) ? (errors as readonly { readonly detail?: string }[]) : []
  return (
    <div class="notice bad">
      <strong>{title}</strong>
      {faults.length < 2 ? (
        detail.replace(/\.$/, '') === title ? null : (
          <p>{detail}</p>
        )
      ) : (
        faults.map((fault, index) => <p key={index}>{fault.detail}</p>)
      )}
    </div>
  )
}

function copiesOf(entry: FullEntry, why: string | undefined): CopyItem[] {
  const request = copyOf(entry)
  const { user } = request
  const copy = (name: string, write: () => string | Promise<string>): CopyItem =>
    why === undefined ? { name, write } : { name, write: undefined, why }
  const api = asClient(request, targetWithoutToken())
  return [
    copy('curl', async () => asCurl(request, await targetWithToken(user))),
    copy('fetch', async () => asFetch(request, await targetWithToken(user))),
    copy('engine.handle', () => asHandle(request)),
    api === undefined
      ? { name: 'typed client', write: undefined, why: 'The typed client has no call for this path.' }
      : copy('typed client', async () => asClient(request, await targetWithToken(user))!),
    ...RUNNERS.map(runner => copy(runner === 'node:test' ? 'test' : `${runner} test`, () => asTest(request, runner))),
  ]
}

interface GoBackProps {
  readonly entry: FullEntry
  readonly onEnd: (error: Error | undefined) => void
}

function GoBack({ entry: { id, noWayBack: why }, onEnd }: GoBackProps) {
  const [asked, setAsked] = useState(0)
  const [back, setBack] = useState(0)
  const act = async (): Promise<void> => {
    // Data in a file may be valuable: asks first.
    if (outline.value?.inMemory !== true && asked !== id) return setAsked(id)
    setAsked(0)
    const failure = await control('POST', '/restore', { before: id }).then(
      () => undefined,
      (error: Error) => error,
    )
    setBack(failure === undefined ? id : 0)
    onEnd(failure)
  }
  return (
    <>
      <button
        type="button"
        disabled={why !== undefined}
        title={why ?? `await engine.restore({ before: ${id} })`}
        onClick={() => void act()}
        onBlur={() => setAsked(0)}
      >
        {asked === id ? 'Really? Everything since then is lost' : 'Go back to before it'}
      </button>
      <span class="dim" role="status">
        {back === id ? 'The data are as they were before this request.' : ''}
      </span>
      {why === undefined ? null : <p class="dim">There is no way back to before this request. {why}</p>}
    </>
  )
}

interface EditAndSendProps {
  readonly entry: FullEntry
  readonly onSend: (request: CopiedRequest) => Promise<void>
}

function EditAndSend({ entry, onSend }: EditAndSendProps) {
  const id = useId()
  const [method, setMethod] = useState(entry.method)
  const [target, setTarget] = useState(writeTarget(entry))
  const [text, setText] = useState(entry.body === undefined ? '' : JSON.stringify(entry.body, null, 2))
  const problem = method === 'GET' || method === 'DELETE' ? undefined : findProblem(text)
  const submit = (event: Event): void => {
    event.preventDefault()
    const [path = '', query = ''] = target.split(/\?(.*)/s, 2)
    const sent = { method, path: query === '' ? path : `${path}?${query}`, query: [], user: entry.user }
    void onSend({ ...sent, ...(text.trim() === '' || problem !== undefined ? {} : { body: JSON.parse(text) as unknown }) })
  }
  return (
    <form class="edit" onSubmit={submit}>
      <div class="bar">
        <select aria-label="Method" value={method} onChange={event => setMethod(event.currentTarget.value)}>
          {['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <input
          class="wide code"
          aria-label="Path and query"
          spellcheck={false}
          value={target}
          onInput={event => setTarget(event.currentTarget.value)}
        />
      </div>
      <label for={id}>Body</label>
      <textarea
        id={id}
        class="code"
        rows={Math.min(14, text.split('\n').length + 1)}
        spellcheck={false}
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-problem`}
        onInput={event => setText(event.currentTarget.value)}
      />
      <p id={`${id}-problem`} class="bad" role="status">
        {problem}
      </p>
      <button type="submit" class="main" disabled={problem !== undefined}>
        Send
      </button>
    </form>
  )
}

function findProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `Not JSON: ${(error as Error).message}`
  }
}
