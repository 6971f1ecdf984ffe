/** The time of an engine. Tests freeze and move the time. */

export const DAY_MS = 86_400_000

const UNITS: Readonly<Record<string, number>> = { d: DAY_MS, h: 3_600_000, m: 60_000, s: 1000 }

/** The years 1 to 9999, in milliseconds since 1970. */
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.UTC(10_000, 0) - 1

let seen: readonly [unknown, unknown] = [undefined, undefined]
let isReplaced = false

/** Whether a test has replaced `Date` or `Date.now`: fake timers of Vitest, Jest, sinon. */
export function isDateReplaced(): boolean {
  const { now } = Date
  if (seen[0] !== Date || seen[1] !== now) {
    seen = [Date, now]
    isReplaced = !isNative(Date) || !isNative(now)
  }
  return isReplaced
}

function isNative(made: object): boolean {
  // Firefox and Safari write three lines.
  return /\{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(made))
}

/** A snapshot's setting of a clock. */
export interface ClockSetting {
  /** Milliseconds since 1970. Undefined: the clock runs. */
  readonly frozen: number | undefined
  /** In milliseconds. */
  readonly ahead: number
}

/** Gives every timestamp and expiry of an engine: `engine.clock.set(date)`, `engine.clock.advance('2h')`. */
export class Clock {
  readonly #source: (() => Date) | undefined
  #frozen: number | undefined
  #ahead = 0
  readonly #listeners: (() => void)[] = []

  /** @param source default: the system's time */
  constructor(source?: () => Date) {
    this.#source = source
  }

  whenMoved(listener: () => void): void {
    this.#listeners.push(listener)
  }

  #moved(): void {
    for (const listener of this.#listeners) listener()
  }

  get isSystem(): boolean {
    return this.#source === undefined && this.#frozen === undefined && this.#ahead === 0 && !isDateReplaced()
  }

  /** The `time()` of a frozen clock or of an application's source. Undefined: the system's time. */
  get standing(): number | undefined {
    return this.#frozen === undefined && this.#source === undefined ? undefined : this.time()
  }

  now(): Date {
    return new Date(this.time())
  }

  /** Milliseconds since 1970. */
  time(): number {
    return this.#frozen ?? (this.#source === undefined ? Date.now() : this.#source().getTime()) + this.#ahead
  }

  /**
   * Sets the time and freezes the clock.
   *
   * @throws RangeError for an invalid date, or a year other than 1 to 9999.
   * @example engine.clock.set(new Date('2026-01-01T00:00:00Z'))
   */
  set(date: Date | string | number): void {
    const time = new Date(date).getTime()
    if (Number.isNaN(time)) throw new RangeError(`clock.set: not a date: ${String(date)}.`)
    if (!isWritable(time))
      throw new RangeError(`clock.set: ${new Date(time).toISOString()} is out of the years 1 to 9999, which times can be written in.`)
    this.#frozen = time
    this.#moved()
  }

  /**
   * Moves the time (back: `-1s`), frozen or not, by milliseconds or by a text such as `31d`, `2h`, `15m`, `90s`.
   *
   * @throws RangeError for another form, or a year other than 1 to 9999.
   * @example engine.clock.advance('31d')
   */
  advance(duration: string | number): void {
    const milliseconds = typeof duration === 'number' ? duration : parseDuration(duration, 'clock.advance')
    if (!Number.isFinite(milliseconds)) throw new RangeError(`clock.advance: not a number of milliseconds: ${duration}.`)
    if (!isWritable(this.time() + milliseconds))
      throw new RangeError(`clock.advance: ${String(duration)} leads out of the years 1 to 9999, which times can be written in.`)
    if (this.#frozen === undefined) this.#ahead += milliseconds
    else this.#frozen += milliseconds
    this.#moved()
  }

  /** Kept in snapshots. */
  get setting(): ClockSetting {
    return { frozen: this.#frozen, ahead: this.#ahead }
  }

  restore({ frozen, ahead }: ClockSetting): void {
    const isMoved = frozen !== this.#frozen || ahead !== this.#ahead
    this.#frozen = frozen
    this.#ahead = ahead
    if (isMoved) this.#moved()
  }

  reset(): void {
    this.restore({ frozen: undefined, ahead: 0 })
  }
}

function isWritable(time: number): boolean {
  return time >= FIRST && time <= LAST
}

/**
 * Takes `31d`, `2h`, `1.5m`, `-90s` or `250ms`.
 *
 * @throws RangeError, which begins with `where`, for another form.
 */
export function parseDuration(text: string, where: string): number {
  const match = /^(-?\d+(?:\.\d+)?)(d|h|m|s|ms)$/.exec(text)
  if (match === null) throw new RangeError(`${where}: a duration must be written like "31d", "2h", "15m", "90s" or "250ms", not "${text}".`)
  return Number(match[1]) * (UNITS[match[2]!] ?? 1)
}
