/** Lets the event loop run during long synchronous work: other requests can time out, hang up or queue. */
import { runtime } from '../runtime/runtime.ts'

/** Milliseconds of work between two turns. */
const TURN_MS = 20

export function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

export class Turns {
  #since = performance.now()

  next(): Promise<void> | undefined {
    if (performance.now() - this.#since <= TURN_MS) return undefined
    return this.#wait()
  }

  async #wait(): Promise<void> {
    await runtime.nextTurn()
    this.#since = performance.now()
  }
}
