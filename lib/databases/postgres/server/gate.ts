/** Keeps writes apart from replacements of all data. Throws RestError (database_busy) where a transaction does not end. */
import { setTimeout as sleep } from 'node:timers/promises'
import { restError } from '../../../foundation/errors/errors.ts'
import { Lock } from '../../../foundation/async/lock.ts'

/** For running transactions. */
const PATIENCE_MS = 30_000

/** New writes wait only so long: a running write may need a new write. */
const COURTESY_MS = 1_000

export class WriteGate {
  #inside = 0
  #closed: Promise<void> | undefined
  /** Until when new writes wait, by performance.now(). */
  #courtesy = 0
  readonly #replacing = new Lock()

  /** `leave` must follow. */
  async enter(): Promise<void> {
    while (this.#closed !== undefined || performance.now() < this.#courtesy) await (this.#closed ?? sleep(2))
    this.#inside++
  }

  leave(): void {
    this.#inside--
  }

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
