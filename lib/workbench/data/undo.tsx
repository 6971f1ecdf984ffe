/** Takes back the page's last change, unless others have changed something since. */
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { control } from '../state/ask.ts'
import { dataChanged, unavailable, type RequestSummary } from '../state/live.ts'
import { outline } from '../state/outline.ts'
import { world } from '../state/place.ts'

interface NotedChange {
  readonly text: string
  readonly world: string
  readonly ids: readonly number[]
  readonly why: string | undefined
}

const lastChange = signal<NotedChange | undefined>(undefined)

export function forgetChange(): void {
  lastChange.value = undefined
}

/** @param paths of the requests just sent */
export async function noteChange(text: string, method: string, paths: readonly string[]): Promise<void> {
  lastChange.value = undefined
  if (unavailable.value['requests'] !== undefined) return
  try {
    const wanted = new Set(paths)
    const { body: part } = await control('GET', `/requests?bodies=false&limit=${paths.length + MORE}`)
    const { requests } = part as { readonly requests: readonly RequestSummary[] }
    const ownRequests = requests
      .filter(request => request.method === method && wanted.has(request.path) && !request.nested)
      .slice(-paths.length)
    const [first] = ownRequests
    if (first === undefined || ownRequests.length < paths.length) return
    const { body } = await control('GET', `/requests/${first.id}`)
    const why = (body as { readonly unavailable: { readonly restore?: string } }).unavailable.restore
    lastChange.value = { text, world: world.value, ids: ownRequests.map(({ id }) => id), why }
  } catch {
    // Without the journal, only the way back is missing.
  }
}

const MORE = 50

/** Lies over the page, so that nothing moves. */
export function Undo() {
  const [error, setError] = useState<string>()
  const [done, setDone] = useState('')
  const [isAsked, setAsked] = useState(false)
  const change = lastChange.value
  useEffect(() => {
    setError(undefined)
    setAsked(false)
    if (change !== undefined) setDone('')
  }, [change])
  const text = change !== undefined && change.world === world.value ? change.text : done
  const undo = async (): Promise<void> => {
    // Another program may have written, too: ask first.
    if (outline.value?.inMemory !== true && !isAsked) return setAsked(true)
    try {
      await goBack(change!)
      setDone(`Undone: ${text}`)
    } catch (thrown) {
      setError((thrown as Error).message.replace(/^engine\.restore: (.)/, (_, letter: string) => letter.toUpperCase()))
    }
  }
  return (
    <div role="status">
      {text === '' ? null : (
        <div class="undo">
          <span>{text}.</span>
          {change === undefined ? null : (
            <button type="button" class={isAsked ? 'main' : undefined} disabled={change.why !== undefined} onClick={() => void undo()}>
              {isAsked ? 'Really? Changes past the API since then are lost' : 'Undo'}
            </button>
          )}
          <button
            type="button"
            class="quiet"
            aria-label="Close the last change"
            onClick={() => {
              forgetChange()
              setDone('')
            }}
          >
            ✕
          </button>
          {change?.why === undefined ? null : <p class="dim">There is no way back. {change.why}</p>}
          {error === undefined ? null : <p class="fault">{error}</p>}
        </div>
      )}
    </div>
  )
}

async function goBack({ ids }: NotedChange): Promise<void> {
  await control('POST', '/restore', { undo: ids })
  forgetChange()
  dataChanged()
}
