/** Lock: one holder at a time, first come first served. A waiter whose signal aborts leaves the queue. */
import type { Awaitable } from '../awaitable.ts'

export class Lock {
  #held = false
  readonly #waiting: (() => void)[] = []

  get held(): boolean {
    return this.#held
  }

  /** The lock, at once when it is free: the function that releases it, which does nothing when called again. */
  acquire(signal?: AbortSignal): Awaitable<() => void> {
    signal?.throwIfAborted()
    return this.#held ? this.#turn(signal).then(() => this.#take()) : this.#take()
  }

  #take(): () => void {
    this.#held = true
    let released = false
    return () => {
      if (released) return
      released = true
      // The lock passes on without being free in between, so that nobody overtakes the queue.
      const next = this.#waiting.shift()
      if (next === undefined) this.#held = false
      else next()
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(signal!.reason as Error)
      }
      const enter = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.push(enter)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
}
