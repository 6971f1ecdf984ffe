/**
 * Waits for another process that has locked the file, by trying again: SQLite's own wait would block the whole process, readers included.
 */
import { pause } from '../../../foundation/async/turns.ts'
import type { Awaitable } from '../../../foundation/async/awaitable.ts'

export const BUSY_TIMEOUT_MS = 5000

/** In milliseconds, growing. */
const SHORTEST = 1
const LONGEST = 50

export function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/.test((error as { code?: string } | undefined)?.code ?? '')
}

/**
 * @param since start of the wait, by performance.now(): callers in a queue share the limit; undefined: now
 * @throws the error of the attempt; SQLITE_BUSY when the file is still locked after `BUSY_TIMEOUT_MS`.
 */
export function whenFree<T>(attempt: () => T, since?: number): Awaitable<T> {
  try {
    return attempt()
  } catch (error) {
    if (!isBusy(error)) throw error
    return tryAgain(attempt, since ?? performance.now(), error)
  }
}

async function tryAgain<T>(attempt: () => T, since: number, first: unknown): Promise<T> {
  let busy = first
  for (let ms = SHORTEST; performance.now() - since < BUSY_TIMEOUT_MS; ms = Math.min(ms * 2, LONGEST)) {
    await pause(ms)
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error)) throw error
      busy = error
    }
  }
  throw busy
}
