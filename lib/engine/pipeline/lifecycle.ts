/**
 * Counts running requests, so that `engine.close` can wait. `reset`, `restore` and `scenario` abort running requests: none may write into
 * data that it has not read.
 */
import { connectionLost, engineClosed } from '../../foundation/errors/errors.ts'

export class Lifecycle {
  #generation = new AbortController()
  /** Aborts when the data are replaced. */
  generation: AbortSignal = this.#generation.signal
  isClosed = false
  #running = 0
  #whenIdle: (() => void) | undefined

  /** @throws Error for a closed engine */
  assertOpen(): void {
    if (this.isClosed) throw engineClosed()
  }

  invalidate(by: 'reset' | 'restore' | 'scenario'): void {
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

  end(): void {
    this.isClosed = true
  }

  async idle(): Promise<void> {
    if (this.#running === 0) return
    await new Promise<void>(resolveIdle => {
      this.#whenIdle = resolveIdle
    })
  }
}
