/**
 * Events: tells listeners what happens to an engine: requests, and what tests do to its world. A listener takes events when it likes, and
 * has those that it has not taken in a queue of its own. Where that is full the oldest leave it, and `lost` says how many: nobody holds the
 * engine up.
 */
import type { Clock } from '../../foundation/base/clock.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { formatIso } from '../../foundation/values/iso-time.ts'
import type { FaultState } from './fault-handle.ts'
import type { RequestSummary } from '../journal/journal-entry.ts'

interface EventFacts {
  /** When it happened, by `engine.clock`: ISO 8601, UTC. */
  readonly at: string
  /** The ID of the last request before it; of a request its own. */
  readonly last: number
}

/** What stands between requests, and tells what a test has done. */
export type Mark =
  | (EventFacts & { readonly type: 'reset'; /** The scenario that has begun, if one has. */ readonly scenario?: string })
  | (EventFacts & { readonly type: 'restore'; /** The name of the snapshot, where it has one. */ readonly snapshot?: string })
  | (EventFacts & { readonly type: 'clock'; readonly now: string; /** Whether the clock stands still. */ readonly frozen: boolean })
  | (EventFacts & { readonly type: 'mark'; readonly text: string })

/** What happens to an engine. */
export type EngineEvent =
  | Mark
  | (EventFacts & { readonly type: 'request'; readonly request: RequestSummary })
  | (EventFacts & { readonly type: 'faults'; /** All of them, as they are now. */ readonly faults: readonly FaultState[] })
  | (EventFacts & {
      readonly type: 'worlds'
      /** The names of the worlds of a server with test controls, apart from the engine's own. */ readonly worlds: readonly string[]
    })
  | (EventFacts & { readonly type: 'lost'; /** Events that this listener has not taken in time. */ readonly count: number })

/** How a listener listens. */
export interface ListenOptions {
  /** Ends the listening. */
  readonly signal?: AbortSignal
  /** Events that wait for the listener at most: 1 to 10,000. Default: 1000. */
  readonly capacity?: number
}

/** Marks that are kept. */
const KEPT_MARKS = 200
/** Characters of a mark. */
const MAX_TEXT = 500

/** An event before it is told: an entry is made of a request when a listener takes it. */
type Told = { readonly type: EngineEvent['type']; readonly make: () => EngineEvent }

/** What events tell of the engine. */
interface EventSource {
  readonly clock: Clock
  /** The ID of the last request. */
  readonly last: () => number
  readonly faults: () => readonly FaultState[]
  /** Returns a text of a test without the secrets in it. */
  readonly mask: (text: string) => string
  /** Is told when the first listener has come, and when the last one has left: requests are told of in between alone. */
  readonly heard: (isHeard: boolean) => void
}

export class Events {
  readonly #source: EventSource
  readonly #listeners = new Set<EventListener>()
  #marks: Mark[] = []
  #isClosed = false
  /** Is called when somebody listens. */
  firstHeard = (): void => {}

  constructor(source: EventSource) {
    this.#source = source
  }

  /** Begins with marks of a recording. */
  adopt(marks: readonly Mark[]): void {
    this.#marks = [...marks]
  }

  /** Whether anybody listens. */
  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  /** The last 200 marks since the engine was reset. */
  get marks(): readonly Mark[] {
    return this.#marks
  }

  /** A request has been answered. */
  answered(last: number, summarize: () => RequestSummary): void {
    const at = this.#source.clock.time()
    this.#tell({ type: 'request', make: () => ({ type: 'request', at: formatIso(at), last, request: summarize() }) })
  }

  /** The engine has gone back to its seed, or to a scenario: the marks before belong to another test. */
  reset(scenario?: string): void {
    this.#marks = []
    this.#mark({ type: 'reset', ...this.#facts(), ...(scenario === undefined ? {} : { scenario }) })
  }

