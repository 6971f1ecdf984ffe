/**
 * Lifecycle: counts running requests, so that closing can wait. Replaced data begin a new generation and abort older requests, which must
 * not write into unseen data.
 */
import { connectionLost, engineClosed } from '../../foundation/errors/errors.ts'

export class Lifecycle {
  #generation = new AbortController()
  /** Aborts requests that begin now, when data are replaced. */
  generation: AbortSignal = this.#generation.signal
  #closed = false
  #running = 0
  #whenIdle: (() => void) | undefined

  /** @throws Error for a closed engine */
  assertOpen(): void {
    if (this.#closed) throw engineClosed()
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Aborts the requests of the last generation. */
  invalidate(by: string): void {
    const previous = this.#generation
    this.#generation = new AbortController()
    this.generation = this.#generation.signal
    previous.abort(connectionLost(`engine.${by}() has replaced the data while the request was running.`))
  }

  enter(): void {
    this.#running++
  }

  leave(): void {
    if (--this.#running === 0) this.#whenIdle?.()
  }

  /** Nothing new begins. */
  end(): void {
    this.#closed = true
  }

  /** Resolves when no request runs. */
  async idle(): Promise<void> {
    if (this.#running === 0) return
    await new Promise<void>(resolveIdle => {
      this.#whenIdle = resolveIdle
    })
  }
}
