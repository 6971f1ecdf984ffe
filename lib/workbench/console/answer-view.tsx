/** Shows the answer to the console's request, with conformity and statements. */
import { useEffect, useState } from 'preact/hooks'
import { JsonView } from '../parts/json-view.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { useLoad } from '../parts/use-load.ts'
import { StatementsPart } from '../requests/statements-part.tsx'
import { outline } from '../state/outline.ts'
import { explainRequest, judge, type RequestOutcome } from './run-request.ts'
import { isInGrammarOfWire, type WrittenRequest } from './sent-request.ts'

export function AnswerView({ outcome }: { readonly outcome: RequestOutcome }) {
  const { answer, request } = outcome
  // OpenAPI document and test controls know only the engine's grammar.
  const isOwn = !isInGrammarOfWire(request.target, outline.value)
  const [tab, setTab] = useState('body')
  useEffect(() => setTab(before => (before === 'explain' && isOwn ? before : 'body')), [outcome])
  const size = new TextEncoder().encode(answer.text).length
  return (
    <section class="card answer" aria-labelledby="answer-title">
      <div class="card-head" role="status">
        <h2 id="answer-title">
          <span class={answer.status < 400 ? 'good' : 'bad'}>{answer.status}</span> in {answer.took.toFixed(1)} ms
          <span class="dim">{size.toLocaleString('en')} bytes</span>
        </h2>
      </div>
      {isOwn ? <Verdict key={answer.took} outcome={outcome} /> : null}
      <Tabs
        label="Parts of the answer"
        chosen={tab}
        onChoose={setTab}
        tabs={[
          { name: 'body', title: 'Body', content: () => <Body body={answer.body as unknown} /> },
          { name: 'headers', title: 'Headers', content: () => <Headers headers={answer.headers} /> },
          ...(isOwn ? [{ name: 'explain', title: 'Explain', content: () => <Explained request={request} /> }] : []),
        ]}
      />
    </section>
  )
}

/** Loads after the answer: describing a large model takes seconds. */
function Verdict({ outcome }: { readonly outcome: RequestOutcome }) {
  const { data: conformity, error, isLoading } = useLoad(() => judge(outcome), [outcome])
  if (error !== undefined) return <ErrorNotice error={error} />
  if (isLoading) return <p class="dim">Comparing with the OpenAPI document …</p>
  if (conformity === undefined) return <p class="dim">The server is read-only, and the OpenAPI document does not describe its refusals.</p>
  const { faults, described } = conformity
  if (faults.length > 0)
    return (
      <div class="notice warn">
        <strong>The answer is not as the OpenAPI document says</strong>
        <ul>
          {faults.map(fault => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      </div>
    )
  return described ? (
    <p class="conforms">✓ As the OpenAPI document says</p>
  ) : (
    <p class="dim">The OpenAPI document lacks this path; the refusal has the form that the document describes.</p>
  )
}

function Body({ body }: { readonly body: unknown }) {
  if (body === undefined) return <p class="dim">No body.</p>
  return typeof body === 'string' ? (
    <pre tabIndex={0} role="region" aria-label="Body">
      {body}
    </pre>
  ) : (
    <JsonView value={body} />
  )
}

function Headers({ headers }: { readonly headers: Headers }) {
  return (
    <dl class="headers">
      {[...headers].map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="code">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Explained({ request }: { readonly request: WrittenRequest }) {
  const { data, error } = useLoad(() => explainRequest(request), [request])
  if (error !== undefined) return <ErrorNotice error={error} />
  if (data === undefined) return <p class="dim">…</p>
  return <StatementsPart entry={{ ...data, ran: data.statements.length }} />
}
