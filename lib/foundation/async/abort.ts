/**
 * The client of a request (headers, signal), and the end of a request before the answer. `RequestAbort` throws when the client has left,
 * the world is replaced, or the time budget is over.
 */
import { restError } from '../errors/errors.ts'
import type { Wire } from '../base/wire.ts'

interface RequestClient {
  readonly signal?: AbortSignal | undefined
}

export interface HeaderSource {
  readonly headers: Readonly<Record<string, string>>
  /** As sent, names and values by turns: `['Host', 'a.example']`. */
  readonly rawHeaders?: readonly string[]
}

export interface Connected {
  /** Default: no. */
  readonly isSecure?: boolean
  /** The host of the URL, if known beside the header `Host`. */
  readonly host?: string
  /** Whether pages of an origin have the rights of the server's own. Default: no. */
  readonly trusts?: ((origin: string) => boolean) | undefined
}

/** A client of `engine.fetch`: the Request has all headers. */
export class WholeClient implements RequestClient, Connected {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
  readonly wire: Wire | undefined
  readonly #url: string

  constructor(headers: Readonly<Record<string, string>>, signal: AbortSignal | undefined, url: string, wire: Wire | undefined) {
    this.wire = wire
    this.headers = headers
    this.signal = signal
    this.#url = url
  }

  get isSecure(): boolean {
    return this.#url.startsWith('https:')
  }

  get host(): string {
    return new URL(this.#url).host
  }
}

interface WayIn extends Connected {
  readonly budget?: number
  readonly base?: string | undefined
  readonly readOnly?: boolean
  /** Answers keep the engine's form, in spite of `envelope` and `wire`. */
  readonly isPlain?: boolean
  readonly wire?: Wire | undefined
}

/** A client of HTTP. Makes signal and headers on first use: most requests need neither. */
export class LazyClient implements RequestClient, Connected {
  readonly #source: HeaderSource
  #controller: AbortController | undefined
  #reason: unknown
  #isGone = false
  #whenGone: (() => void) | undefined

  /** Milliseconds for a request, unless the engine's limits name others. */
  readonly budget: number | undefined
  /** The path before the version. Undefined: the engine's. */
  readonly base: string | undefined
  readonly readOnly: boolean
  readonly isSecure: boolean
  readonly trusts: Connected['trusts']
  readonly isPlain: boolean
  readonly wire: Wire | undefined

  constructor(source: HeaderSource, { budget, base, readOnly = false, isSecure = false, trusts, isPlain = false, wire }: WayIn = {}) {
    this.#source = source
    this.isSecure = isSecure
    this.trusts = trusts
    this.budget = budget
    this.base = base
    this.readOnly = readOnly
    this.isPlain = isPlain
    this.wire = isPlain ? undefined : wire
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#source.headers
  }

  /** Reads a header without making all others; joins repeated headers. */
  header(name: string): string | undefined {
    const { rawHeaders } = this.#source
    if (rawHeaders === undefined) return this.#source.headers[name]
    let found: string | undefined
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const given = rawHeaders[index]!
      if (given.length !== name.length || given.toLowerCase() !== name) continue
      found = found === undefined ? rawHeaders[index + 1]! : `${found}, ${rawHeaders[index + 1]!}`
    }
    return found
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isGone) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  get isGone(): boolean {
    return this.#isGone
  }

  get reason(): unknown {
    return this.#reason
  }

  onDisconnect(listener: () => void): void {
    this.#whenGone = listener
  }

  leave(reason: unknown): void {
    this.#isGone = true
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#whenGone?.()
  }
}

/** Undefined: the engine's own grammar. */
export function findWire(context: object | undefined): Wire | undefined {
  return context instanceof LazyClient || context instanceof WholeClient ? context.wire : undefined
}

interface ReadingParameters {
  readonly filters: readonly { readonly label: string }[]
  readonly sort?: readonly { readonly path: string }[] | undefined
}

function describeActivity({ filters, sort }: ReadingParameters, about: string | undefined): string {
  if (about !== 'rows' && about !== 'count')
    return about === undefined ? 'putting the answer together' : `reading the relation "${about}" of what it shows`
  const by = filters.length === 0 ? [] : [`filtering by ${[...new Set(filters.map(({ label }) => `"${label}"`))].join(', ')}`]
  if (about === 'rows' && sort !== undefined && sort.length > 0) by.push(`sorting by ${sort.map(({ path }) => `"${path}"`).join(', ')}`)
  return by.length === 0 ? 'reading its records' : `${about === 'count' ? 'counting what is left after ' : ''}${by.join(' and ')}`
}

export class RequestAbort {
  readonly #sender: RequestClient
  readonly #world: AbortSignal
  #both: AbortSignal | undefined

  /** By performance.now(). Undefined: no limit. */
  readonly deadline: number | undefined
  readonly #budget: number
  /** For the message of a timeout. A function would keep each request alive until a full garbage collection. */
  asked: ReadingParameters | undefined
  /** `rows`, `count`, or a relation. */
  about: string | undefined

  /** @param budget milliseconds for the request; 0: no limit */
  constructor(sender: RequestClient, world: AbortSignal, budget: number) {
    this.#sender = sender
    this.#world = world
    this.#budget = budget
    this.deadline = budget === 0 ? undefined : performance.now() + budget
  }

  get isFromSocket(): boolean {
    return this.#sender instanceof LazyClient && this.#sender.budget !== undefined
  }

  /** Gives each piece of a streamed answer the whole budget. */
  renew(): RequestAbort {
    return new RequestAbort(this.#sender, this.#world, this.#budget)
  }

  /** @throws RestError when the time is up; the reason of an aborted signal */
  checkTime(): void {
    if (this.deadline === undefined) return
    this.throwIfReached()
    if (performance.now() < this.deadline) return
    const what = this.asked === undefined ? '' : ` The time was over while it was ${describeActivity(this.asked, this.about)}.`
    throw restError('timeout', `The request took longer than the ${this.#budget} ms that it may take; nothing was written.${what}`)
  }

  /** Made on first use, by work with waits: a signal costs more than reading a record. */
  get signal(): AbortSignal {
    if (this.#both !== undefined) return this.#both
    const { signal } = this.#sender
    return (this.#both = signal === undefined ? this.#world : AbortSignal.any([signal, this.#world]))
  }

  /** @throws the reason of an aborted signal */
  throwIfReached(): void {
    const sender = this.#sender
    if (!(sender instanceof LazyClient)) sender.signal?.throwIfAborted()
    else if (sender.isGone) throw sender.reason
    this.#world.throwIfAborted()
  }
}
