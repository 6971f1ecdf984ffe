/**
 * Tells listeners (`engine.events`) of requests, and of what tests do to the world. Each listener has a queue. A full queue drops the
 * oldest events, and `lost` counts the dropped: listeners never hold the engine up.
 */
import type { Clock } from '../../foundation/async/clock.ts'
import { anything, integer, readOptions } from '../../foundation/base/option-table.ts'
import { formatIso } from '../../foundation/values/iso-time.ts'
import type { FaultState } from './fault-handle.ts'
import type { RequestSummary } from '../journal/journal-entry.ts'

interface EventFacts {
  /** By `engine.clock`: ISO 8601, UTC. */
  readonly at: string
  readonly last: number
}

/** An act of a test. */
export type Mark =
  | (EventFacts & { readonly type: 'reset'; /** The scenario begun, if any. */ readonly scenario?: string })
  | (EventFacts & { readonly type: 'restore'; /** The snapshot's name, if any. */ readonly snapshot?: string })
  | (EventFacts & { readonly type: 'clock'; readonly now: string; /** Whether the clock stands still. */ readonly frozen: boolean })
  | (EventFacts & { readonly type: 'mark'; readonly text: string })

/** What happens to an engine. */
export type EngineEvent =
  | Mark
  | (EventFacts & { readonly type: 'request'; readonly request: RequestSummary })
  | (EventFacts & { readonly type: 'faults'; /** All, at present. */ readonly faults: readonly FaultState[] })
  | (EventFacts & {
      readonly type: 'worlds'
      /** The worlds of a server with test controls, without the engine's own. */ readonly worlds: readonly string[]
    })
  | (EventFacts & {
      readonly type: 'refused'
      /** Why the model as it now stands is not served; null: nothing is refused any more. */ readonly reason: string | null
    })
  | (EventFacts & { readonly type: 'lost'; /** Events not taken in time. */ readonly count: number })

/** Options of `engine.events`. */
export interface ListenOptions {
  /** Ends the listening. */
  readonly signal?: AbortSignal
  /** Limit of waiting events: 1 to 10,000. Default: 1000. */
  readonly capacity?: number
}

const KEPT_MARKS = 200
/** In characters. */
const MAX_TEXT = 500

/** Makes a request's entry only when a listener takes the event. */
type QueuedEvent = { readonly type: EngineEvent['type']; readonly make: () => EngineEvent }

interface EventSource {
  readonly clock: Clock
  readonly last: () => number
  readonly faults: () => readonly FaultState[]
  readonly mask: (text: string) => string
  readonly listeningChanged: (isHeard: boolean) => void
}

export class Events {
  readonly #source: EventSource
  readonly #listeners = new Set<EventListener>()
  #marks: Mark[] = []
  #isClosed = false
  beforeListening = (): void => {}

  constructor(source: EventSource) {
    this.#source = source
  }

