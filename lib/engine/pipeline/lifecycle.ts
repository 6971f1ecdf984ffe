/**
 * Lifecycle: how long an engine answers. It counts the running requests, so that closing can wait for them. When the data is replaced, a
 * new generation begins and the requests of the old one are aborted, so that they cannot write into data they have not seen.
 */
import { connectionLost, engineClosed } from '../../foundation/base/errors.ts'

export class Lifecycle {
  #generation = new AbortController()
  /** Aborts when the data is replaced under the requests that begin now. */
  generation: AbortSignal = this.#generation.signal
  #closed = false
  #running = 0
  #whenIdle: (() => void) | undefined

  /** @throws Error when the engine is closed. */
  assertOpen(): void {
    if (this.#closed) throw engineClosed()
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Begins a new generation, and aborts the requests of the one before. */
  invalidate(by: string): void {
    const previous = this.#generation
    this.#generation = new AbortController()
    this.generation = this.#generation.signal
    previous.abort(connectionLost(`engine.${by}() has replaced the data while the request was running.`))
  }

  /** A request begins to wait for something. */
  enter(): void {
    this.#running++
  }

  /** It has been answered. */
  leave(): void {
    if (--this.#running === 0) this.#whenIdle?.()
  }

  /** Nothing new begins from now on. */
  end(): void {
    this.#closed = true
  }

  /** Resolves when no request runs any more. */
  async idle(): Promise<void> {
    if (this.#running === 0) return
    await new Promise<void>(resolveIdle => {
      this.#whenIdle = resolveIdle
    })
  }
}
