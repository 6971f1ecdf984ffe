/**
 * Busy: waiting for another process that has locked the file. SQLite's own waiting would hold up the whole process, readers too that need not wait;
 * here whoever meets a lock tries again a little later, and gives up after a while.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Awaitable } from '../../base/awaitable.ts'

/** How long a lock is waited for, in milliseconds. */
export const BUSY_TIMEOUT_MS = 5000

/** Between two tries, in milliseconds: longer each time. */
const SHORTEST = 1
const LONGEST = 50

/** Whether SQLite says that another process has locked the file. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/.test((error as { code?: string } | undefined)?.code ?? '')
}

/**
 * Does what needs the file: at once where nobody has locked it.
 *
 * @param since when the waiting began, by performance.now(): those who wait in line for each other do not wait longer together
 * @throws what the attempt throws; that the file is locked when it still is after `BUSY_TIMEOUT_MS`.
 */
export function whenFree<T>(attempt: () => T, since: number): Awaitable<T> {
  try {
    return attempt()
  } catch (error) {
    if (!isBusy(error)) throw error
    return tryAgain(attempt, since, error)
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
