/** End: what may end a request before it is answered: the signal of whoever sent it, and that of the world in which it runs. */

/** Who has sent a request, and may end it. */
export interface Sender {
  readonly signal?: AbortSignal
}

/** What has the headers of a request, lower-case names, made when they are first asked for or before. */
export interface HeaderSource {
  readonly headers: Readonly<Record<string, string>>
}

/** A sender whose signal and headers are made when they are first asked for: what is answered at once never asks. */
export class LazySender implements Sender {
  readonly #source: HeaderSource
  #controller: AbortController | undefined
  #reason: unknown
  #isGone = false
  #whenGone: (() => void) | undefined

  constructor(source: HeaderSource) {
    this.#source = source
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
  whenGone(tell: () => void): void {
    this.#whenGone = tell
  }

  leave(reason: unknown): void {
    this.#isGone = true
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#whenGone?.()
  }
}

export class End {
  readonly #sender: Sender
  readonly #world: AbortSignal
  #both: AbortSignal | undefined

  constructor(sender: Sender, world: AbortSignal) {
    this.#sender = sender
    this.#world = world
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
    if (!(sender instanceof LazySender)) sender.signal?.throwIfAborted()
    else if (sender.isGone) throw sender.reason
    this.#world.throwIfAborted()
  }
}
