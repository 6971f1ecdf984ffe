/** Shared throttle: failures of log-ins count over all processes, in the database. Refuses with login_throttled. */
import { pause } from '../../foundation/async/turns.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import type { LogInAttempts, LogInOutcome, LogInStore, LogInWindow } from '../../records/database/log-in-store.ts'
import { FAILURE_WINDOW_MS, MAX_FAILURES, throttled } from './throttle.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import { secrets } from '../../foundation/runtime/secrets.ts'

/** Random bits of an attempt's ID, below the time. */
const RANDOM_BITS = 20n

/** Milliseconds a log-in waits for running checks: longer than a check, whose process may have ended. */
const PATIENCE_MS = 10_000
const PAUSE_MS = 25

/** Milliseconds another process's clock may be ahead. */
const SKEW_MS = 10_000

export class SharedThrottle {
  readonly #store: LogInStore
  readonly #clock: Clock

  constructor(store: LogInStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** See `LoginThrottle.run`. */
  async run<T>(identifier: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
    // Readers of the table need not learn who tried.
    const name = runtime.hash('sha256', identifier, 'base64')
    const { attempt, window } = await this.#begin(name)
    let outcome: LogInOutcome = 'void'
    try {
      const found = await check()
      outcome = found === undefined ? 'failed' : 'succeeded'
      return found
    } finally {
      await this.#store.settle(name, attempt, outcome, window)
    }
  }

  async #begin(name: string): Promise<{ readonly attempt: bigint; readonly window: LogInWindow }> {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      const now = this.#clock.now().getTime()
      const attempt = idAt(now) + randomBits()
      const window = { after: idAt(now - FAILURE_WINDOW_MS + 1) - 1n, before: idAt(now + SKEW_MS) }
      const others = await this.#store.begin(name, attempt, window, MAX_FAILURES)
      if (others === undefined) return { attempt, window }
      if (others.failed.length >= MAX_FAILURES || performance.now() > until) throw throttled(oldestOf(others), now)
      // The running checks decide.
      await pause(PAUSE_MS)
    }
  }
}

function randomBits(): bigint {
  return BigInt.asUintN(Number(RANDOM_BITS), BigInt(`0x${runtime.formatBytes(secrets.randomBytes(3), 'hex')}`))
}

function idAt(time: number): bigint {
  return BigInt(Math.floor(time)) << RANDOM_BITS
}

function oldestOf({ failed, pending }: LogInAttempts): number {
  const [oldest = 0n] = [...failed, ...pending].toSorted((a, b) => (a < b ? -1 : 1))
  return Number(oldest >> RANDOM_BITS)
}
