/**
 * Stores the newest state of a persisted world after changes, one save at a time, with pauses between. Reports a failed save, and tries
 * again after five seconds.
 */
import { RestError } from '../../foundation/errors/errors.ts'

interface SaveParts {
  /** Waits for the end of a running write. */
  readonly take: () => Promise<Uint8Array>
  readonly store: (bytes: Uint8Array) => Promise<void>
  readonly report: (error: unknown) => void
}

/** Milliseconds between two saves. */
const PAUSE_MS = 50

/** A pause is four times as long as the save before: saves take at most a fifth of the time. */
const PAUSE_TIMES = 4

/** Milliseconds after a failed save. */
const RETRY_MS = 5000

export class Saves {
  readonly #parts: SaveParts
  /** The stored state is older than the present. */
  #isBehind = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #saving: Promise<void> | undefined
  /** By performance.now(). */
  #earliest = 0
  #failure: unknown
  #hasEnded = false

  constructor(parts: SaveParts) {
    this.#parts = parts
  }

  /** To be called at each change, committed or about to be. */
  readonly changed = (): void => {
    this.#isBehind = true
    this.#plan()
  }

  #plan(): void {
    if (!this.#isBehind || this.#hasEnded || this.#timer !== undefined || this.#saving !== undefined) return
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#saving = this.#save()
      },
      Math.max(0, this.#earliest - performance.now()),
    )
  }

  async #save(): Promise<void> {
    const begun = performance.now()
    this.#isBehind = false
    try {
      await this.#parts.store(await this.#parts.take())
      this.#failure = undefined
      const ended = performance.now()
      this.#earliest = ended + Math.max(PAUSE_MS, PAUSE_TIMES * (ended - begun))
    } catch (error) {
      this.#isBehind = true
      this.#earliest = performance.now() + RETRY_MS
      this.#fail(error)
    }
    this.#saving = undefined
    this.#plan()
  }

  #fail(error: unknown): void {
    // A transaction of five seconds refuses all others: no failure of a save.
    if (error instanceof RestError && error.code === 'database_busy') return
    if (this.#failure === undefined) this.#parts.report(error)
    this.#failure = error
  }

  /**
   * Stores the last changes.
   *
   * @throws the error of the last save
   */
  async end(): Promise<void> {
    this.#hasEnded = true
    clearTimeout(this.#timer)
    await this.#saving
    if (!this.#isBehind) return
    await this.#parts.store(await this.#parts.take())
  }
}
