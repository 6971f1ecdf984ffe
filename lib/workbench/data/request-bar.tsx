/** Edits the request of a screen with completion, and explains what the request runs. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Explanation } from '../../engine/journal/explanation.ts'
import { Combobox, type Choice } from '../parts/combobox.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { putText } from '../parts/put-text.ts'
import { useLoad } from '../parts/use-load.ts'
import { StatementsPart } from '../requests/statements-part.tsx'
import { control, mint } from '../state/ask.ts'
import { changes } from '../state/live.ts'
import { outline } from '../state/outline.ts'
import { decode, formatPlace } from '../state/place-text.ts'
import { go, userId, world } from '../state/place.ts'
import { complete } from './complete.ts'
import type { ParameterNames } from './list-query.ts'
import { requestOf } from './links.ts'

interface RequestProps {
  readonly path: readonly string[]
  readonly query: string
  readonly names: ParameterNames
}

export function RequestBar({ path, query, names }: RequestProps) {
  const [isExplained, setExplained] = useState(false)
  const [fault, setFault] = useState<string>()
  const request = requestOf(path, query)
  useEffect(() => setFault(undefined), [request])
  const run = (text: string): void => {
    const next = placeOfRequest(text)
    setFault(next === undefined ? `A path of this version begins with ${requestOf([], '')}, as ${requestOf(path, '')} does.` : undefined)
    if (next !== undefined) go(next)
  }
  return (
    <>
      <QueryBar request={request} names={names} onRun={run} isExplained={isExplained} onExplain={() => setExplained(!isExplained)} />
      {fault === undefined ? null : (
        <p class="notice bad" role="alert">
          {fault}
        </p>
      )}
      {isExplained ? <ExplanationOf request={request} /> : null}
    </>
  )
}

/** Undefined: the path is not below the version's root. */
function placeOfRequest(request: string): string | undefined {
  const [given = '', query = ''] = request.trim().split(/\?(.*)/s, 2)
  const root = `${outline.value?.root ?? ''}/`
  const below = given.startsWith(root) ? given.slice(root.length) : given.startsWith('/') ? undefined : given
  return below === undefined ? undefined : formatPlace('data', below.split('/').filter(Boolean).map(decode), query)
}

function ExplanationOf({ request }: { readonly request: string }) {
  const { data, error } = useLoad(() => explain(request), [request, changes.value, world.value, userId.value])
  if (error !== undefined) return <ErrorNotice error={error} />
  if (data === undefined) return null
  return (
    <section class="card explanation" aria-label="Explanation">
      <StatementsPart entry={data} />
    </section>
  )
}

async function explain(request: string): Promise<Explanation> {
  const id = userId.value
  const headers = id === '' ? {} : { authorization: `Bearer ${await mint(id)}` }
  return (await control('POST', '/explain', { method: 'GET', path: request, headers })).body as Explanation
}

interface QueryBarProps {
  readonly request: string
  readonly names: ParameterNames
  readonly onRun: (request: string) => void
  readonly isExplained: boolean
  readonly onExplain: () => void
}

function QueryBar({ request, names, onRun, isExplained, onExplain }: QueryBarProps) {
  const [text, setText] = useState(request)
  const [caret, setCaret] = useState(request.length)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setText(request), [request])
  const { root = '', resources = [] } = outline.value ?? {}
  const completion = useMemo(() => complete(text, caret, { root, resources, names }), [text, caret, root, resources, names])
  const take = ({ text: taken }: Choice): void => {
    const next = text.slice(0, completion.from) + taken + text.slice(caret)
    const end = completion.from + taken.length
    setText(next)
    setCaret(end)
    putText(field.current, next, end)
  }
  return (
    <form
      class="query-bar"
      onSubmit={event => {
        event.preventDefault()
        onRun(text)
      }}
    >
      <div class="query">
        <b aria-hidden="true">GET</b>
        <Combobox
          label="Request"
          field={field}
          value={text}
          options={completion.suggestions}
          onInput={(value, at) => {
            setText(value)
            setCaret(at)
          }}
          onTake={take}
          onSubmit={() => onRun(text)}
        />
      </div>
      <button type="submit" class="main">
        Run
      </button>
      <button type="button" aria-pressed={isExplained} onClick={onExplain}>
        Explain
      </button>
    </form>
  )
}
