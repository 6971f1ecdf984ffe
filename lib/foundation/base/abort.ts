/** Decides when a request ends before it is answered: the client leaves, the world is replaced, or the time budget is used up. */
import { restError } from './errors.ts'

/** The sender of a request, who may cancel it. */
interface RequestClient {
  readonly signal?: AbortSignal
}

/** The headers of a request, with lower-case names. They may be made on first use. */
export interface HeaderSource {
  readonly headers: Readonly<Record<string, string>>
  /** Names and values by turns, as they came, where they are at hand without making the headers. */
  readonly rawHeaders?: readonly string[]
}

/** What a way in knows of the connection that a request has come by. */
export interface Connected {
  /** Whether it is encrypted. Default: no. */
  readonly isSecure?: boolean
  /** The host of the URL that was asked for, where one is known beside the header `Host`. */
  readonly host?: string
  /** Whether pages of this origin, which is not the server's own, may do what its own pages may. Default: no. */
  readonly trusts?: ((origin: string) => boolean) | undefined
}

/** A client that has sent all that it sends. */
export class WholeClient implements RequestClient, Connected {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly isSecure: boolean
  readonly host: string

  constructor(headers: Readonly<Record<string, string>>, signal: AbortSignal, url: string) {
    const { protocol, host } = new URL(url)
    this.headers = headers
    this.signal = signal
    this.isSecure = protocol === 'https:'
    this.host = host
  }
}

/** What a way in to the engine says of its clients. */
interface WayIn extends Connected {
  readonly budget?: number
  readonly base?: string | undefined
  readonly readOnly?: boolean
  /** Whether answers keep the engine's own form, whatever the option `envelope` says. */
  readonly isPlain?: boolean
}

/** A client whose signal and headers are made on first use, since most requests are answered without either. */
export class LazyClient implements RequestClient, Connected {
  readonly #source: HeaderSource
  #controller: AbortController | undefined
  #reason: unknown
  #isGone = false
  #whenGone: (() => void) | undefined

  /** Milliseconds that its requests may take, unless the engine's limits set another time. Undefined: no limit. */
  readonly budget: number | undefined
  /** The path before the version, as this client sees it. Undefined: that of the engine. */
  readonly base: string | undefined
  /** Whether its way in takes no writes, whatever the engine does. */
  readonly readOnly: boolean
  readonly isSecure: boolean
  readonly trusts: Connected['trusts']
  /** Whether answers keep the engine's own form. */
  readonly isPlain: boolean

  constructor(source: HeaderSource, { budget, base, readOnly = false, isSecure = false, trusts, isPlain = false }: WayIn = {}) {
    this.#source = source
    this.isSecure = isSecure
    this.trusts = trusts
    this.budget = budget
    this.base = base
    this.readOnly = readOnly
    this.isPlain = isPlain
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#source.headers
  }

  /** Returns one header without making the others; repeated ones are joined as a list. The name is in lower case. */
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

  /** Whether the client has left. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Why the client left. */
  get reason(): unknown {
    return this.#reason
  }

  /** Registers the function to call when the client leaves. A second call replaces the first function. */
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

/** The parameters of a reading that an error can name. */
interface ReadingParameters {
  readonly filters: readonly { readonly label: string }[]
  readonly sort?: readonly { readonly path: string }[] | undefined
}

/** Describes the work of a request by what the running statement reads. */
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

  /** The end of the time budget, by performance.now(). Undefined: no limit. */
  readonly deadline: number | undefined
  readonly #budget: number
  /** The parameters of the reading, for the error text. A function here would keep each request alive until a full garbage collection. */
  asked: ReadingParameters | undefined
  /** What the running statement reads: see `Costs.about`. */
  about: string | undefined

  /** @param budget milliseconds that the request may take; 0: no limit */
  constructor(sender: RequestClient, world: AbortSignal, budget: number) {
    this.#sender = sender
    this.#world = world
    this.#budget = budget
    this.deadline = budget === 0 ? undefined : performance.now() + budget
  }

  /** Returns the same with the whole time budget again, for the next piece of an answer that is sent in pieces. */
  renew(): RequestAbort {
    return new RequestAbort(this.#sender, this.#world, this.#budget)
  }

  /** @throws RestError when the time budget is used up; the reason of the signal that has aborted, if one has. */
  checkTime(): void {
    if (this.deadline === undefined) return
    this.throwIfReached()
    if (performance.now() < this.deadline) return
    const what = this.asked === undefined ? '' : ` The time was over while it was ${describeActivity(this.asked, this.about)}.`
    throw restError('timeout', `The request took longer than the ${this.#budget} ms that it may take; nothing was written.${what}`)
  }

  /**
   * Both signals as one, for work that waits. It is made on first use, because making it costs more than reading a record, which never
   * waits.
   */
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
