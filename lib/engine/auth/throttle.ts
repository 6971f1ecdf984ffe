/** Throttle: after failures within a minute, an identifier has to wait. Refuses with login_throttled. */
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import { restError, type RestError } from '../../foundation/errors/errors.ts'
import type { FailedLogins } from './authentication.ts'

/** Failures before a wait, and how long failures count. */
export const MAX_FAILURES = 5
export const FAILURE_WINDOW_MS = 60_000
/** Remembered identifiers. The oldest failure goes first. */
const MAX_IDENTIFIERS = 10_000
/** Longer identifiers are hashed. */
const MAX_IDENTIFIER_LENGTH = 200

/** @param oldest the time of the oldest failure that counts */
export function throttled(oldest: number, now: number): RestError {
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

  /** Remembers a failure. A running check counts as one: parallel attempts gain nothing. */
  async run<T>(identifier: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
    // The client must not decide a failure's memory.
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
    if (this.#failures.size >= MAX_IDENTIFIERS) this.#failures.delete(this.#failures.keys().next().value!)
    this.#failures.delete(name)
    this.#failures.set(name, [...recent, this.#clock.now().getTime()])
  }
}
