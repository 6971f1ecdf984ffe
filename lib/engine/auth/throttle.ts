/** Lets an identifier wait after five failed log-ins within a minute. Refuses with login_throttled. */
import { runtime } from '../../foundation/runtime/runtime.ts'
import { secrets } from '../../foundation/runtime/secrets.ts'
import { pause } from '../../foundation/async/turns.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import { restError, type RestError } from '../../foundation/errors/errors.ts'
import type { LogInAttempts, LogInOutcome, LogInStore, LogInWindow } from '../../records/database/log-in-store.ts'
import type { FailedLogins } from './authentication.ts'

const MAX_FAILURES = 5
const FAILURE_WINDOW_MS = 60_000
/** Most remembered identifiers. The longest without a failure goes first. */
const MAX_IDENTIFIERS = 10_000
/** Longer identifiers are hashed. */
const MAX_IDENTIFIER_LENGTH = 200

/** @param oldest time of the oldest counted failure */
function throttled(oldest: number, now: number): RestError {
  const wait = Math.max(1, Math.ceil((oldest + FAILURE_WINDOW_MS - now) / 1000))
  return restError('login_throttled', `Too many failed log-ins: try again in ${wait} seconds.`, {
    headers: { 'retry-after': String(wait) },
  })
}

export class LoginThrottle {
  readonly #clock: Clock
  #failures = new Map<string, readonly number[]>()
  readonly #pending = new Map<string, Set<Promise<unknown>>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get state(): FailedLogins {
    return new Map(this.#failures)
  }

  restore(failures: FailedLogins): void {
    this.#failures = new Map(failures)
  }

  /** Counts a failure if `check` gives `undefined`. A running check counts, too: parallel attempts gain nothing. */
  async run<T>(identifier: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
    // A client must not decide the memory of a failure.
    const name = identifier.length > MAX_IDENTIFIER_LENGTH ? runtime.hash('sha256', identifier, 'base64') : identifier
    for (let others = this.#pending.get(name); ; others = this.#pending.get(name)) {
      this.#refuse(name)
      if (this.#listRecent(name).length + (others?.size ?? 0) < MAX_FAILURES) break
      await Promise.race(others!)
    }
    const checking = check()
    const settled = checking.then(
      found => (found === undefined ? this.#remember(name) : this.#failures.delete(name)),
      () => {},
    )
    const pending = this.#pending.get(name) ?? new Set()
    this.#pending.set(name, pending.add(settled))
    try {
      return await checking
    } finally {
      pending.delete(settled)
      if (pending.size === 0) this.#pending.delete(name)
    }
  }

  #listRecent(name: string): readonly number[] {
    const now = this.#clock.now().getTime()
    return (this.#failures.get(name) ?? []).filter(time => time > now - FAILURE_WINDOW_MS && time <= now)
  }

  #refuse(name: string): void {
    const recent = this.#listRecent(name)
    if (recent.length < MAX_FAILURES) return
    throw throttled(recent[0]!, this.#clock.now().getTime())
  }

  #remember(name: string): void {
    const recent = this.#listRecent(name)
    this.#failures.delete(name)
    if (this.#failures.size >= MAX_IDENTIFIERS) this.#failures.delete(this.#failures.keys().next().value!)
    this.#failures.set(name, [...recent, this.#clock.now().getTime()])
  }
}

/** An attempt's ID is the time, then random bits. */
const RANDOM_BITS = 20n

/** For a running check (the process may have ended), and between two looks. */
const PATIENCE_MS = 10_000
const PAUSE_MS = 25

/** The difference of clocks of processes, in milliseconds. */
const SKEW_MS = 10_000

/** Counts the failures of all processes, in the database. */
export class SharedThrottle {
  readonly #store: LogInStore
  readonly #clock: Clock

  constructor(store: LogInStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  async run<T>(identifier: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
    // A reader of the table need not learn who tried.
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
      // The outcome of running checks decides.
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
