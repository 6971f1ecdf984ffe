/** End: what may end a request before it is answered: the signal of whoever sent it, that of the world in which it runs, and the time that it may take. */
import { restError } from './errors.ts'

/** Who has sent a request, and may end it. */
export interface Client {
  readonly signal?: AbortSignal
}

/** What has the headers of a request, lower-case names, made when they are first asked for or before. */
export interface HeaderSource {
  readonly headers: Readonly<Record<string, string>>
}

/** A sender whose signal and headers are made when they are first asked for: what is answered at once never asks. */
export class LazyClient implements Client {
  readonly #source: HeaderSource
  #controller: AbortController | undefined
  #reason: unknown
  #isGone = false
  #whenGone: (() => void) | undefined

  /** Milliseconds that its requests may take unless the engine's limits say something else; undefined: as long as they take. */
  readonly budget: number | undefined

  constructor(source: HeaderSource, budget?: number) {
    this.#source = source
    this.budget = budget
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#source.headers
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isGone) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Whether it has gone away. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Why it has gone away. */
  get reason(): unknown {
    return this.#reason
  }

  /** Calls a function when it goes away, the one that was given last. */
  onDisconnect(tell: () => void): void {
    this.#whenGone = tell
  }

  leave(reason: unknown): void {
    this.#isGone = true
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#whenGone?.()
  }
}

/** The parameters of a reading that an error can name. */
interface ReadingParameters {
  readonly filters: readonly { readonly label: string }[]
  readonly sort?: readonly { readonly path: string }[] | undefined
}

/** Describes what a request is doing, by what the running statement reads. */
function describeActivity({ filters, sort }: ReadingParameters, about: string | undefined): string {
  if (about !== 'rows' && about !== 'count')
    return about === undefined ? 'putting the answer together' : `reading the relation "${about}" of what it shows`
  const by = filters.length === 0 ? [] : [`filtering by ${[...new Set(filters.map(({ label }) => `"${label}"`))].join(', ')}`]
  if (about === 'rows' && sort !== undefined && sort.length > 0) by.push(`sorting by ${sort.map(({ path }) => `"${path}"`).join(', ')}`)
  return by.length === 0 ? 'reading its records' : `${about === 'count' ? 'counting what is left after ' : ''}${by.join(' and ')}`
}

export class RequestAbort {
  readonly #sender: Client
  readonly #world: AbortSignal
  #both: AbortSignal | undefined

  /** When the time is over, by performance.now(); undefined: never. */
  readonly deadline: number | undefined
  readonly #budget: number
  /** What a reading is asked for, for the error. A function here would keep each request alive until a full garbage collection. */
  asked: ReadingParameters | undefined
  /** What the statement reads that runs: see `Costs.about`. */
  about: string | undefined

  /** @param budget milliseconds that the request may take; 0: as long as it takes */
  constructor(sender: Client, world: AbortSignal, budget: number) {
    this.#sender = sender
    this.#world = world
    this.#budget = budget
    this.deadline = budget === 0 ? undefined : performance.now() + budget
  }

  /** @throws RestError when the time is over; the reason of the signal that has aborted, if one has. */
  checkTime(): void {
    if (this.deadline === undefined) return
    this.throwIfReached()
    if (performance.now() < this.deadline) return
    const what = this.asked === undefined ? '' : ` The time was over while it was ${describeActivity(this.asked, this.about)}.`
    throw restError('timeout', `The request took longer than the ${this.#budget} ms that it may take; nothing was written.${what}`)
  }

  /** Both signals as one, for work that waits. Made when it is first asked for: that costs more than the reading of a record, which never waits. */
  get signal(): AbortSignal {
    if (this.#both !== undefined) return this.#both
    const { signal } = this.#sender
    return (this.#both = signal === undefined ? this.#world : AbortSignal.any([signal, this.#world]))
  }

  /** @throws the reason of the signal that has aborted, if one has. */
  throwIfReached(): void {
    const sender = this.#sender
    if (!(sender instanceof LazyClient)) sender.signal?.throwIfAborted()
    else if (sender.isGone) throw sender.reason
    this.#world.throwIfAborted()
  }
}
