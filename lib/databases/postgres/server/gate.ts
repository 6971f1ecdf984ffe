/**
 * Gate: keeps what may write apart from what replaces the data as a whole. Any number may write at a time; a replacement waits for those
 * that do, and lets nobody in until it is over. Throws RestError (database_busy) when a transaction does not end.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { restError } from '../../../foundation/base/errors.ts'
import { Lock } from '../../../foundation/base/lock.ts'

/** Milliseconds that a replacement waits for the transactions that run. */
const PATIENCE_MS = 30_000

/** Milliseconds for which nobody is let in while a replacement waits: one that runs may wait for one that wants to come in. */
const COURTESY_MS = 1_000

export class WriteGate {
  #inside = 0
  /** Resolves when the replacement that runs is over. */
  #closed: Promise<void> | undefined
  /** Until when nobody is let in for the sake of a replacement that waits, by performance.now(). */
  #courtesy = 0
  readonly #replacing = new Lock()

  /** Lets one in that may write; `leave` must follow. */
  async enter(): Promise<void> {
    while (this.#closed !== undefined || performance.now() < this.#courtesy) await (this.#closed ?? sleep(2))
    this.#inside++
  }

  leave(): void {
    this.#inside--
  }

  /** Runs work while nobody writes. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.#replacing.acquire()
    try {
      const begun = performance.now()
      this.#courtesy = begun + COURTESY_MS
      while (this.#inside > 0) {
        if (performance.now() - begun > PATIENCE_MS)
          throw restError(
            'database_busy',
            `A transaction has been open for ${PATIENCE_MS / 1000} seconds. Commit it or roll it back first.`,
          )
        await sleep(2)
      }
      let open!: () => void
      this.#closed = new Promise(resolve => {
        open = resolve
      })
      try {
        return await work()
      } finally {
        this.#closed = undefined
        open()
      }
    } finally {
      this.#courtesy = 0
      release()
    }
  }
}
