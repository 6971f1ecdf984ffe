/** Data dialog: takes a db.json as a text or a file, tries to serve it, and begins anew with it. */
import { useId, useState } from 'preact/hooks'
import blog from '../fixtures/blog.json' with { type: 'json' }
import { decode } from '../lib/doors/cli/json-file.ts'
import { GRAMMAR_NAMES, toGrammar } from '../lib/doors/cli/other-grammar.ts'
import { Dialog, Problem } from './dialog.tsx'
import { keepData, type GivenData } from './given-data.ts'
import { openWorld } from './played-world.ts'

interface DataDialogProps {
  readonly given: GivenData | undefined
  readonly error: Error | undefined
  readonly notes: readonly string[]
  readonly onClose: () => void
}

const EXAMPLE: GivenData = { text: JSON.stringify(blog, null, 2), as: undefined }

export function DataDialog({ given = EXAMPLE, error: before, notes, onClose }: DataDialogProps) {
  const id = useId()
  const [data, setData] = useState(given)
  const [error, setError] = useState(before)
  const [isBusy, setBusy] = useState(false)
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    setError(undefined)
    await work().catch((thrown: unknown) => setError(thrown as Error))
    setBusy(false)
  }
  const take = (file: File | undefined): void => {
    if (file !== undefined) void run(async () => setData({ ...data, text: decode(new Uint8Array(await file.arrayBuffer()), file.name) }))
  }
  return (
    <Dialog title="Serve your db.json" onClose={onClose} onDrop={take}>
      <p class="dim">An object of lists, as json-server takes. It stays in this tab.</p>
      <input type="file" accept=".json,application/json" aria-label="A file" onChange={event => take(event.currentTarget.files?.[0])} />
      <textarea
        class="code"
        aria-label="db.json"
        rows={14}
        spellcheck={false}
        value={data.text}
        onInput={event => setData({ ...data, text: event.currentTarget.value })}
      />
      <Problem error={error} />
      <Notes notes={notes} />
      <div class="bar">
        <label for={id}>Clients speak</label>
        <select
          id={id}
          value={data.as ?? ''}
          onChange={event => setData({ ...data, as: toGrammar(event.currentTarget.value || undefined) })}
        >
          <option value="">mikro-rest</option>
          {GRAMMAR_NAMES.map(name => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span class="grow" />
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="main" disabled={isBusy} onClick={() => void run(async () => serve(data))}>
          Serve
        </button>
      </div>
    </Dialog>
  )
}

/** What cannot be served leaves the world as it is. */
async function serve(data: GivenData): Promise<void> {
  await (await openWorld(data)).engine.close()
  keepData(data)
  location.assign(location.pathname)
}

function Notes({ notes }: { readonly notes: readonly string[] }) {
  if (notes.length === 0) return null
  return (
    <details>
      <summary>{notes.length === 1 ? 'One note' : `${notes.length} notes`} on what is served</summary>
      <ul>
        {notes.map(note => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </details>
  )
}
