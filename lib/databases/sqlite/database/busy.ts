/**
 * Waits for another process that has locked the file. SQLite's own wait would block the whole process, readers included. Here the caller
 * tries again a little later, and gives up after a while.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Awaitable } from '../../../foundation/work/awaitable.ts'

/** Milliseconds after which a wait ends. */
export const BUSY_TIMEOUT_MS = 5000

/** Milliseconds between two tries; they become longer each time. */
const SHORTEST = 1
const LONGEST = 50

/** Whether SQLite says that another process has locked the file. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/.test((error as { code?: string } | undefined)?.code ?? '')
}

/**
 * Runs work that needs the file: at once when it is not locked.
 *
 * @param since when the wait began, by performance.now(), so that callers in a queue share one limit; undefined: it begins now
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
  for (let pause = SHORTEST; performance.now() - since < BUSY_TIMEOUT_MS; pause = Math.min(pause * 2, LONGEST)) {
    await wait(pause)
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error)) throw error
      busy = error
    }
  }
  throw busy
}
