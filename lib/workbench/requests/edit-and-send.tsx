/** Edit and send: sends a changed request of the journal. */
import { useId, useState } from 'preact/hooks'
import { writeTarget, type CopiedRequest } from './copies.ts'
import type { FullEntry } from './read-entry.ts'

interface EditAndSendProps {
  readonly entry: FullEntry
  readonly onSend: (request: CopiedRequest) => Promise<void>
}

export function EditAndSend({ entry, onSend }: EditAndSendProps) {
  const id = useId()
  const [method, setMethod] = useState(entry.method)
  const [target, setTarget] = useState(writeTarget(entry))
  const [text, setText] = useState(entry.body === undefined ? '' : JSON.stringify(entry.body, null, 2))
  const problem = method === 'GET' || method === 'DELETE' ? undefined : findProblem(text)
  const submit = (event: Event): void => {
    event.preventDefault()
    const [path = '', query = ''] = target.split(/\?(.*)/s, 2)
    // The path keeps the query as written.
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
