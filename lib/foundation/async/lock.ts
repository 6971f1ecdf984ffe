/** One holder at a time, such as a write to a SQLite file. Others wait in order; an aborted waiter leaves the queue. */
import type { Awaitable } from './awaitable.ts'

const CHECK_MS = 500

export class Lock {
  readonly #findWaitFault: ((held: number) => Error | undefined) | undefined
  held = false
  #holders = 0
  readonly #waiting: (() => void)[] = []

  /** @param findWaitFault called during a wait, with the milliseconds for which the holder is the same; an error ends the wait */
  constructor(findWaitFault?: (held: number) => Error | undefined) {
    this.#findWaitFault = findWaitFault
  }

  /** Synchronous if free. The returned function releases the lock. */
  acquire(signal?: AbortSignal): Awaitable<() => void> {
    signal?.throwIfAborted()
    return this.held ? this.#turn(signal).then(() => this.#take()) : this.#take()
  }

  #take(): () => void {
    this.take()
    let released = false
    return () => {
      if (released) return
      released = true
      this.release()
    }
  }

  /** Takes a free lock. */
  take(): void {
    this.held = true
    this.#holders++
  }

  /** Ends a `take`. */
  release(): void {
    // `held` stays true: nobody overtakes the queue.
    const next = this.#waiting.shift()
    if (next === undefined) this.held = false
    else next()
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const leave = (reason: Error): void => {
        stop()
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(reason)
      }
      const abort = (): void => leave(signal!.reason as Error)
      let [holder, since] = [this.#holders, performance.now()]
      const check = (): void => {
        if (holder !== this.#holders) [holder, since] = [this.#holders, performance.now()]
        const reason = this.#findWaitFault?.(performance.now() - since)
        if (reason !== undefined) leave(reason)
      }
      const enter = (): void => {
        stop()
        resolve()
      }
      const timer = this.#findWaitFault === undefined ? undefined : setInterval(check, CHECK_MS)
      const stop = (): void => {
        clearInterval(timer)
        signal?.removeEventListener('abort', abort)
      }
      this.#waiting.push(enter)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }
}
