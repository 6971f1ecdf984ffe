/**
 * Turns: long work that never waits gives the event loop a turn now and then, so that others may hang up, time out or ask to wait
 * meanwhile.
 */
import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work without a turn of the event loop. */
const TURN_MS = 20

export class Turns {
  #since = performance.now()

  /** Is to be asked between two parts of the work; returns what it waits for when a turn is due. */
  next(): Promise<void> | undefined {
    if (performance.now() - this.#since <= TURN_MS) return undefined
    return this.#wait()
  }

  async #wait(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}
