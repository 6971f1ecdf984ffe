/** Query bar: edits the request of a list, with completion. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Combobox, type Choice } from '../parts/combobox.tsx'
import { putText } from '../parts/put-text.ts'
import { outline } from '../state/outline.ts'
import { complete } from './complete.ts'
import type { ParameterNames } from './list-query.ts'

interface QueryBarProps {
  /** Path and query. */
  readonly request: string
  readonly names: ParameterNames
  readonly onRun: (request: string) => void
  readonly isExplained: boolean
  readonly onExplain: () => void
}

export function QueryBar({ request, names, onRun, isExplained, onExplain }: QueryBarProps) {
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
