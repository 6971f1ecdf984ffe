/** Collects requests and marks while the screen of requests is open. */
import { signal } from '@preact/signals'
import { control } from '../state/ask.ts'
import { onEvent, streams, type EngineEvent, type Mark, type RequestSummary } from '../state/live.ts'

export type ListedItem = { readonly kind: 'request'; readonly request: RequestSummary } | { readonly kind: 'mark'; readonly mark: Mark }

/** An engine keeps as many by default. */
const KEPT = 1000

export const items = signal<readonly ListedItem[]>([])

export const isPaused = signal(false)

/** Arrived during a pause. */
export const waiting = signal<readonly ListedItem[]>([])

export const journalError = signal<Error | undefined>(undefined)

export function collect(): () => void {
  const stop = onEvent(event => {
    const item = itemOf(event)
    if (item !== undefined) add([item])
  })
  const end = streams.subscribe(() => void load())
  return () => {
    stop()
    end()
  }
}

export function goOn(): void {
  isPaused.value = false
  const held = waiting.value
  waiting.value = []
  add(held)
}

export async function clearJournal(): Promise<void> {
  await control('DELETE', '/requests')
  items.value = []
  waiting.value = []
}

interface ListedRequest {
  readonly requests: readonly RequestSummary[]
  readonly marks: readonly Mark[]
}

async function load(): Promise<void> {
  try {
    const { requests, marks } = (await control('GET', `/requests?bodies=false&limit=${KEPT}`)).body as ListedRequest
    const first = requests[0]?.id ?? 0
    const all: (ListedItem & { readonly place: number })[] = [
      // A mark follows the last earlier request.
      ...marks.filter(({ last }) => last >= first).map(mark => ({ kind: 'mark' as const, mark, place: mark.last + 0.5 })),
      ...requests.map(request => ({ kind: 'request' as const, request, place: request.id })),
    ]
    items.value = all.toSorted((a, b) => a.place - b.place)
    waiting.value = []
    journalError.value = undefined
  } catch (error) {
    journalError.value = error as Error
  }
}

function add(more: readonly ListedItem[]): void {
  if (isPaused.value) waiting.value = [...waiting.value, ...more].slice(-KEPT)
  else {
    const last = items.value.findLast(({ kind }) => kind === 'request')
    const known = last?.kind === 'request' ? last.request.id : 0
    // The journal may have a request before the event comes.
    const fresh = more.filter(item => item.kind === 'mark' || item.request.id > known)
    items.value = [...items.value, ...fresh].slice(-KEPT)
  }
}

function itemOf(event: EngineEvent): ListedItem | undefined {
  switch (event.type) {
    case 'request':
      return { kind: 'request', request: event.request }
    case 'reset':
    case 'restore':
    case 'clock':
    case 'mark':
      return { kind: 'mark', mark: event }
    default:
      return undefined
  }
}