  restored(snapshot: string | undefined): void {
    this.#mark({ type: 'restore', ...this.#facts(), ...(snapshot === undefined ? {} : { snapshot }) })
  }

  /** The clock has been set, moved or reset. */
  clockMoved(): void {
    const { clock } = this.#source
    this.#mark({ type: 'clock', ...this.#facts(), now: formatIso(clock.time()), frozen: clock.setting.frozen !== undefined })
  }

  /** @throws TypeError for a text that is none, or has more than 500 characters. */
  mark(text: string): void {
    if (typeof text !== 'string' || text === '' || text.length > MAX_TEXT)
      throw new TypeError(`engine.mark: the text must be a string of 1 to ${MAX_TEXT} characters.`)
    this.#mark({ type: 'mark', ...this.#facts(), text: this.#source.mask(text) })
  }

  /** Faults have come, been met, or ended. Those that a listener has not taken yet are told once. */
  faultsChanged(): void {
    if (this.#listeners.size === 0) return
    const facts = this.#facts()
    this.#tell({ type: 'faults', make: () => ({ type: 'faults', ...facts, faults: this.#source.faults() }) })
  }

  /** The worlds of a server have become others. */
  worldsChanged(worlds: readonly string[]): void {
    if (this.#listeners.size === 0) return
    const facts = this.#facts()
    this.#tell({ type: 'worlds', make: () => ({ type: 'worlds', ...facts, worlds }) })
  }

  /** @throws TypeError, RangeError for options that are unknown or not of their form. */
  listen(options: ListenOptions = {}): AsyncIterableIterator<EngineEvent> {
    checkNames(options, ['signal', 'capacity'], 'engine.events')
    const { signal, capacity = 1000 } = options
    if (!Number.isSafeInteger(capacity) || capacity < 1 || capacity > 10_000)
      throw new RangeError(`engine.events: "capacity" must be an integer from 1 to 10000, got ${String(capacity)}.`)
    const listener: EventListener = new EventListener(
      capacity,
      () => this.#facts(),
      () => {
        this.#listeners.delete(listener)
        this.#source.heard(this.isHeard)
      },
    )
    if (this.#isClosed || signal?.aborted === true) listener.end()
    else {
      this.firstHeard()
      this.#listeners.add(listener)
      this.#source.heard(true)
    }
    signal?.addEventListener('abort', () => listener.end(), { once: true })
    return listener
  }

  /** The engine is closed: listeners get what waits for them, and no more. */
  close(): void {
    this.#isClosed = true
    for (const listener of this.#listeners) listener.end()
  }

  #mark(mark: Mark): void {
    this.#marks.push(mark)
    if (this.#marks.length > KEPT_MARKS) this.#marks.shift()
    this.#tell({ type: mark.type, make: () => mark })
  }

  #tell(told: Told): void {
    for (const listener of this.#listeners) listener.take(told)
  }

  #facts(): EventFacts {
    return { at: formatIso(this.#source.clock.time()), last: this.#source.last() }
  }
}

/** One who listens: an iterator over what happens from now on. */
class EventListener implements AsyncIterableIterator<EngineEvent> {
  readonly #capacity: number
  readonly #facts: () => EventFacts
  readonly #left: () => void
  #waiting: Told[] = []
  #lost = 0
  #isEnded = false
  #wake: (() => void) | undefined

  constructor(capacity: number, facts: () => EventFacts, left: () => void) {
    this.#capacity = capacity
    this.#facts = facts
    this.#left = left
  }

  take(told: Told): void {
    // The later one tells the same, as it is then.
    if (told.type === 'faults' && this.#waiting.at(-1)?.type === 'faults') this.#waiting.pop()
    this.#waiting.push(told)
    if (this.#waiting.length > this.#capacity) {
      this.#waiting.shift()
      this.#lost++
    }
    this.#wake?.()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#left()
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
    const told = this.#waiting.shift()
    return told === undefined ? { value: undefined, done: true } : { value: told.make(), done: false }
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
