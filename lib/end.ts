/** End: what may end a request before it is answered: the signal of whoever sent it, and that of the world in which it runs. */

export class End {
  readonly #own: AbortSignal | undefined
  readonly #world: AbortSignal
  #both: AbortSignal | undefined

  constructor(own: AbortSignal | undefined, world: AbortSignal) {
    this.#own = own
    this.#world = world
  }

  /** Both signals as one, for work that waits. Made when it is first asked for: that costs more than the reading of a record, which never waits. */
  get signal(): AbortSignal {
    return (this.#both ??= this.#own === undefined ? this.#world : AbortSignal.any([this.#own, this.#world]))
  }

  /** @throws the reason of the signal that has aborted, if one has. */
  throwIfReached(): void {
    this.#own?.throwIfAborted()
    this.#world.throwIfAborted()
  }
}
