/**
 * Follows the world's event stream of requests, marks, faults, clock, worlds. After a break the server may be another: everything is read
 * again.
 */
import { signal } from '@preact/signals'
import type { RequestSummary } from '../../engine/journal/journal-entry.ts'
import type { EngineEvent, Mark } from '../../engine/testing/events.ts'
import type { FaultState } from '../../engine/testing/fault-handle.ts'
import { base, control, forgetTokens, isReachable } from './ask.ts'
import { world } from './place.ts'

export type { EngineEvent, FaultState, Mark, RequestSummary }

export const faults = signal<readonly FaultState[]>([])

/** Ended faults, too: requests name faults. */
export const knownFaults = new Map<string, FaultState>()

/** Without the engine's own world. */
export const worlds = signal<readonly string[]>([])

export const scenarios = signal<readonly string[]>([])

/** Undefined unless the server shows a recording. */
export const recording = signal<ShownTest | undefined>(undefined)

/** Why a watched file's model is not served. */
export const refusal = signal<string | undefined>(undefined)

/** Reasons by engine member. */
export const unavailable = signal<Readonly<Record<string, string>>>({})

/** `offset`: milliseconds ahead of real time; `frozen`: the time of a frozen clock. */
export const clock = signal<{ readonly offset: number; readonly frozen: number | undefined }>({ offset: 0, frozen: undefined })

/** Counts up when data may have changed: screens read again. */
export const changes = signal(0)

/** Counts up when a stream begins, perhaps of another server or world. */
export const streams = signal(0)

const listeners = new Set<(event: EngineEvent) => void>()

export function onEvent(listener: (event: EngineEvent) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Milliseconds in which changes count once. */
const TOGETHER = 150

let pending: ReturnType<typeof setTimeout> | undefined

export function dataChanged(): void {
  pending ??= setTimeout(() => {
    pending = undefined
    changes.value++
  }, TOGETHER)
}

export function watchServer(): void {
  let end = (): void => {}
  world.subscribe(name => {
    end()
    end = openStream(name)
  })
}

const TYPES = ['request', 'reset', 'restore', 'clock', 'faults', 'worlds', 'mark', 'refused', 'lost'] as const
/** Milliseconds, for a refused stream; browsers reopen only broken streams. */
const AGAIN = 5000

/** Milliseconds for the first stream. */
const PATIENCE = 2000

let settle = (): void => {}
/** The first stream may still begin before any read. */
let isAwaited = true

/** Resolves when the first stream begins, fails or takes too long. */
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
      tellState()
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

let tellState = (): void => {}
/** When the world's first state is known, or unreadable. */
export const stateKnown = new Promise<void>(resolve => {
  tellState = resolve
})

async function begin(): Promise<void> {
  forgetTokens()
  streams.value++
  if (!isAwaited) dataChanged()
  settle()
  // The banner reports, and the stream begins again.
  await readState().catch(() => {})
  tellState()
}

async function readState(): Promise<void> {
  const [index, found, time] = await Promise.all([control('GET', ''), control('GET', '/faults'), control('GET', '/clock')])
  const { worlds: names, scenarios: seeds, unavailable: missing, recording: recorded } = index.body as IndexBody
  recording.value = recorded
  // A live fault replaces a recorded fault of the same ID.
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
    case 'refused':
      refusal.value = event.reason ?? undefined
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
