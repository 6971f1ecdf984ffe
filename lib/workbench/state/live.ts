/**
 * Live: what happens on the server while the page is open: requests, marks, faults, the clock, worlds. It comes as an event stream of the
 * world that the page looks at; the browser opens it again where it breaks, and everything is read anew then, since the server may be
 * another one.
 */
import { signal } from '@preact/signals'
import type { RequestSummary } from '../../engine/journal/journal-entry.ts'
import type { EngineEvent, Mark } from '../../engine/testing/events.ts'
import type { FaultState } from '../../engine/testing/fault-handle.ts'
import { base, control, forgetTokens, isReachable } from './ask.ts'
import { world } from './place.ts'

export type { EngineEvent, FaultState, Mark, RequestSummary }

export const faults = signal<readonly FaultState[]>([])

/** All faults that the page has heard of, by their ID, those that have ended, too: requests refer to them. */
export const knownFaults = new Map<string, FaultState>()

/** Names of the worlds beside the engine's own. */
export const worlds = signal<readonly string[]>([])

export const scenarios = signal<readonly string[]>([])

/** The test that is looked at, where what is served is a recording. */
export const recording = signal<ShownTest | undefined>(undefined)

/** What is not possible here, and why, by the name of the engine's member. */
export const unavailable = signal<Readonly<Record<string, string>>>({})

/** The clock of the world: how far it is from the real one, in milliseconds, or when it stands still, where it does. */
export const clock = signal<{ readonly offset: number; readonly frozen: number | undefined }>({ offset: 0, frozen: undefined })

/** Grows when data may have changed, so that what shows data is read again. */
export const changes = signal(0)

/** Grows when the stream has begun anew: what was collected of it may be of another server, or another world. */
export const streams = signal(0)

const listeners = new Set<(event: EngineEvent) => void>()

/** Hears of what happens in the world, until the returned function is called. */
export function onEvent(listener: (event: EngineEvent) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Milliseconds in which changes are one. */
const TOGETHER = 150

let pending: ReturnType<typeof setTimeout> | undefined

/** Data has changed, by the page itself or by others. */
export function dataChanged(): void {
  pending ??= setTimeout(() => {
    pending = undefined
    changes.value++
  }, TOGETHER)
}

/** Watches the world that the page looks at, until the page is closed. */
export function watchServer(): void {
  let end = (): void => {}
  world.subscribe(name => {
    end()
    end = openStream(name)
  })
}

const TYPES = ['request', 'reset', 'restore', 'clock', 'faults', 'worlds', 'mark', 'lost'] as const
/** Milliseconds after which a stream is opened again that the server has refused, which the browser does not do by itself. */
const AGAIN = 5000

/** Milliseconds that the page waits for the first stream. */
const PATIENCE = 2000

let settle = (): void => {}
/** Whether nothing has been read yet, and the first stream may still begin before that. */
let isAwaited = true

/** Settled when the first stream has begun, or does not: what is read from then on need not be read again for what came before. */
export const begun = new Promise<void>(resolve => {
  settle = () => {
    isAwaited = false
    resolve()
  }
  setTimeout(settle, PATIENCE)
})

function openStream(name: string): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let stream: EventSource
  const open = (): void => {
    stream = new EventSource(`${base}/_test/events${name === '' ? '' : `?world=${encodeURIComponent(name)}`}`)
    stream.addEventListener('open', () => {
      isReachable.value = true
      void begin()
    })
    stream.addEventListener('error', () => {
      isReachable.value = false
      settle()
      if (stream.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN)
    })
    for (const type of TYPES)
      stream.addEventListener(type, event => take({ type, ...(JSON.parse((event as MessageEvent<string>).data) as object) } as EngineEvent))
  }
  open()
  return () => {
    clearTimeout(timer)
    stream.close()
  }
}

async function begin(): Promise<void> {
  forgetTokens()
  streams.value++
  if (!isAwaited) dataChanged()
  settle()
  // The head says when the server does not answer; the stream begins anew then.
  await readState().catch(() => {})
}

async function readState(): Promise<void> {
  const [index, found, time] = await Promise.all([control('GET', ''), control('GET', '/faults'), control('GET', '/clock')])
  const { worlds: names, scenarios: seeds, unavailable: missing, recording: recorded } = index.body as IndexBody
  recording.value = recorded
  // Those of the test come first: an ID is of a fault of this server, where both have it.
  for (const fault of recorded?.faults ?? []) knownFaults.set(fault.id, fault)
  worlds.value = names
  scenarios.value = seeds
  unavailable.value = missing
  takeFaults((found.body as { readonly faults: readonly FaultState[] }).faults)
  takeClock(time.body as { readonly now: string; readonly frozen: boolean })
}

interface IndexBody {
  readonly worlds: readonly string[]
  readonly scenarios: readonly string[]
  readonly unavailable: Readonly<Record<string, string>>
  readonly recording?: ShownTest
}

interface ShownTest {
  readonly test?: string
  /** What went wrong, in the words of the test runner. */
  readonly failure?: string
  readonly faults: readonly FaultState[]
}

function take(event: EngineEvent): void {
  switch (event.type) {
    case 'request':
      if (event.request.changed !== 0) dataChanged()
      break
    case 'reset':
    case 'restore':
      forgetTokens()
      dataChanged()
      void readState().catch(() => {})
      break
    case 'lost':
      dataChanged()
      streams.value++
      break
    case 'clock':
      takeClock(event)
      break
    case 'faults':
      takeFaults(event.faults)
      break
    case 'worlds':
      worlds.value = event.worlds
      break
    default:
  }
  for (const listener of listeners) listener(event)
}

function takeClock({ now, frozen }: { readonly now: string; readonly frozen: boolean }): void {
  const time = Date.parse(now)
  clock.value = { offset: time - Date.now(), frozen: frozen ? time : undefined }
}

function takeFaults(found: readonly FaultState[]): void {
  faults.value = found
  for (const fault of found) knownFaults.set(fault.id, fault)
}