  adopt(marks: readonly Mark[]): void {
    this.#marks = [...marks]
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  get marks(): readonly Mark[] {
    return this.#marks
  }

  answered(last: number, summarize: () => RequestSummary): void {
    const at = this.#source.clock.time()
    this.#tell({ type: 'request', make: () => ({ type: 'request', at: formatIso(at), last, request: summarize() }) })
  }

  /** Earlier marks belong to another test. */
  reset(scenario?: string): void {
    this.#marks = []
    this.#mark({ type: 'reset', ...this.#facts(), ...(scenario === undefined ? {} : { scenario }) })
  }

  restored(snapshot: string | undefined): void {
    this.#mark({ type: 'restore', ...this.#facts(), ...(snapshot === undefined ? {} : { snapshot }) })
  }

  clockMoved(): void {
    const { clock } = this.#source
    this.#mark({ type: 'clock', ...this.#facts(), now: formatIso(clock.time()), frozen: clock.setting.frozen !== undefined })
  }

  /** @throws TypeError for an empty text, or more than 500 characters */
  mark(text: string): void {
    if (typeof text !== 'string' || text === '' || text.length > MAX_TEXT)
      throw new TypeError(`engine.mark: the text must be a string of 1 to ${MAX_TEXT} characters.`)
    this.#mark({ type: 'mark', ...this.#facts(), text: this.#source.mask(text) })
  }

  faultsChanged(): void {
    if (this.#listeners.size === 0) return
    const facts = this.#facts()
    this.#tell({ type: 'faults', make: () => ({ type: 'faults', ...facts, faults: this.#source.faults() }) })
  }

  worldsChanged(worlds: readonly string[]): void {
    if (this.#listeners.size === 0) return
    const facts = this.#facts()
    this.#tell({ type: 'worlds', make: () => ({ type: 'worlds', ...facts, worlds }) })
  }

  /** For `--watch`: why the former model stays served. */
  readonly tellRefused = (reason: string | undefined): void => {
    const facts = this.#facts()
    this.#tell({ type: 'refused', make: () => ({ type: 'refused', ...facts, reason: reason ?? null }) })
  }

  listen(options: ListenOptions = {}): AsyncIterableIterator<EngineEvent> {
    const { signal, capacity } = readOptions(options, { signal: [anything], capacity: [integer(1, 10_000), 1000] }, 'engine.events')
    const listener: EventListener = new EventListener(
      capacity,
      () => this.#facts(),
      () => {
        this.#listeners.delete(listener)
        this.#source.listeningChanged(this.isHeard)
      },
    )
    if (this.#isClosed || signal?.aborted === true) listener.end()
    else {
      this.beforeListening()
      this.#listeners.add(listener)
      this.#source.listeningChanged(true)
    }
    signal?.addEventListener('abort', () => listener.end(), { once: true })
    return listener
  }

  /** Waiting events are still read. */
  close(): void {
    this.#isClosed = true
    for (const listener of this.#listeners) listener.end()
  }

  #mark(mark: Mark): void {
    this.#marks.push(mark)
    if (this.#marks.length > KEPT_MARKS) this.#marks.shift()
    this.#tell({ type: mark.type, make: () => mark })
  }

  #tell(event: QueuedEvent): void {
    for (const listener of this.#listeners) listener.take(event)
  }

  #facts(): EventFacts {
    return { at: formatIso(this.#source.clock.time()), last: this.#source.last() }
  }
}

class EventListener implements AsyncIterableIterator<EngineEvent> {
  readonly #capacity: number
  readonly #facts: () => EventFacts
  readonly #onEnd: () => void
  #waiting: QueuedEvent[] = []
  #lost = 0
  #isEnded = false
  #wake: (() => void) | undefined

  constructor(capacity: number, facts: () => EventFacts, onEnd: () => void) {
    this.#capacity = capacity
    this.#facts = facts
    this.#onEnd = onEnd
  }

  take(event: QueuedEvent): void {
    // The newer event has the state of all faults.
    if (event.type === 'faults' && this.#waiting.at(-1)?.type === 'faults') this.#waiting.pop()
    this.#waiting.push(event)
    if (this.#waiting.length > this.#capacity) {
      this.#waiting.shift()
      this.#lost++
    }
    this.#wake?.()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#onEnd()
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<EngineEvent, undefined>> {
    while (this.#waiting.length === 0 && !this.#isEnded) {
      await new Promise<void>(resolve => {
        const before = this.#wake
        this.#wake = () => {
          before?.()
          resolve()
        }
      })
      this.#wake = undefined
    }
    if (this.#lost > 0) {
      const count = this.#lost
      this.#lost = 0
      return { value: { type: 'lost', ...this.#facts(), count }, done: false }
    }
    const event = this.#waiting.shift()
    return event === undefined ? { value: undefined, done: true } : { value: event.make(), done: false }
  }

  async return(): Promise<IteratorResult<EngineEvent, undefined>> {
    this.#waiting = []
    this.end()
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
