/**
 * Life: how long an engine answers. Counts the requests that run, so that closing can wait for them, and ends an era when the data is replaced under
 * them, so that they cannot write into what they do not know.
 */
import { connectionLost, engineClosed } from '../base/errors.ts'

export class Lifecycle {
  #era = new AbortController()
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

  /** Aborts when the data is replaced under the requests that begin now. */
  get generation(): AbortSignal {
    return this.#era.signal
  }

  /** Cuts off the requests that still run: whatever they do belongs to the world that goes away. */
  invalidate(by: string): void {
    const era = this.#era
    this.#era = new AbortController()
    era.abort(connectionLost(`engine.${by}() has replaced the data while the request was running.`))
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
