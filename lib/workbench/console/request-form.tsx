/** The form of a request, with method, path and query (with completion), headers and body. */
import { useId, useMemo, useRef, useState } from 'preact/hooks'
import { complete } from '../data/complete.ts'
import { parameterNames } from '../data/parameter-names.ts'
import { Combobox } from '../parts/combobox.tsx'
import { putText } from '../parts/put-text.ts'
import { outline } from '../state/outline.ts'
import { exampleBody, missingNames, resourceOfPath, withName } from './body-names.ts'
import { METHODS, findBodyFault, takesBody, type WrittenRequest } from './sent-request.ts'

interface RequestFormProps {
  readonly request: WrittenRequest
  readonly isSending: boolean
  readonly onChange: (request: WrittenRequest) => void
  readonly onSend: (request: WrittenRequest) => void
}

export function RequestForm({ request, isSending, onChange, onSend }: RequestFormProps) {
  const { method, headers } = request
  const id = useId()
  return (
    <form
      class="console"
      onSubmit={event => {
        event.preventDefault()
        onSend(request)
      }}
      onKeyDown={event => {
        if (event.key === 'Enter' && event.ctrlKey) onSend(request)
      }}
    >
      <div class="query-bar">
        <select aria-label="Method" value={method} onChange={event => onChange({ ...request, method: event.currentTarget.value })}>
          {METHODS.map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <div class="query">
          <TargetField request={request} onChange={onChange} onSend={onSend} />
        </div>
        <button type="submit" class="main" disabled={isSending} title="Ctrl Enter">
          Send
        </button>
      </div>
      {takesBody(method) ? <BodyField request={request} onChange={onChange} /> : null}
      <details class="more-headers" open={headers !== ''}>
        <summary>Headers</summary>
        <textarea
          id={id}
          class="code"
          rows={3}
          aria-label="Headers"
          placeholder="Accept: text/csv"
          spellcheck={false}
          value={headers}
          onInput={event => onChange({ ...request, headers: event.currentTarget.value })}
        />
      </details>
    </form>
  )
}

function TargetField({ request, onChange, onSend }: Pick<RequestFormProps, 'request' | 'onChange' | 'onSend'>) {
  const { target } = request
  const [caret, setCaret] = useState(target.length)
  const field = useRef<HTMLInputElement>(null)
  const { root = '', resources = [] } = outline.value ?? {}
  const names = useMemo(parameterNames, [outline.value])
  const { from, suggestions } = useMemo(() => complete(target, caret, { root, resources, names }), [target, caret, root, resources, names])
  return (
    <Combobox
      label="Path and query"
      field={field}
      value={target}
      options={suggestions}
      onInput={(value, at) => {
        onChange({ ...request, target: value })
        setCaret(at)
      }}
      onTake={({ text }) => {
        const end = from + text.length
        const next = target.slice(0, from) + text + target.slice(caret)
        onChange({ ...request, target: next })
        setCaret(end)
        putText(field.current, next, end)
      }}
      onSubmit={() => onSend(request)}
    />
  )
}

const OFFERED = 12

function BodyField({ request, onChange }: Pick<RequestFormProps, 'request' | 'onChange'>) {
  const { body, target, method } = request
  const id = useId()
  const { root = '', resources = [] } = outline.value ?? {}
  const resource = resourceOfPath(target, root, resources)
  const fault = findBodyFault(body)
  const set = (text: string): void => onChange({ ...request, body: text })
  return (
    <div class="body-field">
      <textarea
        class="code"
        rows={Math.min(18, Math.max(5, body.split('\n').length + 1))}
        aria-label="Body"
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : id}
        spellcheck={false}
        placeholder="{ }"
        value={body}
        onInput={event => set(event.currentTarget.value)}
      />
      {fault === undefined ? null : (
        <p id={id} class="fault">
          {fault}
        </p>
      )}
      {resource === undefined ? null : (
        <div class="bar" role="group" aria-label="Attributes of the body">
          {body.trim() === '' && method === 'POST' ? (
            <button type="button" onClick={() => set(exampleBody(resource))}>
              All that is required
            </button>
          ) : null}
          {missingNames(body, resource)
            .slice(0, OFFERED)
            .map(({ name, hint }) => (
              <button key={name} type="button" class="quiet" title={hint} onClick={() => set(withName(body, name, resource))}>
                + {name}
              </button>
            ))}
        </div>
      )}
    </div>
  )
}
